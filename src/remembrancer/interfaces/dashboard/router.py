"""The dashboard's routes, one module for each page."""

from __future__ import annotations

from fastapi import APIRouter

from remembrancer.interfaces.dashboard import rendering
from remembrancer.interfaces.dashboard.pages import (
    compare,
    conversations,
    graph,
    jobs,
    journal,
    login,
    memory,
    overview,
    search,
    timeline,
)

dashboard = APIRouter(tags=["dashboard"], include_in_schema=False)
for page in (overview, timeline, search, conversations, memory, graph, journal, compare, jobs, login):
    dashboard.include_router(page.router)
dashboard.include_router(rendering.router)
