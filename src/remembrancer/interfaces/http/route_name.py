"""What a request is called where requests are counted: by its route, never by what stands in its address."""

from __future__ import annotations

from typing import Final

from starlette.routing import Route
from starlette.types import Scope

NO_ROUTE: Final = "(none)"
"""Of a request that no route takes: its path is whatever a stranger likes."""


def route_of(scope: Scope) -> str:
    """The template of the route that took the request, such as `/v1/memories/{memory_id}`; of what is mounted, the
    place that it is mounted at. To be asked once the request has found its way.
    """
    route = scope.get("route")
    if isinstance(route, Route):
        return route.path
    mounted: str = scope.get("root_path", "").removeprefix(scope.get("app_root_path", ""))
    return f"{mounted}/*" if mounted else NO_ROUTE
