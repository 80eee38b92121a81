"""Strength only falls while a memory is not used, so there is one moment at which it crosses a threshold."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from remembrancer.domain.memory import Memory
from remembrancer.domain.strength import Exposure, Strength, Usage
from remembrancer.policies.forgetting.decay import Ebbinghaus, Exponential, HalfLife, LinearRamp, PowerLaw
from remembrancer.policies.forgetting.dynamics import Dynamics, Since
from remembrancer.policies.forgetting.forecast import HORIZON, Forgetting, falls_below, moment_of, strength
from remembrancer.policies.forgetting.reinforcement import LinearGain, LogarithmicGain, NoGain
from remembrancer.policies.ranking.scoring import (
    Clamp,
    Const,
    Expression,
    Greatest,
    Product,
    Saturating,
    Signal,
    Weighted,
)
from remembrancer.ports.states import states_of
from remembrancer.presets.catalogue import PRESETS
from remembrancer.testing.doubles import NOW, a_memory

SECOND = timedelta(seconds=1)
ROUNDING = 1e-12

days = st.floats(0.01, 36_500)
shares = st.floats(0, 1)
curves = st.one_of(
    st.builds(LinearRamp, days, shares),
    st.builds(HalfLife, days, shares),
    st.builds(Exponential, days),
    st.builds(Ebbinghaus, st.floats(0.001, 10), st.floats(0, 5)),
    st.builds(PowerLaw, st.floats(0.05, 5)),
)
gains = st.one_of(st.just(NoGain()), st.just(LinearGain()), st.builds(LogarithmicGain, st.floats(0.1, 100)))
dynamics = st.builds(
    Dynamics, curve=curves, since=st.sampled_from(Since), counted=st.sampled_from(Exposure), gain=gains
)
units: st.SearchStrategy[Expression] = st.one_of(
    st.sampled_from(["importance", "importance_floor", "confidence", "priority", "retention"]).map(Signal),
    st.just(Clamp(Product((Signal("importance"), Signal("retention"), Signal("reinforcement"))))),
    st.just(Saturating(Product((Signal("retention"), Signal("reinforcement"), Signal("level"))))),
    st.builds(Const, shares),
)
expressions = st.recursive(
    units,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(lambda terms: Product(tuple(terms))),
        st.lists(inner, min_size=1, max_size=3).map(lambda terms: Greatest(tuple(terms))),
        st.lists(inner, min_size=1, max_size=4).map(
            lambda terms: Weighted(tuple((term, 1 / len(terms)) for term in terms))
        ),
    ),
    max_leaves=5,
)
laws = st.one_of(
    st.builds(Forgetting, expressions, dynamics, shares),
    st.sampled_from([Forgetting(one.fading.strength, one.dynamics, one.fading.below) for one in PRESETS.values()]),
)
moments = st.datetimes(NOW.replace(year=2000, tzinfo=None), NOW.replace(year=2030, tzinfo=None)).map(
    lambda naive: naive.replace(tzinfo=NOW.tzinfo)
)


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    counts = st.integers(0, 1000)
    at = st.none() | moments
    usage = Usage(
        retrieved=draw(counts),
        shown=draw(counts),
        used=draw(counts),
        last_retrieved_at=draw(at),
        last_shown_at=draw(at),
        last_used_at=draw(at),
    )
    strengths = Strength(
        importance=draw(shares),
        importance_floor=draw(shares),
        priority=draw(st.integers(1, 10)),
        confidence=draw(shares),
        stability=draw(st.floats(0.01, 10_000)),
        last_reviewed_at=draw(at),
        usage=usage,
    )
    return replace(a_memory(at=draw(moments)), strength=strengths)


def strength_at(memory: Memory, law: Forgetting, at: datetime) -> float:
    return float(strength(states_of([memory]), law, at)[0])


@given(memories(), laws, moments, st.timedeltas(timedelta(), HORIZON))
def test_strength_never_rises_while_nothing_happens(
    memory: Memory, law: Forgetting, now: datetime, later: timedelta
) -> None:
    assert strength_at(memory, law, now + later) <= strength_at(memory, law, now) + ROUNDING


@given(memories(), laws, moments)
def test_a_memory_is_faded_at_its_forecast_time_and_not_a_second_before(
    memory: Memory, law: Forgetting, now: datetime
) -> None:
    if strength_at(memory, law, now) < law.below:
        return
    fades = moment_of(int(falls_below(states_of([memory]), law, now)[0]))
    if fades is None:
        assert strength_at(memory, law, now + HORIZON) >= law.below
    else:
        assert strength_at(memory, law, fades) < law.below
        assert strength_at(memory, law, max(now, fades - SECOND)) >= law.below


@given(memories(), laws, moments)
def test_a_faded_memory_has_a_fading_time_in_the_past(memory: Memory, law: Forgetting, now: datetime) -> None:
    if strength_at(memory, law, now) >= law.below:
        return
    faded = moment_of(int(falls_below(states_of([memory]), law, now)[0]))
    assert faded is not None
    assert faded <= now
    assert strength_at(memory, law, faded) < law.below


@given(st.lists(memories(), max_size=4), laws, moments)
def test_the_forecast_of_a_memory_does_not_depend_on_the_others(
    several: list[Memory], law: Forgetting, now: datetime
) -> None:
    together = falls_below(states_of(several), law, now).tolist()
    assert together == [falls_below(states_of([memory]), law, now).tolist()[0] for memory in several]
