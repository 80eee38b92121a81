"""MCP at one path of this server: authenticated as every route, with the scope in the query string."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from remembrancer.domain.api_key import Right
from remembrancer.domain.scope import SCOPE_PARTS
from remembrancer.errors import InvalidInput
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.http.access import allowed, authenticate_request
from remembrancer.interfaces.mcp.app import PATH, McpApp, mcp_app


class McpEndpoint:
    """Authenticates requests and passes them to the MCP app. It answers while `run` is entered, in the lifespan of the
    app around it.
    """

    def __init__(self) -> None:
        self.route = Route(PATH, self, include_in_schema=False)
        self._mcp: McpApp | None = None

    @asynccontextmanager
    async def run(self) -> AsyncGenerator[None, None]:
        # Created here, not in the constructor: building its schemas takes a quarter of a second, which an app that
        # never runs should not spend. Authentication checks Host and Origin.
        mcp = mcp_app(_memory_of, hosts=None)
        async with mcp.run():
            self._mcp = mcp
            try:
                yield
            finally:
                self._mcp = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["route"] = self.route  # as FastAPI's own routes do: metrics count requests by route
        request = Request(scope)
        await _memory_of(request, Right.READ)  # refused requests get an HTTP problem, not an MCP error
        if self._mcp is None:
            raise RuntimeError("MCP requests are answered only during the app's lifespan")
        await self._mcp(scope, receive, send)


async def _memory_of(request: Request, needed: Right) -> AsyncRemembrancer:
    asked = request.query_params
    unknown = sorted({*asked} - {*SCOPE_PARTS, "role"})
    if unknown:
        raise InvalidInput(unknown[0], asked[unknown[0]], "one of " + ", ".join((*SCOPE_PARTS, "role")))
    return allowed(
        await authenticate_request(request), needed, asked.get("role"), {part: asked.get(part) for part in SCOPE_PARTS}
    )
