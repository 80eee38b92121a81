from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from golden_tables import every_row, table

from remembrancer.domain.instants import microseconds
from remembrancer.domain.memory import Memory
from remembrancer.domain.scope import Level, Scope
from remembrancer.domain.strength import Exposure, Strength, Usage
from remembrancer.errors import InvalidInput
from remembrancer.policies.forgetting.decay import Exponential, LinearRamp, PowerLaw
from remembrancer.policies.forgetting.dynamics import Dynamics, Since
from remembrancer.policies.forgetting.reinforcement import LinearGain
from remembrancer.ports.states import states_of
from remembrancer.presets.teaparty import TEAPARTY
from remembrancer.testing.doubles import NOW, a_memory

DAY = timedelta(days=1)
RAMP = LinearRamp(days=100)


def remembered(
    days: float, *, usage: Usage | None = None, reviewed: datetime | None = None, scope: Scope | None = None
) -> Memory:
    """A memory of so many days ago."""
    strength = Strength(last_reviewed_at=reviewed, usage=usage or Usage())
    return replace(
        a_memory(at=NOW - days * DAY, scope=scope or Scope(workspace="acme")),
        strength=strength,
    )


def retention(dynamics: Dynamics, memory: Memory, at: datetime = NOW) -> float:
    return float(dynamics.retention(states_of([memory]), at)[0])


def shown(days: float) -> Usage:
    return Usage(shown=1, last_shown_at=NOW - days * DAY)


@pytest.mark.parametrize("since", list(Since))
@pytest.mark.parametrize("days", [0, 0.5, 10, 99])
def test_an_unused_memory_ages_from_its_own_time(since: Since, days: float) -> None:
    assert retention(Dynamics(curve=RAMP, since=since), remembered(days)) == pytest.approx(1 - days / 100)


@pytest.mark.parametrize("since", list(Since))
@pytest.mark.parametrize("years", [57, 100, 1000])
def test_a_memory_from_before_1970_ages_from_that_time_too(since: Since, years: int) -> None:
    dynamics = Dynamics(curve=Exponential(days=36_500), since=since)
    days = 365.25 * years
    assert retention(dynamics, remembered(days)) == pytest.approx(math.exp(-days / 36_500), rel=1e-9)


def test_a_counted_exposure_starts_forgetting_again() -> None:
    dynamics = Dynamics(curve=RAMP, since=Since.EXPOSED, counted=Exposure.SHOWN)
    assert retention(dynamics, remembered(80, usage=shown(5))) == pytest.approx(0.95)


@pytest.mark.parametrize("counted", [Exposure.RETRIEVED, Exposure.USED])
def test_an_exposure_of_another_kind_does_not(counted: Exposure) -> None:
    dynamics = Dynamics(curve=RAMP, since=Since.EXPOSED, counted=counted)
    assert retention(dynamics, remembered(80, usage=shown(5))) == pytest.approx(0.2)


@pytest.mark.parametrize("since", [Since.OCCURRED, Since.REVIEWED])
def test_an_exposure_moves_nothing_where_it_is_not_asked_about(since: Since) -> None:
    dynamics = Dynamics(curve=RAMP, since=since, counted=Exposure.SHOWN)
    assert retention(dynamics, remembered(80, usage=shown(5))) == pytest.approx(0.2)


def test_a_review_starts_forgetting_again_only_where_reviews_count() -> None:
    memory = remembered(80, reviewed=NOW - 5 * DAY)
    assert retention(Dynamics(curve=RAMP, since=Since.REVIEWED), memory) == pytest.approx(0.95)
    assert retention(Dynamics(curve=RAMP, since=Since.EXPOSED), memory) == pytest.approx(0.2)


def test_an_exposure_before_it_happened_makes_nothing_older() -> None:
    dynamics = Dynamics(curve=RAMP, since=Since.EXPOSED, counted=Exposure.SHOWN)
    assert retention(dynamics, remembered(10, usage=shown(50))) == pytest.approx(0.9)


@pytest.mark.parametrize("since", list(Since))
def test_a_fact_about_the_future_is_new(since: Since) -> None:
    assert retention(Dynamics(curve=RAMP, since=since), remembered(-3)) == 1.0


def test_hours_and_seconds_count() -> None:
    dynamics = Dynamics(curve=LinearRamp(days=1))
    memory = remembered(0)
    assert retention(dynamics, memory, NOW + timedelta(hours=6)) == pytest.approx(0.75)
    assert retention(dynamics, memory, NOW + timedelta(seconds=1)) == pytest.approx(1 - 1 / 86_400)


def test_stability_and_count_reach_the_curve() -> None:
    stable = replace(remembered(40), strength=Strength(stability=40.0))
    assert retention(Dynamics(curve=PowerLaw()), stable) == pytest.approx(0.9)


def test_reinforcement_counts_the_configured_exposures() -> None:
    states = states_of([remembered(1, usage=Usage(retrieved=1, shown=2, used=3))])
    counted = [
        Dynamics(curve=RAMP, counted=each, gain=LinearGain()).reinforcement(states).tolist() for each in Exposure
    ]
    assert counted == [[2.0], [3.0], [4.0]]


def test_without_a_gain_use_adds_nothing() -> None:
    assert Dynamics(curve=RAMP).reinforcement(states_of([remembered(1, usage=Usage(used=9))])).tolist() == [1.0]


@every_row(table("level_teaparty"), name=lambda row: row["scope"] or "workspace")
def test_a_scope_counts_as_its_narrowest_part_does(row: dict[str, str]) -> None:
    scope = Scope(workspace="acme").narrowed(**dict.fromkeys(row["scope"].split(), "x"))
    factor = TEAPARTY.dynamics.level_factor(states_of([remembered(1, scope=scope)]))
    assert factor.tolist() == [float(row["expected"])]


def test_without_level_factors_every_level_counts_as_one() -> None:
    scopes = [Scope(workspace="acme"), Scope(workspace="acme", project="p"), Scope(workspace="acme", session="s")]
    states = states_of([remembered(1, scope=scope) for scope in scopes])
    assert Dynamics(curve=RAMP).level_factor(states).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("factor", [0.0, -1.0, 101.0, math.nan])
def test_a_level_factor_out_of_range_is_refused_by_level(factor: float) -> None:
    with pytest.raises(InvalidInput, match=r"^level_factors\.crew: .*greater than 0, at most 100"):
        Dynamics(curve=RAMP, level_factors={Level.CREW: factor})


def test_the_states_of_memories_are_their_numbers_in_their_order() -> None:
    usage = Usage(retrieved=1, shown=2, used=3, last_retrieved_at=NOW, last_shown_at=NOW - DAY, last_used_at=None)
    strength = Strength(
        importance=0.25,
        importance_floor=0.125,
        priority=9,
        confidence=0.75,
        stability=4.5,
        last_reviewed_at=NOW - 2 * DAY,
        usage=usage,
    )
    states = states_of([replace(remembered(3), strength=strength), remembered(7, scope=Scope(workspace="a", crew="c"))])
    assert states.occurred_at.tolist() == [microseconds(NOW - 3 * DAY), microseconds(NOW - 7 * DAY)]
    assert (states.importance.tolist(), states.importance_floor.tolist()) == ([0.25, 0.5], [0.125, 0.0])
    assert (states.priority.tolist(), states.confidence.tolist()) == ([9, 5], [0.75, 0.5])
    assert states.stability.tolist() == [4.5, pytest.approx(2.3065)]
    assert states.reviewed_at.tolist() == [microseconds(NOW - 2 * DAY), 0]
    assert states.level.tolist() == [Level.WORKSPACE, Level.CREW]
    assert {each: states.exposed[each].tolist() for each in Exposure} == {
        Exposure.RETRIEVED: [1, 0],
        Exposure.SHOWN: [2, 0],
        Exposure.USED: [3, 0],
    }
    assert {each: states.exposed_at[each].tolist() for each in Exposure} == {
        Exposure.RETRIEVED: [microseconds(NOW), 0],
        Exposure.SHOWN: [microseconds(NOW - DAY), 0],
        Exposure.USED: [0, 0],
    }


def test_the_age_of_an_episode_counts_from_its_end() -> None:
    memory = replace(remembered(10), occurred_to=NOW - 2 * DAY)
    assert retention(Dynamics(curve=RAMP), memory) == pytest.approx(0.98)


def test_no_memories_have_no_states() -> None:
    states = states_of([])
    assert Dynamics(curve=RAMP, since=Since.EXPOSED).retention(states, NOW).tolist() == []
    assert Dynamics(curve=RAMP).reinforcement(states).tolist() == []
    assert Dynamics(curve=RAMP).level_factor(states).tolist() == []


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        (None, 0),
        (datetime(1970, 1, 1, tzinfo=UTC), 0),
        (datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC), 1),
        (datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), -1),
        (datetime(2026, 3, 4, 9, 0, tzinfo=UTC), 1_772_614_800_000_000),
        (datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), 253_402_300_799_999_999),
    ],
)
def test_a_moment_is_counted_to_the_microsecond(moment: datetime | None, expected: int) -> None:
    assert microseconds(moment) == expected
    assert np.int64(expected) == expected
