"""The journal live: a stream of server-sent events."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, Final

from fastapi import Depends, Header, Query

from remembrancer.domain.journal import Recorded
from remembrancer.interfaces.http.access import Reading
from remembrancer.interfaces.http.filters import Entries
from remembrancer.interfaces.http.following import LastEventId, StreamSlot, followed, position_of, stream_slot
from remembrancer.interfaces.http.given import MAX_WHOLE
from remembrancer.interfaces.http.streams import MEDIA_TYPE, EventStream, message
from remembrancer.interfaces.http.v1 import router_of
from remembrancer.interfaces.wire.journal import RecordedOut

EVENT: Final = "entry"
"""What every message is called. A browser hears only names that it listens for, and an entry's type may be any word:
also `error`, which is the name that an EventSource gives to a broken line.
"""

router = router_of("events")


def streamed(description: str) -> dict[int | str, dict[str, Any]]:
    """What the document says of an answer that is a stream."""
    content = {
        MEDIA_TYPE: {"schema": {"description": description}}
    }  # of the type of a text, or of its messages: readers differ
    return {200: {"description": "A stream of server-sent events that has no end.", "content": content}}


@router.get(
    "/v1/events/stream",
    summary="Follow the journal",
    status_code=HTTPStatus.OK,
    response_class=EventStream,
    response_model=None,
    responses={
        **streamed(
            "`event: entry` with `data`, one line of RecordedOut as JSON, under `id`, its position. A block with an "
            "`id` alone says that all before it was looked at; what begins with a colon is to be passed over."
        ),
    },
)
async def follow(
    memory: Reading,
    entries: Entries,
    slot: Annotated[StreamSlot, Depends(stream_slot)],
    limit: Annotated[int, Query(ge=0, le=500, description="How many of the last entries to begin with.")] = 50,
    after: Annotated[
        int | None,
        Query(ge=0, le=MAX_WHOLE, description="Instead of the last: what was recorded behind this position."),
    ] = None,
    last_event_id: Annotated[
        LastEventId | None,
        Header(alias="Last-Event-ID", description="The `id` that was told last; it goes before `after`."),
    ] = None,
) -> EventStream:
    """The last entries, or those behind a position, and then each as it is recorded, by whichever process.

    In the order of recording, nothing missed and nothing twice: whoever is cut off sends the last `id` as
    `Last-Event-ID`, as browsers do by themselves, and hears the rest. Chosen as the list does. The stream ends when the
    server stops, when the key is no longer valid, and when the client does not take what it is told for a minute.
    """
    position = position_of(last_event_id)
    return await followed(memory, slot, _told, entries, after=after if position is None else position, last=limit)


def _told(one: Recorded) -> str:
    return message(data=RecordedOut.of(one).model_dump_json(), position=one.position, event=EVENT)
