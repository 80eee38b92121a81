"""Forecasts: the strength of memories, and when each counts as faded if it is not used again.

Without use strength never increases, so there is one moment from which on a memory counts as faded.
"""

from __future__ import annotations

from dataclasses import fields
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.domain.candidates import States
from remembrancer.domain.instants import MICROSECOND, microseconds, moment
from remembrancer.errors import InvalidInput
from remembrancer.policies.forgetting.dynamics import Dynamics
from remembrancer.policies.ranking import signals
from remembrancer.policies.ranking.scoring import Expression, MinMax, Rrf, evaluate, inner_expressions
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.policies.forgetting.dynamics import Moments
    from remembrancer.policies.ranking.scoring import FloatColumn

NEVER: Final = 2**63 - 1
"""The time of something that never happens."""
HORIZON: Final = timedelta(days=36_525)
"""A hundred years. A memory that fades later counts as never fading."""


@dataclass(frozen=True, slots=True)
class Forgetting:
    """A memory is faded if `strength`, computed from its own signals and `dynamics`, is less than `below`."""

    strength: Expression
    dynamics: Dynamics
    below: float


def check(argument: str, expression: Expression) -> None:
    """Check that a strength expression depends on each memory alone. Raises InvalidInput for expressions that compare
    candidates (MinMax, Rrf): with them, strength would depend on the other memories in the list.
    """
    if isinstance(expression, MinMax | Rrf):
        raise InvalidInput(argument, expression, "an expression without minmax and rrf: strength is a memory's own")
    for inner in inner_expressions(expression):
        check(argument, inner)


def strength(states: States, law: Forgetting, at: datetime) -> FloatColumn:
    """The strength of each memory at a time, in [0, 1], shape (n,)."""
    return _strengths(states, law, np.full(len(states.occurred_at), microseconds(at)))


def falls_below(states: States, law: Forgetting, now: datetime, *, horizon: timedelta = HORIZON) -> Moments:
    """The time at which each memory becomes faded without further use, shape (n,); NEVER if that is later than `now` +
    `horizon`.

    For a faded memory the time is in the past, and not before its last known change.
    """
    at = microseconds(now)
    faded = strength(states, law, now) < law.below
    # The state does not describe the time before its last change.
    strong = np.where(faded, np.minimum(law.dynamics.settled(states), at), at)
    weak = np.where(faded, at, at + horizon // MICROSECOND)
    found = np.where(faded, strong, NEVER)
    between = (_strengths(states, law, strong) >= law.below) & (_strengths(states, law, weak) < law.below)
    rows = np.flatnonzero(between)
    found[rows] = _crossing(chosen(states, rows), law, strong[rows], weak[rows])
    return found


def curve(
    states: States, law: Forgetting, since: datetime, until: datetime, points: int
) -> list[tuple[datetime, float]]:
    """The strength of one memory at `points` evenly spaced times from `since` to `until`, if it does not change in
    between.
    """
    start, end = microseconds(since), microseconds(until)
    times = np.array([start + (end - start) * step // (points - 1) for step in range(points)], dtype=np.int64)
    values = _strengths(chosen(states, np.zeros(points, dtype=np.intp)), law, times)
    return [(moment(time), float(value)) for time, value in zip(times, values, strict=True)]


def moment_of(found: int) -> datetime | None:
    """A result of `falls_below` as a datetime; None for NEVER."""
    return None if found == NEVER else moment(found)


def chosen(states: States, rows: NDArray[np.intp]) -> States:
    """The states of these rows, in the order of `rows`."""
    own = {
        field.name: getattr(states, field.name)
        for field in fields(States)
        if field.name not in {"exposed", "exposed_at"}
    }
    return States(
        **{name: column[rows] for name, column in own.items()},
        exposed={kind: counts[rows] for kind, counts in states.exposed.items()},
        exposed_at={kind: times[rows] for kind, times in states.exposed_at.items()},
    )


def _crossing(states: States, law: Forgetting, strong: Moments, weak: Moments) -> Moments:
    """The first time at which each memory is faded, by bisection. `strong`: a time when it is not;
    `weak`: when it is.
    """
    while np.any(weak - strong > 1):
        middle = strong + (weak - strong) // 2
        faded = _strengths(states, law, middle) < law.below
        weak = np.where(faded, middle, weak)
        strong = np.where(faded, strong, middle)
    return weak


def _strengths(states: States, law: Forgetting, at: Moments) -> FloatColumn:
    """As `strength`, with one time for each memory."""
    table = signals.compute_states(states, signals.EvaluationTime(at, law.dynamics))
    return evaluate(law.strength, table, len(at)).values
