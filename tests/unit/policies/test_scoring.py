from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from remembrancer.domain.recall import Part
from remembrancer.errors import InvalidInput
from remembrancer.policies.scoring import (
    Const,
    Expression,
    MinMax,
    Product,
    Rrf,
    Scored,
    Signal,
    Weighted,
    evaluate,
    inner_expressions,
    signal_names,
)

if TYPE_CHECKING:
    from remembrancer.policies.scoring import Column

NAN = math.nan
A, B = Signal("a"), Signal("b")


def column(*values: float) -> Column:
    return np.array(values, dtype=np.float64)


def score(expression: Expression, *, a: tuple[float, ...] = (), b: tuple[float, ...] = ()) -> Scored:
    return evaluate(expression, {"a": column(*a), "b": column(*b)}, max(len(a), len(b)))


def assert_values(scored: Scored, *expected: float) -> None:
    np.testing.assert_allclose(scored.values, expected, rtol=1e-12)


def test_a_signal_is_its_column() -> None:
    assert_values(score(A, a=(0.25, NAN, -1.0)), 0.25, NAN, -1.0)


def test_a_signal_that_is_not_in_the_table_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="'nearness' is not allowed; expected one of a, b"):
        score(Signal("nearness"), a=(1.0,))


def test_a_constant_is_the_same_for_all() -> None:
    assert_values(score(Const(0.5), a=(1.0, 2.0)), 0.5, 0.5)


def test_a_weighted_sum_adds_each_term_times_its_weight() -> None:
    assert_values(score(Weighted(((A, 0.75), (B, 0.25))), a=(1.0, 0.5), b=(0.0, 1.0)), 0.75, 0.625)


def test_an_absent_term_adds_nothing_to_a_weighted_sum() -> None:
    assert_values(score(Weighted(((A, 0.75), (B, 0.25))), a=(NAN, NAN), b=(1.0, NAN)), 0.25, 0.0)


@pytest.mark.parametrize("weights", [(), (-0.1,), (1.1,), (NAN,), (0.6, 0.6)])
def test_weights_that_could_leave_the_unit_interval_are_refused(weights: tuple[float, ...]) -> None:
    with pytest.raises(InvalidInput, match="Weighted"):
        Weighted(tuple((A, weight) for weight in weights))


def test_weights_may_sum_to_one_but_for_rounding() -> None:
    assert Weighted(((A, 0.7), (B, 0.2), (Const(1.0), 0.1))).terms


def test_a_product_multiplies_all_factors() -> None:
    assert_values(score(Product((A, B, Const(0.5))), a=(1.0, 0.5), b=(0.5, 0.0)), 0.25, 0.0)


def test_an_absent_factor_empties_a_product() -> None:
    assert_values(score(Product((A, B)), a=(1.0, NAN), b=(NAN, 0.5)), NAN, NAN)


def test_a_product_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="Product"):
        Product(())


def test_min_max_stretches_the_candidates_over_the_unit_interval() -> None:
    assert_values(score(MinMax(A), a=(2.0, 4.0, 3.0, 6.0)), 0.0, 0.5, 0.25, 1.0)


def test_min_max_leaves_the_absent_absent() -> None:
    assert_values(score(MinMax(A), a=(NAN, 1.0, 3.0)), NAN, 0.0, 1.0)


@pytest.mark.parametrize("values", [(7.0,), (7.0, 7.0), (0.0, 0.0)])
def test_min_max_of_equal_values_is_one(values: tuple[float, ...]) -> None:
    assert_values(score(MinMax(A), a=values), *(1.0 for _ in values))


def test_min_max_of_equal_values_beside_the_absent_is_one() -> None:
    assert_values(score(MinMax(A), a=(7.0, NAN)), 1.0, NAN)


def test_min_max_of_nothing_present_is_nothing() -> None:
    assert_values(score(MinMax(A), a=(NAN, NAN)), NAN, NAN)


def test_reciprocal_ranks_fall_with_the_value() -> None:
    assert_values(score(Rrf((A,), k=60), a=(0.5, 0.9, 0.1)), 61 / 62, 1.0, 61 / 63)


def test_reciprocal_ranks_are_the_mean_over_the_rankings() -> None:
    scored = score(Rrf((A, B), k=1), a=(3.0, 2.0, 1.0), b=(1.0, 2.0, 3.0))
    assert_values(scored, (1 + 2 / 4) / 2, (2 / 3 + 2 / 3) / 2, (2 / 4 + 1) / 2)


def test_equal_values_share_the_best_rank_of_their_group() -> None:
    assert_values(score(Rrf((A,), k=1), a=(5.0, 7.0, 5.0, 1.0)), 2 / 3, 1.0, 2 / 3, 2 / 5)


def test_a_candidate_absent_from_a_ranking_gets_nothing_from_it() -> None:
    assert_values(score(Rrf((A, B), k=60), a=(1.0, NAN), b=(NAN, NAN)), 0.5, 0.0)


def test_the_absent_take_no_rank() -> None:
    assert_values(score(Rrf((A,), k=1), a=(NAN, 1.0, NAN, 2.0)), 0.0, 2 / 3, 0.0, 1.0)


def test_the_first_in_every_ranking_scores_one() -> None:
    assert_values(score(Rrf((A, B)), a=(1.0, 0.0), b=(9.0, 3.0)), 1.0, 61 / 62)


def test_a_fusion_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="Rrf"):
        Rrf(())


@pytest.mark.parametrize("k", [0, -60])
def test_a_fusion_constant_below_one_is_refused(k: int) -> None:
    with pytest.raises(InvalidInput, match=r"Rrf\.k"):
        Rrf((A,), k=k)


@pytest.mark.parametrize(
    "expression", [A, Const(1.0), Weighted(((A, 1.0),)), Product((A,)), MinMax(A), Rrf((A, B))], ids=str
)
def test_no_candidates_have_no_scores(expression: Expression) -> None:
    assert score(expression).values.shape == (0,)


def test_the_names_of_an_expression_are_those_it_reads() -> None:
    expression = Product((Weighted(((A, 0.5), (MinMax(B), 0.5))), Const(1.0), Rrf((Signal("c"), A))))
    assert signal_names(expression) == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("expression", "inner"),
    [
        (A, ()),
        (Const(1.0), ()),
        (Weighted(((A, 0.5), (B, 0.5))), (A, B)),
        (Product((A, B)), (A, B)),
        (MinMax(A), (A,)),
        (Rrf((B, A)), (B, A)),
    ],
)
def test_the_expressions_inside_one(expression: Expression, inner: tuple[Expression, ...]) -> None:
    assert inner_expressions(expression) == inner


def test_an_explanation_is_the_tree_of_one_candidate() -> None:
    scored = score(Weighted(((Product((A, B)), 0.5), (Const(0.25), 0.5))), a=(0.0, 0.5), b=(0.0, 0.5))
    assert scored.explain(1) == Part(
        "weighted sum",
        0.25,
        0.25,
        (
            Part("product", 0.25, 0.125, (Part("a", 0.5, 0.5), Part("b", 0.5, 0.5))),
            Part("0.25", 0.25, 0.125),
        ),
    )


def test_an_explanation_of_a_fusion_says_what_each_ranking_gave() -> None:
    explained = score(Rrf((A, B), k=60), a=(2.0, 1.0), b=(NAN, NAN)).explain(1)
    assert explained == Part(
        "reciprocal ranks (k=60)", 61 / 62 / 2, 61 / 62 / 2, (Part("a", 1.0, 61 / 62 / 2), Part("b", None, 0.0))
    )


def test_an_explanation_of_a_rescaled_signal_shows_it_as_it_was() -> None:
    explained = score(MinMax(A), a=(2.0, 6.0, 3.0)).explain(2)
    assert explained == Part("min-max", 0.25, 0.25, (Part("a", 3.0, 0.25),))


def test_an_absent_score_is_explained_as_none_and_counts_nothing() -> None:
    assert score(A, a=(NAN,)).explain(0) == Part("a", None, 0.0)
