"""Strict JSON bodies: whatever two parsers could read differently is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Coroutine
from typing import Any, Final

from fastapi import Request, Response
from fastapi.routing import APIRoute

from remembrancer.errors import InvalidInput

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
        raise InvalidInput("body", "…", "JSON that is not nested so deep") from None
    except InvalidInput:
        raise
    except ValueError as error:
        raise InvalidInput("body", "…", f"JSON in UTF-8 ({error})") from None
    return value


class StrictRoute(APIRoute):
    """A route whose body is parsed strictly."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()
        if self.body_field is None:
            return answer

        async def handler(request: Request) -> Response:
            body = await request.body()
            # Here, since FastAPI has only its own words for what is raised where it reads.
            return await answer(_Read(request, body, parse(body) if body else None))

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
    # No number of 64 bits is longer, and Python takes long to read one of thousands of digits.
    value = int(digits) if len(digits) <= 20 else _MOST
    if not -_MOST <= value < _MOST:
        raise InvalidInput("body", "a number of more than 64 bits", "whole numbers of at most 64 bits")
    return value


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise InvalidInput("body", digits, "finite numbers")
    return value
