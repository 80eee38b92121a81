from __future__ import annotations

import csv
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from remembrancer.domain.memory import Memory
from remembrancer.domain.strength import Exposure, Strength, Usage
from remembrancer.errors import InvalidInput
from remembrancer.policies.forgetting.decay import Curve, Ebbinghaus, Exponential, HalfLife, LinearRamp, PowerLaw
from remembrancer.policies.forgetting.dynamics import Dynamics, Since
from remembrancer.policies.forgetting.forecast import NEVER, Forgetting, chosen, curve, falls_below, moment_of, strength
from remembrancer.policies.forgetting.reinforcement import Gain, LinearGain, LogarithmicGain, NoGain
from remembrancer.policies.ranking.scoring import Clamp, Expression, Greatest, MinMax, Product, Rrf, Signal
from remembrancer.ports.states import states_of
from remembrancer.presets.spec import Fading
from remembrancer.testing.doubles import NOW, a_memory

GOLDEN = Path(__file__).parents[2] / "golden"
FALLS = csv.DictReader((GOLDEN / "falls_below.csv").read_text(encoding="utf-8").splitlines())

DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)
UNIT = timedelta(microseconds=1)
"""At the threshold itself a memory is not below it yet."""
WHOLE = Greatest(
    (Signal("importance_floor"), Clamp(Product((Signal("importance"), Signal("retention"), Signal("reinforcement")))))
)
HALVING = Forgetting(Signal("retention"), Dynamics(curve=HalfLife(days=10)), below=0.25)
"""Faded after two half-lives, 20 days."""


def curve_of(row: dict[str, str]) -> Curve:
    given = {name: float(value) for name, value in (each.split("=") for each in row["parameters"].split(","))}
    kinds: dict[str, type[Curve]] = {
        "linear": LinearRamp,
        "half-life": HalfLife,
        "exponential": Exponential,
        "ebbinghaus": Ebbinghaus,
        "power-law": PowerLaw,
    }
    return kinds[row["curve"]](**given)


def golden(row: dict[str, str]) -> tuple[Memory, Forgetting]:
    gains: dict[str, Gain] = {"none": NoGain(), "logarithmic": LogarithmicGain(8), "linear": LinearGain()}
    usage = Usage(used=int(row["uses"]), last_used_at=NOW if row["uses"] != "0" else None)
    memory = replace(
        a_memory(),
        strength=Strength(
            importance=float(row["importance"]),
            importance_floor=float(row["floor"]),
            stability=float(row["stability"]),
            usage=usage,
        ),
    )
    return memory, Forgetting(WHOLE, Dynamics(curve=curve_of(row), gain=gains[row["gain"]]), below=float(row["below"]))


def falls(memory: Memory, law: Forgetting, now: datetime = NOW) -> datetime | None:
    return moment_of(int(falls_below(states_of([memory]), law, now)[0]))


@pytest.mark.parametrize("row", list(FALLS), ids=lambda row: row["case"])
def test_a_memory_fades_at_the_inverse_of_its_curve(row: dict[str, str]) -> None:
    found = falls(*golden(row))
    if row["expected_seconds"] == "never":
        assert found is None
    else:
        assert found is not None
        assert abs(found - NOW - timedelta(seconds=float(row["expected_seconds"]))) <= SECOND


@pytest.mark.parametrize(("age", "expected"), [(0, 1.0), (10, 0.5), (20, 0.25), (40, 0.0625), (-5, 1.0)])
def test_strength_is_the_expression_at_that_moment(age: int, expected: float) -> None:
    assert strength(states_of([a_memory()]), HALVING, NOW + age * DAY).tolist() == [expected]


def test_each_memory_has_its_own_moment() -> None:
    memories = [a_memory(at=NOW), a_memory(at=NOW - 5 * DAY), a_memory(at=NOW + 3 * DAY)]
    found = falls_below(states_of(memories), HALVING, NOW)
    assert [moment_of(int(each)) for each in found] == [NOW + days * DAY + UNIT for days in (20, 15, 23)]


def test_no_memories_have_no_moments() -> None:
    assert falls_below(states_of([]), HALVING, NOW).tolist() == []


def test_the_moment_is_the_same_whenever_one_asks() -> None:
    memory = a_memory()
    assert {falls(memory, HALVING, NOW + days * DAY) for days in (0, 1, 19, 20, 21, 400)} == {NOW + 20 * DAY + UNIT}


def test_a_memory_that_fades_after_the_horizon_never_fades() -> None:
    states = states_of([a_memory()])
    assert falls_below(states, HALVING, NOW, horizon=20 * DAY).tolist() == [NEVER]
    assert falls_below(states, HALVING, NOW, horizon=21 * DAY).tolist() != [NEVER]


def test_a_hundred_years_are_the_horizon() -> None:
    assert moment_of(int(falls_below(states_of([a_memory()]), HALVING, NOW - 36_504 * DAY)[0])) is not None
    assert moment_of(int(falls_below(states_of([a_memory()]), HALVING, NOW - 36_505 * DAY)[0])) is None


def test_use_that_counts_starts_the_forgetting_again() -> None:
    law = replace(HALVING, dynamics=Dynamics(curve=HalfLife(days=10), since=Since.EXPOSED, counted=Exposure.USED))
    used = replace(a_memory(), strength=Strength(usage=Usage(used=1, last_used_at=NOW + 7 * DAY)))
    assert falls(used, law) == NOW + 27 * DAY + UNIT


def test_a_memory_faded_at_its_last_use_has_that_time_as_its_fading_time() -> None:
    law = Forgetting(WHOLE, Dynamics(curve=HalfLife(days=10), gain=LogarithmicGain(8)), below=0.25)
    used = replace(a_memory(), strength=Strength(usage=Usage(used=1, last_used_at=NOW + 30 * DAY)))
    assert falls(used, law, NOW + 40 * DAY) == NOW + 30 * DAY


def test_use_that_the_law_does_not_know_of_does_not_hide_when_a_memory_faded() -> None:
    used = replace(a_memory(), strength=Strength(usage=Usage(used=1, last_used_at=NOW + 30 * DAY)))
    assert falls(used, HALVING, NOW + 40 * DAY) == NOW + 20 * DAY + UNIT


def test_a_review_that_counts_is_where_a_faded_memory_is_looked_at_from() -> None:
    law = Forgetting(Signal("importance"), Dynamics(curve=PowerLaw(), since=Since.REVIEWED), below=0.75)
    reviewed = replace(a_memory(), strength=Strength(last_reviewed_at=NOW + 3 * DAY))
    assert falls(reviewed, law, NOW + 9 * DAY) == NOW + 3 * DAY


def test_a_memory_of_something_to_come_does_not_fade_before_it() -> None:
    assert falls(a_memory(at=NOW + 50 * DAY), HALVING) == NOW + 70 * DAY + UNIT


def test_a_curve_has_evenly_spaced_times() -> None:
    points = curve(states_of([a_memory()]), HALVING, NOW, NOW + 40 * DAY, 5)
    assert points == [(NOW + days * DAY, 2.0 ** (-days / 10)) for days in (0, 10, 20, 30, 40)]


def test_a_curve_may_be_of_two_points() -> None:
    points = curve(states_of([a_memory()]), HALVING, NOW, NOW + 10 * DAY, 2)
    assert points == [(NOW, 1.0), (NOW + 10 * DAY, 0.5)]


def test_rows_are_chosen_in_the_order_requested() -> None:
    memories = [replace(a_memory(), strength=Strength(importance=share)) for share in (0.25, 0.5, 0.75)]
    picked = chosen(states_of(memories), np.array([2, 0]))
    expected = states_of([memories[2], memories[0]])
    for name in ("occurred_at", "importance", "priority", "stability", "reviewed_at", "level"):
        assert getattr(picked, name).tolist() == getattr(expected, name).tolist()
    assert {kind: counts.tolist() for kind, counts in picked.exposed.items()} == {kind: [0, 0] for kind in Exposure}


@pytest.mark.parametrize(
    "compared", [MinMax(Signal("retention")), Product((Rrf((Signal("retention"),)), Signal("importance")))]
)
def test_a_strength_that_compares_memories_is_refused(compared: Expression) -> None:
    with pytest.raises(InvalidInput, match=r"^fading\.strength: .*without minmax and rrf"):
        Fading(strength=compared, below=0.1)
