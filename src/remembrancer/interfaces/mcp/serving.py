"""Serving one memory over MCP until the client disconnects or the process is told to stop."""

from __future__ import annotations

import asyncio
import logging
import os
import select
import socket
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from types import TracebackType
from typing import Any, Final, Self

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from starlette.applications import Starlette
from starlette.routing import Route

from remembrancer import engine
from remembrancer.config import Settings
from remembrancer.domain.api_key import Right
from remembrancer.domain.audit import Door
from remembrancer.errors import InvalidInput, RemembrancerError
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.loopback import is_loopback
from remembrancer.interfaces.mcp.app import PATH, McpApp, security_of
from remembrancer.interfaces.mcp.server import memory_server
from remembrancer.interfaces.mcp.stdio import run_over_stdio
from remembrancer.interfaces.signals import on_stop_signal
from remembrancer.jobs.worker import Stop
from remembrancer.policies.rendering.safe import kept_line
from remembrancer.ports.audit import ACTING, Acting
from remembrancer.values import dataclass

_FAREWELL: Final = 5
"""Seconds that requests under way have to finish after a stop signal."""

_STDIN: Final = 0
_STDOUT: Final = 1
_AT_ONCE: Final = 65_536
_PATIENCE: Final = 1.0
"""Seconds to wait for the thread. If messages arrive faster than they are read, it takes longer; the thread then ends
with the process.
"""

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
                "MCP at /mcp to other machines too)"
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
            raise InvalidInput(
                "port", self.port, f"another port: the server cannot listen on this one ({error.strerror})"
            ) from error


async def serve(
    settings: Settings, *, address: ListenAddress | None, works: bool, counts_use: bool, tell: Tell
) -> None:
    """Serve over HTTP at `address`, or over stdin and stdout if it is None, until stdin ends or a stop signal.

    `works`: also run the preset's jobs. What was acknowledged is kept, however serving ends.
    """
    async with AsyncRemembrancer.open(settings=settings) as memory:

        async def memory_of(_context: Context, _needed: Right) -> AsyncRemembrancer:
            return memory

        server = memory_server(memory_of, counts_use=counts_use or memory.presets.in_use.marks_recalled)
        async with loading(memory), _working(memory) if works else nullcontext():
            ACTING.set(Acting(door=Door.MCP))
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
            await run_over_stdio(server)
        except* BrokenPipeError:
            pass  # the client no longer reads


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
        self.force_exit = self.should_exit  # a second signal
        self.should_exit = True


@asynccontextmanager
async def loading(memory: AsyncRemembrancer) -> AsyncGenerator[None, None]:
    """Load the embedder and the index in the background: a client waits for neither when it connects, and its first
    question only for what is not loaded yet.
    """

    async def load() -> None:
        await engine.asking.load_embedder(memory.context)
        # The first question reports what is wrong with the store.
        with suppress(RemembrancerError):
            await engine.asking.load_index(memory.context, memory.scope)

    task = asyncio.create_task(load(), name="remembrancer-load")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


@asynccontextmanager
async def _working(memory: AsyncRemembrancer) -> AsyncGenerator[None, None]:
    """Run the jobs in the background. A run under way is cancelled at the end; the next one continues from there."""
    jobs = asyncio.create_task(memory.jobs.work(Stop()), name="remembrancer-jobs")
    try:
        yield
    finally:
        jobs.cancel()
        await asyncio.wait([jobs])


class EndableInput:
    """Standard input that a stop signal can end, with the same effect as a client that disconnects.

    While entered, file descriptor 0 gives what arrives on stdin, until stdin ends, `end` is called, or stdout is
    closed by its reader.

    A thread that reads stdin cannot be interrupted: the process would hang until the client's next message. This thread
    waits for all three conditions at once and forwards the input.
    """

    def __enter__(self) -> Self:
        self._client = os.dup(_STDIN)
        self._answers = os.dup(_STDOUT)
        reading, self._handed_on = os.pipe()
        os.dup2(reading, _STDIN)
        os.close(reading)
        self._told, self._telling = os.pipe()
        self._thread = threading.Thread(target=self._forward, name="remembrancer-stdin", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
        self._thread.join(_PATIENCE)
        os.dup2(self._client, _STDIN)

    def end(self) -> None:
        """End the input as if the client had closed it. It may be called repeatedly."""
        os.write(self._telling, b".")

    def _forward(self) -> None:
        waiting = select.poll()
        waiting.register(self._client, select.POLLIN)
        waiting.register(self._told, select.POLLIN)
        waiting.register(self._answers, 0)  # the error only means that its other end was closed
        try:
            while {place for place, _ in waiting.poll()} == {self._client}:
                chunk = os.read(self._client, _AT_ONCE)
                if not chunk:
                    return
                while chunk:
                    chunk = chunk[os.write(self._handed_on, chunk) :]
        except OSError:  # the client's end was closed abruptly, so no more input will come
            return
        finally:
            os.close(self._handed_on)
