"""What all routes of version 1 have in common."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Depends
from fastapi.routing import APIRoute

from remembrancer.interfaces.http import problems
from remembrancer.interfaces.http.idempotency import IdempotentRoute
from remembrancer.interfaces.http.parameters import ParametersRoute, known_parameters
from remembrancer.interfaces.http.strict_json import StrictRoute

Answers = dict[int | str, dict[str, Any]]

MISSING: Final = problems.described({404: "Not found, or not visible to the caller"})
"""The response of routes whose path or body refers to something that may not exist."""
LOCATED: Final[Answers] = {
    201: {"headers": {"Location": {"description": "The address of what was created.", "schema": {"type": "string"}}}}
}
"""The response of routes that create something with an address."""


class Route(IdempotentRoute, StrictRoute, ParametersRoute):
    """Takes idempotency keys, strict JSON, and only known parameters."""


def router_of(tag: str) -> APIRouter:
    """A router whose operation ids are the names of its functions."""
    return APIRouter(
        tags=[tag],
        route_class=Route,
        dependencies=[Depends(known_parameters)],
        generate_unique_id_function=_name,
    )


def _name(route: APIRoute) -> str:
    return route.name
