"""Contract of priorities: set by operators, logged, and followed by the memories formed from the event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import pytest

from remembrancer.domain.event import Event, Priority
from remembrancer.domain.journal import PriorityChange
from remembrancer.domain.memory import Memory, Status
from remembrancer.domain.scope import Reach, Reader, Scope
from remembrancer.domain.strength import Strength
from remembrancer.errors import Conflict, NotFound
from remembrancer.ports.journal import Aged, Entry, EventFilter
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import StoreSuite, exported, holding, refused, unchanged
from remembrancer.testing.doubles import HIDDEN, MATE, NOW, READER, SCOPE, a_memory, an_event, indexed

LATER: Final = NOW + timedelta(days=2)
EVENT: Final = an_event("said")
OTHER: Final = replace(an_event("heard"), priority=Priority.HIGH, seq=2)
PINNED: Final = PriorityChange(
    event_id=EVENT.id, previous=Priority.NORMAL, priority=Priority.PIN, by="LEAD bo", reason="keep it", at=LATER
)
EVERYTHING_AGED: Final = Aged(types=frozenset({"*"}), keep=frozenset({Priority.PERMANENT}), before=LATER)


def as_it_was(memory: Memory, _before: Sequence[Event], _after: Sequence[Event]) -> Strength:
    return memory.strength


def floored(memory: Memory, before: Sequence[Event], after: Sequence[Event]) -> Strength:
    """A strength computed from the events before and after a change: `importance_floor` is a tenth per event that was
    pinned before, `importance` a tenth per event that is pinned after.
    """
    was, now = (sum(event.priority is Priority.PIN for event in events) for events in (before, after))
    return replace(memory.strength, importance_floor=was / 10, importance=now / 10)


async def mark(
    store: Store,
    event: Event = EVENT,
    priority: Priority = Priority.PIN,
    *,
    at: datetime = LATER,
    reader: Reader = READER,
) -> PriorityChange:
    return await store.set_priority(reader, event.id, priority, by="LEAD bo", reason="keep it", at=at, change=as_it_was)


class PriorityContract(StoreSuite):
    recorded = holding(lambda store: store.append(SCOPE, [Entry(EVENT)]))

    async def test_an_event_takes_the_priority(self, recorded: Store) -> None:
        assert await mark(recorded) == PINNED
        assert await recorded.events(READER, EventFilter(), limit=9) == (replace(EVENT, priority=Priority.PIN),)
        assert await recorded.count_events(READER, EventFilter(priorities=frozenset({Priority.PIN}))) == 1

    async def test_each_change_is_kept_oldest_first(self, recorded: Store) -> None:
        back = await mark(recorded, priority=Priority.NORMAL, at=LATER + timedelta(hours=1))
        first = await mark(recorded)
        second = await mark(recorded, priority=Priority.NORMAL, at=LATER + timedelta(hours=2))
        assert await recorded.priority_changes(READER, EVENT.id) == (first, second)
        assert not back.is_change

    async def test_the_priority_it_has_already_changes_nothing(self, store: Store) -> None:
        await store.append(SCOPE, [Entry(OTHER)])
        async with unchanged(store):
            assert (await mark(store, OTHER, Priority.HIGH)).previous is Priority.HIGH

    async def test_an_entry_whose_priority_never_changed_has_no_changes(self, recorded: Store) -> None:
        assert await recorded.priority_changes(READER, EVENT.id) == ()

    async def test_a_changed_priority_takes_no_new_position(self, recorded: Store) -> None:
        await mark(recorded)
        page = await recorded.recorded(READER, EventFilter(), after=0, limit=9)
        assert [(one.position, one.event.priority) for one in page.entries] == [(1, Priority.PIN)]

    async def test_an_unknown_event_is_not_found(self, store: Store) -> None:
        with pytest.raises(NotFound):
            await mark(store)
        assert await store.priority_changes(READER, EVENT.id) == ()

    async def test_an_event_out_of_reach_is_not_found(self, recorded: Store) -> None:
        other = Reader(MATE, Reach.OWN)
        with pytest.raises(NotFound):
            await mark(recorded, reader=other)
        await mark(recorded)
        assert await recorded.priority_changes(other, EVENT.id) == ()

    async def test_an_archived_entry_keeps_its_priority(self, recorded: Store) -> None:
        await mark(recorded, at=NOW)
        await recorded.archive(SCOPE, EVERYTHING_AGED, at=NOW, limit=9)
        with pytest.raises(Conflict, match="archive"):
            await mark(recorded, priority=Priority.NORMAL)
        assert [one.priority for one in await recorded.priority_changes(READER, EVENT.id)] == [Priority.PIN]

    async def test_a_permanent_entry_is_not_archived(self, recorded: Store) -> None:
        await mark(recorded, priority=Priority.PERMANENT)
        assert await recorded.archive(SCOPE, EVERYTHING_AGED, at=NOW, limit=9) == 0

    async def test_a_memory_takes_the_strength_that_follows_from_all_its_events(self, store: Store) -> None:
        memory = a_memory()
        await store.append(SCOPE, [Entry(EVENT), Entry(OTHER, indexed(memory, event_ids=[EVENT.id, OTHER.id]))])
        seen: list[tuple[Sequence[Event], Sequence[Event]]] = []

        def change(_memory: Memory, before: Sequence[Event], after: Sequence[Event]) -> Strength:
            seen.append((tuple(before), tuple(after)))
            return Strength(importance=0.25, importance_floor=0.125)

        await store.set_priority(READER, EVENT.id, Priority.PIN, by="LEAD", reason="", at=LATER, change=change)
        assert seen == [((EVENT, OTHER), (replace(EVENT, priority=Priority.PIN), OTHER))]
        kept = (await store.get(READER, [memory.id]))[memory.id].strength
        assert kept == Strength(importance=0.25, importance_floor=0.125)

    async def test_every_memory_formed_from_it_changes_with_any_status_and_visibility(self, store: Store) -> None:
        hidden = HIDDEN
        retired = a_memory("retired")
        await store.append(SCOPE, [Entry(EVENT, indexed(retired, event_ids=[EVENT.id]))])
        await store.insert(SCOPE, indexed(hidden, event_ids=[EVENT.id]))
        await store.set_status(READER, retired.id, Status.RETIRED, at=NOW)
        await store.set_priority(READER, EVENT.id, Priority.PIN, by="LEAD", reason="", at=LATER, change=floored)
        strengths = [row["importance"] for row in await exported(store) if row["record"] == "memory"]
        assert strengths == [0.1, 0.1]

    async def test_other_memories_are_unchanged(self, store: Store) -> None:
        other = a_memory("other")
        await store.append(SCOPE, [Entry(EVENT), Entry(OTHER, indexed(other, event_ids=[OTHER.id]))])
        await store.set_priority(READER, EVENT.id, Priority.PIN, by="LEAD", reason="", at=LATER, change=floored)
        assert await store.get(READER, [other.id]) == {other.id: other}

    async def test_a_change_that_raises_leaves_everything(self, store: Store) -> None:
        await store.append(SCOPE, [Entry(EVENT, indexed(a_memory(), event_ids=[EVENT.id]))])

        def refuse(_memory: Memory, _before: Sequence[Event], _after: Sequence[Event]) -> Strength:
            raise Conflict("not now")

        async with refused(store, Conflict, match="not now"):
            await store.set_priority(READER, EVENT.id, Priority.PIN, by="LEAD", reason="", at=LATER, change=refuse)


class PriorityTransferContract(StoreSuite):
    async def test_an_export_carries_the_priority_and_its_changes(self, store: Store) -> None:
        async with self.another_store() as source:
            await source.append(SCOPE, [Entry(EVENT)])
            await mark(source)
            rows = await exported(source)
        assert await store.import_rows(SCOPE, rows) == 2
        assert (await store.events(READER, EventFilter(), limit=9))[0].priority is Priority.PIN
        assert await store.priority_changes(READER, EVENT.id) == (PINNED,)

    async def test_an_event_that_is_there_keeps_the_priority_it_has_here(self, store: Store) -> None:
        async with self.another_store() as source:
            await source.append(SCOPE, [Entry(EVENT)])
            await mark(source)
            rows = await exported(source)
        await store.append(SCOPE, [Entry(EVENT)])
        assert await store.import_rows(SCOPE, rows) == 1
        assert (await store.events(READER, EventFilter(), limit=9))[0].priority is Priority.NORMAL
        assert await store.priority_changes(READER, EVENT.id) == (PINNED,)

    async def test_the_changes_of_an_archived_event_go_with_it(self, store: Store) -> None:
        async with self.another_store() as source:
            await source.append(SCOPE, [Entry(EVENT)])
            await mark(source, at=NOW)
            await source.archive(SCOPE, EVERYTHING_AGED, at=NOW, limit=9)
            rows = await exported(source)
        await store.import_rows(SCOPE, rows)
        assert await exported(store) == rows

    async def test_a_change_by_someone_of_a_long_name_comes_back(self, store: Store) -> None:
        scope = Scope(workspace="acme", agent="a" * 200)
        event = an_event(event_id=UUID(int=7), scope=scope)
        async with self.another_store() as source:
            await source.append(SCOPE, [Entry(event)])
            long = f"{'L' * 200} {'a' * 200}"
            await source.set_priority(READER, event.id, Priority.PIN, by=long, reason="", at=NOW, change=as_it_was)
            rows = await exported(source)
        await store.import_rows(SCOPE, rows)
        assert [one.by for one in await store.priority_changes(READER, event.id)] == [long]
