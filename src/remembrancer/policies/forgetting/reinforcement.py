"""Changes of strength by exposures and feedback."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, assert_never

import numpy as np

from remembrancer.domain import validation
from remembrancer.domain.strength import Adjustment, Exposure, Feedback, Strength, Usage
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.policies.ranking.scoring import FloatColumn

FORGETTING: Final = 0.8
"""The share of earlier evidence for and against a memory that is left after one more observation."""


@dataclass(frozen=True, slots=True)
class NoGain:
    """Exposures have no effect: the factor is always 1."""

    def factor(self, exposures: FloatColumn) -> FloatColumn:
        return np.ones_like(exposures)


@dataclass(frozen=True, slots=True)
class LogarithmicGain:
    """Logarithmic gain: 1 + log2(exposures + 1) / divisor: each doubling of exposures adds the same amount."""

    divisor: float

    def __post_init__(self) -> None:
        validation.number("divisor", self.divisor, 0.01, 1_000)

    def factor(self, exposures: FloatColumn) -> FloatColumn:
        return 1.0 + np.log2(exposures + 1.0) / self.divisor


@dataclass(frozen=True, slots=True)
class LinearGain:
    """Linear gain: 1 + exposures."""

    def factor(self, exposures: FloatColumn) -> FloatColumn:
        return 1.0 + exposures


Gain = NoGain | LogarithmicGain | LinearGain


@dataclass(frozen=True, slots=True)
class Strikes:
    """A memory is retired after `negatives` unhelpful or harmful ratings, if its confidence is below `below`."""

    negatives: int
    below: float

    def __post_init__(self) -> None:
        validation.whole("negatives", self.negatives, 1, 1_000)
        validation.fraction("below", self.below)


@dataclass(frozen=True, slots=True)
class FeedbackSteps:
    """The number that each kind of feedback adds to confidence, which stays in [0, 1]. `strikes`: when the memory is
    retired.
    """

    helpful: float = 0.1
    unhelpful: float = -0.1
    harmful: float = -0.3
    strikes: Strikes | None = None

    def __post_init__(self) -> None:
        validation.number("helpful", self.helpful, 0, 1)
        validation.number("unhelpful", self.unhelpful, -1, 0)
        validation.number("harmful", self.harmful, -1, 0)


def after_feedback(strength: Strength, feedback: Feedback, steps: FeedbackSteps) -> Adjustment:
    """The strength after one piece of feedback: the new confidence, count and evidence. `retire` is set if the preset
    retires the memory. An unhelpful rating is no evidence against a memory: it was not about the question.
    """
    usage = strength.usage
    match feedback:
        case Feedback.HELPFUL:
            step, usage = steps.helpful, replace(observed(usage, 1.0, 0.0), helped=usage.helped + 1)
        case Feedback.UNHELPFUL:
            step, usage = steps.unhelpful, replace(usage, unhelpful=usage.unhelpful + 1)
        case Feedback.HARMFUL:
            step, usage = steps.harmful, replace(observed(usage, 0.0, 1.0), harmed=usage.harmed + 1)
        case _:
            assert_never(feedback)
    confidence = stepped(strength.confidence, step)
    # Positive feedback never retires a memory; otherwise a restored one could not recover.
    retire = "" if feedback is Feedback.HELPFUL else _struck_out(confidence, usage, steps)
    return Adjustment(replace(strength, confidence=confidence, usage=usage), retire)


def _struck_out(confidence: float, usage: Usage, steps: FeedbackSteps) -> str:
    strikes, negatives = steps.strikes, usage.unhelpful + usage.harmed
    if strikes is None or negatives < strikes.negatives or confidence >= strikes.below:
        return ""
    return f"rated unhelpful or harmful {negatives} times, confidence {confidence:.2f} below {strikes.below:g}"


def after_exposure(strength: Strength, exposure: Exposure, at: datetime) -> Adjustment:
    """The strength after one more exposure. Only the count changes, because being shown does not prove usefulness."""
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
    return Adjustment(replace(strength, usage=usage))


def observed(usage: Usage, worked: float, failed: float) -> Usage:
    """The evidence after one more observation, of which `worked` and `failed` are the parts; together at most 1.

    Earlier evidence is first multiplied by `FORGETTING` for a whole observation, so that a memory that has become wrong
    falls, and one that failed recovers. The greatest evidence is 1 / (1 - FORGETTING) = 5. Source: Jøsang and Ismail,
    The Beta Reputation System (2002), equations for r and s with a forgetting factor.
    """
    kept = FORGETTING ** (worked + failed)
    return replace(usage, worked=usage.worked * kept + worked, failed=usage.failed * kept + failed)


def stepped(confidence: float, step: float) -> float:
    """Confidence after a step, in [0, 1]. Rounded, because steps are decimal fractions: 0.75 after three steps down of
    0.2 would be slightly above 0.15.
    """
    return min(1.0, max(0.0, round(confidence + step, 12)))
