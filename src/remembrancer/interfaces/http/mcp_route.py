"""MCP at one path of this server: who asks is found out as on every other, and the query string narrows the scope."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from remembrancer.domain.api_key import Right
from remembrancer.errors import InvalidInput
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.http.access import allowed, who_asks
from remembrancer.interfaces.mcp.app import McpApp, mcp_app

PATH: Final = "/mcp"
_SCOPE: Final = ("project", "crew", "agent", "session")


class McpDoor:
    """Lets in who may, and has the MCP app answer. The app around it enters `mcp.run()` in its lifespan."""

    def __init__(self) -> None:
        # Host and Origin are looked at when it is found out who asks.
        self.mcp: McpApp = mcp_app(_memory_of, hosts=None)
        self.route = Route(PATH, self, include_in_schema=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = self.route  # as the framework's own have it: it is what requests are counted by
        request = Request(scope)
        await _memory_of(request, Right.READ)  # what is refused to everybody is a problem of HTTP, not one of MCP
        await self.mcp(scope, receive, send)


async def _memory_of(request: Request, needed: Right) -> AsyncRemembrancer:
    asked = request.query_params
    unknown = sorted({*asked} - {*_SCOPE, "role"})
    if unknown:
        raise InvalidInput(unknown[0], asked[unknown[0]], "one of " + ", ".join((*_SCOPE, "role")))
    return allowed(await who_asks(request), needed, asked.get("role"), {part: asked.get(part) for part in _SCOPE})
