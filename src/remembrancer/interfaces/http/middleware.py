"""The server's ASGI middleware: limits on time and size, headers, and unexpected errors."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from http import HTTPStatus
from typing import Final

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from remembrancer.errors import without_words
from remembrancer.interfaces.http import problems


class HttpMiddleware(ABC):
    """Middleware for HTTP requests; other scopes, such as the lifespan, are passed on."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self.handle if scope["type"] == "http" else self.app)(scope, receive, send)

    @abstractmethod
    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, usually by `self.app`."""


class NotedStatus:
    """A `send` that passes messages on and keeps the status of the response; 0 until the response has started."""

    def __init__(self, send: Send) -> None:
        self.status = 0
        self._send = send

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)


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


class Unforeseen(HttpMiddleware):
    """Answers an unexpected error with status 500 if the response has not started. The error's message may quote a
    memory, so neither the client nor the web server, which would log it, receives it.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        noted = NotedStatus(send)
        try:
            await self.app(scope, receive, noted)
        except ClientDisconnect:  # while the body was read: nothing was done, and the client is gone
            return
        except Exception as error:  # noqa: BLE001  the outer edge of a request
            problems.log_unforeseen(route_of(scope), error)
            if (
                noted.status
            ):  # The response is incomplete: the web server closes the connection, and the client sees that.
                raise without_words(error) from None
            await problems.unforeseen(error)(scope, receive, send)


_STREAM: Final = "text/event-stream"


class TimeLimit(HttpMiddleware):
    """Cancels a request after `seconds`, unless its response is an event stream."""

    def __init__(self, app: ASGIApp, *, seconds: float) -> None:
        super().__init__(app)
        self._seconds = seconds

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        body_read = answered = False
        limit = asyncio.timeout(self._seconds)

        async def read() -> Message:
            nonlocal body_read
            message = await receive()
            body_read = body_read or not message.get("more_body", False)
            return message

        async def timed(message: Message) -> None:
            nonlocal answered
            if message["type"] == "http.response.start":
                answered = True
                if Headers(raw=message["headers"]).get("content-type", "").startswith(_STREAM):
                    limit.reschedule(None)
            await send(message)

        try:
            async with limit:
                await self.app(scope, read, timed)
        except TimeoutError:
            if not limit.expired() or answered:
                raise
            await self._problem(body_read=body_read)(scope, receive, send)

    def _problem(self, *, body_read: bool) -> ASGIApp:
        spent = f"{self._seconds:g} seconds"
        if not body_read:
            detail = f"the request did not arrive within {spent}; nothing was done"
            return problems.problem("request_timeout", HTTPStatus.REQUEST_TIMEOUT, detail)
        detail = (
            f"the request took longer than {spent} and was cancelled. It may have written something: "
            "send it again with the same Idempotency-Key"
        )
        return problems.problem("gateway_timeout", HTTPStatus.GATEWAY_TIMEOUT, detail)


MAX_BODY_BYTES: Final = 8 << 20
"""The largest body of a request without long texts."""
_OF_TEXTS: Final = frozenset({"/v1/events", "/api/v0/add_message", "/api/v0/import_batch_messages"})
"""The paths whose bodies contain texts of any length."""
NDJSON: Final = "application/x-ndjson"
MAX_IMPORT_BYTES: Final = 1 << 30
_IMPORT: Final = "/v1/import"
"""The path whose body is a file of JSON lines, which is not kept in memory."""
_NO_NDJSON: Final = f"Content-Type: an export must be {NDJSON} or application/json"
_NO_JSON: Final = "Content-Type: a body must be application/json"
_JSON_ONLY: Final = ("/v1/", "/api/")
"""Below these paths bodies must be JSON. A page of another site can make a browser send a form, but not JSON."""


class BodyLimits(HttpMiddleware):
    """Refuses bodies that are too large, by their header or by counting, and bodies that are not JSON where JSON is
    expected.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        max_text_bytes: int,
        max_bytes: int = MAX_BODY_BYTES,
        max_import_bytes: int = MAX_IMPORT_BYTES,
    ) -> None:
        """`max_text_bytes`: the longest text that can be recorded. JSON may double it."""
        super().__init__(app)
        self._max_bytes = max_bytes
        self._max_of_texts = max_bytes + 2 * max_text_bytes
        self._max_import_bytes = max_import_bytes

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        length = headers.get("content-length", "")
        refusal = None
        imports = scope["path"] == _IMPORT
        most = self._max_of_texts if scope["path"] in _OF_TEXTS else self._max_bytes
        most = self._max_import_bytes if imports else most
        too_large = f"a request body may have at most {most:,} bytes"
        if length.isdecimal() and int(length) > most:
            refusal = problems.problem("content_too_large", HTTPStatus.REQUEST_ENTITY_TOO_LARGE, too_large)
        elif imports and _media_type(headers) not in (NDJSON, "application/json"):
            refusal = problems.problem("unsupported_media_type", HTTPStatus.UNSUPPORTED_MEDIA_TYPE, _NO_NDJSON)
        elif not imports and scope["path"].startswith(_JSON_ONLY) and not _may_be_json(headers):
            refusal = problems.problem("unsupported_media_type", HTTPStatus.UNSUPPORTED_MEDIA_TYPE, _NO_JSON)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            if message["type"] == "http.request":
                read += len(message.get("body", b""))
                if read > most:
                    raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, too_large)
            return message

        await self.app(scope, counted, send)


def _media_type(headers: Headers) -> str:
    """The type of a body without its parameters; empty if it is not declared."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _may_be_json(headers: Headers) -> bool:
    """Whether there is no body, or the body is declared as JSON."""
    kind = _media_type(headers)
    if not kind:
        return headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers
    main, _, sub = kind.partition("/")
    return main == "application" and (sub == "json" or sub.endswith("+json"))


CONTENT_SECURITY_POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "font-src 'self'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)
ALWAYS: Final = {
    "X-Content-Type-Options": "nosniff",
    # Without it, a browser would not say which site a form of the dashboard comes from.
    "Referrer-Policy": "same-origin",
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Frame-Options": "DENY",
}


class ResponseHeaders(HttpMiddleware):
    """Adds the headers to every response. A `Cache-Control` that is present, of an asset for example, stays."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(ALWAYS)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self.app(scope, receive, with_headers)
