"""The journal live: a stream of server-sent events."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, Final

from fastapi import Depends, Header, Query

from remembrancer.domain.journal import Recorded
from remembrancer.interfaces.http.access import ReadableMemory
from remembrancer.interfaces.http.filters import Entries
from remembrancer.interfaces.http.following import LastEventId, StreamSlot, followed, position_of, stream_slot
from remembrancer.interfaces.http.given import MAX_WHOLE
from remembrancer.interfaces.http.streams import MEDIA_TYPE, EventStream, message
from remembrancer.interfaces.http.v1 import router_of
from remembrancer.interfaces.wire.journal import RecordedOut

EVENT: Final = "entry"
"""The event name of every message. An EventSource delivers only names that the page listens for, and an entry's type
may be any word, even `error`, which EventSource itself uses for a failed connection.
"""

router = router_of("events")


def streamed(description: str) -> dict[int | str, dict[str, Any]]:
    """The entries of the OpenAPI document for a stream."""
    content = {
        MEDIA_TYPE: {"schema": {"description": description}}
    }  # of the type of a text, or of its messages: readers differ
    return {200: {"description": "An endless stream of server-sent events.", "content": content}}


@router.get(
    "/v1/events/stream",
    summary="Follow the journal",
    status_code=HTTPStatus.OK,
    response_class=EventStream,
    response_model=None,
    responses={
        **streamed(
            "`event: entry`, `data`: one line of RecordedOut as JSON, `id`: its position. A block with only an `id` is "
            "a position to continue from; lines that begin with a colon are comments."
        ),
    },
)
async def follow(
    memory: ReadableMemory,
    entries: Entries,
    slot: Annotated[StreamSlot, Depends(stream_slot)],
    limit: Annotated[int, Query(ge=0, le=500, description="The number of past entries to start with.")] = 50,
    after: Annotated[
        int | None,
        Query(ge=0, le=MAX_WHOLE, description="Start after this position instead."),
    ] = None,
    last_event_id: Annotated[
        LastEventId | None,
        Header(alias="Last-Event-ID", description="The last `id` received. It overrides `after`."),
    ] = None,
) -> EventStream:
    """The last entries, or those after a position, and then each new one as it is recorded by any process.

    In the order of recording, each entry once. A client that reconnects sends the last `id` as `Last-Event-ID`, as
    browsers do, and continues there. The filters are those of the list. The stream ends when the server stops, when the
    key is no longer valid, and when the client does not receive a message within a minute.
    """
    position = position_of(last_event_id)
    return await followed(memory, slot, _told, entries, after=after if position is None else position, last=limit)


def _told(one: Recorded) -> str:
    return message(data=RecordedOut.of(one).model_dump_json(), position=one.position, event=EVENT)
