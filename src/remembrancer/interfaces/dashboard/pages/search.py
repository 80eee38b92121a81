"""Search: the hits of a question, with the parts of each score."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from remembrancer.domain.memory import Tier
from remembrancer.errors import NotFound
from remembrancer.interfaces.charts.score import score_bar, score_table
from remembrancer.interfaces.dashboard.failures import PageRoute
from remembrancer.interfaces.dashboard.forms import QueryFields, kept
from remembrancer.interfaces.dashboard.rendering import page
from remembrancer.interfaces.dashboard.visit import ReadingVisit, Visit
from remembrancer.interfaces.wire.recall import RecallOut, WhyNotOut

router = APIRouter(route_class=PageRoute)

FILTERS: Final = ("kinds", "tiers", "tags", "source", "in_session", "since", "until", "as_of", "ranking", "walk")
"""The fields of the form besides the question and the limit."""
FIELDS: Final = ("q", "limit", *FILTERS)
"""All fields of the form."""
LIMIT: Final = 10


@router.get("/search")
async def search(visit: ReadingVisit) -> HTMLResponse:
    """The search page. `why`: the id of a memory; the page explains why it is not among the hits."""
    asked = QueryFields(visit.request.query_params)
    question = asked.text("q")
    told: dict[str, Any] = {"recall": None, "bars": [], "why_not": None, "unknown": None}
    if question is not None:
        told |= await _answer(visit, question, asked)
    return page(
        visit,
        "search.html",
        title=question or "Search",
        here="search",
        question=question or "",
        asked=asked,
        limit=_limit(visit, asked),
        most=visit.memory.presets.in_use.limits.most,
        tiers=[tier.value for tier in Tier],
        rankings=sorted(visit.memory.presets.in_use.rankings),
        filtered=bool(kept(visit.request.query_params, FILTERS)),
        carried=kept(visit.request.query_params, FIELDS),
        **told,
    )


async def _answer(visit: Visit, question: str, asked: QueryFields) -> dict[str, Any]:
    filters: dict[str, Any] = {
        "limit": _limit(visit, asked),
        "kinds": asked.several("kinds") or None,
        "tiers": asked.several("tiers") or None,
        "tags": asked.several("tags"),
        "source": asked.text("source"),
        "session": asked.text("in_session"),
        "since": asked.moment("since"),
        "until": asked.moment("until", to_end_of_day=True),
        "as_of": asked.moment("as_of"),
        "ranking": asked.text("ranking"),
        "walk_depth": 1 if asked.flag("walk") else 0,
    }
    recall = RecallOut.of(await visit.memory.recall(question, explain=True, mark=False, **filters))
    best = max((hit.score for hit in recall.hits), default=1.0)
    told: dict[str, Any] = {
        "recall": recall,
        "bars": [score_bar(hit.explanation.groups, scale=best) for hit in recall.hits],
        "tables": [score_table(hit.explanation.parts) for hit in recall.hits],
    }
    wanted = asked.identifier("why")
    if wanted is not None:
        try:
            told["why_not"] = WhyNotOut.of(await visit.memory.why_not(wanted, question, **filters))
        except NotFound as error:
            told["unknown"] = str(error)
    return told


def _limit(visit: Visit, asked: QueryFields) -> int:
    limits = visit.memory.presets.in_use.limits
    return asked.whole("limit", limits.capped(LIMIT), 1, limits.most)
