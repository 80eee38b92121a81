"""Contract of the context features (sessions, speakers, flags, the context search) and of `participants`."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest

from remembrancer.domain.event import Role
from remembrancer.domain.memory import CueFlag, MemoryWrite, Status
from remembrancer.domain.query import LexicalQuery
from remembrancer.domain.scope import Reach, Reader, Visibility
from remembrancer.ports.index import SearchRequest
from remembrancer.ports.journal import Entry
from remembrancer.testing.contract.base import EVERYTHING, MODEL, exported, give_vectors, remember, stored
from remembrancer.testing.contract.finding import (
    COSINE_TOLERANCE,
    Finder,
    IndexSuite,
    VectoredRequest,
    assert_same_answer,
    needs,
    request,
)
from remembrancer.testing.contract.neighbours import (
    BEN,
    ELSEWHERE,
    MINUTE,
    about,
    ask,
    close,
    memory_of,
    say,
    turn_cue,
    turns,
)
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory, a_vector, an_event, indexed


@needs("context", "bm25")
class ContextContract(IndexSuite):
    # Each turn has the greatest BM25 of any turn of its session.
    async def test_every_turn_has_the_best_of_its_session(self, finder: Finder) -> None:
        await say(finder, "kestrel", "kestrel and kestrel", "kestrel on a roof of a barn", "owl")
        answer = await finder.search(READER, about("kestrel"))
        assert answer.context_features is not None
        assert len(answer.ids) == 4
        np.testing.assert_array_equal(answer.context_features.session, np.full(4, answer.bm25.max()))

    @pytest.mark.parametrize("other", ["session", "agent", "crew", "project"])
    async def test_a_session_is_one_stream(self, finder: Finder, other: str) -> None:
        await say(finder, "kestrel and kestrel", "kestrel")
        await say(finder, "kestrel on a roof of a barn", scope=ELSEWHERE[other])
        answer = await finder.search(READER, about("kestrel"))
        own = dict(zip(answer.ids, answer.bm25.tolist(), strict=True))
        (alone,) = (one.id for one in (await finder.store.get(READER, answer.ids)).values() if "roof" in one.text)
        session = await ask(finder, "session", about("kestrel"))
        assert session["kestrel on a roof of a barn"] == own[alone] < session["kestrel"]

    async def test_a_turn_without_a_session_has_its_own(self, finder: Finder) -> None:
        await say(finder, "kestrel", "kestrel and kestrel", "owl", scope=ELSEWHERE["no session"])
        answer = await finder.search(READER, about("kestrel"))
        assert answer.context_features is not None
        assert 0 in answer.bm25
        np.testing.assert_array_equal(answer.context_features.session, answer.bm25)

    async def test_a_note_has_its_own(self, finder: Finder) -> None:
        await remember(finder.store, a_memory("kestrel on a roof of a barn"))
        await say(finder, "kestrel and kestrel")
        answer = await finder.search(READER, about("kestrel"))
        assert answer.context_features is not None
        np.testing.assert_array_equal(answer.context_features.session, answer.bm25)

    async def test_a_memory_that_the_reader_may_not_see_is_not_the_best(self, finder: Finder) -> None:
        (hidden,) = turns("kestrel and kestrel")
        write = memory_of(hidden)
        await finder.store.append(
            SCOPE, [Entry(hidden, replace(write, memory=replace(write.memory, visibility=Visibility.OWN)))]
        )
        await say(finder, "kestrel", start=MINUTE)
        answer = await finder.search(BEN, about("kestrel"))
        assert answer.context_features is not None
        assert answer.context_features.session.tolist() == answer.bm25.tolist()

    # Which candidates are turns of the same session.
    @pytest.mark.parametrize("other", ["session", "agent", "crew", "project"])
    async def test_turns_of_one_session_have_one_number(self, finder: Finder, other: str) -> None:
        await say(finder, "kestrel one", "kestrel two")
        await say(finder, "kestrel three", "kestrel four", scope=ELSEWHERE[other])
        stream = await ask(finder, "stream", about("kestrel"))
        assert stream["kestrel one"] == stream["kestrel two"] >= 0
        assert stream["kestrel three"] == stream["kestrel four"] >= 0
        assert stream["kestrel one"] != stream["kestrel three"]

    async def test_a_memory_without_a_session_has_none(self, finder: Finder) -> None:
        await finder.store.insert(SCOPE, indexed(a_memory("kestrel note")))
        await say(finder, "kestrel turn", scope=ELSEWHERE["no session"])
        assert set((await ask(finder, "stream", about("kestrel"))).values()) == {-1}

    async def _talk(self, finder: Finder) -> None:
        said = turns("kestrel one", "kestrel two", "kestrel three", "kestrel four")
        speaking = [("Ana", Role.USER), ("Ben", Role.ASSISTANT), (None, Role.USER), ("Ana", Role.TOOL)]
        events = [replace(event, actor=who, role=role) for event, (who, role) in zip(said, speaking, strict=True)]
        await finder.store.append(SCOPE, [Entry(event, memory_of(event)) for event in events])
        await finder.store.insert(SCOPE, indexed(a_memory("kestrel note")))

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
    async def test_a_turn_is_spoken_by_one_of_those_asked_about(
        self, finder: Finder, speakers: set[str], roles: set[Role], expected: set[str]
    ) -> None:
        await self._talk(finder)
        asked = request("kestrel", context_features=True, speakers=speakers, roles=roles)
        speaker_match = await ask(finder, "speaker_match", asked)
        assert speaker_match == {
            f"kestrel {number}": float(number in expected) for number in ("one", "two", "three", "four", "note")
        }

    async def test_of_a_memory_of_several_turns_the_best_one_counts(self, finder: Finder) -> None:
        said = [replace(event, actor=who) for event, who in zip(turns("owl", "kestrel"), ("Ana", "Ben"), strict=True)]
        whole = a_memory("the whole of it")
        cues = tuple(turn_cue(whole.id, place, event) for place, event in enumerate(said))
        await finder.store.append(SCOPE, [Entry(event) for event in said])
        await finder.store.insert(SCOPE, MemoryWrite(whole, cues))
        for who, word in (("Ana", "owl"), ("Ben", "kestrel")):
            asked = request(word, context_features=True, speakers={who})
            assert await ask(finder, "speaker_match", asked) == {"the whole of it": 1}, who

    async def test_a_cue_has_the_flags_it_was_stored_with(self, finder: Finder) -> None:
        flags = {
            "kestrel": CueFlag.NOTHING,
            "kestrel owl": CueFlag.QUESTION,
            "kestrel barn": CueFlag.TIME | CueFlag.NAME,
        }
        for text, mark in flags.items():
            write = indexed(a_memory(text))
            await finder.store.insert(SCOPE, replace(write, cues=(replace(write.cues[0], flags=mark),)))
        assert await ask(finder, "flags", about("kestrel")) == {text: float(mark) for text, mark in flags.items()}

    async def test_the_best_cue_of_a_memory_gives_its_flags(self, finder: Finder) -> None:
        write = indexed(a_memory("notes"), "owl", "kestrel")
        marked = (replace(write.cues[0], flags=CueFlag.NUMBER), replace(write.cues[1], flags=CueFlag.TIME))
        await finder.store.insert(SCOPE, replace(write, cues=marked))
        assert await ask(finder, "flags", about("owl")) == {"notes": float(CueFlag.NUMBER)}
        assert await ask(finder, "flags", about("kestrel")) == {"notes": float(CueFlag.TIME)}

    async def test_a_revised_cue_has_its_own_flags(self, finder: Finder) -> None:
        memory = await stored(finder.store, a_memory("kestrel"))
        assert await ask(finder, "flags", about("kestrel")) == {"kestrel": 0}
        write = indexed(memory)
        anew = replace(write, cues=(replace(write.cues[0], flags=CueFlag.NAME),))
        await finder.store.revise(SCOPE, anew, expected_revision=1, at=NOW)
        assert await ask(finder, "flags", about("kestrel")) == {"kestrel": float(CueFlag.NAME)}

    async def test_the_context_search_ranks_by_a_turn_and_its_neighbours(self, finder: Finder) -> None:
        await say(finder, "owl", "roof", "kestrel", "wall")
        # "roof" has both query terms in its neighbours; "owl" and "kestrel" have one term each and part of the other
        # from a neighbour; "wall" has one term.
        rank = await ask(finder, "rank", about("kestrel", "owl"))
        assert (rank["roof"], rank["wall"]) == (1, 4)
        assert {rank["owl"], rank["kestrel"]} == {2, 3}

    async def test_equal_turns_rank_the_newest_first_then_by_id(self, finder: Finder) -> None:
        await say(finder, "kestrel", "owl")
        same = [an_event(f"kestrel {n}", event_id=UUID(int=n), scope=ELSEWHERE["session"], at=NOW) for n in (3, 1)]
        for event in same:
            memory = replace(memory_of(event).memory, id=event.id)
            await finder.store.append(event.scope, [Entry(event)])
            cue = turn_cue(memory.id, 0, event)
            await finder.store.insert(event.scope, MemoryWrite(memory, (cue,), (event.id,)))
        rank = await ask(finder, "rank", about("kestrel"))
        first = memory_of(turns("kestrel")[0]).memory.id
        by_id = sorted([("kestrel", first), ("kestrel 1", UUID(int=1)), ("kestrel 3", UUID(int=3))], key=lambda x: x[1])
        assert sorted(rank, key=lambda text: rank[text]) == ["owl", *(text for text, _ in by_id)]

    async def test_each_search_returns_its_own_depth(self, finder: Finder) -> None:
        await say(finder, "kestrel and kestrel", scope=ELSEWHERE["session"])
        await say(finder, "kestrel", "owl", "barn", start=MINUTE)
        rank = await ask(finder, "rank", about("kestrel", depth=1))
        assert rank == {"owl": 1, "kestrel and kestrel": 0}

    async def test_candidates_of_the_context_search_are_scored_by_the_other_searches(self, finder: Finder) -> None:
        await say(finder, "kestrel", "owl")
        await give_vectors(finder.store, {"kestrel": a_vector(4, 3), "owl": a_vector(3, 4)})
        answer = await finder.search(READER, request("kestrel", vector=a_vector(1, 0), depth=1, context_features=True))
        assert answer.context_features is not None
        # Of the two with full coverage, the newer one.
        assert answer.context_features.rank.tolist() == [1, 0]
        assert (answer.dense_rank.tolist(), answer.lexical_rank.tolist()) == ([0, 1], [0, 1])
        assert answer.bm25[0] == answer.coverage[0] == 0
        assert answer.similarity.tolist() == pytest.approx([0.6, 0.8], abs=COSINE_TOLERANCE)

    async def test_a_neighbour_of_a_turn_that_does_not_match_is_no_candidate(self, finder: Finder) -> None:
        await say(finder, "heron", "owl", "barn")
        assert await ask(finder, "rank", about("kestrel")) == {}

    async def test_a_memory_ranks_by_the_best_of_its_turns(self, finder: Finder) -> None:
        said = turns("owl", "roof", "kestrel", "wall", "heron")
        await finder.store.append(SCOPE, [Entry(event) for event in said])
        await finder.store.insert(SCOPE, memory_of(said[2]))
        far, near, whole = said[4], said[3], a_memory("the whole of it")
        cues = tuple(turn_cue(whole.id, place, event) for place, event in enumerate((far, near)))
        await finder.store.insert(SCOPE, MemoryWrite(whole, cues))
        beside = a_memory("only far")
        await finder.store.insert(SCOPE, MemoryWrite(beside, (turn_cue(beside.id, 0, far),)))
        rank = await ask(finder, "rank", about("kestrel"))
        assert rank["only far"] == 3
        assert {rank["kestrel"], rank["the whole of it"]} == {1, 2}

    async def test_they_are_given_where_they_are_requested(self, finder: Finder) -> None:
        await say(finder, "kestrel")
        assert (await finder.search(READER, request("kestrel"))).context_features is None
        assert (await finder.search(READER, about("kestrel"))).context_features is not None

    async def test_without_a_query_term_there_is_no_neighbour_coverage(self, finder: Finder) -> None:
        await say(finder, "to be")
        await give_vectors(finder.store, {"to be": a_vector(1, 0)})
        nothing = VectoredRequest(
            SearchRequest(where=EVERYTHING, depth=5, lexical=LexicalQuery(), context_features=True)
        )
        by_vector = request(vector=a_vector(1, 0), context_features=True)
        by_phrase = request(phrase=("to", "be"), context_features=True)
        for asked in (nothing, by_vector, by_phrase):
            assert (await finder.search(READER, asked)).context_features is None

    async def test_where_nothing_counts_there_are_none(self, finder: Finder) -> None:
        assert (await finder.search(READER, about("kestrel"))).context_features is None
        await say(finder, "kestrel")
        where = replace(EVERYTHING, kinds=frozenset({"noise"}))
        assert (
            await finder.search(READER, request("kestrel", where=where, context_features=True))
        ).context_features is None

    async def test_their_columns_have_their_types(self, finder: Finder) -> None:
        await say(finder, "kestrel", "owl")
        found = (await finder.search(READER, about("kestrel"))).context_features
        assert found is not None
        types = dict.fromkeys(("neighbour_coverage", "session", "speaker_match"), np.dtype(np.float32))
        types |= dict.fromkeys(("flags", "rank", "stream"), np.dtype(np.int32))
        assert {name: getattr(found, name).dtype for name in types} == types

    async def test_an_import_has_the_context_features_of_its_source(self, finder: Finder) -> None:
        async with self.another_finder() as source:
            await say(source, "kestrel", "owl", "barn", "Two of them?")
            await finder.store.import_rows(SCOPE, await exported(source.store))
            asked = request("kestrel", "owl", context_features=True)
            assert_same_answer(await finder.search(READER, asked), await source.search(READER, asked))

    async def test_a_memory_that_takes_a_cue_by_import_takes_its_turn(self, finder: Finder) -> None:
        async with self.another_finder() as source:
            await say(source, "kestrel", "owl", "barn")
            rows = await exported(source.store)
        for row in rows:
            await finder.store.import_rows(SCOPE, [row])
            await finder.search(READER, about("kestrel"))
        assert await ask(finder, "neighbour_coverage", about("kestrel")) == close(
            {"kestrel": 0, "owl": 1, "barn": finder.rules.next_but_one}
        )

    async def test_very_many_turns_have_theirs(self, finder: Finder) -> None:
        said = [an_event(f"turn {n}", event_id=UUID(int=n + 1), at=NOW + n * MINUTE) for n in range(1_000)]
        await finder.store.append(SCOPE, [Entry(event, memory_of(event)) for event in said])
        await say(finder, "kestrel", start=1_000 * MINUTE)
        neighbour_coverage = await ask(finder, "neighbour_coverage", about("kestrel"))
        assert neighbour_coverage == close({"turn 998": finder.rules.next_but_one, "turn 999": 1, "kestrel": 0})


async def said_by(finder: Finder, actor: str | None, text: str, *, role: Role = Role.USER, agent: str = "ana") -> None:
    event = replace(an_event(text, scope=replace(SCOPE, agent=agent)), actor=actor, role=role)
    await finder.store.append(SCOPE, [Entry(event, memory_of(event))])


async def speaking(finder: Finder, reader: Reader = READER) -> frozenset[str]:
    return await finder.participants(reader, EVERYTHING, model=MODEL)


class ParticipantsContract(IndexSuite):
    async def test_nobody_speaks_in_an_empty_store(self, finder: Finder) -> None:
        assert await speaking(finder) == frozenset()

    async def test_each_speaker_is_named_once(self, finder: Finder) -> None:
        for actor, text in (("Ana", "one"), ("Ben Ito", "two"), ("Ana", "three")):
            await said_by(finder, actor, text)
        assert await speaking(finder) == {"Ana", "Ben Ito"}

    @pytest.mark.parametrize("role", [Role.TOOL, Role.SYSTEM])
    async def test_turns_of_tools_and_of_the_system_have_no_speaker(self, finder: Finder, role: Role) -> None:
        await said_by(finder, "deploy", "finished", role=role)
        await said_by(finder, "Sorrel", "noted", role=Role.ASSISTANT)
        assert await speaking(finder) == {"Sorrel"}

    async def test_an_event_without_an_actor_names_nobody(self, finder: Finder) -> None:
        await said_by(finder, None, "one")
        assert await speaking(finder) == frozenset()

    async def test_a_speaker_out_of_reach_is_not_named(self, finder: Finder) -> None:
        await said_by(finder, "Ana", "mine")
        await said_by(finder, "Ben", "another agent's", agent="ben")
        assert await speaking(finder, Reader(SCOPE, Reach.OWN)) == {"Ana"}

    async def test_a_speaker_whose_turns_are_all_retired_is_not_named(self, finder: Finder) -> None:
        await said_by(finder, "Ana", "one")
        (memory,) = await finder.store.memories(READER, EVERYTHING, limit=2)
        await finder.store.set_status(READER, memory.id, Status.RETIRED, at=NOW)
        assert await speaking(finder) == frozenset()
