"""The dashboard's routes, one module for each page."""

from __future__ import annotations

from fastapi import APIRouter

from remembrancer.interfaces.dashboard import rendering
from remembrancer.interfaces.dashboard.pages import (
    audit,
    compare,
    conversations,
    editing,
    erasures,
    graph,
    jobs,
    journal,
    login,
    memories,
    memory,
    overview,
    preferences,
    retention,
    search,
    timeline,
)

dashboard = APIRouter(tags=["dashboard"], include_in_schema=False)
for page in (
    overview,
    timeline,
    search,
    conversations,
    memories,
    editing,
    erasures,
    retention,
    preferences,
    memory,
    graph,
    journal,
    compare,
    jobs,
    audit,
    login,
):
    dashboard.include_router(page.router)
dashboard.include_router(rendering.router)
