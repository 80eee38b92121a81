"""Serving one memory over MCP until the client disconnects or the process is told to stop."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from typing import Any, Final

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from starlette.applications import Starlette
from starlette.routing import Route

from remembrancer.config import Settings
from remembrancer.domain.api_key import Right
from remembrancer.errors import InvalidInput
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.loopback import is_loopback
from remembrancer.interfaces.mcp.app import McpApp, security_of
from remembrancer.interfaces.mcp.server import memory_server
from remembrancer.interfaces.mcp.standard_input import EndableInput
from remembrancer.interfaces.signals import on_stop_signal
from remembrancer.jobs.stop import Stop
from remembrancer.policies.rendering.safe import kept_line
from remembrancer.values import dataclass

PATH: Final = "/mcp"
_FAREWELL: Final = 5
"""Seconds that requests under way have to finish after a stop signal."""

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ListenAddress:
    """The address to listen on. It must be this machine's own, because this server has no keys. `port` 0: any free
    port.
    """

    host: str
    port: int

    def __post_init__(self) -> None:
        if not is_loopback(self.host):
            allowed = (
                "this machine's own address: 127.0.0.1, ::1 or localhost (`remembrancer serve` has keys, and serves "
                "MCP at /mcp to others too)"
            )
            raise InvalidInput("host", self.host, allowed)

    @property
    def in_url(self) -> str:
        return f"[{self.host}]" if ":" in self.host else self.host

    def listen(self) -> socket.socket:
        """Raises InvalidInput for a port that cannot be listened on."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        try:
            return socket.create_server((self.host, self.port), family=family)
        except OSError as error:
            raise InvalidInput("port", self.port, f"a port that can be listened on ({error.strerror})") from error


async def serve(
    settings: Settings, *, address: ListenAddress | None, works: bool, counts_use: bool, tell: Tell
) -> None:
    """Serve over HTTP at `address`, or over stdin and stdout if it is None, until stdin ends or a stop signal.

    `works`: also run the preset's jobs. What was acknowledged is kept, however serving ends.
    """
    async with await AsyncRemembrancer.open(settings=settings) as memory:

        async def memory_of(_context: Context, _needed: Right) -> AsyncRemembrancer:
            return memory

        server = memory_server(memory_of, counts_use=counts_use)
        async with _working(memory) if works else nullcontext():
            if address is None:
                await _over_stdio(server)
            else:
                await _over_http(server, address, tell)


def log_to_stderr() -> None:
    """Log warnings as lines on stderr, without the contents of memories. Stdout belongs to the protocol."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Line("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)


class _Line(logging.Formatter):
    """One line without control characters. Of an exception only the type is logged: its message may quote a memory."""

    def format(self, record: logging.LogRecord) -> str:
        kind = record.exc_info[0] if record.exc_info else None
        record.message = record.getMessage()
        return kept_line(self.formatMessage(record) + ("" if kind is None else f" ({kind.__name__})"))


async def _over_stdio(server: MCPServer[Any]) -> None:
    with EndableInput() as client, on_stop_signal(client.end):
        try:
            await server.run_stdio_async()
        except* BrokenPipeError:
            pass  # nobody reads any more


async def _over_http(server: MCPServer[Any], address: ListenAddress, tell: Tell) -> None:
    listening = address.listen()
    port = listening.getsockname()[1]
    hosts = [f"{name}:*" for name in ("127.0.0.1", "localhost", "[::1]", address.in_url)]
    mcp = McpApp(server, security_of(hosts))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None, None]:
        async with mcp.run():
            tell(f"serving MCP at http://{address.in_url}:{port}{PATH}; Ctrl+C ends it")
            yield

    app = Starlette(routes=[Route(PATH, mcp)], lifespan=lifespan)
    config = uvicorn.Config(
        app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=_FAREWELL
    )
    serving = _Server(config)
    with listening, on_stop_signal(serving.stop):
        await serving.serve(sockets=[listening])


class _Server(uvicorn.Server):
    """A uvicorn server that leaves signals to `on_stop_signal`; its own handlers raise them again at the end."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield

    def stop(self) -> None:
        self.force_exit = self.should_exit  # the second time
        self.should_exit = True


@asynccontextmanager
async def _working(memory: AsyncRemembrancer) -> AsyncGenerator[None, None]:
    """Run the jobs in the background. A run under way is cancelled at the end; the next one continues from there."""
    jobs = asyncio.create_task(memory.jobs.work(Stop()), name="remembrancer-jobs")
    try:
        yield
    finally:
        jobs.cancel()
        await asyncio.wait([jobs])
