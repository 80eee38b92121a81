from __future__ import annotations

from typing import Any

import pytest

from remembrancer.errors import InvalidInput
from remembrancer.policies.ranking import MAX_DEPTH, Depth, Ranking
from remembrancer.policies.scoring import Product, Signal

SIMILARITY, LEXICAL = Signal("similarity"), Signal("lexical")


@pytest.mark.parametrize(
    ("depth", "limit", "expected"),
    [
        (Depth(), 5, 100),
        (Depth(), 150, 150),
        (Depth(least=20, per_hit=3), 1, 20),
        (Depth(least=20, per_hit=3), 6, 20),
        (Depth(least=20, per_hit=3), 7, 21),
        (Depth(least=20, per_hit=3), 20, 60),
        (Depth(least=20, per_hit=3), 50, 150),
        (Depth(least=MAX_DEPTH), 200, MAX_DEPTH),
        (Depth(per_hit=100), 200, MAX_DEPTH),
    ],
)
def test_a_leg_brings_so_many_for_each_hit_within_its_bounds(depth: Depth, limit: int, expected: int) -> None:
    assert depth.of(limit) == expected


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"least": 0}, r"^depth\.least: .*from 1 to 10000"),
        ({"least": -1}, r"^depth\.least: "),
        ({"least": MAX_DEPTH + 1}, r"^depth\.least: "),
        ({"least": True}, r"^depth\.least: "),
        ({"least": 1.5}, r"^depth\.least: "),
        ({"per_hit": 0}, r"^depth\.per_hit: .*from 1 to 100"),
        ({"per_hit": 101}, r"^depth\.per_hit: "),
    ],
)
def test_a_depth_out_of_range_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Depth(**given)


def test_without_a_vector_the_words_score_alone_where_that_is_said() -> None:
    ranking = Ranking(score=SIMILARITY, words_alone=LEXICAL)
    assert (ranking.expression(with_vector=True), ranking.expression(with_vector=False)) == (SIMILARITY, LEXICAL)


def test_without_a_vector_the_usual_score_stands_where_nothing_is_said() -> None:
    assert Ranking(score=SIMILARITY).expression(with_vector=False) == SIMILARITY


def test_a_score_that_could_leave_the_unit_interval_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match=r"^score: 'level'"):
        Ranking(score=Signal("level"))
    with pytest.raises(InvalidInput, match=r"^words_alone: 'bm25'"):
        Ranking(score=SIMILARITY, words_alone=Product((LEXICAL, Signal("bm25"))))
