from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from expression_strategies import expressions_over
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.domain.recall import Part
from remembrancer.policies.ranking.diversity import Mmr
from remembrancer.policies.ranking.scoring import (
    Clamp,
    Const,
    Expression,
    MinMax,
    Product,
    Rrf,
    Saturating,
    Signal,
    Weighted,
    evaluate,
)

if TYPE_CHECKING:
    from remembrancer.policies.ranking.scoring import FloatColumn

NAMES = ("a", "b", "c")
COUNT = 6

fractions = st.floats(min_value=0.0, max_value=1.0, allow_subnormal=False)
# Few distinct values beside any, so that ties are met as often as differences.
numbers = st.sampled_from([0.0, 0.25, 1.0, math.nan]) | fractions
tables = st.fixed_dictionaries({name: st.lists(numbers, min_size=COUNT, max_size=COUNT) for name in NAMES})


leaves: st.SearchStrategy[Expression] = st.one_of(st.sampled_from(NAMES).map(Signal), fractions.map(Const))
expressions = expressions_over(leaves, weights=fractions, least=fractions, most_k=100, max_leaves=8)


def columns(table: dict[str, list[float]]) -> dict[str, FloatColumn]:
    return {name: np.array(values, dtype=np.float64) for name, values in table.items()}


@given(expressions, tables)
def test_scores_of_signals_in_the_unit_interval_stay_there(
    expression: Expression, table: dict[str, list[float]]
) -> None:
    values = evaluate(expression, columns(table), COUNT).values
    present = values[~np.isnan(values)]
    assert ((present >= 0) & (present <= 1 + 1e-9)).all()


@given(expressions, tables)
def test_evaluating_leaves_the_signals_unchanged(expression: Expression, table: dict[str, list[float]]) -> None:
    signals = columns(table)
    evaluate(expression, signals, COUNT)
    for name, before in columns(table).items():
        np.testing.assert_array_equal(signals[name], before)


@given(expressions, tables, st.permutations(range(COUNT)))
def test_scores_do_not_depend_on_the_order_of_the_rows(
    expression: Expression, table: dict[str, list[float]], order: list[int]
) -> None:
    straight = evaluate(expression, columns(table), COUNT).values
    shuffled = evaluate(expression, {name: values[order] for name, values in columns(table).items()}, COUNT).values
    np.testing.assert_array_equal(shuffled, straight[order])


@given(expressions, tables)
def test_the_root_of_an_explanation_is_the_score(expression: Expression, table: dict[str, list[float]]) -> None:
    scored = evaluate(expression, columns(table), COUNT)
    for row in range(COUNT):
        explained, value = scored.explain(row), float(scored.values[row])
        assert explained.contribution == (0.0 if math.isnan(value) else value)
        assert explained.value == (None if math.isnan(value) else value)


@given(expressions, tables)
def test_the_parts_of_an_explanation_make_up_the_whole(expression: Expression, table: dict[str, list[float]]) -> None:
    scored = evaluate(expression, columns(table), COUNT)
    for row in range(COUNT):
        for part in _walk(scored.explain(row)):
            contributions = [inner.contribution for inner in part.parts]
            if part.parts and part.value is not None:
                whole = math.prod(contributions) if part.label == "product" else sum(contributions)
                assert math.isclose(whole, part.value, rel_tol=1e-9, abs_tol=1e-12)


factors = st.sampled_from([0.0, 1.0, 1e6, math.nan]) | st.floats(0, 1e9, allow_subnormal=False)


@given(
    st.sampled_from([Clamp, Saturating, MinMax]),
    st.lists(st.lists(factors, min_size=COUNT, max_size=COUNT), min_size=1, max_size=3),
)
def test_saturation_maps_unbounded_values_into_the_unit_interval_in_their_order(
    node: type[Clamp | Saturating | MinMax], values: list[list[float]]
) -> None:
    signals = columns({f"s{number}": column for number, column in enumerate(values)})
    inner = Product(tuple(Signal(name) for name in signals))
    before, after = (evaluate(each, signals, COUNT).values for each in (inner, node(inner)))
    present = ~np.isnan(before)
    assert (present == ~np.isnan(after)).all()
    assert ((after[present] >= 0) & (after[present] <= 1)).all()
    assert (np.diff(after[present][np.argsort(before[present], kind="stable")]) >= 0).all()


@given(st.lists(factors, min_size=COUNT, max_size=COUNT))
def test_over_a_least_of_nothing_the_best_is_one_and_all_others_their_share_of_it(values: list[float]) -> None:
    given_values = columns({"a": values})["a"]
    found = evaluate(MinMax(Signal("a"), least=0), {"a": given_values}, COUNT).values
    best = 0.0 if np.isnan(given_values).all() else float(np.nanmax(given_values))
    np.testing.assert_allclose(found, given_values / best if best else given_values * 0, rtol=1e-12)


texts = st.sets(st.sampled_from("abcdef")).map(frozenset)


@given(
    st.lists(st.tuples(fractions, texts), max_size=8),
    st.integers(min_value=0, max_value=9),
    st.sampled_from([0.0, 0.3, 0.7, 1.0]),
)
def test_marginal_relevance_picks_each_at_most_once_and_its_scores_never_rise(
    rows: list[tuple[float, frozenset[str]]], limit: int, balance: float
) -> None:
    rows.sort(key=lambda row: -row[0])
    picks = Mmr(balance=balance).picks([score for score, _ in rows], [words for _, words in rows], limit)
    scores = [score for _, score in picks]
    assert len({candidate for candidate, _ in picks}) == len(picks) == min(limit, len(rows))
    assert all(earlier >= later for earlier, later in pairwise(scores))
    assert all(0 <= score <= 1 + 1e-12 for score in scores)
    assert not picks or picks[0] == (0, pytest.approx(rows[0][0], abs=1e-12))


@given(fractions, fractions, st.sampled_from([0.0, 0.3, 0.7, 1.0]))
def test_a_pick_s_explanation_adds_up_to_its_score(relevance: float, score: float, balance: float) -> None:
    explained = Mmr(balance=balance).explain(Part("a", relevance, relevance), score)
    assert explained.contribution == explained.value == score
    assert math.isclose(sum(part.contribution for part in explained.parts), score, abs_tol=1e-12)


@given(st.lists(st.lists(numbers, min_size=COUNT, max_size=COUNT), min_size=2, max_size=3))
def test_a_fusion_does_not_depend_on_the_order_of_its_rankings(values: list[list[float]]) -> None:
    signals = columns({f"s{number}": ranking for number, ranking in enumerate(values)})
    rankings = tuple(Signal(name) for name in signals)
    straight = evaluate(Rrf(rankings), signals, COUNT).values
    turned = evaluate(Rrf(tuple(reversed(rankings))), signals, COUNT).values
    np.testing.assert_allclose(turned, straight, rtol=1e-12)


@given(tables, st.integers(min_value=0, max_value=COUNT - 1), fractions)
def test_a_greater_signal_never_lowers_a_weighted_score(table: dict[str, list[float]], row: int, more: float) -> None:
    expression = Weighted(((Signal("a"), 0.5), (Signal("b"), 0.3), (Signal("c"), 0.2)))
    before = evaluate(expression, columns(table), COUNT).values[row]
    raised = columns(table)
    raised["a"][row] = np.nanmax([raised["a"][row], more])
    assert evaluate(expression, raised, COUNT).values[row] >= before


@given(tables, st.integers(min_value=1, max_value=200))
def test_a_fusion_never_puts_a_lower_value_first(table: dict[str, list[float]], k: int) -> None:
    values = columns(table)["a"]
    scores = evaluate(Rrf((Signal("a"),), k=k), columns(table), COUNT).values
    present = ~np.isnan(values)
    order = np.argsort(values[present], kind="stable")
    assert (np.diff(scores[present][order]) >= 0).all()


def _walk(part: Part) -> list[Part]:
    return [part, *(deeper for inner in part.parts for deeper in _walk(inner))]
