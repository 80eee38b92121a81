"""The share of evidence: how much of the possible evidence for a memory is present."""

from __future__ import annotations

import math

import numpy as np
import pytest

from remembrancer.policies.ranking.relevance import evidence, evidence_terms
from remembrancer.policies.ranking.scoring import Expression, Product, Signal, Weighted

SIMILARITY, TIME = Signal("similarity"), Signal("time")
HALF_AND_QUARTER = Weighted(
    ((SIMILARITY, 0.5), (TIME, 0.25), (Signal("statement"), 0.125), (Signal("importance"), 0.1))
)


def test_evidence_is_what_concerns_the_question() -> None:
    assert evidence_terms(HALF_AND_QUARTER) == (("similarity", 0.5), ("time", 0.25))


@pytest.mark.parametrize("expression", [SIMILARITY, Product((SIMILARITY, TIME)), Weighted(((Product((TIME,)), 1.0),))])
def test_what_is_no_weighted_sum_of_signals_has_none(expression: Expression) -> None:
    assert evidence_terms(expression) == ()


def test_a_share_is_of_what_all_signals_that_are_there_could_add() -> None:
    shares = evidence(HALF_AND_QUARTER, {"similarity": np.array([1.0, 0.5]), "time": np.array([0.5, 0.5])})
    assert shares is not None
    assert shares.tolist() == pytest.approx([0.625 / 0.75, 0.375 / 0.75])


def test_what_a_question_does_not_ask_about_is_not_held_against_a_memory() -> None:
    shares = evidence(HALF_AND_QUARTER, {"similarity": np.array([1.0, 0.5]), "time": np.full(2, math.nan)})
    assert shares is not None
    assert shares.tolist() == [1.0, 0.5]


def test_what_one_memory_lacks_and_another_has_counts_as_nothing() -> None:
    shares = evidence(HALF_AND_QUARTER, {"similarity": np.array([math.nan, 0.5]), "time": np.array([1.0, math.nan])})
    assert shares is not None
    assert shares.tolist() == pytest.approx([0.25 / 0.75, 0.25 / 0.75])


def test_there_is_no_share_where_nothing_could_add_anything() -> None:
    assert evidence(HALF_AND_QUARTER, {"similarity": np.array([math.nan]), "time": np.array([math.nan])}) is None
