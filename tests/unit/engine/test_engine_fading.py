from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from remembrancer import InvalidInput, NotFound, Remembrancer, Settings
from remembrancer.engine.fading import DecayForecast
from remembrancer.policies.forgetting.decay import LinearRamp
from remembrancer.policies.forgetting.dynamics import Dynamics
from remembrancer.policies.ranking.scoring import Product, Signal
from remembrancer.presets.default import DEFAULT
from remembrancer.presets.spec import Fading
from remembrancer.testing.doubles import NOW, FixedClock, HashEmbedder

DAY = timedelta(days=1)
UNIT = timedelta(microseconds=1)
RAMP = replace(
    DEFAULT,
    name="ramp",
    dynamics=Dynamics(curve=LinearRamp(days=128)),
    fading=Fading(strength=Product((Signal("importance"), Signal("retention"))), below=0.25),
)
"""A memory of importance 1 is faded after 96 days, one of 0.5 after 64."""


@pytest.fixture
def ramp(clock: FixedClock) -> Iterator[Remembrancer]:
    settings = Settings(db=":memory:", workspace="acme", background_index=False)
    with Remembrancer.open(embedder=HashEmbedder(), settings=settings, preset=RAMP, clock=clock) as opened:
        yield opened


@pytest.fixture
def several(ramp: Remembrancer) -> Remembrancer:
    """Memories with a strength of 1, 0.5 and 0.125 now."""
    ramp.remember("half", importance=0.5, occurred_at=NOW)
    ramp.remember("faded", importance=0.5, occurred_at=NOW - 96 * DAY)
    ramp.remember("strong", importance=1, occurred_at=NOW)
    return ramp


def told(forecasts: tuple[DecayForecast, ...]) -> list[tuple[str, float]]:
    return [(one.memory.text, one.strength) for one in forecasts]


def test_decay_lists_the_weakest_first(several: Remembrancer) -> None:
    assert told(several.health.decay()) == [("faded", 0.125), ("half", 0.5), ("strong", 1.0)]


def test_decay_lists_so_many_at_most(several: Remembrancer) -> None:
    assert told(several.health.decay(limit=1)) == [("faded", 0.125)]


def test_decay_has_the_time_at_which_each_memory_falls_below_the_threshold(several: Remembrancer) -> None:
    assert [one.falls_at for one in several.health.decay()] == [
        NOW - 32 * DAY + UNIT,
        NOW + 64 * DAY + UNIT,
        NOW + 96 * DAY + UNIT,
    ]


def test_decay_distinguishes_faded_memories(several: Remembrancer) -> None:
    assert [one.has_faded for one in several.health.decay()] == [True, False, False]


def test_a_memory_with_a_high_importance_floor_never_fades(clock: FixedClock) -> None:
    held = replace(RAMP, dynamics=Dynamics(curve=LinearRamp(days=128, floor=0.5)))
    settings = Settings(db=":memory:", background_index=False)
    with Remembrancer.open(embedder="none", settings=settings, preset=held, clock=clock) as rem:
        rem.remember("held", importance=1)
        assert [(one.falls_at, one.has_faded) for one in rem.health.decay()] == [(None, False)]


def test_equally_weak_memories_come_by_id(ramp: Remembrancer) -> None:
    ids = [ramp.remember(f"{number}", occurred_at=NOW).id for number in range(20)]
    assert [one.memory.id for one in ramp.health.decay()] == sorted(ids)
    assert [one.memory.id for one in ramp.health.fading(within=80 * DAY)] == sorted(ids)


def test_fading_lists_the_soonest_first(several: Remembrancer) -> None:
    assert told(several.health.fading(within=100 * DAY)) == [("half", 0.5), ("strong", 1.0)]


def test_fading_lists_so_many_at_most(several: Remembrancer) -> None:
    assert told(several.health.fading(limit=1, within=100 * DAY)) == [("half", 0.5)]


def test_a_memory_that_fades_after_the_horizon_is_not_listed(several: Remembrancer) -> None:
    assert told(several.health.fading(within=65 * DAY)) == [("half", 0.5)]
    assert told(several.health.fading(within=64 * DAY)) == []


def test_the_default_horizon_is_a_month(several: Remembrancer, clock: FixedClock) -> None:
    assert told(several.health.fading()) == []
    clock.advance(35 * DAY)
    assert [one.memory.text for one in several.health.fading()] == ["half"]


def test_a_forgotten_memory_does_not_fade(several: Remembrancer) -> None:
    several.forget(several.health.fading(within=100 * DAY)[0].memory.id)
    assert told(several.health.fading(within=100 * DAY)) == [("strong", 1.0)]
    assert [text for text, _ in told(several.health.decay())] == ["faded", "strong"]


def test_only_memories_that_the_caller_sees_are_listed(several: Remembrancer) -> None:
    several.scoped(agent="bob").remember("bob's", occurred_at=NOW)
    assert "bob's" not in [text for text, _ in told(several.scoped(agent="ana").health.decay())]
    assert "bob's" in [text for text, _ in told(several.scoped(agent="bob").health.decay())]


def test_an_empty_store_has_nothing_to_fade(ramp: Remembrancer) -> None:
    assert (ramp.health.decay(), ramp.health.fading()) == ((), ())


def test_using_a_memory_puts_its_fading_off(rem: Remembrancer, clock: FixedClock) -> None:
    memory = rem.remember("used", occurred_at=NOW)
    before = rem.health.decay()[0].falls_at
    clock.advance(30 * DAY)
    rem.mark([memory.id], "used")
    after = rem.health.decay()[0].falls_at
    assert before is not None
    assert after is not None
    assert after - before > 30 * DAY  # thirty days anew, and what use has added


def test_listing_fading_memories_writes_nothing(several: Remembrancer) -> None:
    before = several.recent()
    several.health.decay()
    several.health.fading()
    several.health.curve(before[0].id)
    assert several.recent() == before


def test_a_curve_begins_when_the_memory_does(ramp: Remembrancer, clock: FixedClock) -> None:
    memory = ramp.remember("new", importance=1, occurred_at=NOW - 64 * DAY)
    curve = ramp.health.curve(memory.id, days=128, points=7)
    assert curve.points == tuple(
        (NOW + days * DAY, max(0.0, 1 - (days + 64) / 128)) for days in (-64, -32, 0, 32, 64, 96, 128)
    )


def test_a_curve_looks_no_further_back_than_ahead(ramp: Remembrancer) -> None:
    memory = ramp.remember("old", occurred_at=NOW - 400 * DAY)
    assert [at for at, _ in ramp.health.curve(memory.id, days=10, points=3).points] == [
        NOW - 10 * DAY,
        NOW,
        NOW + 10 * DAY,
    ]


def test_a_curve_begins_no_earlier_than_the_last_use_that_counts(rem: Remembrancer, clock: FixedClock) -> None:
    memory = rem.remember("used", occurred_at=NOW)
    clock.advance(30 * DAY)
    rem.mark([memory.id], "used")
    clock.advance(5 * DAY)
    assert rem.health.curve(memory.id).points[0][0] == NOW + 30 * DAY


def test_a_curve_of_something_to_come_begins_now(ramp: Remembrancer) -> None:
    memory = ramp.remember("to come", occurred_at=NOW + 50 * DAY)
    assert ramp.health.curve(memory.id).points[0][0] == NOW


def test_a_curve_has_the_current_time_and_the_time_at_which_it_crosses(ramp: Remembrancer) -> None:
    memory = ramp.remember("new", importance=1, occurred_at=NOW)
    curve = ramp.health.curve(memory.id)
    assert (curve.now, curve.forecast) == (NOW, ramp.health.decay()[0])


def test_a_curve_of_an_unknown_memory_is_not_found(ramp: Remembrancer) -> None:
    with pytest.raises(NotFound, match="no memory"):
        ramp.health.curve(uuid4())


@pytest.mark.parametrize(
    ("ask", "given", "said"),
    [
        ("decay", {"limit": 0}, r"^limit: 0 .*from 1 to 10000"),
        ("fading", {"limit": 10_001}, r"^limit: 10001 "),
        ("fading", {"within": timedelta()}, r"^within: .*more than 0, at most 36,500 days"),
        ("fading", {"within": timedelta(days=36_501)}, r"^within: "),
        ("fading", {"within": 30}, r"^within: 30 .*timedelta"),
        ("curve", {"memory_id": "12"}, r"^memory_id: '12' "),
        ("curve", {"memory_id": uuid4(), "days": 0}, r"^days: 0 .*from 0.01 to 36500"),
        ("curve", {"memory_id": uuid4(), "points": 1}, r"^points: 1 .*from 2 to 10000"),
    ],
)
def test_invalid_values_are_refused_by_argument(ramp: Remembrancer, ask: str, given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        getattr(ramp.health, ask)(**given)


def test_the_longest_look_ahead_ends_before_time_does(ramp: Remembrancer, clock: FixedClock) -> None:
    memory = ramp.remember("new")
    assert ramp.health.curve(memory.id, days=36_500).points[-1][0] == NOW + 36_500 * DAY
    assert isinstance(ramp.health.fading(within=36_500 * DAY)[0].falls_at, datetime)


def test_forecasts_come_in_the_order_of_the_requested_ids(several: Remembrancer) -> None:
    by_text = {one.memory.text: one.memory.id for one in several.health.decay()}
    asked = [by_text["strong"], by_text["faded"]]
    assert told(several.health.forecasts(asked)) == [("strong", 1.0), ("faded", 0.125)]


def test_a_forecast_equals_that_of_decay(several: Remembrancer) -> None:
    told_by_decay = several.health.decay()
    assert several.health.forecasts([one.memory.id for one in told_by_decay]) == told_by_decay


def test_forecasts_leave_out_unknown_ids(several: Remembrancer) -> None:
    assert several.health.forecasts([uuid4()]) == ()


def test_forecasts_refuse_a_text_instead_of_a_list_of_ids(several: Remembrancer) -> None:
    with pytest.raises(InvalidInput, match="memories"):
        several.health.forecasts(str(uuid4()))
