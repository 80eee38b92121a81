"""Contract of search: the scores of each search, the best cue of each memory, ranks, ties, and visibility of each
write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np
import pytest

from remembrancer.domain.candidates import Candidates
from remembrancer.domain.memory import Memory, Status
from remembrancer.domain.query import Filter, LexicalQuery
from remembrancer.domain.strength import Adjustment
from remembrancer.errors import EmbedderMismatch, InvalidInput
from remembrancer.ports.changes import ReadView
from remembrancer.ports.index import SearchRequest
from remembrancer.ports.journal import Entry
from remembrancer.testing.contract.base import (
    EVERYTHING,
    MODEL,
    exported,
    give_vectors,
    moved,
    remember,
    spread,
    stored,
    unchanged,
)
from remembrancer.testing.contract.finding import (
    BM25_TOLERANCE,
    COSINE_TOLERANCE,
    Finder,
    IndexSuite,
    VectoredRequest,
    assert_same_answer,
    by_id,
    needs,
    request,
)
from remembrancer.testing.contract.world import OLD, OTHER_MODEL, populate
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory, a_vector, an_event, indexed

if TYPE_CHECKING:
    from numpy.typing import NDArray


def close(expected: float) -> object:
    return pytest.approx(expected, rel=BM25_TOLERANCE)


def similar(expected: float) -> object:
    return pytest.approx(expected, abs=COSINE_TOLERANCE)


def numbered(count: int) -> list[Memory]:
    """Memories with the ids 1, 2, 3 …, all of the same time."""
    return [a_memory(f"memory {n}", memory_id=UUID(int=n)) for n in range(1, count + 1)]


async def hold(
    finder: Finder, *memories: str | Sequence[str] | Mapping[str, NDArray[np.float32] | None]
) -> list[Memory]:
    """Insert memories with the ids 1, 2, 3 …, all of the same time. Each is given as a text, the texts of its cues, or
    these with their vectors.
    """
    texts = [[one] if isinstance(one, str) else list(one) for one in memories]
    held = numbered(len(memories))
    await remember(finder.store, *(indexed(memory, *cues) for memory, cues in zip(held, texts, strict=True)))
    vectors = [item for one in memories if isinstance(one, Mapping) for item in one.items()]
    await give_vectors(finder.store, {text: vector for text, vector in vectors if vector is not None})
    return held


def order(answer: Candidates, ranks: NDArray[np.int32]) -> list[int]:
    """The ids of the ranked rows as whole numbers, in the order of their ranks."""
    ranked = sorted((rank, memory_id.int) for memory_id, rank in zip(answer.ids, ranks.tolist(), strict=True) if rank)
    assert [rank for rank, _ in ranked] == list(range(1, len(ranked) + 1))
    return [memory_id for _, memory_id in ranked]


@needs("lexical")
class LexicalContract(IndexSuite):
    @needs("bm25")
    async def test_bm25_is_robertson_s_over_the_visible_cues(self, finder: Finder) -> None:
        await hold(finder, "kestrel nest", "kestrel kestrel barn owl roof", "barn owl")
        answer = await finder.search(READER, request("kestrel", "owl"))
        both, mean = finder.idf(3, 2), (2 + 5 + 2) / 3
        once = close(both * finder.weight(1, 2, mean))
        twice = close(both * finder.weight(2, 5, mean) + both * finder.weight(1, 5, mean))
        assert by_id(answer, answer.bm25) == {1: once, 2: twice, 3: once}
        assert answer.bm25_bound == close(2 * both * (finder.bm25.k1 + 1))

    @needs("bm25")
    async def test_hidden_and_filtered_cues_count_for_nothing(self, finder: Finder) -> None:
        seen, filtered = numbered(2)
        await remember(
            finder.store,
            indexed(seen, "kestrel nest"),
            indexed(replace(filtered, kind="noise"), "kestrel kestrel kestrel"),
        )
        where = replace(EVERYTHING, kinds=frozenset({"note"}))
        answer = await finder.search(READER, request("kestrel", where=where))
        assert answer.ids == (seen.id,)
        assert answer.bm25[0] == close(finder.idf(1, 1) * finder.weight(1, 2, 2.0))
        assert answer.bm25_bound == close(finder.idf(1, 1) * (finder.bm25.k1 + 1))

    @needs("bm25")
    async def test_an_unknown_word_raises_the_bound(self, finder: Finder) -> None:
        await hold(finder, "kestrel nest")
        answer = await finder.search(READER, request("kestrel", "walrus"))
        assert answer.bm25_bound == close((finder.idf(1, 1) + finder.idf(1, 0)) * (finder.bm25.k1 + 1))
        assert answer.coverage[0] == close(finder.idf(1, 1) / (finder.idf(1, 1) + finder.idf(1, 0)))

    @needs("bm25")
    async def test_coverage_is_the_share_of_the_question_s_idf(self, finder: Finder) -> None:
        await hold(finder, "kestrel owl", "kestrel roof")
        answer = await finder.search(READER, request("kestrel", "owl"))
        whole = finder.idf(2, 2) + finder.idf(2, 1)
        assert by_id(answer, answer.coverage) == {1: close(1.0), 2: close(finder.idf(2, 2) / whole)}

    @needs("bm25")
    async def test_the_idf_of_each_word_comes_in_the_order_asked(self, finder: Finder) -> None:
        for text in ("kestrel", "kestrel owl", "roof"):
            await remember(finder.store, a_memory(text))
        answer = await finder.search(READER, request("walrus", "kestrel", "owl"))
        assert answer.idf is not None
        assert answer.idf.dtype == np.float64
        assert answer.idf.tolist() == [close(finder.idf(3, holding)) for holding in (0, 2, 1)]

    async def test_words_are_matched_whole(self, finder: Finder) -> None:
        await remember(finder.store, a_memory("the harbour master"))
        assert await finder.found("harb") == set()

    async def test_words_of_any_script_and_shape_are_found(self, finder: Finder) -> None:
        shapes = ["c++", "user@host.example", "src/app/main.py", "部署", "🚀", "v1.2.3", "o'brien", "50%_x*"]
        for number, shape in enumerate(shapes):
            memory = a_memory(f"shape {number}")
            write = indexed(memory)
            (cue,) = write.cues
            await finder.store.insert(SCOPE, replace(write, cues=(replace(cue, tokens=(shape,), terms=(shape,)),)))
        for number, shape in enumerate(shapes):
            assert await finder.found(shape) == {f"shape {number}"}, shape

    async def test_query_syntax_is_only_text(self, finder: Finder) -> None:
        await remember(finder.store, a_memory("kestrel"))
        for hostile in ('"', "*", "kestrel*", "NEAR(", "AND", "kestrel OR", "'; DROP TABLE memories; --", "^"):
            assert await finder.found(hostile) == set(), hostile

    async def test_a_memory_without_the_words_is_no_lexical_candidate(self, finder: Finder) -> None:
        one, _ = await hold(finder, "kestrel", "owl")
        answer = await finder.search(READER, request("kestrel"))
        assert (answer.ids, answer.visible) == ((one.id,), 2)

    @needs("bm25")
    async def test_the_best_cue_gives_the_score_of_its_memory(self, finder: Finder) -> None:
        await hold(finder, ("kestrel roof roof", "owl", "kestrel owl"))
        answer = await finder.search(READER, request("kestrel", "owl"))
        mean = 2.0
        assert answer.cue.tolist() == [2]
        assert answer.bm25[0] == close(2 * finder.idf(3, 2) * finder.weight(1, 2, mean))
        assert answer.coverage[0] == close(1.0)

    async def test_of_equal_cues_the_first_counts(self, finder: Finder) -> None:
        await hold(finder, ("owl", "kestrel", "kestrel"))
        answer = await finder.search(READER, request("kestrel"))
        assert answer.cue.tolist() == [1]

    async def test_lexical_ranks_fall_with_the_score(self, finder: Finder) -> None:
        weak, strong, middle = await hold(finder, "kestrel roof barn wall", "kestrel kestrel", "kestrel roof")
        answer = await finder.search(READER, request("kestrel"))
        assert order(answer, answer.lexical_rank) == [strong.id.int, middle.id.int, weak.id.int]

    async def test_equal_scores_rank_the_newest_first_then_by_id(self, finder: Finder) -> None:
        memories = numbered(4)
        memories[2] = moved(memories[2], NOW + timedelta(seconds=1))
        await remember(finder.store, *(indexed(memory, "kestrel") for memory in reversed(memories)))
        answer = await finder.search(READER, request("kestrel"))
        assert order(answer, answer.lexical_rank) == [3, 1, 2, 4]

    @needs("phrases")
    async def test_a_phrase_matches_words_next_to_each_other(self, finder: Finder) -> None:
        _, together, _, inside = await hold(finder, "to kestrel be", "to be", "be to", "owl not to be kestrel")
        answer = await finder.search(READER, request(phrase=("to", "be")))
        assert set(answer.ids) == {together.id, inside.id}
        assert (answer.bm25.tolist(), answer.coverage.tolist()) == ([1.0, 1.0], [1.0, 1.0])
        assert answer.bm25_bound == 1.0

    @needs("phrases")
    async def test_a_phrase_names_the_cue_that_holds_it(self, finder: Finder) -> None:
        await hold(finder, ("be", "who is to be", "to be"))
        answer = await finder.search(READER, request(phrase=("to", "be")))
        assert (answer.cue.tolist(), answer.lexical_rank.tolist()) == ([1], [1])

    @needs("phrases")
    async def test_a_phrase_does_not_run_over_the_end_of_a_cue(self, finder: Finder) -> None:
        await hold(finder, ("where to", "be there"))
        assert (await finder.search(READER, request(phrase=("to", "be")))).ids == ()

    @needs("dense")
    async def test_an_empty_question_asks_nothing(self, finder: Finder) -> None:
        (memory,) = await hold(finder, {"kestrel": a_vector(1, 0)})
        asked = SearchRequest(where=EVERYTHING, depth=5, lexical=LexicalQuery(), model=MODEL)
        answer = await finder.search(READER, VectoredRequest(asked, a_vector(1, 0)))
        assert (answer.ids, answer.bm25_bound) == ((memory.id,), 0.0)
        assert np.isnan(answer.bm25).all()
        assert np.isnan(answer.coverage).all()


@needs("dense")
class DenseContract(IndexSuite):
    async def test_similarity_is_the_cosine(self, finder: Finder) -> None:
        await hold(
            finder, {"one": a_vector(1, 0, 0, 0)}, {"two": a_vector(1, 1, 1, 1)}, {"three": a_vector(-1, 0, 0, 0)}
        )
        answer = await finder.search(READER, request(vector=a_vector(1, 0, 0, 0)))
        assert by_id(answer, answer.similarity) == {1: similar(1.0), 2: similar(0.5), 3: similar(-1.0)}
        assert order(answer, answer.dense_rank) == [1, 2, 3]

    async def test_the_nearest_of_many_are_returned(self, finder: Finder) -> None:
        random = np.random.default_rng(7)
        vectors = [a_vector(*random.normal(size=384)) for _ in range(300)]
        memories = numbered(300)
        await finder.store.append(
            SCOPE,
            [
                Entry(an_event(f"{n}", event_id=UUID(int=n + 1)), indexed(memory, f"{n}"))
                for n, memory in enumerate(memories)
            ],
        )
        await give_vectors(finder.store, {f"{n}": vector for n, vector in enumerate(vectors)})
        question = a_vector(*random.normal(size=384))
        answer = await finder.search(READER, request(vector=question, depth=20))
        exact = {memory.id: float(vector @ question) for memory, vector in zip(memories, vectors, strict=True)}
        brought = {memory_id: exact[memory_id] for memory_id in answer.ids}
        assert len(brought) == 20
        assert by_id(answer, answer.similarity) == {one.int: similar(value) for one, value in brought.items()}
        missed = max(value for memory_id, value in exact.items() if memory_id not in brought)
        assert missed <= min(brought.values()) + 2 * COSINE_TOLERANCE

    async def test_without_a_vector_only_the_words_are_searched(self, finder: Finder) -> None:
        one, _ = await hold(finder, {"kestrel": a_vector(1, 0)}, {"owl": a_vector(0, 1)})
        answer = await finder.search(READER, request("kestrel", model=MODEL))
        assert (answer.ids, answer.dense_rank.tolist()) == ((one.id,), [0])
        assert np.isnan(answer.similarity).all()

    async def test_the_nearest_cue_gives_the_similarity_of_its_memory(self, finder: Finder) -> None:
        await hold(finder, {"far": a_vector(1, 1), "near": a_vector(1, 0), "farther": a_vector(0, 1)})
        answer = await finder.search(READER, request(vector=a_vector(1, 0)))
        assert (answer.cue.tolist(), answer.similarity.tolist()) == ([1], [similar(1.0)])

    async def test_of_equally_near_cues_the_first_counts(self, finder: Finder) -> None:
        same = a_vector(3, 4, 12)
        await hold(finder, {"far": a_vector(1, 0, 0), "near": same, "as near": same})
        assert (await finder.search(READER, request(vector=a_vector(0, 0, 1)))).cue.tolist() == [1]

    async def test_of_cues_with_negative_similarity_the_first_counts(self, finder: Finder) -> None:
        await hold(finder, {"opposite": a_vector(-1, 0), "less so": a_vector(-1, 1)})
        answer = await finder.search(READER, request(vector=a_vector(1, 0)))
        assert (answer.cue.tolist(), answer.similarity.tolist()) == ([0], [similar(-(0.5**0.5))])

    async def test_equal_similarities_rank_the_newest_first_then_by_id(self, finder: Finder) -> None:
        memories = numbered(4)
        memories[2] = moved(memories[2], NOW + timedelta(seconds=1))
        await remember(finder.store, *(indexed(memory) for memory in reversed(memories)))
        await give_vectors(finder.store, {memory.text: a_vector(3, 4, 12) for memory in memories})
        answer = await finder.search(READER, request(vector=a_vector(1, 2, 2)))
        assert order(answer, answer.dense_rank) == [3, 1, 2, 4]

    async def test_a_memory_without_a_vector_is_no_dense_candidate(self, finder: Finder) -> None:
        with_, _ = await hold(finder, {"one": a_vector(1, 0)}, "two")
        answer = await finder.search(READER, request(vector=a_vector(1, 0)))
        assert (answer.ids, answer.visible, answer.without_vector) == ((with_.id,), 2, 1)

    async def test_a_memory_awaits_vectors_until_every_cue_has_one(self, finder: Finder) -> None:
        (memory,) = await hold(finder, {"one": a_vector(1, 0), "two": None})
        answer = await finder.search(READER, request(vector=a_vector(1, 0)))
        assert (answer.ids, answer.without_vector) == ((memory.id,), 1)

    async def test_only_visible_memories_are_counted_as_awaiting(self, finder: Finder) -> None:
        one, two = numbered(2)
        await remember(finder.store, one, replace(two, kind="noise"))
        where = replace(EVERYTHING, kinds=frozenset({"note"}))
        answer = await finder.search(READER, request("memory", model=MODEL, where=where))
        assert (answer.visible, answer.without_vector) == (1, 1)

    async def test_without_a_model_no_memory_awaits_a_vector(self, finder: Finder) -> None:
        await remember(finder.store, a_memory())
        assert (await finder.search(READER, request("deploy"))).without_vector == 0

    async def test_vectors_of_another_model_are_not_compared(self, finder: Finder) -> None:
        await remember(finder.store, a_memory())
        await give_vectors(finder.store, {a_memory().text: a_vector(1, 0)}, model="model-b")
        answer = await finder.search(READER, request(vector=a_vector(1, 0, 0), model=MODEL))
        assert (answer.ids, answer.without_vector) == ((), 1)

    async def test_a_question_of_another_dimension_is_a_mismatch(self, finder: Finder) -> None:
        await remember(finder.store, a_memory())
        await give_vectors(finder.store, {a_memory().text: a_vector(1, 0)})
        with pytest.raises(EmbedderMismatch):
            await finder.search(READER, request(vector=a_vector(1, 0, 0)))

    async def test_a_vector_without_its_model_is_refused(self, finder: Finder) -> None:
        asked = VectoredRequest(SearchRequest(where=EVERYTHING, depth=5), a_vector(1, 0))
        with pytest.raises(InvalidInput, match="model"):
            await finder.search(READER, asked)


@needs("dense", "lexical")
class UnionContract(IndexSuite):
    async def test_an_empty_store_answers_with_empty_columns(self, finder: Finder) -> None:
        answer = await finder.search(READER, request("kestrel", vector=a_vector(1, 0)))
        assert (answer.ids, answer.visible, answer.without_vector) == ((), 0, 0)
        columns = dict.fromkeys(("cue", "dense_rank", "lexical_rank"), np.dtype(np.int32))
        columns |= dict.fromkeys(("similarity", "bm25", "coverage"), np.dtype(np.float32))
        assert {name: getattr(answer, name).dtype for name in columns} == columns
        assert {getattr(answer, name).shape for name in columns} == {(0,)}

    async def test_a_request_without_a_search_returns_nothing(self, finder: Finder) -> None:
        await remember(finder.store, a_memory())
        answer = await finder.search(READER, request())
        assert (answer.ids, answer.visible, answer.bm25_bound) == ((), 1, 0.0)

    async def test_a_memory_of_a_requested_time_is_returned_with_any_text(self, finder: Finder) -> None:
        hour = timedelta(hours=1)
        days = [a_memory(f"day {n}", memory_id=UUID(int=n), at=NOW - n * 24 * hour) for n in range(1, 6)]
        lasting = replace(a_memory("lasting", memory_id=UUID(int=6), at=NOW), occurred_from=days[4].occurred_from)
        await remember(finder.store, *days, lasting)
        at = ((days[3].occurred_to, days[2].occurred_from), (days[0].occurred_to, days[0].occurred_to + hour))
        answer = await finder.search(READER, request(any_at=at))
        assert [identifier.int for identifier in answer.ids] == [6, 1, 4]

    async def test_a_memory_of_a_requested_time_has_scores_and_no_rank(self, finder: Finder) -> None:
        await remember(finder.store, a_memory("owl"), a_memory("kestrel", at=NOW - timedelta(days=1)))
        answer = await finder.search(READER, request("kestrel", any_at=((NOW, NOW + timedelta(hours=1)),)))
        assert (answer.lexical_rank.tolist(), answer.bm25[0]) == ([0, 1], 0.0)

    async def test_at_most_the_depth_of_a_search_is_returned_for_a_requested_time(self, finder: Finder) -> None:
        days = [a_memory(f"day {n}", memory_id=UUID(int=n), at=NOW - timedelta(days=n)) for n in range(1, 6)]
        await remember(finder.store, *days)
        answer = await finder.search(READER, request(any_at=((NOW - timedelta(days=9), NOW),), depth=2))
        assert [identifier.int for identifier in answer.ids] == [1, 2]

    async def test_a_filtered_memory_is_not_returned_for_its_time(self, finder: Finder) -> None:
        fact = replace(a_memory("owl"), kind="fact")
        await remember(finder.store, a_memory("kestrel"), fact)
        where = replace(EVERYTHING, kinds=frozenset({"fact"}))
        answer = await finder.search(READER, request(where=where, any_at=((NOW, NOW + timedelta(hours=1)),)))
        assert answer.ids == (fact.id,)

    async def test_a_memory_that_states_a_preference_is_returned_with_any_text(self, finder: Finder) -> None:
        tagged = replace(a_memory("owl", memory_id=UUID(int=1)), tags=("preference",))
        general = replace(a_memory("heron", memory_id=UUID(int=2)), tags=("always", "instruction", "preference"))
        rule = replace(a_memory("wren", memory_id=UUID(int=3)), kind="rule")
        other = replace(a_memory("kestrel", memory_id=UUID(int=4)), tags=("always",))
        await remember(finder.store, tagged, general, rule, other)
        answer = await finder.search(READER, request("kestrel", preferences=True))
        assert answer.preferences is not None
        assert by_id(answer, answer.preferences) == {1: 1, 2: 2, 3: 1, 4: 0}
        assert answer.lexical_rank[list(answer.ids).index(tagged.id)] == 0

    async def test_a_preference_is_returned_only_on_request(self, finder: Finder) -> None:
        await remember(finder.store, replace(a_memory("owl"), tags=("preference",)), a_memory("kestrel"))
        answer = await finder.search(READER, request("kestrel"))
        assert (len(answer.ids), answer.preferences) == (1, None)

    async def test_a_filtered_preference_is_not_returned(self, finder: Finder) -> None:
        fact = replace(a_memory("owl"), kind="fact", tags=("preference",))
        await remember(finder.store, replace(a_memory("kestrel"), kind="rule"), fact)
        where = replace(EVERYTHING, kinds=frozenset({"fact"}))
        answer = await finder.search(READER, request(where=where, preferences=True))
        assert answer.ids == (fact.id,)

    async def test_at_most_the_newest_preferences_are_returned(self, finder: Finder) -> None:
        days = [
            replace(a_memory(f"day {n}", memory_id=UUID(int=n), at=NOW - timedelta(days=n)), kind="rule")
            for n in range(1, 6)
        ]
        await remember(finder.store, *days)
        answer = await finder.search(READER, request(preferences=True, depth=2))
        assert [identifier.int for identifier in answer.ids] == [1, 2]

    async def test_candidates_are_the_union_of_the_searches(self, finder: Finder) -> None:
        dense, lexical, _ = await hold(finder, {"owl": a_vector(1, 0)}, "kestrel", "heron")
        answer = await finder.search(READER, request("kestrel", vector=a_vector(1, 0)))
        assert set(answer.ids) == {dense.id, lexical.id}
        assert (order(answer, answer.dense_rank), order(answer, answer.lexical_rank)) == ([1], [2])

    async def test_the_score_of_a_search_that_was_not_requested_is_nan(self, finder: Finder) -> None:
        await hold(finder, {"kestrel": a_vector(1, 0)})
        by_words = await finder.search(READER, request("kestrel"))
        by_vector = await finder.search(READER, request(vector=a_vector(1, 0)))
        assert np.isnan(by_words.similarity).all()
        assert np.isnan(by_vector.bm25).all()
        assert np.isnan(by_vector.coverage).all()
        assert (by_words.dense_rank.tolist(), by_vector.lexical_rank.tolist()) == ([0], [0])

    async def test_the_score_of_a_search_that_did_not_find_a_row_is_zero(self, finder: Finder) -> None:
        await hold(finder, {"kestrel": a_vector(1, 0)})
        answer = await finder.search(READER, request("walrus", vector=a_vector(1, 0)))
        assert (answer.bm25.tolist(), answer.coverage.tolist()) == ([0.0], [0.0])
        assert answer.lexical_rank.tolist() == [0]

    async def test_a_row_without_a_vector_has_no_similarity(self, finder: Finder) -> None:
        await remember(finder.store, a_memory("kestrel"))
        answer = await finder.search(READER, request("kestrel", vector=a_vector(1, 0)))
        assert np.isnan(answer.similarity).all()
        assert answer.dense_rank.tolist() == [0]

    async def test_each_search_returns_its_depth_and_both_score_every_row(self, finder: Finder) -> None:
        dense, lexical, _ = await hold(
            finder,
            {"kestrel roof barn": a_vector(1, 0)},
            {"kestrel kestrel": a_vector(1, 1)},
            {"kestrel roof barn wall": a_vector(0, 1)},
        )
        answer = await finder.search(READER, request("kestrel", vector=a_vector(1, 0), depth=1))
        assert answer.ids == (dense.id, lexical.id)
        assert (answer.dense_rank.tolist(), answer.lexical_rank.tolist()) == ([1, 0], [0, 1])
        assert (answer.bm25 > 0).all()
        assert answer.similarity.tolist() == [similar(1.0), similar(0.5**0.5)]

    @needs("bm25")
    async def test_the_best_cue_is_best_by_both_searches_together(self, finder: Finder) -> None:
        await hold(finder, {"owl": a_vector(1, 0), "kestrel": a_vector(0, 1), "kestrel owl": a_vector(4, 3)})
        answer = await finder.search(READER, request("kestrel", vector=a_vector(1, 0)))
        assert answer.cue.tolist() == [2]
        assert answer.similarity.tolist() == [similar(1.0)]
        assert answer.bm25[0] == close(finder.idf(3, 2) * finder.weight(1, 1, 4 / 3))

    async def test_candidates_come_newest_first_then_by_id(self, finder: Finder) -> None:
        memories = numbered(4)
        memories[2] = moved(memories[2], NOW + timedelta(microseconds=1))
        await remember(finder.store, *(indexed(memory) for memory in reversed(memories)))
        answer = await finder.search(READER, request("memory"))
        assert [memory_id.int for memory_id in answer.ids] == [3, 1, 2, 4]

    async def test_candidates_have_the_fields_that_the_signals_need(self, finder: Finder) -> None:
        memory = replace(moved(a_memory("kestrel"), NOW + timedelta(microseconds=5)), occurred_from=NOW)
        strength = replace(memory.strength, importance=0.75, confidence=0.25, priority=9)
        await remember(finder.store, replace(memory, strength=strength))
        answer = await finder.search(READER, request("kestrel"))
        states = answer.states
        assert (states.importance.tolist(), states.confidence.tolist(), states.priority.tolist()) == (
            [0.75],
            [0.25],
            [9],
        )
        assert answer.states.occurred_at.tolist() == [int(NOW.timestamp()) * 1_000_000 + 5]

    async def test_filters_leave_a_page_full(self, finder: Finder) -> None:
        memories = numbered(30)
        noise = [replace(memory, kind="noise") for memory in memories[:25]]
        await remember(
            finder.store,
            *(indexed(memory, f"kestrel kestrel {n}") for n, memory in enumerate(noise)),
            *(indexed(memory, f"kestrel roof {n}") for n, memory in enumerate(memories[25:])),
        )
        pending = await finder.store.pending(SCOPE, MODEL, limit=100, now=NOW)
        near = {cue.text: a_vector(1, 0) if "kestrel kestrel" in cue.text else a_vector(1, 1) for cue in pending}
        await give_vectors(finder.store, near)
        where = replace(EVERYTHING, kinds=frozenset({"note"}))
        for asked in (request("kestrel", depth=5, where=where), request(vector=a_vector(1, 0), depth=5, where=where)):
            answer = await finder.search(READER, asked)
            assert (len(answer.ids), answer.visible) == (5, 5)

    async def test_a_search_may_be_ended_after_others_were_begun(self, finder: Finder) -> None:
        await hold(finder, {"kestrel": a_vector(1, 0)}, {"owl": a_vector(0, 1)})
        asked, other = request("kestrel", vector=a_vector(1, 2)), request("owl", model=MODEL)

        def both(view: ReadView) -> Candidates:
            first = finder.index.search(view, READER, asked.request)
            finder.index.search(view, READER, other.request).candidates()
            return first.candidates(asked.vector)

        assert_same_answer(await finder.store.read(both), await finder.search(READER, asked))

    async def test_the_same_question_has_the_same_answer(self, finder: Finder) -> None:
        await remember(finder.store, *(indexed(memory) for memory in numbered(9)))
        await give_vectors(finder.store, {memory.text: a_vector(1, 1) for memory in numbered(9)})
        asked = request("memory", vector=a_vector(1, 0), depth=3)
        first, second = await finder.search(READER, asked), await finder.search(READER, asked)
        assert first.ids == second.ids
        np.testing.assert_array_equal(first.dense_rank, second.dense_rank)
        np.testing.assert_array_equal(first.lexical_rank, second.lexical_rank)


@needs("dense", "lexical")
class FreshnessContract(IndexSuite):
    """Each write is visible to the next search. Each test also searches before it writes, so that an index with
    outdated caches fails.
    """

    async def test_an_appended_memory_is_found_at_once(self, finder: Finder) -> None:
        assert await finder.found("kestrel") == set()
        await finder.store.append(SCOPE, [Entry(an_event("said"), indexed(a_memory("kestrel")))])
        assert await finder.found("kestrel") == {"kestrel"}

    async def test_an_inserted_memory_is_found_at_once(self, finder: Finder) -> None:
        await remember(finder.store, a_memory("kestrel roof"))
        assert await finder.found("kestrel") == {"kestrel roof"}
        await remember(finder.store, a_memory("kestrel barn"))
        assert await finder.found("kestrel") == {"kestrel roof", "kestrel barn"}

    async def test_a_revised_memory_is_found_by_its_new_words_only(self, finder: Finder) -> None:
        memory = await stored(finder.store, a_memory("kestrel"))
        assert await finder.found("kestrel") == {"kestrel"}
        await finder.store.revise(SCOPE, indexed(replace(memory, text="owl")), expected_revision=1, at=NOW)
        assert (await finder.found("kestrel"), await finder.found("owl")) == (set(), {"owl"})

    async def test_a_revised_memory_is_found_by_no_old_vector(self, finder: Finder) -> None:
        memory = await stored(finder.store, a_memory("kestrel"))
        await give_vectors(finder.store, {"kestrel": a_vector(1, 0)})
        assert len((await finder.search(READER, request(vector=a_vector(1, 0)))).ids) == 1
        await finder.store.revise(SCOPE, indexed(replace(memory, text="owl")), expected_revision=1, at=NOW)
        answer = await finder.search(READER, request(vector=a_vector(1, 0)))
        assert (answer.ids, answer.without_vector) == ((), 1)

    async def test_a_retired_memory_disappears_at_once_and_can_be_restored(self, finder: Finder) -> None:
        memory = await stored(finder.store, a_memory("kestrel"))
        assert await finder.found("kestrel") == {"kestrel"}
        await finder.store.set_status(READER, memory.id, Status.RETIRED, at=NOW)
        assert await finder.found("kestrel") == set()
        await finder.store.set_status(READER, memory.id, Status.ACTIVE, at=NOW)
        assert await finder.found("kestrel") == {"kestrel"}

    async def test_a_memory_retired_since_is_found_as_of_before(self, finder: Finder) -> None:
        memory = await stored(finder.store, a_memory("kestrel"))
        await finder.store.set_status(READER, memory.id, Status.RETIRED, at=NOW + timedelta(hours=2))
        before = Filter(current_at=NOW + timedelta(hours=1))
        assert await finder.found("kestrel", where=before) == {"kestrel"}

    async def test_a_new_vector_counts_at_once(self, finder: Finder) -> None:
        await hold(finder, "kestrel", {"owl": a_vector(0, 1)})
        assert len((await finder.search(READER, request(vector=a_vector(1, 0)))).ids) == 1
        await give_vectors(finder.store, {"kestrel": a_vector(1, 0)})
        answer = await finder.search(READER, request(vector=a_vector(1, 0)))
        assert by_id(answer, answer.similarity) == {1: similar(1.0), 2: similar(0.0)}

    async def test_an_adjusted_strength_counts_at_once(self, finder: Finder) -> None:
        memory = await stored(finder.store, a_memory("kestrel"))
        await finder.search(READER, request("kestrel"))
        await finder.store.adjust(
            READER,
            [memory.id],
            lambda strength: Adjustment(replace(strength, importance=1.0, priority=1, confidence=0.0)),
            at=NOW,
        )
        answer = await finder.search(READER, request("kestrel"))
        states = answer.states
        assert (states.importance.tolist(), states.priority.tolist(), states.confidence.tolist()) == ([1.0], [1], [0.0])

    @needs("bm25")
    async def test_a_new_row_moves_the_scores_of_the_others_at_once(self, finder: Finder) -> None:
        await remember(finder.store, a_memory("kestrel"))
        first = await finder.search(READER, request("kestrel"))
        await remember(finder.store, *(indexed(memory, "owl roof") for memory in numbered(3)))
        second = await finder.search(READER, request("kestrel"))
        assert first.bm25[0] == close(finder.idf(1, 1) * finder.weight(1, 1, 1.0))
        assert second.bm25[0] == close(finder.idf(4, 1) * finder.weight(1, 1, 7 / 4))

    async def test_imported_rows_are_found_at_once(self, finder: Finder) -> None:
        assert await finder.found("kestrel") == set()
        async with self.another_store() as other:
            await remember(other, *spread([a_memory("kestrel")]))
            await give_vectors(other, {"kestrel": a_vector(1, 0)})
            rows = await exported(other)
        await finder.store.import_rows(SCOPE, rows)
        answer = await finder.search(READER, request("kestrel", vector=a_vector(1, 0)))
        assert (answer.dense_rank.tolist(), answer.lexical_rank.tolist()) == ([1], [1])

    async def test_finding_writes_nothing(self, finder: Finder) -> None:
        await populate(finder.store, SCOPE)
        async with unchanged(finder.store):
            await finder.search(READER, request("deploy", vector=a_vector(1, 0, 0), context_features=True))
            await finder.search(READER, request(phrase=("the", "deploy")))
            await finder.participants(READER, EVERYTHING, model=MODEL)
            await finder.token_embeddings_of({OLD: 0}, model=OTHER_MODEL)


class FoundAfterImportContract(IndexSuite):
    async def test_an_import_is_found_as_its_source_was(self, finder: Finder) -> None:
        asked = request("deploy", "memory", vector=a_vector(1, 0, 0))
        async with self.another_finder() as source:
            await populate(source.store, SCOPE)
            await finder.store.import_rows(SCOPE, await exported(source.store))
            assert_same_answer(await finder.search(READER, asked), await source.search(READER, asked))
