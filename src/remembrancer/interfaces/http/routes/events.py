"""The journal: recording, listing, counting and marking what happened."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import Query

from remembrancer.interfaces.http.access import ReadableMemory, WritableMemory
from remembrancer.interfaces.http.bodies import EventsIn, PriorityIn
from remembrancer.interfaces.http.filters import Entries
from remembrancer.interfaces.http.given import After, EventId, Limit
from remembrancer.interfaces.http.idempotency import DerivedKey
from remembrancer.interfaces.http.v1 import MISSING, router_of
from remembrancer.interfaces.wire.journal import (
    EventsOut,
    JournalCountOut,
    JournalEntryOut,
    JournalPageOut,
    PriorityChangeOut,
)

router = router_of("events")


Archived = Annotated[bool, Query(description="Also entries in the archive, as shortened there.")]


@router.post("/v1/events", status_code=HTTPStatus.CREATED, summary="Record what happened")
async def observe(memory: WritableMemory, body: EventsIn, written: DerivedKey) -> EventsOut:
    """Record events in their order, all or none.

    An event whose `key` is known is not recorded again; the response has it as it was recorded. If the key belongs to a
    different event, nothing is recorded (409). The response has the events in the order of the request.
    """
    keys = [None if written is None else f"{written}:{place}" for place in range(len(body.events))]
    drafts = [{"key": key, **event.given()} for key, event in zip(keys, body.events, strict=True)]
    return EventsOut.of(await memory.observe_many(drafts))


@router.get("/v1/events", summary="List the journal")
async def journal(
    memory: ReadableMemory,
    entries: Entries,
    limit: Limit = 100,
    after: After = None,
    oldest_first: Annotated[bool, Query(description="Oldest first instead of newest first.")] = False,
    archived: Archived = False,
) -> JournalPageOut:
    """Everything that was recorded, remembered or not, by when it happened, a page at a time.

    `next` is the cursor of the next page. Entries recorded in the meantime do not shift the pages.
    """
    entries["archived"] = archived
    page = await memory.journal.page(after=after, limit=limit, oldest_first=oldest_first, **entries)
    return JournalPageOut.of(page)


@router.get("/v1/events/count", summary="Count entries of the journal")
async def count_events(memory: ReadableMemory, entries: Entries, archived: Archived = False) -> JournalCountOut:
    """The number of entries that match the filters."""
    entries["archived"] = archived
    return JournalCountOut(total=await memory.journal.count(**entries))


@router.get("/v1/events/{event_id}", summary="Read an entry of the journal", responses=MISSING)
async def event(memory: ReadableMemory, event_id: EventId) -> JournalEntryOut:
    """One entry, also from the archive, with the changes of its priority."""
    return JournalEntryOut.of(await memory.journal.get(event_id), await memory.journal.priority_changes(event_id))


@router.post("/v1/events/{event_id}/priority", summary="Set an entry's priority", responses=MISSING)
async def set_priority(memory: WritableMemory, event_id: EventId, body: PriorityIn) -> PriorityChangeOut:
    """Change the priority of an entry. The memories formed from it fade no further than the priority allows.

    Only for an operator's role (`role=LEAD`), which needs a key with the right to administer. Who changed it and why is
    kept. The priority of an entry in the archive cannot be changed (409).
    """
    return PriorityChangeOut.of(await memory.journal.set_priority(event_id, body.priority, body.reason))
