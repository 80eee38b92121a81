"""Limits on request bodies: their size and media type."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from remembrancer.interfaces.http import problems
from remembrancer.interfaces.http.middleware import HttpMiddleware

MAX_BODY_BYTES: Final = 8 << 20
"""The largest body; batches of events are the largest."""
_TOO_LARGE: Final = f"a request's body may have {MAX_BODY_BYTES:,} bytes at most"
_NO_JSON: Final = "Content-Type: a body is read as application/json only"
_JSON_ONLY: Final = ("/v1/", "/api/")
"""Below these paths bodies must be JSON. A page of another site can make a browser send a form, but not JSON."""


class BodyLimits(HttpMiddleware):
    """Refuses bodies that are too large, by their header or by counting, and bodies that are not JSON where JSON is
    expected.
    """

    def __init__(self, app: ASGIApp, *, max_bytes: int = MAX_BODY_BYTES) -> None:
        super().__init__(app)
        self._max_bytes = max_bytes

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        length = headers.get("content-length", "")
        refusal = None
        if length.isdecimal() and int(length) > self._max_bytes:
            refusal = problems.problem("content_too_large", HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _TOO_LARGE)
        elif scope["path"].startswith(_JSON_ONLY) and not _may_be_json(headers):
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
                if read > self._max_bytes:
                    raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _TOO_LARGE)
            return message

        await self.app(scope, counted, send)


def _may_be_json(headers: Headers) -> bool:
    """Whether there is no body, or the body is declared as JSON."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if not kind:
        return headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers
    main, _, sub = kind.partition("/")
    return main == "application" and (sub == "json" or sub.endswith("+json"))
