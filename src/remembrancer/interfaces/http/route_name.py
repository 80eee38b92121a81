"""The name of a request in logs and metrics: its route's template, never its path."""

from __future__ import annotations

from typing import Final

from starlette.routing import Route
from starlette.types import Scope

NO_ROUTE: Final = "(none)"
"""The name of a request that matches no route. Its path may be anything."""


def route_of(scope: Scope) -> str:
    """The template of the matched route, such as `/v1/memories/{memory_id}`, or the path of the mount. Valid after
    routing.
    """
    route = scope.get("route")
    if isinstance(route, Route):
        return route.path
    mounted: str = scope.get("root_path", "").removeprefix(scope.get("app_root_path", ""))
    return f"{mounted}/*" if mounted else NO_ROUTE
