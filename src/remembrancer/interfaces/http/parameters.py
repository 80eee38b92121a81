"""What stands in an address behind the question mark: only what the route knows, each once unless it is a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, get_args, get_origin

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.http.access import Authenticated


class ParametersRoute(APIRoute):
    """A route that knows its parameters: `parameters` tells of each name whether it may stand there several times."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **described: Any) -> None:
        super().__init__(path, endpoint, **described)
        self.parameters = dict(_parameters(self.dependant))


async def known_parameters(request: Request, _: Authenticated) -> None:
    """For a `ParametersRoute`: refuse a parameter it does not have. A misspelt filter would otherwise keep nothing out.

    Whoever may not ask at all is told that first. Raises InvalidInput.
    """
    route = request.scope["route"]
    assert isinstance(route, ParametersRoute)  # noqa: S101  what depends on this is one
    known = route.parameters
    for name in dict.fromkeys(request.query_params):
        given = request.query_params.getlist(name)
        if name not in known:
            raise InvalidInput(name, given[0], "no such parameter here, but " + (", ".join(known) or "none"))
        if len(given) > 1 and not known[name]:
            raise InvalidInput(name, given, "one value")


def _parameters(dependant: Dependant) -> Iterator[tuple[str, bool]]:
    for field in dependant.query_params:
        yield field.alias, _is_list(field.field_info.annotation)
    for inner in dependant.dependencies:
        yield from _parameters(inner)


def _is_list(annotation: object) -> bool:
    return get_origin(annotation) is list or any(_is_list(part) for part in get_args(annotation))
