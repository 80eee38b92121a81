"""Properties of a review for any memory and any waiting time."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.domain.review import Rating
from remembrancer.policies.forgetting.fsrs import (
    MAX_DIFFICULTY,
    MAX_STABILITY,
    MIN_DIFFICULTY,
    MIN_STABILITY,
    after_review,
)

stabilities = st.floats(MIN_STABILITY, MAX_STABILITY)
difficulties = st.floats(MIN_DIFFICULTY, MAX_DIFFICULTY)
waits = st.one_of(st.floats(-10, 2), st.floats(0, 36_525))
ratings = st.sampled_from(Rating)
ROUNDING = 1e-12


def after(stability: float, difficulty: float, elapsed: float, *given: Rating) -> tuple[list[float], list[float]]:
    """Stability and difficulty of one memory after each of these ratings."""
    count = len(given)
    found = after_review(
        np.full(count, stability), np.full(count, difficulty), np.full(count, elapsed), np.array(given)
    )
    return found[0].tolist(), found[1].tolist()


@given(stabilities, difficulties, waits, st.sampled_from([Rating.HARD, Rating.GOOD, Rating.EASY]))
def test_success_never_lowers_stability(stability: float, difficulty: float, elapsed: float, rating: Rating) -> None:
    [[found], _] = after(stability, difficulty, elapsed, rating)
    assert found >= stability * (1 - ROUNDING)


@given(stabilities, difficulties, waits)
def test_again_never_raises_stability(stability: float, difficulty: float, elapsed: float) -> None:
    [[found], _] = after(stability, difficulty, elapsed, Rating.AGAIN)
    assert found <= stability * (1 + ROUNDING)


@given(stabilities, difficulties, waits, ratings)
def test_a_review_stays_within_the_bounds(stability: float, difficulty: float, elapsed: float, rating: Rating) -> None:
    [[lasting], [hard]] = after(stability, difficulty, elapsed, rating)
    assert MIN_STABILITY <= lasting <= MAX_STABILITY
    assert MIN_DIFFICULTY <= hard <= MAX_DIFFICULTY


@given(stabilities, difficulties, waits)
def test_a_better_rating_never_leaves_a_memory_weaker_or_harder(
    stability: float, difficulty: float, elapsed: float
) -> None:
    lasting, hard = after(stability, difficulty, elapsed, *Rating)
    assert lasting == sorted(lasting)
    assert hard == sorted(hard, reverse=True)


@given(stabilities, difficulties, st.floats(1, 36_525), st.floats(1, 36_525), ratings)
def test_a_longer_wait_never_gives_a_lower_stability_after_the_same_rating(
    stability: float, difficulty: float, one: float, other: float, rating: Rating
) -> None:
    [[sooner], _] = after(stability, difficulty, min(one, other), rating)
    [[later], _] = after(stability, difficulty, max(one, other), rating)
    assert later >= sooner * (1 - ROUNDING)
