"""The timeline: when memories happened, and how strong each is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Final

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from remembrancer.domain.memory import Memory
from remembrancer.errors import InvalidInput
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.charts.timeline import TimelineItem, timeline_chart
from remembrancer.interfaces.dashboard.failures import PageRoute
from remembrancer.interfaces.dashboard.forms import QueryFields
from remembrancer.interfaces.dashboard.rendering import page
from remembrancer.interfaces.dashboard.visit import ReadingVisit
from remembrancer.interfaces.wire.memories import DecayForecastsOut
from remembrancer.policies.segmentation.segmentation import EPISODE

router = APIRouter(route_class=PageRoute)

SPANS: Final = {
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=30),
    "quarter": timedelta(days=91),
    "year": timedelta(days=365),
}
EARLIEST: Final = datetime(1000, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(9000, 1, 1, tzinfo=UTC)
"""The timeline lies between `EARLIEST` and `LATEST`."""
KINDS: Final[dict[str, list[str] | None]] = {"episodes": [EPISODE], "all": None}
SHOWN: Final = 120
"""The maximum number of memories on the page."""


@router.get("/timeline")
async def timeline(visit: ReadingVisit) -> HTMLResponse:
    """The episodes of a period that ends on a chosen day; all memories of the period if there are no episodes."""
    memory, asked = visit.memory, QueryFields(visit.request.query_params)
    span, length = asked.choice("span", SPANS, "month")
    until = asked.moment("until", to_end_of_day=True) or await _end(memory)
    if not EARLIEST <= until <= LATEST:
        raise InvalidInput("until", until.isoformat(), f"a day from {EARLIEST:%Y} to {LATEST:%Y}")
    since = until - length
    chosen = asked.text("kind")
    kind, kinds = asked.choice("kind", KINDS, "episodes")
    found = await memory.timeline(since, until, limit=SHOWN + 1, kinds=kinds)
    if not found and chosen is None:
        kind, found = "all", await memory.timeline(since, until, limit=SHOWN + 1)
    forecasts = DecayForecastsOut.of(await memory.health.forecasts([one.id for one in found[:SHOWN]])).memories
    items = [TimelineItem.of(one.memory, one.strength) for one in forecasts]
    last_day = (until - timedelta(microseconds=1)).date()
    return page(
        visit,
        "timeline.html",
        title="Timeline",
        here="timeline",
        chart=timeline_chart(items, since=since, until=until, query=visit.query),
        days=[
            (day, list(of_day))
            for day, of_day in groupby(forecasts, lambda one: one.memory.occurred_to.astimezone(UTC).date())
        ],
        since=since,
        until=until,
        last_day=last_day,
        before=last_day - length,
        after=last_day + length if last_day < memory.now.astimezone(UTC).date() else None,
        span=span,
        spans=list(SPANS),
        kind=kind,
        fell_back=kind == "all" and chosen is None,
        more=len(found) > SHOWN,
        shown=len(forecasts),
    )


async def _end(memory: AsyncRemembrancer) -> datetime:
    """The end of the day of the newest memory, or of today."""
    newest: tuple[Memory, ...] = await memory.recent(limit=1)
    last = newest[0].occurred_to if newest else memory.now
    return last.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
