"""The journal: recording, listing, counting, marking and following what happened."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any, Final

from fastapi import Depends, Header, Query

from remembrancer.domain.journal import Recorded
from remembrancer.interfaces.http import streams
from remembrancer.interfaces.http.access import ReadableMemory, WritableMemory
from remembrancer.interfaces.http.bodies import EventsIn, PriorityIn
from remembrancer.interfaces.http.given import MAX_WHOLE, After, Entries, EventId, Limit
from remembrancer.interfaces.http.idempotency import DerivedKey
from remembrancer.interfaces.http.v1 import MISSING, router_of
from remembrancer.interfaces.wire import journal as wire

EVENT: Final = "entry"
"""The event name of every message. An EventSource delivers only names that the page listens for, and an entry's type
may be any word, even `error`, which EventSource itself uses for a failed connection.
"""

router = router_of("events")


def streamed(description: str) -> dict[int | str, dict[str, Any]]:
    """The entries of the OpenAPI document for a stream."""
    content = {
        streams.MEDIA_TYPE: {"schema": {"description": description}}
    }  # different clients read these as the type of a text, or of its messages
    return {200: {"description": "An endless stream of server-sent events.", "content": content}}


@router.get(
    "/v1/events/stream",
    summary="Follow the journal",
    status_code=HTTPStatus.OK,
    response_class=streams.EventStream,
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
    slot: Annotated[streams.StreamSlot, Depends(streams.stream_slot)],
    limit: Annotated[int, Query(ge=0, le=500, description="The number of past entries to start with.")] = 50,
    after: Annotated[
        int | None,
        Query(ge=0, le=MAX_WHOLE, description="Start after this position instead."),
    ] = None,
    last_event_id: Annotated[
        streams.LastEventId | None,
        Header(alias="Last-Event-ID", description="The last `id` received. It overrides `after`."),
    ] = None,
) -> streams.EventStream:
    """The last entries, or those after a position, and then each new one as it is recorded by any process.

    Each entry is sent once, in the order of recording. A client that reconnects sends the last `id` as `Last-Event-ID`,
    as browsers do, and continues there. The filters are those of the list. The stream ends when the server stops, when
    the key is no longer valid, and when the client does not receive a message within a minute.
    """
    position = streams.position_of(last_event_id)
    return await streams.followed(
        memory, slot, _message, entries, after=after if position is None else position, last=limit
    )


def _message(one: Recorded) -> str:
    return streams.message(data=wire.RecordedOut.of(one).model_dump_json(), position=one.position, event=EVENT)


Archived = Annotated[bool, Query(description="Include entries in the archive, in their shortened form.")]


@router.post("/v1/events", status_code=HTTPStatus.CREATED, summary="Record what happened")
async def observe(memory: WritableMemory, body: EventsIn, written: DerivedKey) -> wire.EventsOut:
    """Record events in the given order, all or none.

    An event whose `key` is known is not recorded again; the response has it as it was recorded before. If the key
    belongs to a different event, nothing is recorded (409). The response has the events in the order of the request.
    """
    keys = [None if written is None else f"{written}:{place}" for place in range(len(body.events))]
    drafts = [{"key": key, **event.given()} for key, event in zip(keys, body.events, strict=True)]
    return wire.EventsOut.of(await memory.observe_many(drafts))


@router.get("/v1/events", summary="List the journal")
async def journal(
    memory: ReadableMemory,
    entries: Entries,
    limit: Limit = 100,
    after: After = None,
    oldest_first: Annotated[bool, Query(description="Oldest first instead of newest first.")] = False,
    archived: Archived = False,
) -> wire.JournalPageOut:
    """Everything that was recorded, whether remembered or not, by when it happened, a page at a time.

    `next` is the cursor of the next page. Entries recorded in the meantime do not shift the pages.
    """
    entries["archived"] = archived
    page = await memory.journal.page(after=after, limit=limit, oldest_first=oldest_first, **entries)
    return wire.JournalPageOut.of(page)


@router.get("/v1/events/count", summary="Count entries of the journal")
async def count_events(memory: ReadableMemory, entries: Entries, archived: Archived = False) -> wire.JournalCountOut:
    """The number of entries that match the filters."""
    entries["archived"] = archived
    return wire.JournalCountOut(total=await memory.journal.count(**entries))


@router.get("/v1/events/{event_id}", summary="Read an entry of the journal", responses=MISSING)
async def event(memory: ReadableMemory, event_id: EventId) -> wire.JournalEntryOut:
    """One entry, even from the archive, with the changes to its priority."""
    return wire.JournalEntryOut.of(await memory.journal.get(event_id), await memory.journal.priority_changes(event_id))


@router.post("/v1/events/{event_id}/priority", summary="Set an entry's priority", responses=MISSING)
async def set_priority(memory: WritableMemory, event_id: EventId, body: PriorityIn) -> wire.PriorityChangeOut:
    """Change the priority of an entry. The memories formed from it fade no further than the priority allows.

    Only for an operator's role (`role=LEAD`), which needs a key with the right to administer. The change is stored with
    its author and reason. The priority of an entry in the archive cannot be changed (409).
    """
    return wire.PriorityChangeOut.of(await memory.journal.set_priority(event_id, body.priority, body.reason))
