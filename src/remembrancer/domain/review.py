"""Reviews: whether a retrieved memory proved useful, and how that changes its stability."""

from __future__ import annotations

from datetime import datetime
from enum import IntEnum
from uuid import UUID

from remembrancer.values import dataclass


class Rating(IntEnum):
    """Ratings as FSRS numbers them."""

    AGAIN = 1
    HARD = 2
    GOOD = 3
    EASY = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The basis of a review: when a memory was retrieved since its last review, and by which questions, oldest first.

    `queries` is as long as `at`; "" if the question is not known. `session`: that of the last retrieval.
    """

    memory_id: UUID
    at: tuple[datetime, ...]
    queries: tuple[str, ...]
    session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """One rating, with the FSRS state before and after it. Stability in days, difficulty 1 to 10.

    `previous`: the time of the memory's previous review. `evidence_until`: the last exposure that this review covers.
    `by`: the model that rated, or the policy.
    """

    memory_id: UUID
    rating: Rating
    at: datetime
    evidence_until: datetime
    previous: datetime | None
    stability_before: float
    stability: float
    difficulty_before: float
    difficulty: float
    by: str
