from __future__ import annotations

from remembrancer.domain.recall import PRODUCT, Part
from remembrancer.policies.ranking.leading import leading, setting_apart
from remembrancer.policies.ranking.signals import SignalGroup

MEANING, WORDS, MEMORY = SignalGroup.MEANING, SignalGroup.WORDS, SignalGroup.MEMORY


def weighted(**added: float) -> Part:
    parts = tuple(Part(label, value, value) for label, value in added.items())
    value = sum(part.contribution for part in parts)
    return Part("weighted sum", value, value, parts)


SUM = weighted(similarity=0.2, lexical=0.3, importance=0.02)


def test_a_score_is_led_by_the_groups_that_add_the_most() -> None:
    assert leading(SUM) == (WORDS, MEANING)


def test_signals_of_a_group_count_together() -> None:
    assert leading(weighted(similarity=0.2, lexical=0.3, late_interaction=0.2), 1) == (MEANING,)


def test_a_product_is_led_by_the_groups_of_its_factors() -> None:
    factors = (Part("similarity", 0.5, 0.5), Part("importance", 0.4, 0.4))
    assert set(leading(Part(PRODUCT, 0.2, 0.2, factors))) == {MEANING, MEMORY}


def test_a_score_of_nothing_is_led_by_nothing() -> None:
    assert leading(weighted(similarity=0.0)) == ()


def test_a_score_is_set_apart_by_the_groups_above_the_median() -> None:
    others = [SUM, weighted(similarity=0.1, lexical=0.3), weighted(similarity=0.1, lexical=0.3)]
    assert setting_apart(SUM, others, above=True) == (MEANING,)


def test_a_score_is_set_apart_by_the_groups_below_the_median() -> None:
    others = [SUM, weighted(similarity=0.2, lexical=0.5), weighted(similarity=0.2, lexical=0.6)]
    assert setting_apart(SUM, others, above=False) == (WORDS,)


def test_small_differences_are_not_named() -> None:
    others = [weighted(similarity=0.19, lexical=0.3, importance=0.02)]
    assert setting_apart(SUM, others, above=True) == ()


def test_nothing_sets_a_score_apart_from_itself() -> None:
    assert (setting_apart(SUM, [SUM], above=True), setting_apart(SUM, [], above=False)) == ((), ())
