"""The audit trail, and a check of its chain."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from remembrancer.interfaces.dashboard.failures import PageRoute
from remembrancer.interfaces.dashboard.rendering import page
from remembrancer.interfaces.dashboard.visit import AdministeringVisit
from remembrancer.interfaces.wire.audit import AuditCheckOut, AuditOut

router = APIRouter(route_class=PageRoute)

LISTED = 100


@router.get("/audit")
async def audit(visit: AdministeringVisit) -> HTMLResponse:
    """The last entries, newest first."""
    trail = visit.memory.audit
    check = AuditCheckOut.of(await trail.verify())
    last = AuditOut.of(await trail.list(after=max(0, check.entries - LISTED), limit=LISTED)) if check.whole else None
    entries = [] if last is None else last.entries[::-1]
    return page(visit, "audit.html", title="Audit", here="jobs", check=check, entries=entries, most=LISTED)
