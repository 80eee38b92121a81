"""Draw how many memories fade over time, and how one memory fades, under the preset's forgetting law."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer import AsyncRemembrancer
from remembrancer.domain.instants import microseconds
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader, Scope
from remembrancer.engine.context import Context
from remembrancer.interfaces.charts.document import document, png
from remembrancer.interfaces.charts.forgetting import forgetting_document
from remembrancer.interfaces.charts.panel import Panel, sample
from remembrancer.interfaces.charts.scale import round_times
from remembrancer.interfaces.wire.memories import CurveOut
from remembrancer.policies.forgetting.forecast import Forgetting, falls_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

AHEAD: Final = timedelta(days=180)
POINTS: Final = 181


async def faded_now(ctx: Context, scope: Scope) -> tuple[int, int]:
    """Number of faded current memories in the workspace, and of all current memories."""
    _, falls, _ = await _fade_times(ctx, scope)
    return int((falls < microseconds(ctx.clock())).sum()), len(falls)


async def fading(ctx: Context, scope: Scope) -> bytes:
    """A PNG: memories that have not faded over the next half year, split by whether they were used."""
    now, preset = ctx.clock(), ctx.preset
    used, falls, counted = await _fade_times(ctx, scope)
    times = [now + AHEAD * step / (POINTS - 1) for step in range(POINTS)]
    unused_left = [int((falls[~used] > microseconds(time)).sum()) for time in times]
    left = [int((falls > microseconds(time)).sum()) for time in times]
    told = (
        f"Not faded (at or above {preset.fading.below:g}) of {len(falls):,} memories on {now:%d %B %Y} and after,"
        f" if nothing else happens; {int(used.sum()):,} of them were {counted}."
    )
    panel = Panel(x=(0.0, float(POINTS - 1)), y=(0.0, max(1, left[0]) * 1.05))
    upper, lower = list(enumerate(left)), list(enumerate(unused_left))
    marks = panel.area([(0, 0), *lower, (POINTS - 1, 0)], "blue", 0.35) + panel.area(
        [*lower, *upper[::-1]], "green", 0.6
    )
    marks += panel.levels("memories") + panel.line(upper, "ink")
    named = round_times(times[0], times[-1], 8)
    marks += panel.names([((moment.at - now) / AHEAD * (POINTS - 1), moment.label) for moment in named])
    legend = [(sample("blue", bar=True), f"never {counted}"), (sample("green", bar=True), counted)]
    return png(document("life", f"Fading under the preset {preset.name}", told, [panel.picture(marks)], legend))


async def draw(rem: AsyncRemembrancer, ctx: Context, folder: Path) -> list[Path]:
    """Write `PRESET-fading.png`, all memories, and `PRESET-curve.png`, the memory that fades next, drawn as by `show ID
    --curve`.

    `folder` must exist.
    """
    name = ctx.preset.name
    whole = folder / f"{name}-fading.png"
    whole.write_bytes(await fading(ctx, rem.scope))
    soonest = await rem.health.fading(limit=1, within=timedelta(days=3_650))
    if not soonest:
        return [whole]
    one = folder / f"{name}-curve.png"
    curve = CurveOut.of(await rem.health.curve(soonest[0].memory.id, days=180, points=POINTS))
    one.write_bytes(png(forgetting_document(curve)))
    return [whole, one]


async def _fade_times(ctx: Context, scope: Scope) -> tuple[NDArray[np.bool_], NDArray[np.int64], str]:
    """For each current memory, whether it was used and when it fades, in microseconds since 1970; and the name of the
    exposure that counts as use under the preset.
    """
    law = Forgetting(ctx.preset.fading.strength, ctx.preset.dynamics, ctx.preset.fading.below)
    now: datetime = ctx.clock()
    _, states = await ctx.store.states(Reader(scope), Filter(current_at=now))
    counted = ctx.preset.dynamics.counted
    return states.exposed[counted] > 0, falls_below(states, law, now), counted.value
