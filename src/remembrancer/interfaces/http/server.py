"""The server's process: its socket, and an orderly shutdown."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import socket
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Final, Protocol

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from remembrancer.errors import InvalidInput, StoreUnavailable
from remembrancer.interfaces.http.connections import (
    KEEP_ALIVE_SECONDS,
    Acceptor,
    BoundedConnection,
    ConnectionLimits,
    Connections,
    Service,
    within_descriptors,
)
from remembrancer.interfaces.signals import on_stop_signal
from remembrancer.jobs.worker import Stop

GRACE_SECONDS: Final = 30
"""The time that running requests may take after the server is asked to stop."""
_SWEEP_TICKS: Final = 5
"""The number of uvicorn's ticks, of 0.1 s each, between two checks of the connections' time limits."""
_RETURN_TICKS: Final = 600
"""The number of ticks, a minute, between two calls of `return_free_memory`."""


class Orders(Protocol):
    """Who stops the server."""

    def obeyed(self, stop: Callable[[], None], cancel: Callable[[], None]) -> AbstractContextManager[None]:
        """Within the context, call `stop` when the server is to finish what is under way and end, and `cancel` when it
        is to end at once.
        """
        ...


class StopSignals:
    """SIGINT or SIGTERM stops, the second one cancels."""

    @contextmanager
    def obeyed(self, stop: Callable[[], None], cancel: Callable[[], None]) -> Generator[None]:
        asked = False

        def ask() -> None:
            nonlocal asked
            (cancel if asked else stop)()
            asked = True

        with on_stop_signal(ask):
            yield


async def serve(
    app: FastAPI,
    listener: socket.socket,
    stop: Stop,
    on_ready: Callable[[], Awaitable[None] | None],
    *,
    limits: ConnectionLimits | None = None,
    trusted_proxies: str = "",
    orders: Orders | None = None,
) -> None:
    """Serve until `orders`, which are by default SIGINT or SIGTERM, say to stop. Then `stop` is set, which ends
    streams; no more connections are accepted; requests and jobs under way are finished, or cancelled if ordered so.

    `on_ready` is called when the server could accept requests and handles the signals. If it returns something to wait
    for, that comes first. `limits` are lowered if the process may not open so many files. `trusted_proxies`: the peers,
    by commas, whose word on a client's address is taken.
    """
    allowed = within_descriptors(limits or ConnectionLimits())
    connections = Connections(allowed, app.state.metrics, trusted_proxies, app.state.connections)
    server = BoundedServer(app, on_ready, connections, trusted_proxies)
    task = asyncio.current_task()

    def end() -> None:
        server.should_exit = True
        stop.set()

    def cancel() -> None:
        end()
        server.force_exit = True
        if task is not None:
            task.cancel()

    with (orders or StopSignals()).obeyed(end, cancel):
        try:
            async with app.router.lifespan_context(app):
                try:
                    await server.serve(sockets=[listener])
                finally:
                    await server.break_off()
        except asyncio.CancelledError:
            if not server.force_exit or task is None:
                raise
            task.uncancel()


class BoundedServer(uvicorn.Server):
    """uvicorn's server with an accept loop of our own, and limits on connections."""

    def __init__(
        self,
        app: ASGIApp,
        on_ready: Callable[[], Awaitable[None] | None],
        connections: Connections,
        trusted_proxies: str = "",
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                ws="none",
                lifespan="off",  # `serve` runs it, so that it ends after a forced shutdown too
                # `logs` writes the line of a request, and the program configures logging.
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=bool(trusted_proxies),
                forwarded_allow_ips=trusted_proxies,  # always given: otherwise uvicorn trusts 127.0.0.1
                timeout_keep_alive=int(KEEP_ALIVE_SECONDS),
                timeout_graceful_shutdown=GRACE_SECONDS,
            )
        )
        self._on_ready = on_ready
        self._connections = connections
        self._accepting: list[asyncio.Task[None]] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup([])
        others = self._on_ready()
        if others is not None:
            await others
        for listener in sockets or ():
            acceptor = Acceptor(listener, self._connections, self._begin)
            self._accepting.append(asyncio.create_task(acceptor.run(), name="remembrancer-accept"))

    async def on_tick(self, counter: int) -> bool:
        if counter % _SWEEP_TICKS == 0:
            self._connections.sweep(asyncio.get_running_loop().time())
        if counter % _RETURN_TICKS == 0:
            asyncio.get_running_loop().run_in_executor(None, return_free_memory)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for task in self._accepting:
            task.cancel()
        await asyncio.gather(*self._accepting, return_exceptions=True)
        await super().shutdown(sockets)

    async def _begin(self, accepted: socket.socket, peer: str, service: Service) -> None:
        connection = partial(
            BoundedConnection,
            self.config,
            self.server_state,
            self.lifespan.state,
            connections=self._connections,
            peer=peer,
            service=service,
        )
        await asyncio.get_running_loop().connect_accepted_socket(connection, accepted)

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        # `serve` handles signals in the event loop. uvicorn's own handlers could interrupt any instruction, and would
        # raise the signal again before the memory is closed.
        yield

    async def break_off(self) -> None:
        """Cancel the requests that are still under way, before the resources they use are closed."""
        tasks = list(self.server_state.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def return_free_memory() -> None:
    """Return freed memory to the system. glibc keeps it, so that a burst of requests would set the size of the process
    for as long as it runs. It takes some 5 to 20 ms for 250 MiB. No effect on systems without glibc.
    """
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)


def listening(host: str, port: int) -> socket.socket:
    """A listening socket; `port` 0: any free port. Raises InvalidInput for an address that is not this machine's, and
    StoreUnavailable for a port in use.
    """
    try:
        places = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = places[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise InvalidInput("host", host, f"an address of this machine ({error})") from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRNOTAVAIL:
            raise InvalidInput("host", host, "an address of this machine") from error
        message = f"cannot listen on port {port} of {host}: {error.strerror}; give another port"
        raise StoreUnavailable(message) from error
    listener.setblocking(False)
    return listener


def address_of(host: str, listener: socket.socket) -> str:
    """The URL under which clients on this machine reach the server."""
    port: int = listener.getsockname()[1]
    reached = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host.strip("[]"), host.strip("[]"))  # noqa: S104  all addresses
    return f"http://[{reached}]:{port}/" if ":" in reached else f"http://{reached}:{port}/"
