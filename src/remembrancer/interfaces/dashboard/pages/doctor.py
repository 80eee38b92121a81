"""The findings of the doctor, which checks every page and row of the store and takes a while on a large one."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from remembrancer.interfaces.dashboard.failures import PageRoute
from remembrancer.interfaces.dashboard.rendering import page
from remembrancer.interfaces.dashboard.visit import ReadingVisit
from remembrancer.interfaces.wire.state import DoctorOut

router = APIRouter(route_class=PageRoute)


@router.get("/doctor")
async def doctor(visit: ReadingVisit) -> HTMLResponse:
    found = DoctorOut.of(await visit.memory.health.doctor())
    return page(visit, "doctor.html", title="Doctor", here="jobs", found=found)
