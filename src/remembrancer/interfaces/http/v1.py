"""What all routes of version 1 have in common: idempotency keys, strict JSON, and strict query strings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, get_args, get_origin

from fastapi import APIRouter, Depends, Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.http import problems
from remembrancer.interfaces.http.access import Authenticated
from remembrancer.interfaces.http.idempotency import IdempotentRoute
from remembrancer.interfaces.http.strict_json import StrictRoute


class ParametersRoute(APIRoute):
    """A route with the names of its query `parameters`, and whether each may be repeated."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **described: Any) -> None:
        super().__init__(path, endpoint, **described)
        self.parameters = dict(_parameters(self.dependant))


async def known_parameters(request: Request, _: Authenticated) -> None:
    """Refuse a parameter that the `ParametersRoute` does not have: a misspelt filter would otherwise filter nothing.

    An unauthenticated request is refused first. Raises InvalidInput.
    """
    route = request.scope["route"]
    assert isinstance(route, ParametersRoute)  # noqa: S101  what depends on this is one
    known = route.parameters
    for name in dict.fromkeys(request.query_params):
        given = request.query_params.getlist(name)
        if name not in known:
            raise InvalidInput(name, given[0], "one of the parameters " + ", ".join(known) if known else "no parameter")
        if len(given) > 1 and not known[name]:
            raise InvalidInput(name, given, "one value")


def _parameters(dependant: Dependant) -> Iterator[tuple[str, bool]]:
    for field in dependant.query_params:
        yield field.alias, _is_list(field.field_info.annotation)
    for inner in dependant.dependencies:
        yield from _parameters(inner)


def _is_list(annotation: object) -> bool:
    return get_origin(annotation) is list or any(_is_list(part) for part in get_args(annotation))


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
