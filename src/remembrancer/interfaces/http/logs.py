"""The request log: one line for each request, without anything of its content."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final, TextIO, TypedDict
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from remembrancer.errors import without_words
from remembrancer.interfaces.http.access import AUTHENTICATION, Principal
from remembrancer.interfaces.http.middleware import HttpMiddleware, route_of

LOGGER: Final = "remembrancer.server"
REQUEST_ID: Final = "X-Request-Id"
_SANE_ID: Final = re.compile(r"[\w.:/+=@-]{1,128}", re.ASCII)
_BROKEN_OFF: Final = 499
"""The status of a request that was cancelled before its response, as proxies log it."""

_log = logging.getLogger(LOGGER)


class RequestLine(TypedDict):
    """The line of a request. `ms`: from its first byte to the last byte of the response; `bytes`: of the response's
    body.
    """

    request_id: str
    method: str
    route: str
    status: int
    ms: float
    bytes: int
    principal: str | None


class RequestLog(HttpMiddleware):
    """Outermost middleware: gives each request an id, from `X-Request-Id` if it is well-formed, and logs its end."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = Headers(scope=scope).get(REQUEST_ID, "")
        request_id = given if _SANE_ID.fullmatch(given) else uuid4().hex
        began = time.perf_counter()
        status, sent = _BROKEN_OFF, 0

        async def send_and_log(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[REQUEST_ID] = request_id
            else:
                sent += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, send_and_log)
        finally:
            principal = scope.get(AUTHENTICATION)
            line = RequestLine(
                request_id=request_id,
                method=scope["method"],
                route=route_of(scope),
                status=status,
                ms=round((time.perf_counter() - began) * 1000, 1),
                bytes=sent,
                principal=principal.name if isinstance(principal, Principal) else None,
            )
            level = logging.ERROR if status >= 500 else logging.INFO
            _log.log(level, "%s %s %d", line["method"], line["route"], status, extra={"request": line})


class _WithoutWords(logging.Formatter):
    """Writes tracebacks without the messages of errors, which may quote a memory."""

    def formatException(self, ei: Any) -> str:  # noqa: N802  the standard library's name
        kind, error, _ = ei
        if not isinstance(error, Exception):
            return super().formatException(ei)
        wordless = without_words(error)
        return super().formatException((kind, wordless, wordless.__traceback__))


class JsonLines(_WithoutWords):
    """A record as one JSON object: `time`, `level`, and the request's line or `logger` and `message`."""

    def format(self, record: logging.LogRecord) -> str:
        head = {"time": _time(record).isoformat(timespec="milliseconds"), "level": record.levelname.lower()}
        request = _request(record)
        if request is not None:
            return json.dumps({**head, **request})
        body: dict[str, Any] = {**head, "logger": record.name, "message": record.getMessage()}
        if record.exc_info:
            body["traceback"] = self.formatException(record.exc_info)
        return json.dumps(body)


class ReadableLines(_WithoutWords):
    """A record for a person at a terminal, without control characters."""

    def format(self, record: logging.LogRecord) -> str:
        at = _time(record).astimezone().strftime("%H:%M:%S")
        request = _request(record)
        if request is None:
            message = "".join(one if one.isprintable() else " " for one in record.getMessage())
            line = f"{at} {record.levelname.lower()}: {message}"
            return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line
        line = f"{request['method']} {request['route']} {request['status']}"
        return f"{at} {line} {request['ms']:.1f} ms, {request['bytes']:,} bytes, {request['principal'] or '-'}"


@contextmanager
def write_to(stream: TextIO, *, readable: bool) -> Generator[None, None, None]:
    """Write the log records of the memory and its server to a stream, as JSON or `readable` for a person."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(ReadableLines() if readable else JsonLines())
    handler.addFilter(_is_no_breaking_off)
    ours, theirs = logging.getLogger("remembrancer"), logging.getLogger("uvicorn.error")
    before = {logger: (logger.level, logger.propagate) for logger in (ours, theirs, _log)}
    _log.setLevel(logging.INFO)
    theirs.setLevel(logging.WARNING)
    for logger in (ours, theirs):
        logger.addHandler(handler)
        logger.propagate = False
    try:
        yield
    finally:
        for logger in (ours, theirs):
            logger.removeHandler(handler)
        for logger, (level, propagates) in before.items():
            logger.setLevel(level)
            logger.propagate = propagates


def _is_no_breaking_off(record: logging.LogRecord) -> bool:
    """Leave out the errors that uvicorn logs when a request is cancelled on purpose. The request's own log line reports
    it.
    """
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


def _time(record: logging.LogRecord) -> datetime:
    return datetime.fromtimestamp(record.created, UTC)


def _request(record: logging.LogRecord) -> RequestLine | None:
    return record.__dict__.get("request")
