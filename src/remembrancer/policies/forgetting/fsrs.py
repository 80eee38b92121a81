"""FSRS-6: how a review changes a memory's stability and difficulty.

Stability is the number of days until retrievability has fallen to 0.9; difficulty is from 1 (easy) to 10. Unlike
published FSRS, elapsed time is not rounded to whole days; for whole days both agree. Source: open-spaced-repetition,
FSRS-6 and its default parameters; w_i below are the parameters as numbered there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.domain.review import Rating
from remembrancer.policies.forgetting.decay import PowerLaw

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.policies.ranking.scoring import FloatColumn

    RatingArray = NDArray[np.int64]
    """One `domain.review.Rating` per memory, shape (n,)."""

WEIGHTS: Final = (
    0.212,
    1.2931,
    2.3065,
    8.2956,
    6.4133,
    0.8334,
    3.0194,
    0.001,
    1.8722,
    0.1666,
    0.796,
    1.4835,
    0.0614,
    0.2629,
    1.6483,
    0.6014,
    1.8729,
    0.5425,
    0.0912,
    0.0658,
    0.1542,
)
"""The parameters w_0 to w_20."""
MIN_STABILITY: Final = 0.001
MAX_STABILITY: Final = 36_500.0
"""FSRS clamps stability, in days, to [MIN_STABILITY, MAX_STABILITY]."""
MIN_DIFFICULTY: Final = 1.0
MAX_DIFFICULTY: Final = 10.0
SAME_DAY: Final = 1.0
"""A time in days. A review sooner than this after the previous one changes stability by a separate rule."""
CURVE: Final = PowerLaw(exponent=WEIGHTS[20])


def first_difficulty(rating: Rating) -> float:
    """The difficulty after a first review with this rating, before clamping: w_4 - e^(w_5 (rating - 1)) + 1."""
    return WEIGHTS[4] - float(np.exp(WEIGHTS[5] * (rating - 1))) + 1.0


def after_review(
    stability: FloatColumn, difficulty: FloatColumn, elapsed: FloatColumn, ratings: RatingArray
) -> tuple[FloatColumn, FloatColumn]:
    """Stability and difficulty after a review `elapsed` days after the previous one, all of shape (n,).

    A negative `elapsed` (clock skew) counts as 0; values outside their bounds count as the bound. A success never
    shortens stability, and Again never lengthens it.
    """
    before = np.clip(stability, MIN_STABILITY, MAX_STABILITY)
    hard = np.clip(difficulty, MIN_DIFFICULTY, MAX_DIFFICULTY)
    days = np.maximum(elapsed, 0.0)
    left = CURVE.retention(days, np.zeros_like(days), before)
    later = np.where(ratings == Rating.AGAIN, _forgotten(before, hard, left), _recalled(before, hard, left, ratings))
    after = np.where(days < SAME_DAY, _same_day(before, ratings), later)
    return np.clip(after, MIN_STABILITY, MAX_STABILITY), _difficulty(hard, ratings)


def _recalled(stability: FloatColumn, difficulty: FloatColumn, left: FloatColumn, ratings: RatingArray) -> FloatColumn:
    """The stability after a success: S (1 + e^w_8 (11 - D) S^-w_9 (e^(w_10 (1 - R)) - 1) [Hard: w_15] [Easy: w_16])."""
    bonus = np.where(ratings == Rating.HARD, WEIGHTS[15], np.where(ratings == Rating.EASY, WEIGHTS[16], 1.0))
    saving = np.exp(WEIGHTS[8]) * (11.0 - difficulty) * stability ** -WEIGHTS[9] * np.expm1(WEIGHTS[10] * (1.0 - left))
    return stability * (1.0 + saving * bonus)


def _forgotten(stability: FloatColumn, difficulty: FloatColumn, left: FloatColumn) -> FloatColumn:
    """The stability after a failure: w_11 D^-w_12 ((S + 1)^w_13 - 1) e^(w_14 (1 - R)), at most S / e^(w_17 w_18)."""
    kept = (
        WEIGHTS[11]
        * difficulty ** -WEIGHTS[12]
        * ((stability + 1.0) ** WEIGHTS[13] - 1.0)
        * np.exp(WEIGHTS[14] * (1.0 - left))
    )
    return np.minimum(kept, stability / np.exp(WEIGHTS[17] * WEIGHTS[18]))


def _same_day(stability: FloatColumn, ratings: RatingArray) -> FloatColumn:
    """The stability after a review on the same day: S e^(w_17 (rating - 3 + w_18)) S^-w_19; after a
    success at least S.
    """
    factor = np.exp(WEIGHTS[17] * (ratings - 3 + WEIGHTS[18])) * stability ** -WEIGHTS[19]
    return stability * np.where(ratings == Rating.AGAIN, factor, np.maximum(factor, 1.0))


def _difficulty(difficulty: FloatColumn, ratings: RatingArray) -> FloatColumn:
    """D - w_6 (rating - 3) (10 - D) / 9, then moved by the share w_7 towards the initial difficulty of Easy."""
    damped = difficulty - WEIGHTS[6] * (ratings - 3) * (10.0 - difficulty) / 9.0
    drawn = WEIGHTS[7] * first_difficulty(Rating.EASY) + (1.0 - WEIGHTS[7]) * damped
    return np.clip(drawn, MIN_DIFFICULTY, MAX_DIFFICULTY)
