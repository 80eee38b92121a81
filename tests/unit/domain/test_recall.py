from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from remembrancer.domain.memory import Cue
from remembrancer.domain.query import LexicalQuery
from remembrancer.domain.recall import Explanation, Hit, Part, Recall, Trace
from remembrancer.testing.doubles import NOW, a_memory


def a_hit(rank: int) -> Hit:
    memory = a_memory(f"memory {rank}", memory_id=UUID(int=rank))
    explanation = Explanation(Part("similarity", 0.5, 0.5), {"similarity": 0.5}, {})
    cue = Cue(memory_id=memory.id, ordinal=0, text=memory.text)
    return Hit(rank, 1 / rank, memory, cue, timedelta(), explanation)


def first_characters(recall: Recall, *, max_chars: int) -> str:
    return " ".join(hit.memory.text for hit in recall)[:max_chars]


def a_recall(*hits: Hit) -> Recall:
    return Recall(
        query="what failed?",
        asked_at=NOW,
        hits=hits,
        degraded={},
        timings={},
        trace=Trace("what failed?", "what failed?", (), {}, {}),
        renderer=first_characters,
    )


def test_a_recall_is_the_sequence_of_its_hits() -> None:
    hits = (a_hit(1), a_hit(2), a_hit(3))
    recall = a_recall(*hits)
    assert (tuple(recall), len(recall), recall[0], recall[-1]) == (hits, 3, hits[0], hits[2])


def test_a_slice_of_a_recall_is_a_tuple_of_hits() -> None:
    hits = (a_hit(1), a_hit(2), a_hit(3))
    assert a_recall(*hits)[1:] == hits[1:]


def test_an_empty_recall_is_false() -> None:
    assert not a_recall()


def test_a_hit_that_is_not_there_is_an_index_error() -> None:
    with pytest.raises(IndexError):
        a_recall(a_hit(1))[1]


def test_a_hit_has_the_id_of_its_memory() -> None:
    assert a_hit(7).id == UUID(int=7)


def test_a_recall_renders_with_the_renderer_it_was_given() -> None:
    assert a_recall(a_hit(1), a_hit(2)).render(max_chars=10) == "memory 1 m"


@pytest.mark.parametrize(
    ("query", "empty"),
    [(LexicalQuery(), True), (LexicalQuery(terms=("a",)), False), (LexicalQuery(phrase=("to", "be")), False)],
)
def test_a_query_without_terms_or_phrase_is_empty(query: LexicalQuery, empty: bool) -> None:
    assert query.is_empty is empty
