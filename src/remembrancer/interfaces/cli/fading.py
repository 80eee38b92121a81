"""Commands about forgetting: decay, fading."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import Annotated

from rich.text import Text

from remembrancer.domain.age import spoken_age
from remembrancer.interfaces.charts.strength import StrengthCurve, forecast_text
from remembrancer.interfaces.cli.drawing import Renderables, RowReference, Shorter, Titles, conversation_of, indented
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.options import LimitOption
from remembrancer.interfaces.cli.plot import Plot
from remembrancer.interfaces.cli.times import LENGTHS
from remembrancer.interfaces.text import counted, day, minute, told
from remembrancer.interfaces.wire.memories import CurveOut, DecayForecastOut, DecayForecastsOut


def decay(call: Invocation, *, limit: LimitOption = 20) -> None:
    """List the weakest memories.

    Weakest first: each memory's current strength by the preset's curve, and when it will fall below the threshold for
    faded memories if nothing else happens. Faded memories are not deleted.

    Example: remembrancer decay --limit 20
    """
    with call.opened(create=False) as memory:
        found = memory.health.decay(limit=limit)
        titles = call.titles(memory, (forecast.memory for forecast in found))
    call.answer(DecayForecastsOut.of(found), partial(_weakest, now=call.now, titles=titles))


def fading(
    call: Invocation,
    *,
    limit: LimitOption = 20,
    within: Annotated[timedelta | None, f"How far to look ahead: {LENGTHS}. Default: 30d."] = None,
) -> None:
    """List the memories that will fade soon.

    Soonest first: memories that are above the threshold for faded memories now and will fall below it, by the preset's
    curve, within the time of --within. Using a memory postpones that; `show ID --curve` draws its curve.

    Example: remembrancer fading --within 30d
    """
    from remembrancer.facade import MAX_LISTED

    ahead = timedelta(days=30) if within is None else within
    with call.opened(create=False) as memory:
        found = memory.health.fading(limit=limit, within=ahead)
        # Counted only if the output needs the number.
        weakest = () if found or call.as_json else memory.health.decay(limit=MAX_LISTED)
        titles = call.titles(memory, (forecast.memory for forecast in found))
    faded = sum(forecast.has_faded for forecast in weakest)
    draw = partial(_soon, now=call.now, titles=titles, within=ahead, faded=faded)
    call.answer(DecayForecastsOut.of(found), draw)


def _weakest(answer: DecayForecastsOut, *, now: datetime, titles: Titles) -> Renderables:
    """The memories, weakest first, each with the time when it falls below the threshold."""
    if not answer.memories:
        yield Text("No memories.", style="dim")
    yield from _listed(answer, now, titles)


def _soon(answer: DecayForecastsOut, *, now: datetime, titles: Titles, within: timedelta, faded: int) -> Renderables:
    """The memories that fade within that time, soonest first. If there are none, the number of already faded memories
    (`faded`), which is at most `decay`'s limit.
    """
    if not answer.memories:
        yield Text(f"No memory fades before {day(now + within)} unless something changes.", style="dim")
        if faded:
            from remembrancer.facade import MAX_LISTED

            have = "has" if faded == 1 else "have"
            some = f"{counted(faded, 'memory')}{' or more' if faded == MAX_LISTED else ''}"
            yield Text(f"{some} {have} faded already: `remembrancer decay` lists the weakest.", style="dim")
    yield from _listed(answer, now, titles)


def curve(answer: CurveOut) -> Renderables:
    """The curve, and in words when it crosses the threshold."""
    forecast = answer.forecast
    yield Shorter(told(forecast.memory), lines=2)
    yield indented(RowReference(forecast.memory.id), 2)
    yield ""
    if (strength := StrengthCurve.of(answer)) is not None:
        yield Plot(strength)
    yield ""
    yield Text(forecast_text(forecast, answer.now))
    begin = answer.points[0].at
    if forecast.memory.occurred_to < begin < answer.now and answer.now - begin < answer.points[-1].at - answer.now:
        yield Text(f"Drawn since it was last used or reviewed, on {day(begin)}.", style="dim")


def _listed(answer: DecayForecastsOut, now: datetime, titles: Titles) -> Renderables:
    for forecast in answer.memories:
        head = Text(f"{forecast.strength:.3f}  ", style="yellow" if forecast.faded else "bold")
        head.append(_when(forecast, now), style="not bold dim")
        yield head
        yield indented(Shorter(told(forecast.memory)), 2)
        where = (minute(forecast.memory.occurred_to), conversation_of(titles, forecast.memory.scope))
        yield indented(RowReference(forecast.memory.id, " · ".join(filter(None, where))), 2)


def _when(forecast: DecayForecastOut, now: datetime) -> str:
    if forecast.falls_at is None:
        return f"stays at or above {forecast.below:g}"
    told = f"{minute(forecast.falls_at)} UTC, {spoken_age(now - forecast.falls_at)}"
    return (
        f"faded: below {forecast.below:g} since {told}" if forecast.faded else f"below {forecast.below:g} from {told}"
    )
