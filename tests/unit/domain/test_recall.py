from __future__ import annotations

from uuid import UUID

import pytest

from remembrancer.domain.age import Age
from remembrancer.domain.memory import Cue
from remembrancer.domain.query import LexicalQuery
from remembrancer.domain.recall import Detail, Explanation, Hit, Part, Recall, Rendered, Trace
from remembrancer.errors import InvalidInput
from remembrancer.testing.doubles import NOW, a_memory


def a_hit(rank: int) -> Hit:
    memory = a_memory(f"memory {rank}", memory_id=UUID(int=rank))
    explanation = Explanation(Part("similarity", 0.5, 0.5), {"similarity": 0.5}, {})
    cue = Cue(memory_id=memory.id, ordinal=0, text=memory.text)
    return Hit(rank, 1 / rank, memory, cue, Age(), explanation)


class FirstCharacters:
    """A renderer that prints the requested detail and only the first hit."""

    def hits(self, recall: Recall, *, max_chars: int, detail: Detail, ids: bool = False) -> Rendered:
        told = " ".join(hit.memory.text for hit in recall)
        return Rendered(f"{detail}: {told}"[:max_chars], recall.hits[:1])

    def pinned(self, recall: Recall, *, max_chars: int, ids: bool = False) -> str:
        return " ".join(memory.text for memory in recall.pinned)[:max_chars]


def a_recall(*hits: Hit) -> Recall:
    return Recall(
        query="what failed?",
        asked_at=NOW,
        hits=hits,
        degraded={},
        timings={},
        trace=Trace("what failed?", "what failed?", (), {}, {}),
        renderer=FirstCharacters(),
        pinned=(a_memory("always"),),
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
    assert a_recall(a_hit(1), a_hit(2)).render(max_chars=16) == "auto: memory 1 m"


def test_a_block_names_the_hits_that_its_renderer_showed() -> None:
    recall = a_recall(a_hit(1), a_hit(2))
    assert recall.block(max_chars=14, detail=Detail.HIGH) == Rendered("high: memory 1", recall.hits[:1])


def test_detail_may_be_given_by_its_name() -> None:
    assert a_recall(a_hit(1)).render(detail="none") == "none: memory 1"


@pytest.mark.parametrize("detail", ["", "all", "HIGH"])
def test_an_unknown_detail_is_refused_with_those_there_are(detail: str) -> None:
    with pytest.raises(InvalidInput, match=r"^detail: .*auto, low, none, high"):
        a_recall(a_hit(1)).render(detail=detail)


def test_pinned_memories_are_rendered_by_themselves() -> None:
    assert a_recall(a_hit(1)).render_pinned(max_chars=4) == "alwa"


@pytest.mark.parametrize(
    ("query", "empty"),
    [(LexicalQuery(), True), (LexicalQuery(terms=("a",)), False), (LexicalQuery(phrase=("to", "be")), False)],
)
def test_a_query_without_terms_or_phrase_is_empty(query: LexicalQuery, empty: bool) -> None:
    assert query.is_empty is empty
