"""Search: the hits of a question, with the parts of each score."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final
from uuid import UUID

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from remembrancer.domain.memory import Tier
from remembrancer.domain.recall import CandidateOutcome, Recall, Stage
from remembrancer.errors import NotFound
from remembrancer.interfaces.charts.score import score_bar, score_table
from remembrancer.interfaces.dashboard.failures import PageRoute
from remembrancer.interfaces.dashboard.forms import QueryFields, kept
from remembrancer.interfaces.dashboard.rendering import page
from remembrancer.interfaces.dashboard.visit import ReadingVisit, Visit
from remembrancer.interfaces.wire.memories import DecayForecastsOut, MemoryOut
from remembrancer.interfaces.wire.recall import RecallOut, WhyNotOut

router = APIRouter(route_class=PageRoute)

FILTERS: Final = ("kinds", "tiers", "tags", "source", "in_session", "since", "until", "as_of", "ranking", "walk")
"""The fields of the form besides the question and the limit."""
FIELDS: Final = ("q", "limit", *FILTERS)
"""All fields of the form."""
LIMIT: Final = 10
CANDIDATES: Final = 8
"""The memories listed by their words, one of which may be missed among the hits."""
HELD_BACK: Final = 5
"""The best candidates listed that are no hits."""


@router.get("/search")
async def search(visit: ReadingVisit) -> HTMLResponse:
    """The search page. `why`: the id of a memory; the page explains why it is not among the hits. `missing`: words of
    such a memory, or its id; the page lists the memories with these words.
    """
    asked = QueryFields(visit.request.query_params)
    question = asked.text("q")
    told: dict[str, Any] = {"recall": None, "bars": [], "why_not": None, "unknown": None}
    told |= {"candidates": None, "held_back": []}
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
    found = await visit.memory.recall(question, explain=True, mark=False, **filters)
    recall = RecallOut.of(found)
    best = max((hit.score for hit in recall.hits), default=1.0)
    reasons = [hit.explanation for hit in recall.hits if hit.explanation is not None]
    told: dict[str, Any] = {
        "recall": recall,
        "titles": await visit.memory.journal.titles(hit.memory.scope for hit in found.hits),
        "bars": [score_bar(why.groups, scale=best) for why in reasons],
        "tables": [score_table(why.parts) for why in reasons],
    }
    missing = asked.text("missing")
    wanted = asked.identifier("why") or _identifier(missing)
    if missing is not None and wanted is None:
        told["candidates"] = (await visit.memory.memories(query=missing, state="any", limit=CANDIDATES)).memories
    else:
        told["held_back"] = [one for one in await _held_back(visit, found) if one[0].id != wanted]
    if wanted is not None:
        try:
            told["why_not"] = WhyNotOut.of(await visit.memory.why_not(wanted, question, **filters))
        except NotFound as error:
            told["unknown"] = str(error)
    return told


async def _held_back(visit: Visit, found: Recall) -> list[tuple[MemoryOut, CandidateOutcome]]:
    """The best candidates that are not among the hits, with the stage at which each was dropped."""
    outcomes = found.trace.outcomes.items()
    dropped = dict(islice((one for one in outcomes if one[1].stage is not Stage.RETURNED), HELD_BACK))
    forecasts = DecayForecastsOut.of(await visit.memory.health.forecasts(list(dropped))).memories
    return [(one.memory, dropped[one.memory.id]) for one in forecasts]


def _identifier(text: str | None) -> UUID | None:
    try:
        return None if text is None else UUID(text)
    except ValueError:
        return None


def _limit(visit: Visit, asked: QueryFields) -> int:
    limits = visit.memory.presets.in_use.limits
    return asked.whole("limit", limits.capped(LIMIT), 1, limits.most)
