"""What exposure and feedback do to strength."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import assert_never

from remembrancer.domain.strength import Exposure, Feedback, Strength


@dataclass(frozen=True, slots=True)
class FeedbackSteps:
    """What one piece of feedback adds to confidence, which stays within [0, 1]."""

    helpful: float = 0.1
    unhelpful: float = -0.1
    harmful: float = -0.3


def after_feedback(strength: Strength, feedback: Feedback, steps: FeedbackSteps) -> Strength:
    """Confidence one step on, and the count of what was said."""
    usage = strength.usage
    match feedback:
        case Feedback.HELPFUL:
            step, usage = steps.helpful, replace(usage, helped=usage.helped + 1)
        case Feedback.UNHELPFUL:
            step = steps.unhelpful
        case Feedback.HARMFUL:
            step, usage = steps.harmful, replace(usage, harmed=usage.harmed + 1)
        case _:
            assert_never(feedback)
    return replace(strength, confidence=min(1.0, max(0.0, strength.confidence + step)), usage=usage)


def after_exposure(strength: Strength, exposure: Exposure, at: datetime) -> Strength:
    """One more exposure counted. Being found or shown moves nothing else: exposure is not usefulness."""
    usage = strength.usage
    match exposure:
        case Exposure.RETRIEVED:
            usage = replace(usage, retrieved=usage.retrieved + 1, last_retrieved_at=at)
        case Exposure.SHOWN:
            usage = replace(usage, shown=usage.shown + 1, last_shown_at=at)
        case Exposure.USED:
            usage = replace(usage, used=usage.used + 1, last_used_at=at)
        case _:
            assert_never(exposure)
    return replace(strength, usage=usage)
