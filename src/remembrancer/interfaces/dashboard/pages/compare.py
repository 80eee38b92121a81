"""A question under several presets, side by side."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from remembrancer.interfaces.charts.comparison import comparison_chart, comparison_table
from remembrancer.interfaces.dashboard.failures import PageRoute
from remembrancer.interfaces.dashboard.forms import QueryFields
from remembrancer.interfaces.dashboard.rendering import page
from remembrancer.interfaces.dashboard.visit import ReadingVisit
from remembrancer.interfaces.http.routes.recall import named_presets
from remembrancer.interfaces.wire.comparison import ComparisonOut, PresetsOut

router = APIRouter(route_class=PageRoute)

LIMIT: Final = 5
MOST: Final = 20


@router.get("/compare")
async def compare(visit: ReadingVisit) -> HTMLResponse:
    asked = QueryFields(visit.request.query_params)
    question, limit = asked.text("q"), asked.whole("limit", LIMIT, 1, MOST)
    chosen = asked.several("presets")
    comparison = None
    if question is not None:
        presets = named_presets(visit.memory.presets.in_use, chosen) or None
        comparison = ComparisonOut.of(await visit.memory.presets.compare(question, presets, limit=limit))
    return page(
        visit,
        "compare.html",
        title=f"Compare: {question}" if question else "Compare",
        here="compare",
        question=question or "",
        limit=limit,
        most=MOST,
        presets=PresetsOut.of(visit.memory.presets.in_use).presets,
        chosen=chosen,
        comparison=comparison,
        chart=None if comparison is None else comparison_chart(comparison, query=visit.query),
        table=None if comparison is None else comparison_table(comparison),
    )
