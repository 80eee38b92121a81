"""Changes of strength by the outcomes of tasks."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.domain.outcome import SHOWN_CREDIT, CreditBasis, TaskResult
from remembrancer.domain.review import Rating
from remembrancer.domain.strength import Strength
from remembrancer.policies.forgetting.fsrs import after_review
from remembrancer.policies.forgetting.reinforcement import observed, stepped

if TYPE_CHECKING:
    from remembrancer.domain.memory import Memory
    from remembrancer.policies.forgetting.reinforcement import FeedbackSteps

DAY: Final = timedelta(days=1)


def share_of(basis: CreditBasis, count: int) -> float:
    """The share of each of `count` memories in the credit of one task.

    A task is one observation: its credit is divided equally, so that it moves no memory by more than one step, and all
    of them together by no more than that. Which of several memories decided the outcome shows over several tasks, in
    which they were not all used together.
    """
    return (SHOWN_CREDIT if basis is CreditBasis.SHOWN else 1.0) / count


def after_outcome(
    memory: Memory, result: TaskResult, share: float, steps: FeedbackSteps, *, reviewed: bool, at: datetime
) -> Strength:
    """A memory's strength after a task that gave it this share of its credit.

    Success adds the share to `worked`, and that share of a helpful rating's step to confidence. Failure does the same
    with `failed` and the step of an unhelpful rating. Partial success adds half of the share to both, and confidence
    stays. No outcome retires a memory, so that one that failed can recover. `reviewed`: whether the preset reviews
    memories by FSRS, whose state then moves too (`_stability_after`).
    """
    strength = memory.strength
    good = {TaskResult.SUCCESS: 1.0, TaskResult.PARTIAL: 0.5, TaskResult.FAILURE: 0.0}[result]
    step = {TaskResult.SUCCESS: steps.helpful, TaskResult.PARTIAL: 0.0, TaskResult.FAILURE: steps.unhelpful}[result]
    after = replace(
        strength,
        confidence=stepped(strength.confidence, share * step),
        usage=observed(strength.usage, share * good, share * (1.0 - good)),
    )
    return _stability_after(memory, after, result, share, at) if reviewed else after


def _stability_after(memory: Memory, after: Strength, result: TaskResult, share: float, at: datetime) -> Strength:
    """The FSRS-6 state, moved by the share towards that after a review: Good after a success, Again after a failure.

    Stability moves on a logarithmic scale. After a success the time of the last review moves too; after a failure it
    stays, because a memory that misled is not to be retrieved more easily for it. Partial success changes nothing.
    """
    if result is TaskResult.PARTIAL:
        return after
    before, since = memory.strength, memory.reviewed_since
    rating = Rating.GOOD if result is TaskResult.SUCCESS else Rating.AGAIN
    stability, difficulty = after_review(
        np.array([before.stability]),
        np.array([before.difficulty]),
        np.array([(at - since) / DAY]),
        np.array([rating.value]),
    )
    moved = before.stability * (float(stability[0]) / before.stability) ** share
    harder = before.difficulty + share * (float(difficulty[0]) - before.difficulty)
    later = since + share * max(at - since, timedelta(0)) if rating is Rating.GOOD else before.last_reviewed_at
    return replace(after, stability=moved, difficulty=harder, last_reviewed_at=later)
