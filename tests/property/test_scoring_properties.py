from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.domain.recall import Part
from remembrancer.policies.scoring import Const, Expression, MinMax, Product, Rrf, Signal, Weighted, evaluate

if TYPE_CHECKING:
    from remembrancer.policies.scoring import Column

NAMES = ("a", "b", "c")
COUNT = 6

fractions = st.floats(min_value=0.0, max_value=1.0, allow_subnormal=False)
# Few distinct values beside any, so that ties are met as often as differences.
numbers = st.sampled_from([0.0, 0.25, 1.0, math.nan]) | fractions
tables = st.fixed_dictionaries({name: st.lists(numbers, min_size=COUNT, max_size=COUNT) for name in NAMES})


def _weighted(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.lists(st.tuples(inner, fractions), min_size=1, max_size=3).map(
        lambda terms: Weighted(tuple((term, weight / len(terms)) for term, weight in terms))
    )


def _composed(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    several = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        _weighted(inner),
        st.builds(Product, several),
        st.builds(MinMax, inner),
        st.builds(Rrf, several, k=st.integers(min_value=1, max_value=100)),
    )


leaves: st.SearchStrategy[Expression] = st.one_of(st.sampled_from(NAMES).map(Signal), fractions.map(Const))
expressions = st.recursive(leaves, _composed, max_leaves=8)


def columns(table: dict[str, list[float]]) -> dict[str, Column]:
    return {name: np.array(values, dtype=np.float64) for name, values in table.items()}


@given(expressions, tables)
def test_scores_of_calibrated_signals_stay_in_the_unit_interval(
    expression: Expression, table: dict[str, list[float]]
) -> None:
    values = evaluate(expression, columns(table), COUNT).values
    present = values[~np.isnan(values)]
    assert ((present >= 0) & (present <= 1 + 1e-9)).all()


@given(expressions, tables)
def test_evaluating_leaves_the_signals_as_they_were(expression: Expression, table: dict[str, list[float]]) -> None:
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
            if part.label == "product":
                whole = math.prod(contributions)
                assert math.isclose(whole, part.value or 0.0, abs_tol=1e-12) or part.value is None
            elif part.parts:
                assert math.isclose(sum(contributions), part.value or 0.0, abs_tol=1e-12)


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
