"""Forgetting over time: how strong memories are, when they count as faded, and one memory's strength over time.

Pinned memories do not fade: they are in every answer, whatever their use, so their strength is 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

import numpy as np

from remembrancer.domain.instants import moment
from remembrancer.domain.memory import Memory
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader
from remembrancer.engine.context import Context
from remembrancer.engine.inspect import get
from remembrancer.policies.forgetting.forecast import NEVER, Forgetting, chosen, curve, falls_below, moment_of, strength
from remembrancer.ports.changes import ReadView
from remembrancer.ports.states import states_of
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray


PINNED_STRENGTH: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DecayForecast:
    """A memory's strength now, and `below`, the threshold under which it counts as faded; both in [0, 1].

    `falls_at`: the first time below the threshold without further use; None: not within a hundred years. For a faded
    memory it is in the past, and an upper bound.
    """

    memory: Memory
    strength: float
    below: float
    falls_at: datetime | None

    @property
    def has_faded(self) -> bool:
        return self.strength < self.below


@dataclass(frozen=True, slots=True, kw_only=True)
class FadingCurve:
    """A memory's strength over time: `points`, evenly spaced, with `now` between the first and the last.

    It is computed from the present state, so it begins no earlier than the last change that affects strength, such as
    the last use. The future part assumes no further use.
    """

    forecast: DecayForecast
    now: datetime
    points: tuple[tuple[datetime, float], ...]


async def decay(ctx: Context, reader: Reader, *, limit: int) -> tuple[DecayForecast, ...]:
    """Current memories that are not pinned, weakest first, ties by id. Reads the state of all memories, and the text of
    the listed ones.
    """
    now = ctx.clock()

    def weakest(view: ReadView) -> tuple[DecayForecast, ...]:
        ids, states = view.states(reader, _that_fade(ctx, now))
        order = np.argsort(strength(states, _law(ctx), now), kind="stable")  # stable: the states are ordered by id
        return _listed(ctx, view, reader, ids, order[:limit], now)

    return await ctx.store.read(weakest)


async def fading(ctx: Context, reader: Reader, *, limit: int, within: timedelta) -> tuple[DecayForecast, ...]:
    """Current memories that will fade within that time, soonest first, ties by id. The caller's reach and the filters
    apply as for `decay`.
    """
    now, law = ctx.clock(), _law(ctx)

    def soonest(view: ReadView) -> tuple[DecayForecast, ...]:
        ids, states = view.states(reader, _that_fade(ctx, now))
        rows = np.flatnonzero(strength(states, law, now) >= law.below)
        falls = falls_below(chosen(states, rows), law, now, horizon=within)
        order = np.argsort(falls, kind="stable")[: np.count_nonzero(falls != NEVER)]
        return _listed(ctx, view, reader, ids, rows[order[:limit]], now)

    return await ctx.store.read(soonest)


async def forecasts(ctx: Context, reader: Reader, ids: Sequence[UUID]) -> tuple[DecayForecast, ...]:
    """The forecasts of these memories, in their order, whatever their status; those that the reader may not see are
    left out.
    """
    memories = await ctx.store.get(reader, ids)
    return _forecasts(ctx, [memories[one] for one in ids if one in memories], ctx.clock())


async def fading_curve(ctx: Context, reader: Reader, memory_id: UUID, *, around: timedelta, points: int) -> FadingCurve:
    """The strength of one memory, from `around` ago (or its last change) to `around` ahead. Raises NotFound."""
    now, law = ctx.clock(), _law(ctx)
    memory = await get(ctx, reader, memory_id)
    states = states_of([memory])
    settled = moment(law.dynamics.settled(states)[0])
    since = min(now, max(settled, now - around))
    (forecast,) = _forecasts(ctx, [memory], now)
    fades = curve(states, law, since, now + around, points)
    values = [(at, PINNED_STRENGTH) for at, _ in fades] if _is_pinned(ctx, memory) else fades
    return FadingCurve(forecast=forecast, now=now, points=tuple(values))


def _listed(
    ctx: Context, view: ReadView, reader: Reader, ids: Sequence[UUID], rows: NDArray[np.intp], now: datetime
) -> tuple[DecayForecast, ...]:
    """The forecasts of the memories in these rows of `ids`, in the order of `rows`."""
    wanted = [ids[int(row)] for row in rows]
    memories = view.get(reader, wanted)
    return _forecasts(ctx, [memories[one] for one in wanted if one in memories], now)


def _forecasts(ctx: Context, memories: Sequence[Memory], now: datetime) -> tuple[DecayForecast, ...]:
    """The forecasts of memories, in their order."""
    states, law = states_of(memories), _law(ctx)
    strengths, falls = strength(states, law, now), falls_below(states, law, now)
    return tuple(
        DecayForecast(memory=memory, strength=PINNED_STRENGTH, below=law.below, falls_at=None)
        if _is_pinned(ctx, memory)
        else DecayForecast(memory=memory, strength=float(value), below=law.below, falls_at=moment_of(at))
        for memory, value, at in zip(memories, strengths, falls, strict=True)
    )


def _that_fade(ctx: Context, now: datetime) -> Filter:
    """The current memories that are not pinned."""
    tag = ctx.preset.pinned_tag
    return Filter(current_at=now, without_tags=frozenset(() if tag is None else (tag,)))


def _is_pinned(ctx: Context, memory: Memory) -> bool:
    return ctx.preset.pinned_tag in memory.tags


def _law(ctx: Context) -> Forgetting:
    return Forgetting(ctx.preset.fading.strength, ctx.preset.dynamics, ctx.preset.fading.below)
