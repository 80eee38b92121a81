"""The time limit of requests."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from remembrancer.interfaces.http import problems
from remembrancer.interfaces.http.middleware import HttpMiddleware

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
            f"the request took longer than {spent} and was cancelled. Whether it has written anything is not known: "
            "send it again with the same Idempotency-Key"
        )
        return problems.problem("gateway_timeout", HTTPStatus.GATEWAY_TIMEOUT, detail)
