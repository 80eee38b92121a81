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


def test_evidence_counts_the_signals_of_the_question() -> None:
    assert evidence_terms(HALF_AND_QUARTER) == (("similarity", 0.5), ("time", 0.25))


@pytest.mark.parametrize("expression", [SIMILARITY, Product((SIMILARITY, TIME)), Weighted(((Product((TIME,)), 1.0),))])
def test_a_score_that_is_no_weighted_sum_has_no_evidence(expression: Expression) -> None:
    assert evidence_terms(expression) == ()


def test_the_share_is_relative_to_the_maximum_of_all_present_signals() -> None:
    shares = evidence(HALF_AND_QUARTER, {"similarity": np.array([1.0, 0.5]), "time": np.array([0.5, 0.5])})
    assert shares is not None
    assert shares.tolist() == pytest.approx([0.625 / 0.75, 0.375 / 0.75])


def test_signals_that_a_question_does_not_use_do_not_lower_the_share() -> None:
    shares = evidence(HALF_AND_QUARTER, {"similarity": np.array([1.0, 0.5]), "time": np.full(2, math.nan)})
    assert shares is not None
    assert shares.tolist() == [1.0, 0.5]


def test_a_signal_that_only_another_memory_has_counts_as_zero() -> None:
    shares = evidence(HALF_AND_QUARTER, {"similarity": np.array([math.nan, 0.5]), "time": np.array([1.0, math.nan])})
    assert shares is not None
    assert shares.tolist() == pytest.approx([0.25 / 0.75, 0.25 / 0.75])


def test_there_is_no_share_where_nothing_could_add_anything() -> None:
    assert evidence(HALF_AND_QUARTER, {"similarity": np.array([math.nan]), "time": np.array([math.nan])}) is None
