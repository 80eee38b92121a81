"""What else stands around a turn: its session, who says it, what it holds, and the leg that all of it is."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest

from remembrancer.domain.event import Role
from remembrancer.domain.memory import Mark, MemoryWrite
from remembrancer.domain.query import LexicalQuery
from remembrancer.domain.scope import Visibility
from remembrancer.policies.admission.formation import turn_cue
from remembrancer.ports.journal import Entry
from remembrancer.ports.store import SearchRequest, Store
from remembrancer.testing.contract.base import (
    BM25_TOLERANCE,
    COSINE_TOLERANCE,
    EVERYTHING,
    StoreSuite,
    assert_same_answer,
    awaited,
    exported,
    give_vectors,
    request,
)
from remembrancer.testing.contract.neighbours import BEN, ELSEWHERE, MINUTE, about, ask, close, memory_of, say, turns
from remembrancer.testing.contract.search import idf
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory, a_vector, an_event, indexed


class SessionContract(StoreSuite):
    """The greatest bm25 of any turn of the session, on each of them."""

    @awaited
    async def test_every_turn_has_the_best_of_its_session(self, store: Store) -> None:
        await say(store, "kestrel", "kestrel and kestrel", "kestrel on a roof of a barn", "owl")
        answer = await store.search(READER, about("kestrel"))
        assert answer.surroundings is not None
        assert len(answer.ids) == 4
        np.testing.assert_array_equal(answer.surroundings.session, np.full(4, answer.bm25.max()))

    @pytest.mark.parametrize("other", ["session", "agent", "crew", "project"])
    def test_a_session_is_one_stream(self, store: Store, other: str) -> None:
        async def try_it() -> None:
            await say(store, "kestrel and kestrel", "kestrel")
            await say(store, "kestrel on a roof of a barn", scope=ELSEWHERE[other])
            answer = await store.search(READER, about("kestrel"))
            own = dict(zip(answer.ids, answer.bm25.tolist(), strict=True))
            (alone,) = (one.id for one in (await store.get(READER, answer.ids)).values() if "roof" in one.text)
            session = await ask(store, "session", about("kestrel"))
            assert session["kestrel on a roof of a barn"] == own[alone] < session["kestrel"]

        self.runner.run(try_it())

    @awaited
    async def test_a_turn_without_a_session_has_its_own(self, store: Store) -> None:
        await say(store, "kestrel", "kestrel and kestrel", "owl", scope=ELSEWHERE["no session"])
        answer = await store.search(READER, about("kestrel"))
        assert answer.surroundings is not None
        assert 0 in answer.bm25
        np.testing.assert_array_equal(answer.surroundings.session, answer.bm25)

    @awaited
    async def test_a_note_has_its_own(self, store: Store) -> None:
        note = a_memory("kestrel on a roof of a barn")
        await store.insert(SCOPE, indexed(note))
        await say(store, "kestrel and kestrel")
        answer = await store.search(READER, about("kestrel"))
        assert answer.surroundings is not None
        np.testing.assert_array_equal(answer.surroundings.session, answer.bm25)

    @awaited
    async def test_what_the_reader_may_not_see_is_not_the_best(self, store: Store) -> None:
        (hidden,) = turns("kestrel and kestrel")
        write = memory_of(hidden)
        await store.append(
            SCOPE, [Entry(hidden, replace(write, memory=replace(write.memory, visibility=Visibility.OWN)))]
        )
        await say(store, "kestrel", start=MINUTE)
        answer = await store.search(BEN, about("kestrel"))
        assert answer.surroundings is not None
        assert answer.surroundings.session.tolist() == answer.bm25.tolist()


class StreamContract(StoreSuite):
    """Which candidates are turns of one session."""

    @pytest.mark.parametrize("other", ["session", "agent", "crew", "project"])
    def test_turns_of_one_session_have_one_number(self, store: Store, other: str) -> None:
        async def try_it() -> None:
            await say(store, "kestrel one", "kestrel two")
            await say(store, "kestrel three", "kestrel four", scope=ELSEWHERE[other])
            stream = await ask(store, "stream", about("kestrel"))
            assert stream["kestrel one"] == stream["kestrel two"] >= 0
            assert stream["kestrel three"] == stream["kestrel four"] >= 0
            assert stream["kestrel one"] != stream["kestrel three"]

        self.runner.run(try_it())

    @awaited
    async def test_what_is_in_no_session_has_none(self, store: Store) -> None:
        await store.insert(SCOPE, indexed(a_memory("kestrel note")))
        await say(store, "kestrel turn", scope=ELSEWHERE["no session"])
        assert set((await ask(store, "stream", about("kestrel"))).values()) == {-1}


class SpokenContract(StoreSuite):
    async def _talk(self, store: Store) -> None:
        said = turns("kestrel one", "kestrel two", "kestrel three", "kestrel four")
        speaking = [("Ana", Role.USER), ("Ben", Role.ASSISTANT), (None, Role.USER), ("Ana", Role.TOOL)]
        events = [replace(event, actor=who, role=role) for event, (who, role) in zip(said, speaking, strict=True)]
        await store.append(SCOPE, [Entry(event, memory_of(event)) for event in events])
        await store.insert(SCOPE, indexed(a_memory("kestrel note")))

    @pytest.mark.parametrize(
        ("speakers", "roles", "expected"),
        [
            ({"Ana"}, set[Role](), {"one"}),
            ({"Ana", "Ben"}, set[Role](), {"one", "two"}),
            ({"Carla"}, set[Role](), set[str]()),
            ({""}, set[Role](), set[str]()),
            (set[str](), {Role.USER}, {"one", "three", "note"}),
            (set[str](), {Role.ASSISTANT}, {"two", "note"}),
            (set[str](), {Role.TOOL, Role.SYSTEM}, {"note"}),
            ({"Ben"}, {Role.USER}, {"one", "two", "three", "note"}),
            (set[str](), set[Role](), set[str]()),
        ],
    )
    def test_a_turn_is_spoken_by_one_of_those_asked_about(
        self, store: Store, speakers: set[str], roles: set[Role], expected: set[str]
    ) -> None:
        async def try_it() -> None:
            await self._talk(store)
            asked = request("kestrel", surroundings=True, speakers=speakers, roles=roles)
            spoken = await ask(store, "spoken", asked)
            assert spoken == {
                f"kestrel {number}": float(number in expected) for number in ("one", "two", "three", "four", "note")
            }

        self.runner.run(try_it())

    @awaited
    async def test_of_a_memory_of_several_turns_the_best_one_speaks(self, store: Store) -> None:
        said = [replace(event, actor=who) for event, who in zip(turns("owl", "kestrel"), ("Ana", "Ben"), strict=True)]
        whole = a_memory("the whole of it")
        cues = tuple(turn_cue(whole.id, place, event) for place, event in enumerate(said))
        await store.append(SCOPE, [Entry(event) for event in said])
        await store.insert(SCOPE, MemoryWrite(whole, cues))
        for who, word in (("Ana", "owl"), ("Ben", "kestrel")):
            asked = request(word, surroundings=True, speakers={who})
            assert await ask(store, "spoken", asked) == {"the whole of it": 1}, who


class MarksContract(StoreSuite):
    @awaited
    async def test_a_text_has_the_marks_it_was_stored_with(self, store: Store) -> None:
        marks = {"kestrel": Mark.NOTHING, "kestrel owl": Mark.QUESTION, "kestrel barn": Mark.TIME | Mark.NAME}
        for text, mark in marks.items():
            write = indexed(a_memory(text))
            await store.insert(SCOPE, replace(write, cues=(replace(write.cues[0], marks=mark),)))
        assert await ask(store, "marks", about("kestrel")) == {text: float(mark) for text, mark in marks.items()}

    @awaited
    async def test_the_best_text_of_a_memory_gives_its_marks(self, store: Store) -> None:
        write = indexed(a_memory("notes"), "owl", "kestrel")
        marked = (replace(write.cues[0], marks=Mark.NUMBER), replace(write.cues[1], marks=Mark.TIME))
        await store.insert(SCOPE, replace(write, cues=marked))
        assert await ask(store, "marks", about("owl")) == {"notes": float(Mark.NUMBER)}
        assert await ask(store, "marks", about("kestrel")) == {"notes": float(Mark.TIME)}

    @awaited
    async def test_a_revised_text_has_its_own_marks(self, store: Store) -> None:
        memory = a_memory("kestrel")
        await store.insert(SCOPE, indexed(memory))
        assert await ask(store, "marks", about("kestrel")) == {"kestrel": 0}
        write = indexed(memory)
        anew = replace(write, cues=(replace(write.cues[0], marks=Mark.NAME),))
        await store.revise(SCOPE, anew, expected_revision=1, at=NOW)
        assert await ask(store, "marks", about("kestrel")) == {"kestrel": float(Mark.NAME)}


class ContextLegContract(StoreSuite):
    @awaited
    async def test_it_ranks_by_what_stands_in_a_turn_and_around_it(self, store: Store) -> None:
        await say(store, "owl", "roof", "kestrel", "wall")
        # Of the question, roof has both halves beside it; owl and kestrel one half and 3/4 of the other; wall one half.
        rank = await ask(store, "rank", about("kestrel", "owl"))
        assert (rank["roof"], rank["wall"]) == (1, 4)
        assert {rank["owl"], rank["kestrel"]} == {2, 3}

    @awaited
    async def test_equal_turns_rank_the_newest_first_then_by_id(self, store: Store) -> None:
        await say(store, "kestrel", "owl")
        same = [an_event(f"kestrel {n}", event_id=UUID(int=n), scope=ELSEWHERE["session"], at=NOW) for n in (3, 1)]
        for event in same:
            memory = replace(memory_of(event).memory, id=event.id)
            await store.append(event.scope, [Entry(event)])
            cue = turn_cue(memory.id, 0, event)
            await store.insert(event.scope, MemoryWrite(memory, (cue,), (event.id,)))
        rank = await ask(store, "rank", about("kestrel"))
        first = memory_of(turns("kestrel")[0]).memory.id
        by_id = sorted([("kestrel", first), ("kestrel 1", UUID(int=1)), ("kestrel 3", UUID(int=3))], key=lambda x: x[1])
        assert sorted(rank, key=lambda text: rank[text]) == ["owl", *(text for text, _ in by_id)]

    @awaited
    async def test_it_brings_its_depth_and_the_others_theirs(self, store: Store) -> None:
        await say(store, "kestrel and kestrel", scope=ELSEWHERE["session"])
        await say(store, "kestrel", "owl", "barn", start=MINUTE)
        rank = await ask(store, "rank", about("kestrel", depth=1))
        assert rank == {"owl": 1, "kestrel and kestrel": 0}

    @awaited
    async def test_what_it_brings_is_scored_by_the_other_legs(self, store: Store) -> None:
        await say(store, "kestrel", "owl")
        await give_vectors(store, {"kestrel": a_vector(4, 3), "owl": a_vector(3, 4)})
        answer = await store.search(READER, request("kestrel", vector=a_vector(1, 0), depth=1, surroundings=True))
        assert answer.surroundings is not None
        # The newer of two that cover all of the question.
        assert answer.surroundings.rank.tolist() == [1, 0]
        assert (answer.dense_rank.tolist(), answer.lexical_rank.tolist()) == ([0, 1], [0, 1])
        assert answer.bm25[0] == answer.coverage[0] == 0
        assert answer.similarity.tolist() == pytest.approx([0.6, 0.8], abs=COSINE_TOLERANCE)

    @awaited
    async def test_nothing_is_brought_for_being_beside_what_does_not_answer(self, store: Store) -> None:
        await say(store, "heron", "owl", "barn")
        assert await ask(store, "rank", about("kestrel")) == {}

    @awaited
    async def test_a_memory_ranks_by_the_best_of_its_turns(self, store: Store) -> None:
        said = turns("owl", "roof", "kestrel", "wall", "heron")
        await store.append(SCOPE, [Entry(event) for event in said])
        await store.insert(SCOPE, memory_of(said[2]))
        far, near, whole = said[4], said[3], a_memory("the whole of it")
        cues = tuple(turn_cue(whole.id, place, event) for place, event in enumerate((far, near)))
        await store.insert(SCOPE, MemoryWrite(whole, cues))
        beside = a_memory("only far")
        await store.insert(SCOPE, MemoryWrite(beside, (turn_cue(beside.id, 0, far),)))
        rank = await ask(store, "rank", about("kestrel"))
        assert rank["only far"] == 3
        assert {rank["kestrel"], rank["the whole of it"]} == {1, 2}


class AskedSurroundingsContract(StoreSuite):
    @awaited
    async def test_they_are_given_where_they_are_asked_for(self, store: Store) -> None:
        await say(store, "kestrel")
        assert (await store.search(READER, request("kestrel"))).surroundings is None
        assert (await store.search(READER, about("kestrel"))).surroundings is not None

    @awaited
    async def test_without_a_word_there_is_nothing_to_look_for_around(self, store: Store) -> None:
        await say(store, "to be")
        await give_vectors(store, {"to be": a_vector(1, 0)})
        nothing = SearchRequest(where=EVERYTHING, depth=5, lexical=LexicalQuery(), surroundings=True)
        by_vector = request(vector=a_vector(1, 0), surroundings=True)
        by_phrase = request(phrase=("to", "be"), surroundings=True)
        for asked in (nothing, by_vector, by_phrase):
            assert (await store.search(READER, asked)).surroundings is None

    @awaited
    async def test_where_nothing_counts_there_are_none(self, store: Store) -> None:
        assert (await store.search(READER, about("kestrel"))).surroundings is None
        await say(store, "kestrel")
        where = replace(EVERYTHING, kinds=frozenset({"noise"}))
        assert (await store.search(READER, request("kestrel", where=where, surroundings=True))).surroundings is None

    @awaited
    async def test_their_columns_have_their_types(self, store: Store) -> None:
        await say(store, "kestrel", "owl")
        found = (await store.search(READER, about("kestrel"))).surroundings
        assert found is not None
        types = {
            "nearby": np.float32,
            "session": np.float32,
            "spoken": np.float32,
            "marks": np.int32,
            "rank": np.int32,
            "stream": np.int32,
            "idf": np.float64,
        }
        assert {name: getattr(found, name).dtype for name in types} == types

    @awaited
    async def test_the_idf_of_each_word_comes_in_the_order_asked(self, store: Store) -> None:
        await say(store, "kestrel", "kestrel owl", "roof")
        found = (await store.search(READER, about("walrus", "kestrel", "owl"))).surroundings
        assert found is not None
        assert found.idf.tolist() == pytest.approx([idf(3, 0), idf(3, 2), idf(3, 1)], rel=BM25_TOLERANCE)

    @awaited
    async def test_an_import_has_what_its_source_had_around(self, store: Store) -> None:
        async with self.another_store() as source:
            await say(source, "kestrel", "owl", "barn", "Two of them?")
            await store.import_rows(SCOPE, await exported(source))
            asked = request("kestrel", "owl", surroundings=True)
            assert_same_answer(await store.search(READER, asked), await source.search(READER, asked))

    @awaited
    async def test_a_memory_that_takes_a_cue_by_import_takes_its_turn(self, store: Store) -> None:
        async with self.another_store() as source:
            await say(source, "kestrel", "owl", "barn")
            rows = await exported(source)
        for row in rows:
            await store.import_rows(SCOPE, [row])
            await store.search(READER, about("kestrel"))
        assert await ask(store, "nearby", about("kestrel")) == close({"kestrel": 0, "owl": 1, "barn": 0.75})

    @awaited
    async def test_very_many_turns_have_theirs(self, store: Store) -> None:
        said = [an_event(f"turn {n}", event_id=UUID(int=n + 1), at=NOW + n * MINUTE) for n in range(1_000)]
        await store.append(SCOPE, [Entry(event, memory_of(event)) for event in said])
        await say(store, "kestrel", start=1_000 * MINUTE)
        assert await ask(store, "nearby", about("kestrel")) == close({
            "turn 998": 0.75, "turn 999": 1, "kestrel": 0
        })  # fmt: skip
