"""The first page: health, counts, recent entries, problems, and memories that will fade soon."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from remembrancer.engine.search_state import SearchMode
from remembrancer.interfaces.charts.bars import bars_table, day_bars
from remembrancer.interfaces.charts.health import health_chart, health_gauge, health_table
from remembrancer.interfaces.dashboard.failures import PageRoute
from remembrancer.interfaces.dashboard.forms import QueryFields
from remembrancer.interfaces.dashboard.kept import KeptResults
from remembrancer.interfaces.dashboard.rendering import page
from remembrancer.interfaces.dashboard.visit import ROLE, ReadingVisit, Visit
from remembrancer.interfaces.http.probes import EmbedderWatch
from remembrancer.interfaces.wire.jobs import JobOut
from remembrancer.interfaces.wire.memories import DecayForecastsOut, MemoryOut
from remembrancer.interfaces.wire.state import HealthOut, StatsOut

router = APIRouter(route_class=PageRoute)

DAYS: Final = 30
"""Days of history in the charts."""
NEWEST: Final = 5
FADING: Final = 6


@router.get("/")
async def overview(visit: ReadingVisit) -> HTMLResponse:
    """The first page. Slow parts are loaded afterwards by a script; with `whole` they are part of the page."""
    memory, asked = visit.memory, QueryFields(visit.request.query_params)
    whole = asked.flag("whole")
    crew = visit.scope.get("crew")
    history = [HealthOut.of(one) for one in await memory.health.history(crew, limit=DAYS)]
    recent = await memory.recent(limit=NEWEST)
    newest = [MemoryOut.of(one) for one in recent]
    # A memory that was filled from an archive ends before today: its last days say more than empty ones.
    days = _last_days(newest[0].occurred_to if newest else memory.now)
    counts = await memory.journal.count_by_day(since=datetime.combine(days[0], time(), UTC))
    recorded = {day: count for day, count in counts.items() if day <= days[-1]}
    return page(
        visit,
        "overview.html",
        title="Overview",
        here="overview",
        gauge=health_gauge(history[0] if history else None),
        chart=health_chart(history, now=memory.now),
        table=health_table(history),
        latest=history[0] if history else None,
        bars=day_bars(recorded, since=days[0], until=days[-1]),
        bars_table=bars_table(recorded, since=days[0], until=days[-1]),
        newest=newest,
        titles=await memory.journal.titles(one.scope for one in recent),
        is_empty=not newest and not (await memory.journal.recorded(limit=0)).position,
        whole=whole,
        **(await _counts(visit) | await _state(visit) | await _fading(visit) if whole else {}),
    )


@router.get("/parts/counts")
async def counts_part(visit: ReadingVisit) -> HTMLResponse:
    return page(visit, "parts/counts.html", title="Counts", **await _counts(visit))


@router.get("/parts/state")
async def state_part(visit: ReadingVisit) -> HTMLResponse:
    return page(visit, "parts/state.html", title="State", **await _state(visit))


@router.get("/parts/fading")
async def fading_part(visit: ReadingVisit) -> HTMLResponse:
    return page(visit, "parts/fading.html", title="Fading", **await _fading(visit))


def _last_days(until: datetime) -> list[date]:
    """The days in UTC up to this one."""
    last = until.astimezone(UTC).date()
    return [last - timedelta(days=back) for back in reversed(range(DAYS))]


async def _counts(visit: Visit) -> dict[str, Any]:
    async def counts() -> dict[str, Any]:
        return {"stats": StatsOut.of(await visit.memory.health.stats())}

    return await _kept(visit, "counts", counts)


async def _state(visit: Visit) -> dict[str, Any]:
    watch: EmbedderWatch = visit.request.app.state.embedder_watch
    state = await watch.state()
    jobs = [JobOut.of(state) for state in await visit.memory.jobs.list()]
    return {
        "mode": state.mode.value,
        "detail": state.detail,
        "degraded": state.mode is not SearchMode.VECTOR,
        "failing": [job for job in jobs if job.failures or (job.last is not None and job.last.error)],
        "overdue": [job for job in jobs if job.last is None],
        "waiting": sum(job.backlog or 0 for job in jobs),
    }


async def _fading(visit: Visit) -> dict[str, Any]:
    async def fading() -> dict[str, Any]:
        return {"forecasts": DecayForecastsOut.of(await visit.memory.health.fading(limit=FADING)).memories}

    return await _kept(visit, "fading", fading)


async def _kept(visit: Visit, name: str, compute: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
    """The values of a part: of a large memory, those of a moment ago."""
    kept: KeptResults[dict[str, Any]] = visit.request.app.state.kept
    return await kept.get((name, visit.memory.scope, visit.scope.get(ROLE), visit.principal.name), compute)
