"""Contract of the reads by which an index brings candidates from the records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Final
from uuid import UUID

import pytest

from remembrancer.domain.memory import MemoryWrite, Status
from remembrancer.domain.scope import Reader, Visibility
from remembrancer.language.lexical import stem
from remembrancer.ports.changes import AROUND, NEVER, ChangedMemory, ReadView, packed_terms
from remembrancer.ports.journal import Entry
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import EVERYTHING, MODEL, StoreSuite, give_vectors, remember
from remembrancer.testing.contract.neighbours import ELSEWHERE, MINUTE, memory_of, turn_cue, turns
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory, a_vector, indexed

BEN: Final = Reader(replace(SCOPE, agent="ben"))
HIDDEN: Final = replace(a_memory("kestrel hidden"), visibility=Visibility.OWN)


async def texts(store: Store, ids: Iterable[UUID]) -> list[str]:
    """The texts of memories, in their order."""
    wanted = list(ids)
    found = await store.get(READER, wanted)
    return [found[one].text for one in wanted]


class CandidateReadsContract(StoreSuite):
    async def test_chosen_memories_come_as_changes_gives_them(self, store: Store) -> None:
        await remember(store, a_memory("kestrel"), a_memory("owl"), a_memory("barn"))
        await give_vectors(store, {"owl": a_vector(3, 4)})

        def read(view: ReadView) -> tuple[list[ChangedMemory], list[ChangedMemory]]:
            every = list(view.changes(SCOPE, after=0, model=None))
            wanted = [one.id for one in every][:2]
            return [*view.changed(SCOPE, [*wanted, UUID(int=1)], model=None)], every[:2]

        found, expected = await store.read(read)
        assert found == expected
        owl = a_memory("owl").id
        (brought,) = await store.read(lambda view: list(view.changed(SCOPE, [owl], model=MODEL)))
        assert brought.cues[0].vector is not None

    async def test_a_sample_is_a_fixed_part_that_smaller_ones_are_parts_of(self, store: Store) -> None:
        await remember(store, *(a_memory(f"turn {number}") for number in range(64)))

        def sample(view: ReadView, one_in: int) -> set[UUID]:
            return {one.id for one in view.changes(SCOPE, after=0, model=None, one_in=one_in)}

        every, half, quarter = [await store.read(lambda view, n=n: sample(view, n)) for n in (1, 2, 4)]
        assert every > half > quarter > set()
        assert await store.read(lambda view: sample(view, 4)) == quarter

    async def test_changed_memories_are_counted(self, store: Store) -> None:
        await remember(store, a_memory("kestrel"), a_memory("owl"))
        before = (await store.read(lambda view: view.state(SCOPE))).change
        await store.set_status(READER, a_memory("owl").id, Status.RETIRED, at=NOW)
        assert await store.read(lambda view: view.count_changed(SCOPE, after=0)) == 2
        assert await store.read(lambda view: view.count_changed(SCOPE, after=before)) == 1

    async def test_the_memories_of_cues_are_found(self, store: Store) -> None:
        await remember(store, indexed(a_memory("kestrel"), "one", "two"), a_memory("owl"))
        refs = [cue.ref for cue in await store.pending_of(SCOPE, MODEL, a_memory("kestrel").id)]
        assert await store.read(lambda view: view.memories_of(SCOPE, refs)) == [a_memory("kestrel").id]
        await store.revise(SCOPE, indexed(a_memory("kestrel"), "three"), expected_revision=1, at=NOW)
        assert await store.read(lambda view: view.memories_of(SCOPE, refs)) == []

    async def test_the_turns_around_a_turn_are_found(self, store: Store) -> None:
        said = turns(*"abcdefgh")
        await store.append(SCOPE, [Entry(event, None if event.text == "d" else memory_of(event)) for event in said])
        other = turns("elsewhere", scope=ELSEWHERE["session"])
        await store.append(ELSEWHERE["session"], [Entry(event, memory_of(event)) for event in other])
        note = a_memory("note")
        await remember(store, note)
        ids = [memory_of(said[4]).memory.id, note.id]
        found = await store.read(lambda view: view.around(READER, EVERYTHING, ids))
        assert AROUND == 2
        assert sorted(await texts(store, {one.memory for one in found})) == ["b", "c", "e", "f", "g"]

    async def test_all_turns_of_a_memory_have_turns_around(self, store: Store) -> None:
        said = turns(*"abcdefghij")
        await store.append(SCOPE, [Entry(event, memory_of(event)) for event in said])
        whole = a_memory("whole")
        cues = tuple(turn_cue(whole.id, place, said[at]) for place, at in enumerate((0, 9)))
        await store.insert(SCOPE, MemoryWrite(whole, cues))
        found = await store.read(lambda view: view.around(READER, EVERYTHING, [whole.id]))
        assert sorted(await texts(store, {one.memory for one in found})) == ["a", "b", "c", "h", "i", "j", "whole"]

    async def test_the_turns_around_tell_how_far_the_stream_was_read_with_them(self, store: Store) -> None:
        said = turns(*"abcdefgh")
        await store.append(SCOPE, [Entry(event, None if event.text == "d" else memory_of(event)) for event in said])
        centre = memory_of(said[2]).memory.id
        found = await store.read(lambda view: view.around(READER, EVERYTHING, [centre]))
        assert {one.read_to for one in found} == {6}
        last = memory_of(said[7]).memory.id
        found = await store.read(lambda view: view.around(READER, EVERYTHING, [last]))
        assert {one.read_to for one in found} == {NEVER}

    async def test_passages_tell_whether_the_reader_may_see_their_memory(self, store: Store) -> None:
        await remember(store, a_memory("kestrel"), HIDDEN)
        ids = [a_memory("kestrel").id, HIDDEN.id]
        found = await store.read(lambda view: view.passages(BEN, EVERYTHING, ids))
        assert {one.memory: one.is_kept for one in found} == {ids[0]: True, ids[1]: False}
        assert {one.terms for one in found} == {
            packed_terms([stem("kestrel")]),
            packed_terms([stem("kestrel"), stem("hidden")]),
        }

    async def test_the_newest_of_some_times_or_with_a_phrase_come_first(self, store: Store) -> None:
        for place, text in enumerate(("be to", "to be", "not to be", "to be or not")):
            await remember(store, a_memory(text, at=NOW + place * MINUTE))
        await remember(store, replace(HIDDEN, text="to be hidden"))
        phrase = await store.read(lambda view: view.newest(BEN, EVERYTHING, phrase=("to", "be"), limit=2))
        assert await texts(store, phrase) == ["to be or not", "not to be"]
        spans = [(NOW, NOW + MINUTE), (NOW + 3 * MINUTE, NOW + timedelta(days=1))]
        told = await store.read(lambda view: view.newest(BEN, EVERYTHING, spans=spans, limit=9))
        assert await texts(store, told) == ["to be or not", "be to"]

    async def test_memories_come_by_the_weight_of_their_terms(self, store: Store) -> None:
        for place, text in enumerate(("kestrel", "owl", "owl of the barn", "kestrel and owl", "kestrel again")):
            await remember(store, a_memory(text, at=NOW + place * MINUTE))
        await remember(store, HIDDEN)
        weights = {stem("kestrel"): 2.0, stem("owl"): 0.5}
        found = await store.read(lambda view: view.with_terms(BEN, EVERYTHING, weights, limit=4))
        assert await texts(store, found) == ["kestrel and owl", "kestrel again", "kestrel", "owl of the barn"]
        notes = replace(EVERYTHING, kinds=frozenset({"noise"}))
        assert await store.read(lambda view: view.with_terms(READER, notes, weights, limit=4)) == []

    @pytest.mark.parametrize("weights", [{}, {"heron": 1.0}])
    async def test_without_a_known_term_nothing_is_found(self, store: Store, weights: dict[str, float]) -> None:
        await remember(store, a_memory("kestrel"))
        assert await store.read(lambda view: view.with_terms(READER, EVERYTHING, weights, limit=4)) == []
