"""Background work: the jobs, their backlog and failures, the cost of language models, the presets, and the doctor."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from remembrancer.interfaces.dashboard.failures import PageRoute
from remembrancer.interfaces.dashboard.forms import QueryFields
from remembrancer.interfaces.dashboard.rendering import page
from remembrancer.interfaces.dashboard.visit import ReadingVisit, Visit
from remembrancer.interfaces.wire.comparison import PresetsOut
from remembrancer.interfaces.wire.jobs import JobOut, SpendingOut
from remembrancer.interfaces.wire.state import DoctorOut
from remembrancer.jobs.overview import MOST_COUNTED

router = APIRouter(route_class=PageRoute)

SPENT_IN: Final = timedelta(days=30)


@router.get("/jobs")
async def jobs(visit: ReadingVisit) -> HTMLResponse:
    since = visit.memory.now - SPENT_IN
    spending = SpendingOut.of(await visit.memory.jobs.spending(since), since)
    return page(
        visit,
        "jobs.html",
        title="Jobs",
        here="jobs",
        jobs=[JobOut.of(state) for state in await visit.memory.jobs.list()],
        most_counted=MOST_COUNTED,
        spent=spending.spent,
        cost=sum(one.cost for one in spending.spent),
        spent_in=SPENT_IN.days,
        presets=PresetsOut.of(visit.memory.presets.in_use).presets,
    )


@router.get("/doctor")
async def doctor(visit: ReadingVisit) -> HTMLResponse:
    """The doctor's page. The findings are loaded afterwards by a script; with `whole` they are part of the page."""
    whole = QueryFields(visit.request.query_params).flag("whole")
    found = await _findings(visit) if whole else None
    return page(visit, "doctor.html", title="Doctor", here="jobs", whole=whole, found=found)


@router.get("/parts/doctor")
async def doctor_part(visit: ReadingVisit) -> HTMLResponse:
    return page(visit, "parts/doctor.html", title="Doctor", found=await _findings(visit))


async def _findings(visit: Visit) -> DoctorOut:
    return DoctorOut.of(await visit.memory.health.doctor())
