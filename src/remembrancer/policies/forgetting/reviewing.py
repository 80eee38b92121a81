"""The time at which the use of a memory is reviewed, and the result of a review."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np

from remembrancer.domain import validation
from remembrancer.domain.memory import Memory
from remembrancer.domain.review import Evidence, Rating, Review
from remembrancer.domain.strength import Exposure
from remembrancer.errors import InvalidInput
from remembrancer.policies.forgetting.fsrs import after_review
from remembrancer.values import dataclass

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewing:
    """Options of reviews, in which a model rates how useful exposures of the kind `counted` were.

    `min_days`: the least time between two reviews of a memory, and between its occurrence and its first review.
    `silent_hours`: how long to wait for the conversation to continue, because a memory is rated by what is said
    afterwards. `at_once`: memories in one question. `turns`, `chars`: limits of the conversation shown to the model.
    """

    counted: Exposure = Exposure.RETRIEVED
    min_days: float = 1.0
    silent_hours: float = 2.0
    at_once: int = 10
    turns: int = 60
    chars: int = 12_000

    def __post_init__(self) -> None:
        if not 0 < self.min_days <= 365:
            raise InvalidInput("review.min_days", self.min_days, "a number greater than 0, at most 365 days")
        validation.number("review.silent_hours", self.silent_hours, 0, 24 * 365)
        validation.whole("review.at_once", self.at_once, 1, 100)
        validation.whole("review.turns", self.turns, 1, 1_000)
        validation.whole("review.chars", self.chars, 100, 1_000_000)

    def at(self, memory: Memory, evidence: Evidence) -> datetime:
        """The time recorded for a review: that of the last exposure or, if later, the earliest allowed time.

        It does not depend on when the model is asked, and is always later than the memory's previous review.
        """
        return max(evidence.at[-1], memory.reviewed_since + timedelta(days=self.min_days))

    def waited(self, evidence: Evidence, *, now: datetime) -> bool:
        """Whether the conversation has had `silent_hours` to continue."""
        return now - evidence.at[-1] >= timedelta(hours=self.silent_hours)

    def reviews(
        self, memories: Sequence[Memory], evidence: Sequence[Evidence], ratings: Sequence[Rating], *, by: str
    ) -> tuple[Review, ...]:
        """A review of each memory, with the evidence and rating at the same index. `by`: the model or policy that
        rated.
        """
        at = [self.at(memory, given) for memory, given in zip(memories, evidence, strict=True)]
        elapsed = [(moment - memory.reviewed_since) / DAY for moment, memory in zip(at, memories, strict=True)]
        before = [memory.strength for memory in memories]
        stability, difficulty = after_review(
            np.array([strength.stability for strength in before], dtype=np.float64),
            np.array([strength.difficulty for strength in before], dtype=np.float64),
            np.array(elapsed, dtype=np.float64),
            np.array(ratings, dtype=np.int64),
        )
        return tuple(
            Review(
                memory_id=memory.id,
                rating=ratings[place],
                at=at[place],
                evidence_until=evidence[place].at[-1],
                previous=memory.strength.last_reviewed_at,
                stability_before=memory.strength.stability,
                stability=float(stability[place]),
                difficulty_before=memory.strength.difficulty,
                difficulty=float(difficulty[place]),
                by=by,
            )
            for place, memory in enumerate(memories)
        )
