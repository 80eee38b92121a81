from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from golden_tables import cells, column, every_row, number, table

from remembrancer.domain.review import Rating
from remembrancer.domain.strength import INITIAL_DIFFICULTY, INITIAL_STABILITY
from remembrancer.policies.forgetting.decay import PowerLaw
from remembrancer.policies.forgetting.fsrs import (
    CURVE,
    MAX_DIFFICULTY,
    MAX_STABILITY,
    MIN_DIFFICULTY,
    MIN_STABILITY,
    WEIGHTS,
    after_review,
    first_difficulty,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS = table("fsrs_review")


def after(stability: float, difficulty: float, elapsed: float, rating: int) -> tuple[float, float]:
    found = after_review(np.array([stability]), np.array([difficulty]), np.array([elapsed]), np.array([rating]))
    return float(found[0][0]), float(found[1][0])


def worked_out(rows: list[dict[str, str]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    given = (column(rows, "stability"), column(rows, "difficulty"), column(rows, "elapsed"))
    return after_review(*given, column(rows, "rating").astype(np.int64))


@every_row(ROWS, cells)
def test_a_review_gives_the_computed_values(row: dict[str, str]) -> None:
    found = after(number(row["stability"]), number(row["difficulty"]), number(row["elapsed"]), int(row["rating"]))
    assert found == pytest.approx((number(row["s"]), number(row["d"])), rel=1e-11)


@every_row([row for row in ROWS if number(row["elapsed"]).is_integer()], cells)
def test_over_whole_days_py_fsrs_and_the_formulas_agree(row: dict[str, str]) -> None:
    by_fsrs = min(number(row["s_by_fsrs"]), MAX_STABILITY), number(row["d_by_fsrs"])
    assert by_fsrs == pytest.approx((number(row["s_by_formula"]), number(row["d_by_formula"])), rel=1e-11)


def test_many_reviews_at_once_are_each_reviewed_for_themselves() -> None:
    together = worked_out(ROWS)
    alone = [worked_out([row]) for row in ROWS]
    assert together[0].tolist() == [float(stability[0]) for stability, _ in alone]
    assert together[1].tolist() == [float(difficulty[0]) for _, difficulty in alone]


def test_no_reviews_leave_nothing() -> None:
    nothing = np.empty(0)
    stability, difficulty = after_review(nothing, nothing, nothing, np.empty(0, dtype=np.int64))
    assert (stability.tolist(), difficulty.tolist()) == ([], [])


def test_a_memory_is_born_as_after_a_first_review_rated_good() -> None:
    assert (WEIGHTS[2], first_difficulty(Rating.GOOD)) == (INITIAL_STABILITY, pytest.approx(INITIAL_DIFFICULTY))


def test_retrievability_is_forgotten_by_the_curve_of_the_presets() -> None:
    assert PowerLaw() == CURVE


def test_elapsed_time_is_not_cut_to_whole_days() -> None:
    assert after(2.3065, 5, 1.75, Rating.GOOD)[0] > after(2.3065, 5, 1.0, Rating.GOOD)[0]


@pytest.mark.parametrize("beyond", [0.0, 1e9])
def test_a_value_outside_its_bounds_counts_as_the_bound(beyond: float) -> None:
    bound = after(float(np.clip(beyond, MIN_STABILITY, MAX_STABILITY)), 5, 7, Rating.GOOD)
    assert after(beyond, 5, 7, Rating.GOOD) == bound


@pytest.mark.parametrize("beyond", [-3.0, 11.0])
def test_a_difficulty_outside_its_bounds_counts_as_the_bound(beyond: float) -> None:
    bound = after(2.3065, float(np.clip(beyond, MIN_DIFFICULTY, MAX_DIFFICULTY)), 7, Rating.HARD)
    assert after(2.3065, beyond, 7, Rating.HARD) == bound
