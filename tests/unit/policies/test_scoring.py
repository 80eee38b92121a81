from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from golden_tables import cells, every_row, number, numbers, table

from remembrancer.domain.recall import Part
from remembrancer.errors import InvalidInput
from remembrancer.policies.ranking.scoring import (
    Clamp,
    Const,
    Expression,
    Greatest,
    MinMax,
    Product,
    Rrf,
    Saturating,
    Scored,
    Signal,
    Weighted,
    evaluate,
    inner_expressions,
    signal_names,
)

if TYPE_CHECKING:
    from remembrancer.policies.ranking.scoring import FloatColumn

NAN = math.nan
A, B = Signal("a"), Signal("b")


def column(*values: float) -> FloatColumn:
    return np.array(values, dtype=np.float64)


def score(expression: Expression, *, a: tuple[float, ...] = (), b: tuple[float, ...] = ()) -> Scored:
    return evaluate(expression, {"a": column(*a), "b": column(*b)}, max(len(a), len(b)))


def assert_values(scored: Scored, *expected: float) -> None:
    np.testing.assert_allclose(scored.values, expected, rtol=1e-12)


def node(row: dict[str, str], inner: tuple[Expression, ...]) -> Expression:
    match row["node"]:
        case "weighted":
            return Weighted(tuple(zip(inner, numbers(row["weights"]).tolist(), strict=True)))
        case "product":
            return Product(inner)
        case "clamp":
            return Clamp(inner[0])
        case "saturating":
            return Saturating(inner[0])
        case _:
            return Greatest(inner)


# ── as worked out ────────────────────────────────────────────────────────────────────────────────────────────────────


@every_row(table("combining"), cells)
def test_a_node_combines_its_parts_as_computed(row: dict[str, str]) -> None:
    given = {f"s{place}": column(value) for place, value in enumerate(numbers(row["values"]).tolist())}
    scored = evaluate(node(row, tuple(map(Signal, given))), given, 1)
    np.testing.assert_allclose(scored.values, [number(row["expected"])], rtol=1e-12)


@every_row(table("min_max"), cells)
def test_rescaling_gives_the_computed_values(row: dict[str, str]) -> None:
    values = numbers(row["values"])
    least = None if row["least"] == "" else number(row["least"])
    scored = evaluate(MinMax(A, least=least), {"a": values}, len(values))
    np.testing.assert_allclose(scored.values, numbers(row["expected"]), rtol=1e-12)


@every_row(table("rrf"), cells)
def test_rank_fusion_gives_the_computed_values(row: dict[str, str]) -> None:
    given = {f"s{place}": numbers(ranking) for place, ranking in enumerate(row["rankings"].split("|"))}
    expected, summed = numbers(row["expected"]), numbers(row["summed"])
    scored = evaluate(Rrf(tuple(map(Signal, given)), k=int(row["k"])), given, len(expected))
    np.testing.assert_allclose(scored.values, expected, rtol=1e-12)
    np.testing.assert_allclose(scored.values, summed * (int(row["k"]) + 1) / len(given), rtol=1e-12)


# ── each node ────────────────────────────────────────────────────────────────────────────────────────────────────────


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


def test_min_max_of_equal_values_among_absent_ones_is_one() -> None:
    assert_values(score(MinMax(A), a=(7.0, NAN)), 1.0, NAN)


def test_min_max_of_nothing_present_is_nothing() -> None:
    assert_values(score(MinMax(A), a=(NAN, NAN)), NAN, NAN)


def test_with_a_least_value_the_weakest_match_is_not_nothing() -> None:
    assert_values(score(MinMax(A, least=0), a=(5.0, 4.0, 1.0)), 1.0, 0.8, 0.2)


def test_with_a_least_value_no_match_at_all_is_nothing() -> None:
    assert_values(score(MinMax(A, least=0), a=(0.0, 0.0, NAN)), 0.0, 0.0, NAN)


@pytest.mark.parametrize("least", [NAN, math.inf, -math.inf])
def test_a_least_value_that_is_no_number_is_refused(least: float) -> None:
    with pytest.raises(InvalidInput, match=r"^MinMax\.least: "):
        MinMax(A, least=least)


def test_a_greatest_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="Greatest"):
        Greatest(())


@pytest.mark.parametrize("value", [-0.1, 1.1, NAN])
def test_a_constant_outside_the_unit_interval_is_refused(value: float) -> None:
    with pytest.raises(InvalidInput, match="Const"):
        Const(value)


def test_saturation_keeps_the_order_below_one() -> None:
    values = score(Saturating(A), a=(0.0, 1e-9, 0.5, 1.0, 1e3, 1e6)).values
    assert (np.diff(values) > 0).all()
    assert (values < 1).all()


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
    "expression",
    [
        A,
        Const(1.0),
        Weighted(((A, 1.0),)),
        Product((A,)),
        MinMax(A),
        MinMax(A, least=0),
        Rrf((A, B)),
        Clamp(A),
        Saturating(A),
        Greatest((A, B)),
    ],
    ids=str,
)
def test_no_candidates_have_no_scores(expression: Expression) -> None:
    assert score(expression).values.shape == (0,)


def test_the_names_of_an_expression_are_those_it_reads() -> None:
    expression = Product(
        (
            Weighted(((A, 0.5), (MinMax(B), 0.5))),
            Const(1.0),
            Rrf((Signal("c"), A)),
            Clamp(Saturating(Greatest((A, Signal("d"))))),
        )
    )
    assert signal_names(expression) == {"a", "b", "c", "d"}


@pytest.mark.parametrize(
    ("expression", "inner"),
    [
        (A, ()),
        (Const(1.0), ()),
        (Weighted(((A, 0.5), (B, 0.5))), (A, B)),
        (Product((A, B)), (A, B)),
        (MinMax(A), (A,)),
        (Rrf((B, A)), (B, A)),
        (Clamp(A), (A,)),
        (Saturating(A), (A,)),
        (Greatest((B, A)), (B, A)),
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


def test_an_explanation_of_a_fusion_has_the_share_of_each_ranking() -> None:
    explained = score(Rrf((A, B), k=60), a=(2.0, 1.0), b=(NAN, NAN)).explain(1)
    assert explained == Part(
        "reciprocal ranks (k=60)", 61 / 62 / 2, 61 / 62 / 2, (Part("a", 1.0, 61 / 62 / 2), Part("b", None, 0.0))
    )


def test_an_explanation_of_a_rescaled_signal_shows_it_as_it_was() -> None:
    explained = score(MinMax(A), a=(2.0, 6.0, 3.0)).explain(2)
    assert explained == Part("min-max", 0.25, 0.25, (Part("a", 3.0, 0.25),))


def test_an_absent_score_is_explained_as_none_and_counts_nothing() -> None:
    assert score(A, a=(NAN,)).explain(0) == Part("a", None, 0.0)


def test_an_explanation_of_the_greatest_gives_all_to_the_first_that_is_it() -> None:
    scored = score(Greatest((A, B, A)), a=(0.25, 0.5, NAN), b=(0.5, 0.5, 0.125))
    assert [[part.contribution for part in scored.explain(row).parts] for row in range(3)] == [
        [0.0, 0.5, 0.0],
        [0.5, 0.0, 0.0],
        [0.0, 0.125, 0.0],
    ]


def test_an_explanation_of_a_held_value_shows_it_as_it_was() -> None:
    explained = score(Clamp(Product((A, B))), a=(4.0,), b=(0.5,)).explain(0)
    assert explained == Part(
        "at most 1", 1.0, 1.0, (Part("product", 2.0, 1.0, (Part("a", 4.0, 4.0), Part("b", 0.5, 0.5))),)
    )


def test_an_explanation_of_a_saturated_value_shows_it_as_it_was() -> None:
    explained = score(Saturating(A), a=(3.0,)).explain(0)
    assert explained == Part("x / (1 + x)", 0.75, 0.75, (Part("a", 3.0, 0.75),))
