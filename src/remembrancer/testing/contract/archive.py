"""Contract of the archive: which events leave the journal, how their text is cut, and which keys and ids stay taken."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import pytest

from remembrancer.domain.event import ARCHIVED_CHARS, Event, Priority, archived
from remembrancer.domain.memory import Cue, MemoryWrite
from remembrancer.domain.scope import Reach, Reader, Scope
from remembrancer.errors import Conflict, NotFound
from remembrancer.language.cues import analysed
from remembrancer.ports.journal import Aged, Entry, EventFilter
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import StoreSuite, exported, refused, unchanged
from remembrancer.testing.contract.world import WorldSuite
from remembrancer.testing.doubles import MATE, NOW, READER, SCOPE, a_memory, an_event, indexed

LONG_AGO: Final = NOW - timedelta(days=30)
ALL: Final = EventFilter(archived=True)
LONG: Final = replace(
    an_event("it answers " * 99, at=LONG_AGO, key="long"),
    type="network.probe",
    payload={"hops": ["a switch"] * 60},
    refs={"ticket": "OPS-7"},
)


def a_probe(number: int = 1, *, kind: str = "network.probe", at: datetime = LONG_AGO, key: str | None = None) -> Event:
    return replace(an_event(f"probe {number}", at=at, key=key), type=kind)


async def record(store: Store, *events: Event) -> None:
    await store.append(SCOPE, [Entry(event) for event in events])


async def archive(
    store: Store, *types: str, keep: frozenset[Priority] = frozenset(), before: datetime = NOW, limit: int = 99
) -> int:
    aged = Aged(types=frozenset(types or {"network.*"}), keep=keep, before=before)
    return await store.archive(SCOPE, aged, at=NOW, limit=limit)


async def texts(store: Store, where: EventFilter | None = None, *, reader: Reader = READER) -> list[str]:
    listed = await store.events(reader, where or EventFilter(), limit=99, oldest_first=True)
    return [event.text for event in listed]


class ArchiveContract(StoreSuite):
    async def test_archived_events_leave_the_journal(self, store: Store) -> None:
        await record(store, a_probe(), an_event("said", at=LONG_AGO))
        assert await archive(store) == 1
        assert (await texts(store), await store.count_events(READER, EventFilter())) == (["said"], 1)

    async def test_archived_events_can_be_listed_in_their_shortened_form(self, store: Store) -> None:
        await record(store, LONG)
        await archive(store)
        (kept,) = await store.events(READER, ALL, limit=9)
        assert kept == archived(LONG)
        assert (len(kept.text), kept.refs) == (ARCHIVED_CHARS, {"ticket": "OPS-7"})

    async def test_a_short_event_is_archived_whole(self, store: Store) -> None:
        probe = replace(a_probe(), payload={"hops": 3}, actor="a host")
        await record(store, probe)
        await archive(store)
        assert await store.events(READER, ALL, limit=9) == (probe,)

    async def test_a_text_that_begins_with_blanks_can_be_archived(self, store: Store) -> None:
        blank = replace(a_probe(), text=" " * ARCHIVED_CHARS + "told late")
        await record(store, blank)
        await archive(store)
        rows = await exported(store)
        async with self.another_store() as other:
            assert await other.import_rows(SCOPE, rows) == 1
            assert await texts(other, ALL) == [" " * ARCHIVED_CHARS]

    @pytest.mark.parametrize(
        ("asked", "left"),
        [
            ({"network.probe"}, ["heartbeat", "network", "network.probes", "networks.probe"]),
            ({"network.*"}, ["heartbeat", "network", "networks.probe"]),
            ({"network*"}, ["heartbeat"]),
            ({"heartbeat", "network.*"}, ["network", "networks.probe"]),
            ({"*"}, []),
            ({"metric"}, ["heartbeat", "network", "network.probe", "network.probes", "networks.probe"]),
            (set[str](), ["heartbeat", "network", "network.probe", "network.probes", "networks.probe"]),
        ],
    )
    async def test_types_are_selected_by_name_or_prefix(self, store: Store, asked: set[str], left: list[str]) -> None:
        kinds = ("heartbeat", "network", "network.probe", "network.probes", "networks.probe")
        await record(store, *(a_probe(number, kind=kind) for number, kind in enumerate(kinds)))
        aged = Aged(types=frozenset(asked), keep=frozenset(), before=NOW)
        assert await store.archive(SCOPE, aged, at=NOW, limit=9) == len(kinds) - len(left)
        assert sorted(event.type for event in await store.events(READER, EventFilter(), limit=9)) == left

    async def test_priorities_that_are_kept_stay(self, store: Store) -> None:
        probes = [replace(a_probe(number), priority=priority) for number, priority in enumerate(Priority)]
        await record(store, *probes)
        assert await archive(store, keep=frozenset({Priority.PIN, Priority.PERMANENT})) == 2
        left = [event.priority for event in await store.events(READER, EventFilter(), limit=9)]
        assert set(left) == {Priority.PIN, Priority.PERMANENT}

    async def test_events_at_that_time_or_later_stay(self, store: Store) -> None:
        instant = timedelta(microseconds=1)
        await record(store, *(a_probe(number, at=NOW + (number - 2) * instant) for number in (1, 2, 3)))
        assert await archive(store) == 1
        assert await texts(store) == ["probe 2", "probe 3"]

    async def test_events_that_formed_a_memory_stay(self, store: Store) -> None:
        await record(store, a_probe(1), a_probe(2))
        await store.insert(SCOPE, indexed(a_memory(), event_ids=[a_probe(1).id]))
        assert await archive(store) == 1
        assert await texts(store) == ["probe 1"]

    async def test_events_that_a_cue_names_stay(self, store: Store) -> None:
        await record(store, a_probe(1), a_probe(2))
        cue = Cue(memory_id=a_memory().id, ordinal=0, text="probe 1", event_id=a_probe(1).id)
        await store.insert(SCOPE, MemoryWrite(a_memory(), (analysed(cue),)))
        assert await archive(store) == 1
        assert await texts(store) == ["probe 1"]

    async def test_the_oldest_go_first(self, store: Store) -> None:
        kinds = ("network.probe", "network.scan")
        probes = [a_probe(n, kind=kinds[n % 2], at=LONG_AGO - timedelta(days=n)) for n in range(5)]
        await record(store, *probes)
        assert [await archive(store, limit=2) for _ in range(4)] == [2, 2, 1, 0]
        await record(store, a_probe(9, at=LONG_AGO))
        assert await texts(store, ALL) == ["probe 4", "probe 3", "probe 2", "probe 1", "probe 0", "probe 9"]

    async def test_the_oldest_of_many_types_are_the_oldest_of_all(self, store: Store) -> None:
        await record(
            store,
            a_probe(1, kind="network.a", at=LONG_AGO + timedelta(days=2)),
            a_probe(2, kind="network.b", at=LONG_AGO),
            a_probe(3, kind="network.b", at=LONG_AGO + timedelta(days=1)),
        )
        assert await archive(store, limit=2) == 2
        assert await texts(store) == ["probe 1"]

    async def test_an_archived_place_is_not_given_again(self, store: Store) -> None:
        await record(store, a_probe(1), a_probe(2))
        await archive(store)
        (appended,) = await store.append(SCOPE, [Entry(an_event("said"))])
        assert appended.event.seq == 3

    async def test_an_archived_event_supports_no_new_memory(self, store: Store) -> None:
        await record(store, a_probe())
        await archive(store)
        with pytest.raises(NotFound):
            await store.insert(SCOPE, indexed(a_memory(), event_ids=[a_probe().id]))

    async def test_a_key_is_recorded_once_though_its_event_is_archived(self, store: Store) -> None:
        await record(store, a_probe(key="k"))
        await archive(store)
        async with unchanged(store):
            (again,) = await store.append(SCOPE, [Entry(replace(a_probe(key="k"), id=UUID(int=7)))])
            assert (again.created, again.event) == (False, a_probe(key="k"))

    async def test_the_key_of_an_event_that_was_cut_is_recorded_once(self, store: Store) -> None:
        await record(store, LONG)
        await archive(store)
        (again,) = await store.append(SCOPE, [Entry(replace(LONG, id=UUID(int=7)))])
        assert (again.created, again.event) == (False, archived(LONG))

    async def test_another_text_under_an_archived_key_is_a_conflict(self, store: Store) -> None:
        await record(store, a_probe(key="k"))
        await archive(store)
        with pytest.raises(Conflict):
            await store.append(SCOPE, [Entry(a_probe(2, key="k"))])

    async def test_the_key_of_another_agent_is_another_key(self, store: Store) -> None:
        await record(store, a_probe(key="k"))
        await archive(store)
        other = MATE
        (appended,) = await store.append(other, [Entry(replace(an_event("mine", scope=other), key="k"))])
        assert appended.created

    async def test_an_archived_id_is_taken(self, store: Store) -> None:
        await record(store, a_probe())
        await archive(store)
        with pytest.raises(Conflict):
            await record(store, an_event("said", event_id=a_probe().id))

    async def test_both_are_listed_in_one_order(self, store: Store) -> None:
        day = timedelta(days=1)
        for number in range(6):
            kind = "network.probe" if number % 2 else "message"
            await record(store, a_probe(number, kind=kind, at=LONG_AGO + number * day))
        await archive(store)
        newest = [event.text for event in await store.events(READER, ALL, limit=3)]
        assert newest == ["probe 5", "probe 4", "probe 3"]
        assert await texts(store, ALL) == [f"probe {number}" for number in range(6)]
        assert await store.count_events(READER, ALL) == 6

    async def test_a_filter_holds_for_both(self, store: Store) -> None:
        await record(store, a_probe(1), a_probe(2, kind="message"), a_probe(3, kind="network.scan"))
        await archive(store)
        where = replace(ALL, types=frozenset({"network.probe", "message"}))
        assert set(await texts(store, where)) == {"probe 1", "probe 2"}
        assert await store.count_events(READER, where) == 2
        assert await texts(store, replace(ALL, ids=frozenset({a_probe(3).id}))) == ["probe 3"]

    async def test_a_reader_sees_the_same_events_of_the_archive_as_of_the_journal(self, store: Store) -> None:
        theirs = Scope(workspace="acme", crew="data", agent="bob")
        await record(store, a_probe(1))
        await store.append(theirs, [Entry(replace(a_probe(2), scope=theirs))])
        await archive(store)
        assert await texts(store, ALL, reader=Reader(SCOPE, Reach.OWN)) == ["probe 1"]
        assert await store.count_events(Reader(theirs, Reach.OWN), ALL) == 1


class ArchiveTransferContract(WorldSuite):
    async def test_the_archive_is_equal_after_an_export_and_an_import(self, store: Store) -> None:
        await record(store, LONG, a_probe(key="k"), an_event("said"))
        await archive(store)
        rows = await exported(store)
        async with self.another_store() as other:
            assert await other.import_rows(SCOPE, rows) == len(rows)
            assert await exported(other) == rows
            (again,) = await other.append(SCOPE, [Entry(a_probe(key="k"))])
            assert not again.created

    async def test_a_whole_event_is_not_shortened_by_an_import(self, store: Store) -> None:
        await record(store, LONG)
        async with self.another_store() as other:
            await record(other, LONG)
            await archive(other)
            rows = await exported(other)
        async with unchanged(store):
            assert await store.import_rows(SCOPE, rows) == 0

    async def test_a_shortened_event_is_completed_by_an_import(self, store: Store) -> None:
        await record(store, LONG)
        rows = await exported(store)
        await archive(store)
        assert await store.import_rows(SCOPE, rows) == 1
        assert await exported(store) == rows
        assert await store.import_rows(SCOPE, rows) == 0

    async def test_it_comes_back_at_the_place_that_it_has_here(self, store: Store) -> None:
        rows = await self.exported_by(lambda other: record(other, LONG))
        await record(store, an_event("first"), LONG)
        await archive(store)
        await store.import_rows(SCOPE, rows)
        assert [event.seq for event in await store.stream_events(SCOPE, after=0, limit=9)] == [1, 2]

    async def test_another_event_of_that_id_takes_no_place(self, store: Store) -> None:
        await record(store, LONG)
        rows = await exported(store)
        await archive(store)
        async with unchanged(store):
            other = [{**row, "text": "something else"} for row in rows]
            assert await store.import_rows(SCOPE, other) == 0

    @pytest.mark.parametrize("here", ["in the journal", "in the archive"])
    @pytest.mark.parametrize("there", ["in the journal", "in the archive"])
    async def test_a_key_held_by_another_event_refuses_the_import(self, store: Store, here: str, there: str) -> None:
        async with self.another_store() as other:
            await record(other, a_probe(1, key="k"))
            if there == "in the archive":
                await archive(other)
            rows = await exported(other)
        await record(store, a_probe(2, key="k"))
        if here == "in the archive":
            await archive(store)
        async with refused(store, Conflict):
            await store.import_rows(SCOPE, rows)

    async def test_an_archived_event_whose_position_is_taken_moves_to_the_end(self, store: Store) -> None:
        async with self.another_store() as other:
            await record(other, a_probe(1))
            await archive(other)
            rows = await exported(other)
        await record(store, an_event("first"), an_event("second"))
        assert await store.import_rows(SCOPE, rows) == 1
        (appended,) = await store.append(SCOPE, [Entry(an_event("next"))])
        assert appended.event.seq == 4

    async def test_archiving_after_all_was_archived_finds_nothing(self, world: Store) -> None:
        async with unchanged(world):
            assert await archive(world) == 0
