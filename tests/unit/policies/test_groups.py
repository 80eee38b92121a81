from __future__ import annotations

import numpy as np
import pytest

from remembrancer.domain.recall import PRODUCT, Part
from remembrancer.policies.ranking.groups import (
    LED_FROM,
    PRECEDES,
    RELATION,
    by_group,
    by_signal,
    group_of,
    main_group,
    titled,
)
from remembrancer.policies.ranking.scoring import Expression, evaluate
from remembrancer.policies.ranking.signals import GROUPS, SIGNALS, TITLES, SignalGroup
from remembrancer.presets.catalogue import PRESETS

EXPRESSIONS = [expression for preset in PRESETS.values() for expression in preset.expressions()]


def leaf(label: str, adds: float) -> Part:
    return Part(label, adds, adds)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_what_the_groups_add_sums_to_the_score(expression: Expression) -> None:
    random = np.random.default_rng(7)
    table = {name: random.random(5) for name in SIGNALS}
    scored = evaluate(expression, table, 5)
    for row in range(5):
        score = scored.explain(row)
        assert sum(by_group(score).values()) == pytest.approx(score.contribution)


def test_there_are_five_groups_and_no_two_signals_share_a_name() -> None:
    assert len(SignalGroup) == 5
    assert set(GROUPS.values()) == set(SignalGroup)
    assert len(set(TITLES.values())) == len(SIGNALS)


@pytest.mark.parametrize("name", SIGNALS)
def test_a_signals_name_in_words_is_no_identifier(name: str) -> None:
    assert "_" not in titled(name)


def test_groups_come_in_their_own_order_and_only_those_that_add() -> None:
    score = Part("weighted sum", 0.5, 0.5, (leaf("retention", 0.1), leaf("time", 0.0), leaf("similarity", 0.4)))
    assert list(by_group(score).items()) == [(SignalGroup.MEANING, 0.4), (SignalGroup.MEMORY, 0.1)]


def test_a_nested_sum_counts_as_much_as_it_adds() -> None:
    inner = Part("weighted sum", 0.8, 0.4, (leaf("coverage", 0.6), leaf("similarity", 0.2)))
    score = Part("weighted sum", 0.4, 0.4, (inner,))
    assert by_signal(score) == pytest.approx({"coverage": 0.3, "similarity": 0.1})


def test_a_product_is_divided_equally_and_the_memory_itself_is_one_factor() -> None:
    factors = (leaf("similarity", 0.5), leaf("importance", 0.8), leaf("retention", 0.9))
    assert by_group(Part(PRODUCT, 0.36, 0.36, factors)) == pytest.approx(
        {SignalGroup.MEANING: 0.18, SignalGroup.MEMORY: 0.18}
    )


@pytest.mark.parametrize(
    ("label", "group"),
    [
        ("dense", SignalGroup.MEANING),
        ("lexical", SignalGroup.WORDS),
        ("context", SignalGroup.CONVERSATION),
        (LED_FROM, SignalGroup.MEANING),
        (RELATION, SignalGroup.MEANING),
        (PRECEDES, SignalGroup.CONVERSATION),
        ("novelty", SignalGroup.MEMORY),
        ("0.5", SignalGroup.MEMORY),
    ],
)
def test_what_is_no_signal_has_a_group_too(label: str, group: SignalGroup) -> None:
    assert group_of(label) is group


def test_a_composite_part_belongs_to_the_group_that_adds_the_most() -> None:
    legs = (leaf("dense_leg", 0.2), leaf("lexical_leg", 0.5))
    assert main_group(Part("reciprocal ranks (k=60)", 0.7, 0.7, legs)) is SignalGroup.WORDS
    assert main_group(Part("at most 1", 0.0, 0.0, (leaf("nearby", 0.0),))) is SignalGroup.CONVERSATION
