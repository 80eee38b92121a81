"""Contract of `append` and `events`: events are recorded once and in order, a batch completely or not at all, and
listed by filter.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from remembrancer.domain.event import Event, Origin, Priority, Role, Severity
from remembrancer.domain.scope import Reach, Reader, Scope
from remembrancer.errors import Conflict, InvalidInput, NotFound
from remembrancer.ports.journal import Entry, EventFilter
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import StoreSuite, exported, refused
from remembrancer.testing.doubles import MATE, NOW, NOWHERE, READER, SCOPE, a_memory, an_event, indexed

ANY = EventFilter()
FULL = Event(
    id=UUID("0192f0c1-0000-7000-8000-00000000aaaa"),
    scope=Scope(workspace="acme", project="web", crew="platform", agent="ana", session="monday"),
    seq=1,
    occurred_at=NOW - timedelta(days=3, microseconds=1),
    recorded_at=NOW + timedelta(microseconds=7),
    type="tool.call",
    severity=Severity.WARN,
    priority=Priority.PIN,
    actor="Ana Lovelace",
    role=Role.TOOL,
    text="Zeile eins\nzwei — 三 🚀 'quoted' \"twice\"; -- %s ?",
    payload={"list": [1, 2.5, None, True, {"nested": "ü"}], "empty": {}},
    refs={"ticket": "OPS-7"},
    key="turn-1",
    origin=Origin.WEB,
)


async def append(store: Store, *events: Event) -> None:
    await store.append(SCOPE, [Entry(event) for event in events])


async def texts(store: Store, where: EventFilter = ANY, *, oldest_first: bool = True) -> list[str]:
    listed = await store.events(READER, where, limit=100, oldest_first=oldest_first)
    return [event.text for event in listed]


class JournalContract(StoreSuite):
    async def test_an_event_comes_back_with_every_field(self, store: Store) -> None:
        await append(store, FULL)
        assert await store.events(READER, ANY, limit=10) == (FULL,)

    async def test_an_event_without_optional_fields_comes_back_as_it_was(self, store: Store) -> None:
        event = an_event(scope=Scope(workspace="acme"))
        await append(store, event)
        assert await store.events(READER, ANY, limit=10) == (event,)

    async def test_append_returns_the_events_as_recorded(self, store: Store) -> None:
        appended = await store.append(SCOPE, [Entry(an_event("one")), Entry(an_event("two"))])
        assert [(one.event.text, one.event.seq, one.created) for one in appended] == [
            ("one", 1, True),
            ("two", 2, True),
        ]

    async def test_appending_nothing_returns_nothing(self, store: Store) -> None:
        assert await store.append(SCOPE, []) == ()

    async def test_seq_counts_from_one_in_each_stream(self, store: Store) -> None:
        streams = [
            Scope(workspace="acme"),
            SCOPE,
            replace(SCOPE, session="tuesday"),
            MATE,
            replace(SCOPE, project="web"),
        ]
        for turn in ("one", "two"):
            appended = await store.append(
                SCOPE, [Entry(an_event(f"{turn} {n}", scope=scope)) for n, scope in enumerate(streams)]
            )
            expected = 1 if turn == "one" else 2
            assert [one.event.seq for one in appended] == [expected] * len(streams)

    async def test_a_recorded_key_is_unchanged(self, store: Store) -> None:
        await append(store, an_event("first", key="k"))
        again = an_event("first", event_id=UUID(int=9), key="k", at=NOW + timedelta(hours=1))
        (appended,) = await store.append(SCOPE, [Entry(again)])
        assert (appended.event, appended.created) == (an_event("first", key="k"), False)
        assert await texts(store) == ["first"]

    async def test_the_memory_of_a_recorded_key_is_not_written(self, store: Store) -> None:
        await append(store, an_event("first", key="k"))
        await store.append(SCOPE, [Entry(an_event("first", key="k"), indexed(a_memory()))])
        assert await store.get(READER, [a_memory().id]) == {}

    async def test_a_key_given_twice_in_one_batch_is_recorded_once(self, store: Store) -> None:
        twice = [Entry(an_event("same", event_id=UUID(int=n), key="k")) for n in (1, 2)]
        appended = await store.append(SCOPE, twice)
        assert [(one.event.id, one.created) for one in appended] == [(UUID(int=1), True), (UUID(int=1), False)]

    async def test_a_key_with_another_text_is_a_conflict(self, store: Store) -> None:
        await append(store, an_event("first", key="k"))
        with pytest.raises(Conflict):
            await append(store, an_event("second", key="k"))
        assert await texts(store) == ["first"]

    async def test_an_event_s_key_holds_across_sessions(self, store: Store) -> None:
        await append(store, an_event("first", key="k"))
        with pytest.raises(Conflict):
            await append(store, an_event("second", key="k", scope=replace(SCOPE, session="tuesday")))

    async def test_an_event_s_key_is_free_in_another_scope(self, store: Store) -> None:
        others = [MATE, replace(SCOPE, crew="data"), replace(SCOPE, project="web")]
        await append(
            store,
            an_event("first", key="k"),
            *(an_event(f"{n}", key="k", scope=scope) for n, scope in enumerate(others)),
        )
        assert len(await texts(store)) == 4

    async def test_an_event_and_a_memory_may_share_a_key(self, store: Store) -> None:
        await store.append(SCOPE, [Entry(an_event("said", key="k"), indexed(replace(a_memory("kept"), key="k")))])
        assert await texts(store) == ["said"]

    async def test_an_id_recorded_before_is_a_conflict(self, store: Store) -> None:
        await append(store, an_event("first", event_id=UUID(int=1)))
        with pytest.raises(Conflict):
            await append(store, an_event("second", event_id=UUID(int=1)))

    async def test_one_conflict_leaves_the_whole_batch_unwritten(self, store: Store) -> None:
        await append(store, an_event("first", key="k"))
        async with refused(store, Conflict):
            await store.append(
                SCOPE, [Entry(an_event("fine"), indexed(a_memory("fine"))), Entry(an_event("second", key="k"))]
            )

    async def test_a_refused_batch_takes_no_place_in_the_stream(self, store: Store) -> None:
        await append(store, an_event("first", key="k"))
        with pytest.raises(Conflict):
            await append(store, an_event("fine"), an_event("second", key="k"))
        (appended,) = await store.append(SCOPE, [Entry(an_event("next"))])
        assert appended.event.seq == 2

    async def test_an_event_of_another_workspace_leaves_the_whole_batch_unwritten(self, store: Store) -> None:
        foreign = an_event("foreign", scope=replace(SCOPE, workspace="rival"))
        with pytest.raises(InvalidInput, match="rival"):
            await append(store, an_event("fine"), foreign)
        assert await exported(store) == []

    async def test_a_memory_of_another_workspace_leaves_the_whole_batch_unwritten(self, store: Store) -> None:
        foreign = indexed(a_memory(scope=replace(SCOPE, workspace="rival")))
        with pytest.raises(InvalidInput, match="rival"):
            await store.append(SCOPE, [Entry(an_event("fine")), Entry(an_event("carrier"), foreign)])
        assert await exported(store) == []

    async def test_a_memory_of_an_unknown_event_leaves_the_whole_batch_unwritten(self, store: Store) -> None:
        dangling = indexed(a_memory(), event_ids=[NOWHERE])
        with pytest.raises(NotFound):
            await store.append(SCOPE, [Entry(an_event("fine")), Entry(an_event("carrier"), dangling)])
        assert await exported(store) == []

    async def test_a_memory_that_is_already_there_leaves_the_whole_batch_unwritten(self, store: Store) -> None:
        await store.insert(SCOPE, indexed(a_memory()))
        async with refused(store, Conflict):
            await store.append(SCOPE, [Entry(an_event("fine")), Entry(an_event("two"), indexed(a_memory()))])

    async def test_a_memory_comes_with_its_event(self, store: Store) -> None:
        event, memory = an_event("said"), a_memory("kept")
        await store.append(SCOPE, [Entry(event, indexed(memory, event_ids=[event.id]))])
        assert await store.get(READER, [memory.id]) == {memory.id: memory}
        assert await store.provenance(READER, memory.id) == (event,)

    async def test_a_memory_may_name_an_earlier_event_of_its_batch(self, store: Store) -> None:
        first, second, memory = an_event("first"), replace(an_event("second"), seq=2), a_memory()
        await store.append(SCOPE, [Entry(first), Entry(second, indexed(memory, event_ids=[second.id, first.id]))])
        assert await store.provenance(READER, memory.id) == (second, first)

    async def test_events_come_newest_first(self, store: Store) -> None:
        await append(store, an_event("old", at=NOW - timedelta(days=1)), an_event("new"))
        assert await texts(store, oldest_first=False) == ["new", "old"]

    async def test_events_come_oldest_first_when_asked(self, store: Store) -> None:
        await append(store, an_event("new"), an_event("old", at=NOW - timedelta(days=1)))
        assert await texts(store, oldest_first=True) == ["old", "new"]

    async def test_events_of_one_moment_keep_their_place_in_the_stream(self, store: Store) -> None:
        await append(store, *(an_event(f"turn {n}") for n in range(5)))
        assert await texts(store, oldest_first=True) == [f"turn {n}" for n in range(5)]
        assert await texts(store, oldest_first=False) == [f"turn {n}" for n in reversed(range(5))]

    async def test_events_of_one_moment_and_place_come_by_id(self, store: Store) -> None:
        twins = [an_event(f"{n}", event_id=UUID(int=n), scope=replace(SCOPE, session=f"s{9 - n}")) for n in (2, 1, 3)]
        await append(store, *twins)
        assert await texts(store, oldest_first=True) == ["1", "2", "3"]
        assert await texts(store, oldest_first=False) == ["3", "2", "1"]

    async def test_a_limit_keeps_the_newest_events(self, store: Store) -> None:
        await append(store, *(an_event(f"turn {n}", at=NOW + timedelta(minutes=n)) for n in range(5)))
        listed = await store.events(READER, ANY, limit=2)
        assert [event.text for event in listed] == ["turn 4", "turn 3"]

    async def test_events_are_chosen_by_session(self, store: Store) -> None:
        await append(store, an_event("mine"), an_event("other", scope=replace(SCOPE, session="tuesday")))
        assert await texts(store, EventFilter(session="tuesday")) == ["other"]

    async def test_events_are_chosen_by_type(self, store: Store) -> None:
        await append(
            store, an_event("said"), replace(an_event("called"), type="tool"), replace(an_event("x"), type="y")
        )
        assert await texts(store, EventFilter(types=frozenset({"tool", "message"}))) == ["said", "called"]

    async def test_events_of_unwanted_types_are_left_out(self, store: Store) -> None:
        await append(
            store, an_event("said"), replace(an_event("called"), type="tool"), replace(an_event("x"), type="y")
        )
        assert await texts(store, EventFilter(without_types=frozenset({"tool", "y"}))) == ["said"]

    async def test_a_type_both_wanted_and_unwanted_is_left_out(self, store: Store) -> None:
        await append(store, an_event("said"), replace(an_event("called"), type="tool"))
        where = EventFilter(types=frozenset({"message", "tool"}), without_types=frozenset({"tool"}))
        assert await texts(store, where) == ["said"]

    async def test_events_are_chosen_by_id(self, store: Store) -> None:
        await append(store, *(an_event(f"{n}", event_id=UUID(int=n)) for n in range(1, 4)))
        where = EventFilter(ids=frozenset({UUID(int=1), UUID(int=3), NOWHERE}))
        assert await texts(store, where) == ["1", "3"]

    async def test_no_id_chooses_no_event(self, store: Store) -> None:
        await append(store, an_event())
        assert await texts(store, EventFilter(ids=frozenset[UUID]())) == []

    async def test_very_many_ids_can_be_requested(self, store: Store) -> None:
        await append(store, an_event("one"))
        ids = frozenset({an_event("one").id, *(UUID(int=n) for n in range(40_000))})
        assert await texts(store, EventFilter(ids=ids)) == ["one"]

    async def test_events_are_chosen_by_agent(self, store: Store) -> None:
        await append(
            store,
            an_event("mine"),
            an_event("theirs", scope=MATE),
            an_event("nobody's", scope=replace(SCOPE, agent=None)),
        )
        assert await texts(store, EventFilter(agent="bob")) == ["theirs"]

    async def test_events_are_chosen_by_when_they_were_recorded(self, store: Store) -> None:
        late = [replace(an_event(f"{n}"), recorded_at=NOW + timedelta(microseconds=n)) for n in range(3)]
        await append(store, *late)
        assert await texts(store, EventFilter(recorded_after=NOW)) == ["1", "2"]
        assert await texts(store, EventFilter(recorded_by=NOW + timedelta(microseconds=1))) == ["0", "1"]

    async def test_events_are_chosen_that_no_memory_was_formed_from(self, store: Store) -> None:
        formed = an_event("formed")
        memory = indexed(a_memory("formed"), event_ids=[formed.id])
        await store.append(SCOPE, [Entry(formed, memory), Entry(an_event("not formed", event_id=UUID(int=9)))])
        assert await texts(store, EventFilter(unformed=True)) == ["not formed"]
        assert await store.count_events(READER, EventFilter(unformed=True)) == 1

    async def test_events_are_found_by_any_word_and_ordered_by_the_weights_of_those_they_have(
        self, store: Store
    ) -> None:
        later = an_event("the owl", event_id=UUID(int=5), at=NOW + timedelta(days=1))
        twice = [an_event("an owl, an owl", event_id=UUID(int=n)) for n in (2, 1)]
        by_payload = replace(an_event("a hawk", event_id=UUID(int=3)), payload={"prey": "owl"})
        await append(store, later, *twice, by_payload, an_event("a crow", event_id=UUID(int=4)))
        weights = {"owl": 2, "hawk": 1, "kestrel": 9}
        found = await store.read(lambda view: view.events_by_words(READER, ANY, weights, limit=9))
        assert [(one.event.id.int, one.score) for one in found] == [(3, 3), (5, 2), (1, 2), (2, 2)]
        rest = await store.read(lambda view: view.events_by_words(READER, ANY, weights, limit=2, skip=1))
        assert rest == found[1:3]

    async def test_without_a_word_no_event_is_found(self, store: Store) -> None:
        await append(store, an_event("an owl"))
        assert await store.read(lambda view: view.events_by_words(READER, ANY, {}, limit=9)) == ()

    async def test_words_are_looked_up_in_events_that_are_seen_and_kept(self, store: Store) -> None:
        scopes = (SCOPE, MATE, replace(SCOPE, session="tuesday"))
        await append(store, *(an_event("owl", event_id=UUID(int=n), scope=scope) for n, scope in enumerate(scopes)))
        mine, where = Reader(SCOPE, Reach.OWN), EventFilter(session=SCOPE.session)
        found = await store.read(lambda view: view.events_by_words(mine, where, {"owl": 1}, limit=9))
        assert [one.event.id for one in found] == [UUID(int=0)]

    async def test_a_view_lists_events_as_the_store_does(self, store: Store) -> None:
        await append(store, *(an_event(f"{n}", at=NOW + timedelta(days=n)) for n in range(3)))
        listed = await store.events(READER, ANY, limit=2)
        assert await store.read(lambda view: view.events(READER, ANY, limit=2)) == listed
        assert await store.read(lambda view: view.count_events(READER, ANY)) == 3

    @pytest.mark.parametrize("limit", [1, 100])
    async def test_as_many_events_are_counted_as_would_be_listed(self, store: Store, limit: int) -> None:
        await append(store, *(replace(an_event(f"{n}"), type=f"type-{n % 2}") for n in range(6)))
        for where in (ANY, EventFilter(types=frozenset({"type-1"})), EventFilter(session="tuesday")):
            listed = await store.events(READER, where, limit=limit)
            assert min(await store.count_events(READER, where), limit) == len(listed)

    async def test_events_out_of_reach_are_not_counted(self, store: Store) -> None:
        await append(store, an_event("mine"), an_event("theirs", scope=MATE))
        assert await store.count_events(Reader(SCOPE, Reach.OWN), ANY) == 1

    async def test_no_type_chooses_no_event(self, store: Store) -> None:
        await append(store, an_event())
        assert await texts(store, EventFilter(types=frozenset())) == []

    async def test_since_is_included_and_until_is_not(self, store: Store) -> None:
        await append(store, *(an_event(f"{n}", at=NOW + timedelta(microseconds=n)) for n in range(4)))
        chosen = EventFilter(since=NOW + timedelta(microseconds=1), until=NOW + timedelta(microseconds=3))
        assert await texts(store, chosen) == ["1", "2"]
