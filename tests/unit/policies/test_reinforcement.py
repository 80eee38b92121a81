from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from remembrancer.domain.strength import Exposure, Feedback, Strength, Usage
from remembrancer.policies.reinforcement import FeedbackSteps, after_exposure, after_feedback
from remembrancer.testing.doubles import NOW

GOLDEN = Path(__file__).parents[2] / "golden" / "feedback.csv"
STRENGTH = Strength(importance=0.7, priority=8, confidence=0.5, surprise=0.2, usage=Usage(retrieved=1, shown=2, used=3))


def golden() -> list[dict[str, str]]:
    with GOLDEN.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("row", golden(), ids=lambda row: f"{row['confidence']} {row['said']} {row['step']}")
def test_feedback_moves_confidence_as_worked_out_by_hand(row: dict[str, str]) -> None:
    steps = FeedbackSteps(**{row["said"]: float(row["step"])})
    after = after_feedback(Strength(confidence=float(row["confidence"])), Feedback(row["said"]), steps)
    assert after.confidence == pytest.approx(float(row["expected"]), abs=1e-12)
    assert (after.usage.helped, after.usage.harmed) == (int(row["helped"]), int(row["harmed"]))


@pytest.mark.parametrize("said", list(Feedback))
def test_feedback_moves_nothing_but_confidence_and_its_counts(said: Feedback) -> None:
    after = after_feedback(STRENGTH, said, FeedbackSteps())
    back = replace(after, confidence=0.5, usage=replace(after.usage, helped=0, harmed=0))
    assert back == STRENGTH


def test_harm_weighs_more_than_help() -> None:
    steps = FeedbackSteps()
    harmed = after_feedback(STRENGTH, Feedback.HARMFUL, steps)
    assert after_feedback(harmed, Feedback.HELPFUL, steps).confidence < STRENGTH.confidence


@pytest.mark.parametrize(
    ("exposure", "expected"),
    [
        (Exposure.RETRIEVED, Usage(retrieved=2, shown=2, used=3, last_retrieved_at=NOW)),
        (Exposure.SHOWN, Usage(retrieved=1, shown=3, used=3, last_shown_at=NOW)),
        (Exposure.USED, Usage(retrieved=1, shown=2, used=4, last_used_at=NOW)),
    ],
)
def test_an_exposure_is_counted_in_its_own_place_and_moves_nothing_else(exposure: Exposure, expected: Usage) -> None:
    assert after_exposure(STRENGTH, exposure, NOW) == replace(STRENGTH, usage=expected)
