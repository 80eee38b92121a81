"""Version 1 of the routes: what all of them have in common."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, Depends
from fastapi.routing import APIRoute

from remembrancer.interfaces.http import problems
from remembrancer.interfaces.http.idempotency import IdempotentRoute
from remembrancer.interfaces.http.parameters import ParametersRoute, known_parameters
from remembrancer.interfaces.http.strict_json import StrictRoute

Answers = dict[int | str, dict[str, Any]]

MISSING: Final = problems.described({404: "There is no such thing within the caller's sight"})
"""What a route may answer whose address, or whose body, names something."""
LOCATED: Final[Answers] = {
    201: {"headers": {"Location": {"description": "Where it can be read.", "schema": {"type": "string"}}}}
}
"""What a route answers that makes something with an address."""


class Route(IdempotentRoute, StrictRoute, ParametersRoute):
    """May be asked again under an idempotency key, takes strict JSON, and knows its parameters."""


def router_of(tag: str) -> APIRouter:
    """A router whose operations are called by the names of their functions."""
    return APIRouter(
        tags=[tag],
        route_class=Route,
        dependencies=[Depends(known_parameters)],
        generate_unique_id_function=_name,
    )


def _name(route: APIRoute) -> str:
    return route.name
