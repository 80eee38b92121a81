"""The arithmetic of outcomes: evidence, its limits, and FSRS."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer.domain.outcome import CreditBasis, TaskResult
from remembrancer.domain.strength import Strength, Usage
from remembrancer.policies.forgetting.outcomes import after_outcome, share_of
from remembrancer.policies.forgetting.reinforcement import FORGETTING, FeedbackSteps, observed
from remembrancer.policies.ranking.scoring import Scored, with_outcomes
from remembrancer.testing.doubles import NOW, a_memory

STEPS = FeedbackSteps()
MEMORY = a_memory("deploy", at=NOW - timedelta(days=10))
results = st.sampled_from(TaskResult)
shares = st.floats(0.005, 1.0)


def told(history: list[tuple[TaskResult, float]], *, reviewed: bool = False) -> Strength:
    memory = MEMORY
    for result, share in history:
        strength = after_outcome(memory, result, share, STEPS, reviewed=reviewed, at=NOW)
        memory = replace(memory, strength=strength)
    return memory.strength


# (1 + r) / (2 + r + s) with forgetting: Jøsang and Ismail 2002, by hand for whole observations and a factor of 0.8.
@pytest.mark.parametrize(
    ("history", "worked", "failed"),
    [
        ("s", 1.0, 0.0),
        ("ss", 1.8, 0.0),
        ("sf", 0.8, 1.0),
        ("sff", 0.64, 1.8),
        ("p", 0.5, 0.5),
        ("fs", 1.0, 0.8),
    ],
)
def test_evidence_is_that_of_the_beta_reputation_system(history: str, worked: float, failed: float) -> None:
    of = {"s": TaskResult.SUCCESS, "p": TaskResult.PARTIAL, "f": TaskResult.FAILURE}
    usage = told([(of[one], 1.0) for one in history]).usage
    assert (usage.worked, usage.failed) == pytest.approx((worked, failed))


@settings(max_examples=50)
@given(st.lists(st.tuples(results, shares), max_size=40))
def test_evidence_and_confidence_stay_within_their_bounds(history: list[tuple[TaskResult, float]]) -> None:
    strength = told(history)
    assert 0 <= strength.usage.worked + strength.usage.failed <= 1 / (1 - FORGETTING) + 0.6
    assert 0 <= strength.confidence <= 1


@given(st.lists(st.tuples(results, shares), max_size=10), shares)
def test_failure_lowers_and_success_raises(history: list[tuple[TaskResult, float]], share: float) -> None:
    def expected(strength: Strength) -> float:
        return (strength.usage.worked + 1) / (strength.usage.worked + strength.usage.failed + 2)

    before = told(history)
    assert told([*history, (TaskResult.SUCCESS, share)]).confidence >= before.confidence
    assert told([*history, (TaskResult.FAILURE, share)]).confidence <= before.confidence
    good, bad = (expected(told([*history, (result, share)])) for result in (TaskResult.SUCCESS, TaskResult.FAILURE))
    assert bad < good


@given(st.integers(1, 100), st.sampled_from(CreditBasis))
def test_all_memories_together_get_at_most_one_observation(count: int, basis: CreditBasis) -> None:
    assert 0 < share_of(basis, count) * count <= 1 + 1e-9


def test_old_evidence_counts_less_than_new() -> None:
    ten = [(TaskResult.SUCCESS, 1.0)] * 10
    usage = told([*ten, *[(TaskResult.FAILURE, 1.0)] * 4]).usage
    assert usage.failed > usage.worked


def test_a_reviewed_memory_is_stabler_after_success_and_less_stable_after_failure() -> None:
    success, failure = (told([(result, 1.0)], reviewed=True) for result in (TaskResult.SUCCESS, TaskResult.FAILURE))
    assert failure.stability < MEMORY.strength.stability < success.stability
    assert (success.last_reviewed_at, failure.last_reviewed_at) == (NOW, None)


def test_a_partial_share_moves_stability_partly() -> None:
    whole, half = (told([(TaskResult.SUCCESS, share)], reviewed=True).stability for share in (1.0, 0.5))
    assert half == pytest.approx((MEMORY.strength.stability * whole) ** 0.5)


def test_partial_success_moves_no_stability() -> None:
    assert told([(TaskResult.PARTIAL, 1.0)], reviewed=True).stability == MEMORY.strength.stability


def test_an_observation_of_nothing_changes_nothing() -> None:
    assert observed(Usage(worked=1.5, failed=0.5), 0.0, 0.0) == Usage(worked=1.5, failed=0.5)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 0.99)), min_size=1, max_size=8),
    st.floats(0, 1),
)
def test_outcomes_move_a_score_by_at_most_their_weight(rows: list[tuple[float, float]], weight: float) -> None:
    values, outcome = (np.array(column) for column in zip(*rows, strict=True))
    after = with_outcomes(Scored("score", values), outcome, weight)
    assert np.all(after.values <= np.minimum(values * (1 + weight), 1.0) + 1e-12)
    assert np.all(after.values >= values * (1 - weight) - 1e-12)
    assert np.all(after.values[outcome == 0.5] == values[outcome == 0.5])
    if after.parts:
        assert np.allclose(sum(after.shares), after.values)
        assert all((share >= 0).all() for share in after.shares)


def test_without_evidence_the_score_is_the_same_object() -> None:
    scored = Scored("score", np.array([0.25, 0.75]))
    assert with_outcomes(scored, np.array([0.5, 0.5]), 0.2) is scored
