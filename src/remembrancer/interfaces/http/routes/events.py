"""The journal: what happened is recorded, listed, counted and marked."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import Query

from remembrancer.interfaces.http.access import Reading, Writing
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


Archived = Annotated[bool, Query(description="Also what has been moved into the archive, cut as it is there.")]


@router.post("/v1/events", status_code=HTTPStatus.CREATED, summary="Record what happened")
async def observe(memory: Writing, body: EventsIn, written: DerivedKey) -> EventsOut:
    """Record events in their order, all of them or none.

    An event whose `key` is known is answered as it was recorded; when it says something else, nothing is recorded
    (409). The answer has the events in the order they were sent.
    """
    keys = [None if written is None else f"{written}:{place}" for place in range(len(body.events))]
    drafts = [{"key": key, **event.given()} for key, event in zip(keys, body.events, strict=True)]
    return EventsOut.of(await memory.observe_many(drafts))


@router.get("/v1/events", summary="List the journal")
async def journal(
    memory: Reading,
    entries: Entries,
    limit: Limit = 100,
    after: After = None,
    oldest_first: Annotated[bool, Query(description="In the order it happened; else newest first.")] = False,
    archived: Archived = False,
) -> JournalPageOut:
    """Everything that was recorded, remembered or not, by when it happened, a page at a time.

    `next` is the cursor of the page after: what is recorded meanwhile moves nothing between pages.
    """
    entries["archived"] = archived
    page = await memory.journal.page(after=after, limit=limit, oldest_first=oldest_first, **entries)
    return JournalPageOut.of(page)


@router.get("/v1/events/count", summary="Count entries of the journal")
async def count_events(memory: Reading, entries: Entries, archived: Archived = False) -> JournalCountOut:
    """How many entries there are, chosen as the list does."""
    entries["archived"] = archived
    return JournalCountOut(total=await memory.journal.count(**entries))


@router.get("/v1/events/{event_id}", summary="Read an entry of the journal", responses=MISSING)
async def event(memory: Reading, event_id: EventId) -> JournalEntryOut:
    """One entry, or what the archive has of it, and who changed its priority, when and why."""
    return JournalEntryOut.of(await memory.journal.get(event_id), await memory.journal.priority_changes(event_id))


@router.post("/v1/events/{event_id}/priority", summary="Mark an entry", responses=MISSING)
async def set_priority(memory: Writing, event_id: EventId, body: PriorityIn) -> PriorityChangeOut:
    """Give an entry another priority; the memories formed from it fade no further than it allows.

    For an operator's role only (`role=LEAD`), which takes a key that may admin. Who did it and why is kept. Of an entry
    in the archive it cannot be changed (409).
    """
    return PriorityChangeOut.of(await memory.journal.set_priority(event_id, body.priority, body.reason))
