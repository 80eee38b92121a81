"""How a whole memory fades, and one of it: as the preset's own law has it, if nothing else happens."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from matplotlib import dates

from remembrancer import AsyncRemembrancer
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader, Scope
from remembrancer.engine.context import Context
from remembrancer.interfaces.canvas import INK, RULE, png_of, style
from remembrancer.interfaces.charts.document import png
from remembrancer.interfaces.charts.forgetting import forgetting_document
from remembrancer.interfaces.charts.palette import BLUE, GREEN
from remembrancer.interfaces.plots import titled_axes
from remembrancer.interfaces.wire import CurveOut
from remembrancer.policies.forgetting.dynamics import microseconds
from remembrancer.policies.forgetting.forecast import Forgetting, falls_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

AHEAD: Final = timedelta(days=180)
POINTS: Final = 181

_dates = cast("Any", dates)  # typed in part


async def faded_now(ctx: Context, scope: Scope) -> tuple[int, int]:
    """Of the current memories that the workspace sees: how many have faded, and how many there are."""
    _, falls, _ = await _falls(ctx, scope)
    return int((falls < microseconds(ctx.clock())).sum()), len(falls)


async def fading(ctx: Context, scope: Scope) -> bytes:
    """How many memories are not faded yet over the next half year, those that were used apart."""
    now, preset = ctx.clock(), ctx.preset
    used, falls, counted = await _falls(ctx, scope)
    times = [now + AHEAD * step / (POINTS - 1) for step in range(POINTS)]
    unused_left = [int((falls[~used] > microseconds(time)).sum()) for time in times]
    left = [int((falls > microseconds(time)).sum()) for time in times]
    told = (
        f"Not faded (at or above {preset.fading.below:g}) of {len(falls):,} memories on {now:%d %B %Y} and after,"
        f" if nothing else happens; {int(used.sum()):,} of them were {counted}."
    )
    with style():
        figure, axes = titled_axes(f"Fading under the preset {preset.name}", told)
        axes.fill_between(times, unused_left, color=BLUE, alpha=0.35, linewidth=0, label=f"never {counted}")
        axes.fill_between(times, unused_left, left, color=GREEN, alpha=0.6, linewidth=0, label=counted)
        axes.plot(times, left, color=INK, linewidth=1)
        axes.set_ylim(0, max(1, left[0]) * 1.05)
        axes.set_xlim(times[0], times[-1])
        axes.set_ylabel("memories", color=INK)
        axes.grid(axis="y", color=RULE, linewidth=0.6)
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=9)
        axes.xaxis.set_major_formatter(_dates.ConciseDateFormatter(axes.xaxis.get_major_locator(), tz="UTC"))
        return png_of(figure)


async def draw(rem: AsyncRemembrancer, ctx: Context, folder: Path) -> list[Path]:
    """`PRESET-fading.png`: all memories; `PRESET-curve.png`: the one that will fade next, as `show ID --curve` does.

    `folder` must be there.
    """
    name = ctx.preset.name
    whole = folder / f"{name}-fading.png"
    whole.write_bytes(await fading(ctx, rem.scope))
    soonest = await rem.fading(limit=1, within=timedelta(days=3_650))
    if not soonest:
        return [whole]
    one = folder / f"{name}-curve.png"
    curve = CurveOut.of(await rem.curve(soonest[0].memory.id, days=180, points=POINTS))
    one.write_bytes(png(forgetting_document(curve)))
    return [whole, one]


async def _falls(ctx: Context, scope: Scope) -> tuple[NDArray[np.bool_], NDArray[np.int64], str]:
    """Of each current memory whether it was used as the preset counts use, and when it fades; and what counts."""
    law = Forgetting(ctx.preset.fading.strength, ctx.preset.dynamics, ctx.preset.fading.below)
    now: datetime = ctx.clock()
    _, states = await ctx.store.states(Reader(scope), Filter(current_at=now))
    counted = ctx.preset.dynamics.counted
    return states.exposed[counted] > 0, falls_below(states, law, now), counted.value
