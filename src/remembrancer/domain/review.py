"""Whether a memory that was retrieved proved useful, and what that made of how long it lasts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from uuid import UUID


class Rating(IntEnum):
    """As FSRS counts them."""

    AGAIN = 1
    HARD = 2
    GOOD = 3
    EASY = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What speaks for a review of a memory: when it was retrieved since its last one, and asked what, oldest first.

    `queries` as long as `at`; "" where the question is not known. `session`: that of the last retrieval.
    """

    memory_id: UUID
    at: tuple[datetime, ...]
    queries: tuple[str, ...]
    session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """One rating, with the state of FSRS before and after it. Stability in days, difficulty 1 to 10.

    `previous`: when the memory was reviewed before. `evidence_until`: the last exposure it answers; what comes later
    waits for the next review. `by`: the model that rated, or the policy.
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
