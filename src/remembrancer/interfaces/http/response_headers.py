"""Security headers of every response: load nothing from other sites, store nothing, allow no frames."""

from __future__ import annotations

from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from remembrancer.interfaces.http.middleware import HttpMiddleware

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
    # With none at all a browser would not tell, with a form of the dashboard, which site it comes from.
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
