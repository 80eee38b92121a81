from __future__ import annotations

import pytest

from remembrancer.domain.recall import PRODUCT, Part
from remembrancer.policies.ranking.leading import Weight, Weights, leading, setting_apart, weights


def leaf(label: str, value: float | None, contribution: float | None = None) -> Part:
    return Part(label, value, (value or 0.0) if contribution is None else contribution)


def product(*factors: Part, contribution: float | None = None) -> Part:
    value = 1.0
    for factor in factors:
        value *= factor.value or 0.0
    return Part(PRODUCT, value, value if contribution is None else contribution, factors)


def weighted(*terms: Part) -> Part:
    value = sum(term.contribution for term in terms)
    return Part("weighted sum", value, value, terms)


def greatest(*terms: Part) -> Part:
    value = max(term.value or 0.0 for term in terms)
    shares = [Part(term.label, term.value, value if term.value == value else 0.0, term.parts) for term in terms]
    return Part("greatest of", value, value, tuple(shares))


def saturating(inner: Part) -> Part:
    value = (inner.value or 0.0) / (1 + (inner.value or 0.0))
    return Part("x / (1 + x)", value, value, (Part(inner.label, inner.value, value, inner.parts),))


def at_most_1(inner: Part) -> Part:
    value = min(1.0, inner.value or 0.0)
    return Part("at most 1", value, value, (Part(inner.label, inner.value, value, inner.parts),))


SUM = weighted(leaf("similarity", 0.5, 0.2), leaf("lexical", 0.6, 0.3), leaf("importance", 0.5, 0.02))
FACTORS = product(leaf("similarity", 0.8), leaf("importance", 0.5), leaf("reinforcement", 1.0), leaf("level", 1.5))


def plain(found: Weights) -> list[tuple[str, float]]:
    return [(part.label, part.value) for part in found.parts]


def test_a_sum_is_led_by_its_greatest_terms() -> None:
    assert plain(leading(SUM)) == [("lexical", 0.3), ("similarity", 0.2)]


def test_a_product_is_led_by_the_factors_farthest_from_1() -> None:
    assert plain(leading(FACTORS)) == [("importance", 0.5), ("level", 1.5)]


def test_a_factor_of_0_leads() -> None:
    assert plain(leading(product(leaf("similarity", 0.1), leaf("importance", 0.0)), 1)) == [("importance", 0.0)]


def test_a_part_without_effect_is_not_the_leading_one() -> None:
    assert plain(leading(weighted(leaf("lexical", 0.0, 0.0), leaf("similarity", 0.5, 0.2)))) == [("similarity", 0.2)]
    assert plain(leading(product(leaf("level", 1.0), leaf("similarity", 0.5)))) == [("similarity", 0.5)]


def test_an_absent_factor_is_0() -> None:
    assert plain(weights(product(leaf("similarity", None), leaf("importance", 0.5)))) == [
        ("similarity", 0.0),
        ("importance", 0.5),
    ]


def test_a_score_that_is_one_signal_is_led_by_it() -> None:
    assert plain(leading(leaf("similarity", 0.5))) == [("similarity", 0.5)]


def test_saturation_of_a_score_is_ignored() -> None:
    assert weights(saturating(FACTORS)) == weights(FACTORS)


def test_factors_of_a_factor_are_factors() -> None:
    now = greatest(leaf("importance_floor", 0.0), at_most_1(product(leaf("importance", 0.5), leaf("retention", 0.25))))
    assert plain(weights(product(leaf("similarity", 0.8), now))) == [
        ("similarity", 0.8),
        ("importance", 0.5),
        ("retention", 0.25),
    ]


def test_a_factor_that_is_held_at_1_is_named_by_all_it_is_made_of() -> None:
    held = at_most_1(product(leaf("importance", 0.8), leaf("reinforcement", 2.0)))
    assert plain(weights(product(leaf("similarity", 0.8), held))) == [
        ("similarity", 0.8),
        ("importance & reinforcement", 1.0),
    ]


def test_the_greatest_term_represents_the_whole() -> None:
    marked = greatest(leaf("importance_floor", 0.5), product(leaf("importance", 0.5), leaf("retention", 0.5)))
    assert plain(weights(product(leaf("similarity", 0.8), marked))) == [("similarity", 0.8), ("importance_floor", 0.5)]


def test_a_sum_within_a_product_is_one_factor() -> None:
    match = weighted(leaf("similarity", 0.5, 0.35), Part("min-max", 1.0, 0.3, (leaf("bm25", 9.0, 1.0),)))
    assert plain(weights(product(match, leaf("importance", 0.5)))) == [
        ("similarity & bm25", pytest.approx(0.65)),
        ("importance", 0.5),
    ]


def test_terms_are_reported_with_plus_and_factors_with_times() -> None:
    assert str(leading(SUM)) == "lexical 0.30 + similarity 0.20"
    assert str(leading(FACTORS)) == "importance 0.50 × level 1.50"


OTHERS = [
    weighted(leaf("similarity", 0.1, 0.1), leaf("lexical", 0.6, 0.3), leaf("importance", 0.5, 0.02)),
    weighted(leaf("similarity", 0.1, 0.1), leaf("lexical", 0.9, 0.4), leaf("importance", 0.5, 0.02)),
]


def test_a_high_score_is_explained_by_parts_above_the_median_of_others() -> None:
    assert setting_apart(SUM, OTHERS, above=True) == (Weight("similarity", 0.2),)


def test_a_low_score_is_explained_by_parts_below_the_median_of_others() -> None:
    assert setting_apart(SUM, OTHERS, above=False) == (Weight("lexical", 0.3),)


def test_the_part_that_differs_most_comes_first() -> None:
    mine = weighted(leaf("similarity", 0.2, 0.2), leaf("lexical", 0.9, 0.9))
    assert [part.label for part in setting_apart(mine, OTHERS, above=True)] == ["lexical", "similarity"]


def test_factors_are_compared_by_how_many_times_they_differ() -> None:
    mine, other = product(leaf("a", 0.2), leaf("b", 0.9)), product(leaf("a", 0.1), leaf("b", 0.6))
    assert [part.label for part in setting_apart(mine, [other], above=True)] == ["a", "b"]


def test_differences_below_the_shown_precision_are_ignored() -> None:
    mine, other = (
        weighted(leaf("a", 0.2, 0.2), leaf("b", 0.1, 0.1)),
        weighted(leaf("a", 0.2, 0.204), leaf("b", 0.1, 0.1)),
    )
    assert (setting_apart(mine, [other], above=True), setting_apart(mine, [other], above=False)) == ((), ())


def test_a_part_that_others_do_not_have_is_compared_with_a_neutral_value() -> None:
    mine, other = product(leaf("importance_floor", 0.5)), product(leaf("importance", 0.5))
    assert setting_apart(mine, [other], above=False) == (Weight("importance_floor", 0.5),)
