"""Strict query strings: only parameters that the route has, each once unless it is a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, get_args, get_origin

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.http.access import Authenticated


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
