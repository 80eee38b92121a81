"""The index over a candidate source: what it does without the source, and in a workspace that it samples."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import numpy as np
import pytest

from remembrancer.adapters.reference import ReferenceStore
from remembrancer.domain.candidates import Candidates
from remembrancer.domain.instants import micros
from remembrancer.domain.query import LexicalQuery
from remembrancer.domain.scope import Visibility
from remembrancer.index.candidates import MOST_HOLDING, CandidateIndex, telling
from remembrancer.index.postings import Counts
from remembrancer.index.resident import ResidentIndex
from remembrancer.index.workspace import WorkspaceIndex
from remembrancer.ports.changes import CueTurn, CueWords, packed_terms
from remembrancer.testing.contract.base import EVERYTHING, remember
from remembrancer.testing.contract.finding import VectoredRequest, assert_same_answer, request
from remembrancer.testing.contract.neighbours import BEN, MINUTE
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory
from remembrancer.testing.simple_source import SimpleSource


def searched(
    index: CandidateIndex | ResidentIndex, asked: VectoredRequest, *texts: str, private: Sequence[str] = ()
) -> Candidates:
    """Ben's question, to a store with these memories of another agent."""

    async def run() -> Candidates:
        store = ReferenceStore()
        for place, text in enumerate((*texts, *private)):
            memory = a_memory(text, at=NOW + place * MINUTE)
            shown = Visibility.OWN if text in private else Visibility.WORKSPACE
            await remember(store, replace(memory, visibility=shown))
        reader = BEN if private else READER
        return await store.read(lambda view: index.search(view, reader, asked.request).candidates(asked.vector))

    return asyncio.run(run())


def test_without_its_source_it_answers_from_the_words_of_the_records() -> None:
    source = SimpleSource()
    source.down = "connection refused"
    vector = np.array([1, 0], dtype=np.float32)
    found = searched(CandidateIndex(source), request("kestrel", vector=vector), "kestrel", "owl")
    assert found.degraded == {"index": "connection refused"}
    assert found.lexical_rank.tolist() == [1]
    assert not found.dense_rank.any()


def test_a_source_that_is_behind_is_told() -> None:
    source = SimpleSource()
    source.behind = "200 of 300 changes to read"
    found = searched(CandidateIndex(source), request("kestrel"), "kestrel", "owl")
    assert found.degraded == {"index": "200 of 300 changes to read"}
    assert found.lexical_rank.tolist() == [1]


@pytest.mark.parametrize("count", [40, 400])
def test_the_counts_of_a_sampled_workspace_are_close(count: int) -> None:
    texts = [f"kestrel {number}" if number % 4 == 0 else f"owl {number}" for number in range(count)]
    exact = searched(ResidentIndex(), request("kestrel", "owl"), *texts)
    sampled = searched(CandidateIndex(SimpleSource(), sampled=32, few=0), request("kestrel", "owl"), *texts)
    assert exact.idf is not None
    assert sampled.idf is not None
    np.testing.assert_allclose(sampled.idf, exact.idf, atol=0.7)
    assert count / 2 < sampled.visible < count * 2


def test_what_a_reader_may_not_see_changes_no_score_of_a_sampled_workspace() -> None:
    shown = [f"kestrel {number}" for number in range(6)]
    hidden = [f"kestrel secret {number}" for number in range(6)]
    alone = searched(CandidateIndex(SimpleSource(), sampled=32, few=0), request("kestrel"), *shown, private=["owl"])
    among = searched(CandidateIndex(SimpleSource(), sampled=32, few=0), request("kestrel"), *shown, private=hidden)
    assert among.bm25.tolist() == alone.bm25.tolist()
    assert among.visible == alone.visible == 6


def test_a_filter_that_keeps_few_of_a_sampled_workspace_has_exact_answers() -> None:
    texts = [f"kestrel owl {number}" if number % 20 == 0 else f"owl {number}" for number in range(400)]
    spans = request("kestrel", "owl", where=replace(EVERYTHING, since=NOW + 300 * MINUTE), context_features=True)
    exact = searched(ResidentIndex(), spans, *texts)
    source = SimpleSource()
    source.down = "not asked at all"
    assert_same_answer(searched(CandidateIndex(source, sampled=32, few=128), spans, *texts), exact)


def test_a_rare_term_is_looked_up_before_frequent_ones() -> None:
    weights = telling({"lunch": MOST_HOLDING, "kestrel": 3, "owl": 40}, 2 * MOST_HOLDING)
    assert list(weights) == ["kestrel", "owl"]
    assert weights["kestrel"] > weights["owl"] > 0


def test_a_frequent_term_alone_is_looked_up() -> None:
    assert list(telling({"lunch": 2 * MOST_HOLDING}, 3 * MOST_HOLDING)) == ["lunch"]


@pytest.mark.parametrize(("second", "read_to", "coverage"), [(2, 0, 1), (9, 0, 0), (9, 9, 1), (9, 8, 0)])
def test_turns_are_neighbours_only_if_all_between_them_were_read(second: int, read_to: int, coverage: int) -> None:
    at = micros(NOW)
    said = [
        CueWords(
            UUID(int=place), at, True, read_to, place, packed_terms([term]), 1, CueTurn(SCOPE, seq, at, "user", "")
        )
        for place, (term, seq) in enumerate((("kestrel", 1), ("owl", second)))
    ]
    index = WorkspaceIndex(SCOPE, None)
    index.add_context(said)
    _, together = index.context_scores(LexicalQuery(terms=("kestrel",)), Counts(2, 2, (1,)))
    assert together.tolist() == [1, coverage]


def test_words_that_a_reader_may_not_see_count_for_no_turn_around_them() -> None:
    at = micros(NOW)
    said = [
        CueWords(UUID(int=place), at, is_kept, 9, place, packed_terms([term]), 1, CueTurn(SCOPE, place, at, "user", ""))
        for place, (term, is_kept) in enumerate((("kestrel", False), ("owl", True)))
    ]
    index = WorkspaceIndex(SCOPE, None)
    index.add_context(said)
    bm25, together = index.context_scores(LexicalQuery(terms=("kestrel",)), Counts(2, 2, (1,)))
    assert not bm25.any()
    assert not together.any()
