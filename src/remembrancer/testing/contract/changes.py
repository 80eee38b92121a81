"""Contract of the change feed: which changes each write reports to an index, and what a read view returns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import numpy as np
import pytest

from remembrancer.domain.effect import Effect, StatusChange
from remembrancer.domain.erasure import Removal
from remembrancer.domain.event import Event, Priority, Role
from remembrancer.domain.instants import micros
from remembrancer.domain.memory import Cue, CueFlag, Memory, MemoryWrite, Status
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.strength import Adjustment, Exposed, Exposure, Strength, Usage
from remembrancer.language.cues import analysed
from remembrancer.ports.changes import ChangedMemory, CueTurn, WorkspaceState, packed_terms
from remembrancer.ports.embeddings import CueVector
from remembrancer.ports.journal import Entry
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import EVERYTHING, MODEL, StoreSuite, assert_same_states, give_vectors, remember
from remembrancer.testing.contract.erasing import a_receipt
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory, a_vector, an_event, indexed

LATER: Final = NOW + timedelta(days=1)
KESTREL: Final = a_memory("kestrel", memory_id=UUID(int=1))
OWL: Final = a_memory("owl", memory_id=UUID(int=2))
TURN: Final = replace(an_event("said", event_id=UUID(int=9)), actor="Ana")
LIVED: Final = Strength(
    importance=0.875,
    importance_floor=0.25,
    priority=9,
    confidence=0.125,
    stability=12.5,
    last_reviewed_at=NOW + timedelta(seconds=4),
    usage=Usage(
        retrieved=1,
        shown=2,
        used=3,
        worked=1.5,
        failed=0.25,
        last_retrieved_at=NOW,
        last_shown_at=LATER,
        last_used_at=LATER,
    ),
)


async def state(store: Store) -> WorkspaceState:
    return await store.read(lambda view: view.state(SCOPE))


async def changes(store: Store, *, after: int = 0, model: str | None = None) -> list[ChangedMemory]:
    return await store.read(lambda view: list(view.changes(SCOPE, after=after, model=model)))


def as_important(_memory: Memory, _before: object, _after: object) -> Strength:
    return Strength(importance=1.0)


async def _put_vectors(store: Store) -> object:
    pending = await store.pending_of(SCOPE, MODEL, KESTREL.id)
    return await store.put_vectors(SCOPE, MODEL, [CueVector(cue.ref, a_vector(1, 0), False) for cue in pending], at=NOW)


async def _append(store: Store) -> object:
    event = an_event("another", event_id=UUID(int=8))
    return await store.append(SCOPE, [Entry(event, indexed(replace(KESTREL, id=UUID(int=3)), event_ids=[event.id]))])


WRITES: Final[dict[str, tuple[Callable[[Store], Awaitable[object]], set[UUID]]]] = {
    "append": (_append, {UUID(int=3)}),
    "insert": (lambda store: store.insert(SCOPE, indexed(a_memory("new", memory_id=UUID(int=3)))), {UUID(int=3)}),
    "revise": (lambda store: store.revise(SCOPE, indexed(KESTREL, "x"), expected_revision=1, at=LATER), {KESTREL.id}),
    "adjust": (lambda store: store.adjust(READER, [OWL.id], lambda _: Adjustment(LIVED), at=LATER), {OWL.id}),
    "supersede": (lambda store: store.supersede(READER, OWL.id, KESTREL.id, at=LATER), {OWL.id}),
    "set_status": (lambda store: store.set_status(READER, OWL.id, Status.RETIRED, at=LATER), {OWL.id}),
    "put_vectors": (_put_vectors, {KESTREL.id}),
    "set_priority": (
        lambda store: store.set_priority(
            READER, TURN.id, Priority.PIN, by="LEAD", reason="keep", at=LATER, change=as_important
        ),
        {KESTREL.id},
    ),
    "commit of an inserted memory": (
        lambda store: store.commit(SCOPE, Effect(inserted=(indexed(a_memory(memory_id=UUID(int=3))),)), at=LATER),
        {UUID(int=3)},
    ),
    "commit of a revised memory": (
        lambda store: store.commit(SCOPE, Effect(expected={OWL.id: 1}, revised=(indexed(OWL, "x"),)), at=LATER),
        {OWL.id},
    ),
    "commit of a moved memory": (
        lambda store: store.commit(
            SCOPE, Effect(status_changes=(StatusChange(OWL.id, Status.COMPACTED, "x"),)), at=LATER
        ),
        {OWL.id},
    ),
    "commit of a superseded memory": (
        lambda store: store.commit(SCOPE, Effect(superseded=((OWL.id, None),)), at=LATER),
        {OWL.id},
    ),
    "commit of an adjusted memory": (
        lambda store: store.commit(SCOPE, Effect(adjusted={OWL.id: lambda _: Adjustment(LIVED)}), at=LATER),
        {OWL.id},
    ),
}
"""Writes by name, and the memories that each reports as changed."""

NO_CHANGES: Final[dict[str, Callable[[Store], Awaitable[object]]]] = {
    "an event that no memory is of": lambda store: store.append(SCOPE, [Entry(an_event("heard"))]),
    "a log of exposures": lambda store: store.adjust(
        READER, [], lambda _: Adjustment(LIVED), at=LATER, exposed=[Exposed(OWL.id, Exposure.SHOWN, LATER)]
    ),
    "a read": lambda store: store.memories(READER, EVERYTHING, limit=9),
}

SPANS: Final = [
    (replace(KESTREL, valid_from=LATER), LATER, None),
    (replace(KESTREL, valid_from=NOW - timedelta(days=1)), NOW, None),
    (replace(KESTREL, valid_until=LATER), NOW, LATER),
    (replace(KESTREL, status=Status.RETIRED, retired_at=LATER), NOW, LATER),
    (replace(KESTREL, superseded_by=OWL.id, superseded_at=LATER, valid_until=2 * LATER.resolution + LATER), NOW, LATER),
]
"""Memories with the time from which each is current and the time until which it is; None: no end."""


class ChangesContract(StoreSuite):
    async def _filled(self, store: Store) -> int:
        """Insert two memories, one of them formed from an event. Returns the number of the last change."""
        cue = Cue(memory_id=KESTREL.id, ordinal=0, text="kestrel", event_id=TURN.id)
        await store.append(SCOPE, [Entry(TURN, MemoryWrite(KESTREL, (analysed(cue),), (TURN.id,)))])
        await remember(store, OWL)
        return (await state(store)).change

    async def test_a_store_without_rows_has_no_change(self, store: Store) -> None:
        assert await changes(store) == []

    @pytest.mark.parametrize("write", WRITES)
    async def test_a_write_reports_exactly_the_memories_it_changed(self, store: Store, write: str) -> None:
        before = await self._filled(store)
        step, expected = WRITES[write]
        await step(store)
        told = await changes(store, after=before)
        assert {one.id for one in told} == expected
        assert (await state(store)).change > before
        assert await changes(store, after=(await state(store)).change) == []

    async def test_an_import_reports_the_imported_memories(self, store: Store) -> None:
        before = await self._filled(store)
        rows = await self.exported_by(lambda source: remember(source, a_memory("brought")))
        await store.import_rows(SCOPE, rows)
        assert {one.id for one in await changes(store, after=before)} == {a_memory("brought").id}

    @pytest.mark.parametrize("write", NO_CHANGES)
    async def test_a_write_without_effect_on_an_index_reports_nothing(self, store: Store, write: str) -> None:
        before = await self._filled(store)
        await NO_CHANGES[write](store)
        assert await changes(store, after=before) == []

    async def test_a_relation_added_by_hand_changes_nothing_for_an_index(self, store: Store) -> None:
        await self._filled(store)
        before = sorted(await changes(store), key=lambda one: one.id)
        await store.relate(READER, [Relation(OWL.id, KESTREL.id, RelationKind.SIMILAR, 0.5, NOW)])
        assert sorted(await changes(store), key=lambda one: one.id) == before

    async def test_an_erasure_is_counted(self, store: Store) -> None:
        await self._filled(store)
        before = await state(store)
        await store.erase(SCOPE, Removal(memories=frozenset({OWL.id})), a_receipt())
        after = await state(store)
        assert after.erasures > before.erasures
        assert after.change >= before.change
        assert {one.id for one in await changes(store)} == {KESTREL.id}

    async def test_what_an_erasure_removed_and_rebuilt_is_named(self, store: Store) -> None:
        await self._filled(store)
        first = await state(store)
        receipt = replace(a_receipt(), memories=(OWL.id,), derived=(UUID(int=5),), rebuilt=(KESTREL.id,))
        await store.erase(SCOPE, Removal(memories=frozenset({OWL.id})), receipt)
        second = await state(store)
        gone = [await store.read(lambda view, at=at: view.erased(SCOPE, after=at.erasures)) for at in (first, second)]
        assert gone == [{OWL.id, UUID(int=5), KESTREL.id}, set()]

    async def test_changes_come_in_the_order_they_were_made(self, store: Store) -> None:
        await self._filled(store)
        await store.set_status(READER, KESTREL.id, Status.RETIRED, at=LATER)
        assert [one.id for one in await changes(store)] == [OWL.id, KESTREL.id]

    async def test_a_memory_has_the_fields_that_filters_and_scores_need(self, store: Store) -> None:
        memory = replace(
            KESTREL,
            source="mail",
            occurred_from=NOW - timedelta(hours=1),
            tags=("a", "b"),
            metadata={"run": 7, "more": [1]},
            strength=LIVED,
        )
        await remember(store, memory)
        (told,) = await changes(store)
        assert (
            told[:-1]
            == ChangedMemory(
                id=memory.id,
                revision=1,
                project="",
                crew="platform",
                agent="ana",
                session="monday",
                visibility="workspace",
                tier="episodic",
                kind="note",
                source="mail",
                occurred_from=micros(NOW - timedelta(hours=1)),
                occurred_to=micros(NOW),
                current_from=micros(NOW),
                current_until=told.current_until,
                last_reviewed_at=micros(NOW + timedelta(seconds=4)),
                last_retrieved_at=micros(NOW),
                last_shown_at=micros(LATER),
                last_used_at=micros(LATER),
                importance=0.875,
                importance_floor=0.25,
                confidence=0.125,
                stability=12.5,
                priority=9,
                retrieved=1,
                shown=2,
                used=3,
                worked=1.5,
                failed=0.25,
                tags=("a", "b"),
                metadata={"run": 7, "more": [1]},
                cues=[],
            )[:-1]
        )
        assert told.current_until > micros(NOW.replace(year=9999))

    @pytest.mark.parametrize(("memory", "start", "end"), SPANS)
    async def test_a_memory_is_current_in_its_span(
        self, store: Store, memory: Memory, start: datetime, end: datetime | None
    ) -> None:
        await remember(store, memory)
        (told,) = await changes(store)
        assert told.current_from == micros(start)
        assert told.current_until == micros(end) if end else told.current_until > micros(LATER.replace(year=9999))

    @pytest.mark.parametrize(
        "memory", [replace(KESTREL, status=Status.RETIRED), replace(KESTREL, superseded_by=OWL.id)]
    )
    async def test_a_memory_that_ended_at_an_unknown_time_is_never_current(self, store: Store, memory: Memory) -> None:
        await remember(store, memory)
        (told,) = await changes(store)
        assert told.current_until <= told.current_from

    async def test_a_memory_comes_with_all_its_cues_by_ordinal(self, store: Store) -> None:
        write = indexed(KESTREL, "one owl", "two", "three owls owl")
        flagged = (write.cues[0], replace(write.cues[1], flags=CueFlag.TIME | CueFlag.NAME), write.cues[2])
        await remember(store, replace(write, cues=flagged))
        (told,) = await changes(store)
        assert [(cue.terms, cue.length, cue.flags) for cue in told.cues] == [
            (packed_terms(cue.terms), len(cue.terms), int(cue.flags)) for cue in flagged
        ]
        assert [cue.ref for cue in told.cues] == [cue.ref for cue in await store.pending_of(SCOPE, MODEL, KESTREL.id)]

    async def test_a_cue_comes_with_its_vector_of_the_model_requested(self, store: Store) -> None:
        await remember(store, indexed(KESTREL, "one", "two"))
        await give_vectors(store, {"two": a_vector(3, 4)})
        await give_vectors(store, {"one": a_vector(1, 2, 2)}, model="model-b")
        (told,) = await changes(store, model=MODEL)
        assert told.cues[0].vector is None
        assert told.cues[1].vector is not None
        np.testing.assert_array_equal(told.cues[1].vector, a_vector(3, 4), strict=True)
        (told,) = await changes(store)
        assert [cue.vector for cue in told.cues] == [None, None]

    @pytest.mark.parametrize("session", ["monday", None])
    @pytest.mark.parametrize("role", Role)
    @pytest.mark.parametrize("actor", ["Ana", None])
    async def test_a_cue_of_an_event_comes_with_its_turn(
        self, store: Store, session: str | None, role: Role, actor: str | None
    ) -> None:
        scope = replace(SCOPE, session=session)
        events = [
            replace(an_event(text, scope=scope, at=NOW + timedelta(microseconds=place)), actor=actor, role=role)
            for place, text in enumerate(("one", "two"))
        ]
        cue = Cue(memory_id=KESTREL.id, ordinal=0, text="two", event_id=events[1].id)
        write = MemoryWrite(KESTREL, (analysed(cue),))
        await store.append(scope, [Entry(events[0]), Entry(events[1], write)])
        (told,) = await changes(store)
        assert told.cues[0].turn == CueTurn(scope, 2, micros(NOW) + 1, role, actor or "")

    async def test_a_cue_of_no_event_comes_without_a_turn(self, store: Store) -> None:
        await remember(store, KESTREL)
        assert (await changes(store))[0].cues[0].turn is None

    async def test_the_cues_with_a_phrase_are_found(self, store: Store) -> None:
        await remember(store, indexed(KESTREL, "to be", "be to", "not to be so"), indexed(OWL, "to kestrel be"))
        refs = [cue.ref for cue in await store.pending_of(SCOPE, MODEL, KESTREL.id)]
        told = await store.read(lambda view: view.cues_with_phrase(SCOPE, ("to", "be")))
        assert sorted(told) == [refs[0], refs[2]]

    async def test_a_view_reads_as_the_store_does(self, store: Store) -> None:
        await self._filled(store)
        await give_vectors(store, {"owl": a_vector(3, 4)})
        edge = Relation(OWL.id, KESTREL.id, RelationKind.SIMILAR, 0.5, NOW)
        await store.relate(READER, [edge])
        ids = [KESTREL.id, OWL.id]
        assert await store.read(lambda view: view.get(READER, ids)) == await store.get(READER, ids)
        assert await store.read(lambda view: view.cues(READER, ids)) == await store.cues(READER, ids)
        assert await store.read(lambda view: view.relations(READER, ids)) == (edge,)
        listed = await store.read(lambda view: view.memories(READER, EVERYTHING, limit=1, oldest_first=True))
        assert listed == await store.memories(READER, EVERYTHING, limit=1, oldest_first=True)
        vectors = await store.read(lambda view: view.vectors(READER, MODEL, ids))
        assert {one: vector.tolist() for one, vector in vectors.items()} == {OWL.id: a_vector(3, 4).tolist()}
        found, states = await store.read(lambda view: view.states(READER, EVERYTHING))
        expected = await store.states(READER, EVERYTHING)
        assert list(found) == list(expected[0])
        assert_same_states(states, expected[1])

    async def test_an_exception_of_the_function_is_raised(self, store: Store) -> None:
        def fail(_view: object) -> Event:
            raise LookupError("no such thing")

        with pytest.raises(LookupError, match="no such thing"):
            await store.read(fail)
        assert await changes(store) == []
