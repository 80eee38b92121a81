from __future__ import annotations

from typing import Any

import pytest

from remembrancer.errors import InvalidInput
from remembrancer.policies.ranking.ranking import (
    CONTEXT_SIGNALS,
    MAX_DEPTH,
    MAX_RERANK,
    MAX_RERANKED,
    Depth,
    Ranking,
)
from remembrancer.policies.ranking.scoring import Expression, Product, Rrf, Signal, Weighted

SIMILARITY, LEXICAL = Signal("similarity"), Signal("lexical")
BY_WORDS = Rrf((SIMILARITY, Signal("late_interaction")))


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
def test_a_search_returns_a_number_per_hit_within_its_bounds(depth: Depth, limit: int, expected: int) -> None:
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


def test_without_a_vector_the_lexical_only_score_is_used_if_given() -> None:
    ranking = Ranking(score=SIMILARITY, lexical_only=LEXICAL)
    assert (ranking.expression(with_vector=True), ranking.expression(with_vector=False)) == (SIMILARITY, LEXICAL)


def test_without_a_vector_the_usual_score_is_the_default() -> None:
    assert Ranking(score=SIMILARITY).expression(with_vector=False) == SIMILARITY


def test_a_score_that_could_leave_the_unit_interval_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match=r"^score: 'level'"):
        Ranking(score=Signal("level"))
    with pytest.raises(InvalidInput, match=r"^lexical_only: 'bm25'"):
        Ranking(score=SIMILARITY, lexical_only=Product((LEXICAL, Signal("bm25"))))


def test_comparing_words_for_a_score_that_does_not_read_it_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"^late_interaction: 5 .*expected 0, where score does not read late_inter"):
        Ranking(score=SIMILARITY, late_interaction=5)


@pytest.mark.parametrize("score", [Signal("late_interaction"), BY_WORDS], ids=str)
def test_a_score_by_words_that_are_never_compared_is_refused(score: Expression) -> None:
    with pytest.raises(InvalidInput, match=r"^late_interaction: 0 .*1 or more, where score reads late_interaction"):
        Ranking(score=score)


@pytest.mark.parametrize("name", ["lexical_only", "first_stage"])
def test_the_first_stage_score_cannot_read_late_interaction(name: str) -> None:
    given: dict[str, Any] = {name: BY_WORDS}
    with pytest.raises(InvalidInput, match=rf"^{name}: 'late_interaction' "):
        Ranking(score=BY_WORDS, late_interaction=5, **given)


@pytest.mark.parametrize("late_interaction", [-1, MAX_RERANKED + 1, True, 1.5])
def test_so_many_are_not_compared_by_words(late_interaction: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^late_interaction: .*from 0 to 1000"):
        Ranking(score=BY_WORDS, late_interaction=late_interaction)


def test_the_first_stage_uses_its_own_score_if_given() -> None:
    ranking = Ranking(score=BY_WORDS, first_stage=SIMILARITY, lexical_only=LEXICAL, late_interaction=5)
    assert ranking.expression(with_vector=True, compared=False) == SIMILARITY
    assert ranking.expression(with_vector=True, compared=True) == BY_WORDS
    assert ranking.expression(with_vector=False, compared=False) == LEXICAL


def test_the_first_stage_uses_the_usual_score_by_default() -> None:
    assert Ranking(score=BY_WORDS, late_interaction=5).expression(with_vector=True, compared=False) == BY_WORDS


@pytest.mark.parametrize("name", sorted(CONTEXT_SIGNALS))
def test_context_features_are_read_where_any_of_its_expressions_reads_one(name: str) -> None:
    one = Product((SIMILARITY, Signal(name)))
    read = [Ranking(score=one), Ranking(score=LEXICAL, lexical_only=one), Ranking(score=LEXICAL, first_stage=one)]
    assert [ranking.reads_context for ranking in read] == [True] * 3


def test_context_features_are_read_if_late_interaction_gives_them_a_weight() -> None:
    assert Ranking(score=BY_WORDS, late_interaction=5).reads_context


def test_context_features_are_not_read_otherwise() -> None:
    assert not Ranking(score=SIMILARITY, lexical_only=LEXICAL, first_stage=Signal("time")).reads_context


@pytest.mark.parametrize("rerank", [-1, MAX_RERANK + 1, True, 1.5])
def test_so_many_are_not_given_to_a_reranker(rerank: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^rerank: .*from 0 to 200"):
        Ranking(score=SIMILARITY, rerank=rerank)


@pytest.mark.parametrize("weight", [-0.1, 1.1, float("nan"), True, "half"])
def test_a_judgement_counts_for_a_share(weight: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^rerank_weight: "):
        Ranking(score=SIMILARITY, rerank=1, rerank_weight=weight)


@pytest.mark.parametrize("name", ["score", "lexical_only", "first_stage"])
def test_the_score_before_reranking_cannot_read_the_rerankers_judgement(name: str) -> None:
    given: dict[str, Any] = {"score": SIMILARITY, name: Rrf((SIMILARITY, Signal("rerank")))}
    with pytest.raises(InvalidInput, match=rf"^{name}: 'rerank' .*rerank_weight"):
        Ranking(**given)


def test_a_judgement_is_added_to_the_score_before_reranking() -> None:
    ranking = Ranking(score=SIMILARITY, rerank=1, rerank_weight=0.25)
    assert ranking.reranked(BY_WORDS) == Weighted(((BY_WORDS, 0.75), (Signal("rerank"), 0.25)))


def test_a_judgement_is_one_more_term_of_a_sum() -> None:
    ranking = Ranking(score=SIMILARITY, rerank=1, rerank_weight=0.5)
    before = Weighted(((SIMILARITY, 0.5), (LEXICAL, 0.25)))
    after = Weighted(((SIMILARITY, 0.25), (LEXICAL, 0.125), (Signal("rerank"), 0.5)))
    assert ranking.reranked(before) == after
