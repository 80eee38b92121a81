"""One memory: its text, sources, relations and strength over time, and forms for feedback and forgetting."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse

from remembrancer.domain import validation
from remembrancer.domain.memory import FLAGGED, Status
from remembrancer.domain.recall import FlaggedRecall
from remembrancer.domain.strength import Feedback
from remembrancer.interfaces.charts.forgetting import forgetting_curve, forgetting_table
from remembrancer.interfaces.charts.graph import BACKWARDS, WORDS
from remembrancer.interfaces.dashboard.failures import PageRoute
from remembrancer.interfaces.dashboard.forms import QueryFields, SubmittedForm
from remembrancer.interfaces.dashboard.rendering import page, title_of
from remembrancer.interfaces.dashboard.visit import AdministeringVisit, ReadingVisit, Visit, WritingVisit
from remembrancer.interfaces.wire.memories import CurveOut, DecayForecastOut, DecayForecastsOut, MemoryDetailsOut

router = APIRouter(route_class=PageRoute)

DONE: Final = {
    Feedback.HELPFUL.value: "Noted: it was helpful.",
    Feedback.UNHELPFUL.value: "Noted: it was not helpful.",
    Feedback.HARMFUL.value: "Noted: it was harmful.",
    "forgotten": "It was forgotten: it is kept, but not recalled. You can restore it.",
    "restored": "It was restored, and is recalled again.",
    "added": "It was added, and is recalled from now on.",
    "edited": "It was saved. The earlier version is kept below.",
    "pinned": "It is pinned: it is part of every answer, and does not fade.",
    "unpinned": "It is no longer pinned.",
    "released": "It was released: recall treats it as any other memory.",
}

RECALLED: Final = {
    FlaggedRecall.KEEP: "This preset recalls it as any other.",
    FlaggedRecall.LOWER: "Recall gives it half of its score.",
    FlaggedRecall.HOLD_BACK: "Recall holds it back.",
}
"""The handling of flagged memories by the preset."""


@router.get("/memories/{memory_id}")
async def memory_page(visit: ReadingVisit, memory_id: str) -> HTMLResponse:
    memory = visit.memory
    details = MemoryDetailsOut.of(await memory.show(memory_id))
    told = details.memory
    curve = CurveOut.of(await memory.health.curve(memory_id))
    ends = {end for edge in details.relations for end in (edge.source, edge.target)}
    others = DecayForecastsOut.of(
        await memory.health.forecasts([*ends, *([told.superseded_by] if told.superseded_by else ())])
    )
    by_id: dict[str, DecayForecastOut] = {str(one.memory.id): one for one in others.memories}
    done = QueryFields(visit.request.query_params).text("done")
    return page(
        visit,
        "memory.html",
        title=title_of(told, 60),
        here=None,
        details=details,
        memory=told,
        forecast=curve.forecast,
        curve=forgetting_curve(curve, details.reviews),
        curve_table=forgetting_table(curve, details.reviews),
        by_id=by_id,
        ties=WORDS,
        tied_by=BACKWARDS,
        is_retired=told.status is Status.RETIRED,
        is_pinned=visit.pinned_tag in told.tags,
        is_flagged=FLAGGED in told.tags,
        recalled=RECALLED[visit.memory.presets.in_use.flagged],
        done=DONE.get(done or ""),
    )


@router.post("/memories/{memory_id}/feedback")
async def feedback(visit: WritingVisit, memory_id: str, form: SubmittedForm) -> RedirectResponse:
    verdict = validation.choice("verdict", form.get("verdict"), Feedback)
    await visit.memory.feedback(memory_id, verdict)
    return _back(visit, memory_id, verdict.value)


@router.post("/memories/{memory_id}/forget")
async def forget(visit: WritingVisit, memory_id: str, form: SubmittedForm) -> RedirectResponse:
    await visit.memory.forget(memory_id)
    return _back(visit, memory_id, "forgotten")


@router.post("/memories/{memory_id}/restore")
async def restore(visit: WritingVisit, memory_id: str, form: SubmittedForm) -> RedirectResponse:
    await visit.memory.restore(memory_id)
    return _back(visit, memory_id, "restored")


@router.post("/memories/{memory_id}/release")
async def release(visit: AdministeringVisit, memory_id: str, form: SubmittedForm) -> RedirectResponse:
    await visit.memory.release(memory_id)
    return _back(visit, memory_id, "released")


def _back(visit: Visit, memory_id: str, done: str) -> RedirectResponse:
    """Redirect to the memory's page, so that reloading it does not submit the form again."""
    identifier = validation.identifier("memory_id", memory_id)
    return RedirectResponse(visit.link(f"/memories/{identifier}", done=done), HTTPStatus.SEE_OTHER)
