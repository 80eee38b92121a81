"""Common parts of all routes of version 1: idempotency keys, strict JSON, and strict query strings."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, get_args, get_origin

from fastapi import APIRouter, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.http import problems
from remembrancer.interfaces.http.access import authenticate_request
from remembrancer.interfaces.http.idempotency import IdempotentRoute

_MOST: Final = 2**63


def parse(body: bytes) -> Any:
    """The value of a JSON text in UTF-8.

    Raises InvalidInput for anything else, and for NaN and infinite numbers, integers beyond 64 bits, duplicate names in
    an object, lone surrogates, and too deep nesting.
    """
    try:
        text = body.decode("utf-8")
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_no_number, parse_int=_whole, parse_float=_finite
        )
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidInput("body", "a lone surrogate", "valid Unicode") from None
    except RecursionError:
        raise InvalidInput("body", "…", "JSON that is not nested so deeply") from None
    except InvalidInput:
        raise
    except ValueError as error:
        raise InvalidInput("body", "…", f"JSON in UTF-8 ({error})") from None
    return value


BRIEF_BYTES: Final = 65_536
"""Bodies up to this size are parsed in the event loop, which takes some 5 ms at most."""
_PARSER: Final = ThreadPoolExecutor(1, thread_name_prefix="remembrancer-parser")
"""Parses larger bodies, one at a time: a parsed body may take fifty times its size of memory."""


async def parsed(body: bytes) -> Any:
    """Like `parse`, but a large body is parsed outside of the event loop. Raises InvalidInput."""
    if len(body) <= BRIEF_BYTES:
        return parse(body)
    return await asyncio.get_running_loop().run_in_executor(_PARSER, parse, body)


class StrictRoute(APIRoute):
    """A route that reads a body for authenticated requests only, and parses it strictly."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()
        if self.body_field is None:
            return answer

        async def handler(request: Request) -> Response:
            # FastAPI reads the body before it calls any dependency, and so before the one that authenticates.
            await authenticate_request(request)
            body = await request.body()
            # Parsed here, because FastAPI would replace the error by its own.
            return await answer(_Read(request, body, await parsed(body) if body else None))

        return handler


class _Read(Request):
    """A request whose body has been parsed."""

    def __init__(self, request: Request, body: bytes, value: Any) -> None:
        super().__init__(request.scope, request.receive)
        self._given = body
        self._value = value

    async def body(self) -> bytes:
        return self._given

    async def json(self) -> Any:
        return self._value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))
        raise InvalidInput("body", twice, "each name at most once in an object")
    return made


def _no_number(word: str) -> Any:
    raise InvalidInput("body", word, "finite numbers")


def _whole(digits: str) -> int:
    # Integers of 64 bits have fewer digits, and Python needs long to parse thousands of them.
    value = int(digits) if len(digits) <= 20 else _MOST
    if not -_MOST <= value < _MOST:
        raise InvalidInput("body", "a number of more than 64 bits", "whole numbers of at most 64 bits")
    return value


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise InvalidInput("body", digits, "finite numbers")
    return value


class ParametersRoute(APIRoute):
    """A route for authenticated requests that refuses parameters it does not have: a misspelt filter would otherwise
    filter nothing.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()
        known = dict(_parameters(self.dependant))

        async def handler(request: Request) -> Response:
            await authenticate_request(request)
            if request.scope["query_string"]:
                _require_known(request, known)
            return await answer(request)

        return handler


def _require_known(request: Request, known: Mapping[str, bool]) -> None:
    """`known`: the names of the parameters, and whether each may be repeated. Raises InvalidInput."""
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


def router_of(tag: str, *, route_class: type[ParametersRoute] = Route) -> APIRouter:
    """A router whose operation ids are the names of its functions."""
    return APIRouter(
        tags=[tag],
        route_class=route_class,
        generate_unique_id_function=_name,
    )


def _name(route: APIRoute) -> str:
    return route.name
