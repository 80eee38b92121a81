from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from golden_tables import cells, every_row, number, table

from remembrancer.domain.strength import Adjustment, Exposure, Feedback, Strength, Usage
from remembrancer.errors import InvalidInput
from remembrancer.policies.forgetting.reinforcement import (
    FeedbackSteps,
    Gain,
    LinearGain,
    LogarithmicGain,
    NoGain,
    Strikes,
    after_exposure,
    after_feedback,
)
from remembrancer.testing.doubles import NOW

USED = Usage(retrieved=1, shown=2, used=3, last_retrieved_at=NOW)
STRENGTH = Strength(importance=0.7, priority=8, confidence=0.5, surprise=0.2, usage=USED)
ENGRAM = FeedbackSteps(helpful=0.15, unhelpful=-0.2, harmful=-0.2, strikes=Strikes(negatives=3, below=0.15))


def gain(row: dict[str, str]) -> Gain:
    match row["gain"]:
        case "none":
            return NoGain()
        case "logarithmic":
            return LogarithmicGain(divisor=number(row["divisor"]))
        case _:
            return LinearGain()


def told(strength: Strength, steps: FeedbackSteps, *said: Feedback) -> Adjustment:
    adjusted = Adjustment(strength)
    for each in said:
        adjusted = after_feedback(adjusted.strength, each, steps)
    return adjusted


# ── gain ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@every_row(table("gain"), cells)
def test_exposures_add_the_computed_values(row: dict[str, str]) -> None:
    found = gain(row).factor(np.array([number(row["exposures"])]))
    assert found.tolist() == pytest.approx([number(row["expected"])], rel=1e-12)


@pytest.mark.parametrize("each", [NoGain(), LogarithmicGain(divisor=8), LinearGain()], ids=repr)
def test_more_exposures_never_add_less(each: Gain) -> None:
    found = each.factor(np.array([0.0, 1.0, 2.0, 1e3, 1e6, 2e9])).tolist()
    assert (found[0], found) == (1.0, sorted(found))


def test_nothing_is_gained_by_no_memories() -> None:
    assert [each.factor(np.empty(0)).tolist() for each in (NoGain(), LogarithmicGain(8), LinearGain())] == [[], [], []]


@pytest.mark.parametrize("divisor", [0.0, -8.0, 1_001.0, math.nan, math.inf])
def test_a_divisor_out_of_range_is_refused(divisor: float) -> None:
    with pytest.raises(InvalidInput, match=r"^divisor: "):
        LogarithmicGain(divisor=divisor)


# ── feedback ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@every_row(table("feedback"), name=lambda row: " ".join(list(row.values())[:5]))
def test_feedback_moves_confidence_as_worked_out(row: dict[str, str]) -> None:
    strikes = Strikes(negatives=int(row["strikes"]), below=float(row["mark"])) if row["strikes"] else None
    given: dict[str, Any] = {row["said"]: float(row["step"])}
    steps = FeedbackSteps(**given, strikes=strikes)
    helped, unhelpful, harmed = map(int, row["before"].split())
    usage = Usage(helped=helped, unhelpful=unhelpful, harmed=harmed)
    after = after_feedback(Strength(confidence=float(row["confidence"]), usage=usage), Feedback(row["said"]), steps)
    counts = after.strength.usage
    assert after.strength.confidence == float(row["expected"])
    assert (counts.helped, counts.unhelpful, counts.harmed) == tuple(map(int, row["after"].split()))
    assert bool(after.retire) is (row["retired"] == "yes")


@pytest.mark.parametrize("said", list(Feedback))
def test_feedback_moves_nothing_but_confidence_its_counts_and_evidence(said: Feedback) -> None:
    after = after_feedback(STRENGTH, said, FeedbackSteps()).strength
    usage = replace(after.usage, helped=0, unhelpful=0, harmed=0, worked=0.0, failed=0.0)
    assert replace(after, confidence=0.5, usage=usage) == STRENGTH


def test_a_helpful_or_harmful_rating_is_one_observation_and_an_unhelpful_one_is_none() -> None:
    usages = [told(STRENGTH, FeedbackSteps(), said).strength.usage for said in Feedback]
    assert [(usage.worked, usage.failed) for usage in usages] == [(1.0, 0.0), (0.0, 0.0), (0.0, 1.0)]


def test_harm_weighs_more_than_help() -> None:
    assert told(STRENGTH, FeedbackSteps(), Feedback.HARMFUL, Feedback.HELPFUL).strength.confidence < 0.5


def test_the_third_strike_has_the_reason() -> None:
    adjusted = told(STRENGTH, ENGRAM, *[Feedback.UNHELPFUL] * 3)
    assert adjusted.retire == "rated unhelpful or harmful 3 times, confidence 0.00 below 0.15"


def test_two_strikes_retire_nothing_however_low_confidence_is() -> None:
    assert told(replace(STRENGTH, confidence=0.0), ENGRAM, *[Feedback.HARMFUL] * 2).retire == ""


def test_strikes_do_not_retire_a_memory_that_is_still_trusted() -> None:
    assert told(replace(STRENGTH, confidence=1.0), ENGRAM, *[Feedback.UNHELPFUL] * 4).retire == ""


def test_confidence_at_the_threshold_is_not_below_it() -> None:
    assert told(replace(STRENGTH, confidence=0.75), ENGRAM, *[Feedback.UNHELPFUL] * 3) == Adjustment(
        replace(STRENGTH, confidence=0.15, usage=replace(USED, unhelpful=3))
    )


def test_good_words_are_no_strikes() -> None:
    assert told(replace(STRENGTH, confidence=0.0), ENGRAM, Feedback.UNHELPFUL, *[Feedback.HELPFUL] * 5).retire == ""


def test_praise_retires_nothing_however_little_confidence_is_left() -> None:
    struck = replace(STRENGTH, confidence=0.0, usage=replace(USED, unhelpful=3))
    assert told(struck, replace(ENGRAM, helpful=0.1), Feedback.HELPFUL).retire == ""


def test_without_strikes_no_number_of_bad_words_retires() -> None:
    assert told(STRENGTH, FeedbackSteps(), *[Feedback.HARMFUL] * 50).retire == ""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"helpful": -0.1}, r"^helpful: .*from 0 to 1"),
        ({"helpful": 1.1}, r"^helpful: "),
        ({"unhelpful": 0.1}, r"^unhelpful: .*from -1 to 0"),
        ({"harmful": 0.3}, r"^harmful: "),
        ({"harmful": -1.1}, r"^harmful: "),
    ],
)
def test_a_step_in_the_wrong_direction_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        FeedbackSteps(**given)


@pytest.mark.parametrize(
    ("negatives", "below", "said"),
    [(0, 0.15, r"^negatives: "), (1_001, 0.15, r"^negatives: "), (3, 1.5, r"^below: "), (3, math.nan, r"^below: ")],
)
def test_strikes_out_of_range_are_refused(negatives: int, below: float, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        Strikes(negatives=negatives, below=below)


# ── exposure ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("exposure", "expected"),
    [
        (Exposure.RETRIEVED, replace(USED, retrieved=2, last_retrieved_at=NOW)),
        (Exposure.SHOWN, replace(USED, shown=3, last_shown_at=NOW)),
        (Exposure.USED, replace(USED, used=4, last_used_at=NOW)),
    ],
)
def test_an_exposure_is_counted_in_its_own_place_and_moves_nothing_else(exposure: Exposure, expected: Usage) -> None:
    assert after_exposure(STRENGTH, exposure, NOW) == Adjustment(replace(STRENGTH, usage=expected))
