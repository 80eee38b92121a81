"""MCP over streamable HTTP, as an ASGI app that a server mounts."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from typing import Any, Final, cast

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from remembrancer.domain.api_key import Right
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.mcp.server import memory_server

MemoryOfRequest = Callable[[Request, Right], Awaitable[AsyncRemembrancer]]
"""The memory for the sender of a request, which needs that right. Raises PermissionDenied."""

PATH: Final = "/mcp"
"""The path at which servers mount the app."""

MAX_BODY_BYTES: Final = 1024 * 1024
"""The largest request: the longest text, with every character escaped in JSON."""


class McpApp:
    """An ASGI app that answers on any path while `run` is entered.

    Requests are independent of each other: there are no sessions, and each is answered with one JSON document. Several
    clients, and several servers behind one address, need no coordination.
    """

    def __init__(self, server: MCPServer[Any], security: TransportSecuritySettings) -> None:
        self._server = server
        self._security = security
        self._manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def run(self) -> AsyncGenerator[None, None]:
        """Answer requests while this context is entered. It can be entered again, but not twice at the same time."""
        self._server.streamable_http_app(
            stateless_http=True,
            json_response=True,
            max_request_body_size=MAX_BODY_BYTES,
            transport_security=self._security,
        )
        async with self._server.session_manager.run():
            self._manager = self._server.session_manager
            try:
                yield
            finally:
                self._manager = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._manager is None:
            raise RuntimeError("McpApp answers only while its run() is entered: in the lifespan of the app around it")
        if scope["method"] != "POST":
            # A stream from the server would stay silent: there are no sessions and no notifications.
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return
        await self._manager.handle_request(scope, receive, send)


def mcp_app(memory_of_request: MemoryOfRequest, *, hosts: Collection[str] | None, counts_use: bool = False) -> McpApp:
    """The app for a host that authenticates requests. Enter its `run` in the host's lifespan, and route one path to it.

    `hosts`: the accepted values of `Host`, `name:*` for any port; `Origin` must be a page of one of them. None: the
    host checks both headers itself. `counts_use`: as in `memory_server`; `recall` then needs the right to write.
    """

    async def memory_of(context: Context, needed: Right) -> AsyncRemembrancer:
        request: object = context.request_context.request
        if not isinstance(request, Request):
            raise TypeError("a message that came without a request")
        return await memory_of_request(cast("Request", request), needed)

    return McpApp(memory_server(memory_of, counts_use=counts_use), security_of(hosts))


def security_of(hosts: Collection[str] | None) -> TransportSecuritySettings:
    """The SDK's checks of `Host` and `Origin`, which protect against DNS rebinding."""
    if hosts is None:
        return TransportSecuritySettings(enable_dns_rebinding_protection=False)
    origins = [f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")]
    return TransportSecuritySettings(allowed_hosts=list(hosts), allowed_origins=origins)
