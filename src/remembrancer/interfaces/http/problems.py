"""Errors as RFC 9457 problem details. One table maps each error to a status."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import Field
from starlette.exceptions import HTTPException

from remembrancer import errors
from remembrancer.interfaces.wire.shape import Wire

MEDIA_TYPE: Final = "application/problem+json"
URN: Final = "urn:remembrancer:problem:"

STATUS: Final[Mapping[type[errors.RemembrancerError], HTTPStatus]] = {
    errors.InvalidInput: HTTPStatus.BAD_REQUEST,
    errors.PermissionDenied: HTTPStatus.FORBIDDEN,
    errors.NotFound: HTTPStatus.NOT_FOUND,
    errors.Conflict: HTTPStatus.CONFLICT,
    errors.Unsupported: HTTPStatus.NOT_IMPLEMENTED,
    errors.EmbedderMismatch: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.StoreUnavailable: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.ModelUnavailable: HTTPStatus.SERVICE_UNAVAILABLE,
}
"""The status of each error of the package."""

_CODES: Final = {HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "content_too_large"}
"""Codes of statuses whose phrase differs between versions of Python."""

_LED_IN: Final = re.compile(r"^(Input|String|List|Dictionary) should (be |have )?|^Value error, ")
"""Beginnings of pydantic's messages that are left out of `allowed`."""

_log = logging.getLogger("remembrancer.server")


class ProblemOut(Wire):
    """Problem details (RFC 9457). `type` identifies the kind of problem, `detail` explains this occurrence.

    `argument` and `allowed`: the name of a value that is not allowed, and what is allowed.
    """

    type: str = Field(examples=[f"{URN}invalid_input"])
    title: str = Field(examples=["Bad Request"])
    status: int = Field(examples=[400])
    detail: str = Field(examples=["limit: 0 is not allowed; expected a whole number from 1 to 200"])
    argument: str | None = Field(default=None, examples=["limit"])
    allowed: str | None = Field(default=None, examples=["a whole number from 1 to 200"])


def problem(
    code: str,
    status: HTTPStatus,
    detail: str,
    *,
    argument: str | None = None,
    allowed: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """A response with problem details. `code`: the code of an error, or of a refusal by the server itself."""
    told = ProblemOut(
        type=f"{URN}{code}", title=status.phrase, status=status, detail=detail, argument=argument, allowed=allowed
    )
    return JSONResponse(told.model_dump(mode="json", exclude_none=True), status, headers=headers, media_type=MEDIA_TYPE)


def described(answers: Mapping[int, str]) -> dict[int | str, dict[str, Any]]:
    """The entries of the OpenAPI document for problems that a route may return: a description for each status."""
    return {status: {"model": ProblemOut, "description": description} for status, description in answers.items()}


def problem_of(error: errors.RemembrancerError) -> JSONResponse:
    status = next(
        (status for kind, status in STATUS.items() if isinstance(error, kind)), HTTPStatus.INTERNAL_SERVER_ERROR
    )
    # A busy or restarting store answers again soon; clients need not guess when to ask.
    headers = {"Retry-After": "1"} if status is HTTPStatus.SERVICE_UNAVAILABLE else None
    if isinstance(error, errors.InvalidInput):
        return problem(error.code, status, str(error), argument=error.argument, allowed=error.allowed)
    return problem(error.code, status, str(error), headers=headers)


def install(app: FastAPI) -> None:
    """Answer every expected error of the app with problem details. `Unforeseen` handles all others."""
    app.add_exception_handler(errors.RemembrancerError, _ours)
    app.add_exception_handler(RequestValidationError, _unreadable)
    app.add_exception_handler(HTTPException, _of_the_framework)


async def _ours(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, errors.RemembrancerError)  # noqa: S101  it is what this handler is installed for
    return problem_of(error)


async def _unreadable(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    return problem_of(_invalid(error.errors()[0]))


async def _of_the_framework(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)  # noqa: S101
    status = HTTPStatus(error.status_code)
    named = status.phrase.lower().replace(" ", "_").replace("-", "_")
    return problem(_CODES.get(status, named), status, str(error.detail), headers=error.headers)


def unforeseen(error: Exception) -> JSONResponse:
    """The response for an unexpected error. It names the error's type but not its message, which may quote a memory."""
    told = f"unexpected, please report it: {type(error).__name__}"
    return problem("unforeseen", HTTPStatus.INTERNAL_SERVER_ERROR, told)


def log_unforeseen(route: str, error: Exception) -> None:
    """Log an unexpected error with its traceback, without its message."""
    _log.error("unforeseen %s in %s", type(error).__name__, route, exc_info=errors.without_words(error))


def _invalid(error: Mapping[str, Any]) -> errors.InvalidInput:
    """An error of FastAPI's validation as InvalidInput. For a missing field the surrounding value is left out: it may
    be a batch of texts.
    """
    place, kind = _named(error["loc"]), error["type"]
    match kind:
        case "missing":
            return errors.InvalidInput(place, None, "a value")
        case "unknown_field":
            name, value, known = (error["ctx"][part] for part in ("name", "value", "known"))
            return errors.InvalidInput(_named((*error["loc"], name)), value, _fields(name, known))
        case "json_invalid":
            return errors.InvalidInput("body", "it", "JSON")
        case _:
            return errors.InvalidInput(place, error.get("input"), _LED_IN.sub("", str(error["msg"])))


def _fields(name: str, known: Sequence[str]) -> str:
    """The fields of a body, after the one that `name` seems to mean.

    >>> _fields("q", ["limit", "query"])
    'the field query, or another of limit, query'
    """
    begun = [field for field in known if field.startswith(name)]
    meant = begun or get_close_matches(name, known, n=1)
    listed = ", ".join(known)
    return f"the field {meant[0]}, or another of {listed}" if meant else f"one of the fields {listed}"


def _named(location: Sequence[str | int]) -> str:
    """The location `("body", "events", 3, "text")` as `events[3].text`."""
    inner = location[1:] or location[:1]
    named = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in inner).lstrip(".")
    return named.encode("utf-8", "backslashreplace").decode("utf-8")
