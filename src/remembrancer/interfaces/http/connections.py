"""Limits on connections: how many there are, and how long each may keep the server waiting.

uvicorn has no limit on the time or the size of a request's headers, and none on an address. asyncio's own accept loop
logs a traceback for each connection that it cannot accept, 2,048 times a second.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import math
import resource
import socket
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from enum import Enum, auto
from http import HTTPStatus
from typing import Any, Final, cast

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from remembrancer.adapters.siblings.table import SharedCounts
from remembrancer.interfaces.http import problems
from remembrancer.interfaces.http.middleware import MAX_BODY_BYTES
from remembrancer.interfaces.http.peers import Peers, peer_of
from remembrancer.interfaces.http.probes import PROBES
from remembrancer.interfaces.http.telemetry import AppMetrics
from remembrancer.values import dataclass

MAX_HEADER_BYTES: Final = 65_536
"""The largest request line and headers of a request together."""
KEEP_ALIVE_SECONDS: Final = 30.0
"""The time that a connection may be idle between requests."""
FAREWELL_SECONDS: Final = 10.0
"""The time that a client has to take the end of a response before its connection is cut."""
SPARE: Final = 16
"""Connections beyond the limits, over which only the probes are answered."""
OTHER_DESCRIPTORS: Final = 128
"""File descriptors that are kept for the store, the models and the program itself."""
_PRECEDENCE_SECONDS: Final = 0.001
"""The time that processes with fewer connections have to take a new one."""
_SHORTEST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 1.0
_QUIET_SECONDS: Final = 60.0
"""A warning about a limit is logged this often at most."""
_OF_ONE_CONNECTION: Final = frozenset({errno.ECONNABORTED, errno.EPROTO, errno.EPERM})
"""Errors of `accept` that concern one connection."""

_log = logging.getLogger("remembrancer.server")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionLimits:
    """Limits on connections. `most`: open connections in all. `per_address`: of one peer. `header_seconds`: for the
    headers of a request to arrive, from its first byte; of a new connection from when it was accepted.
    """

    most: int = 1_000
    per_address: int = 256
    header_seconds: float = 10.0


class Service(Enum):
    """The service that a new connection gets."""

    FULL = auto()
    PROBES = auto()
    REFUSED = auto()


class Phase(Enum):
    """The phase of a connection: the event that it waits for. In all phases but WORKING it waits for its client."""

    IDLE = auto()
    """The next request on a connection that had one."""
    HEADERS = auto()
    BODY = auto()
    WORKING = auto()
    """The response."""
    STALLED = auto()
    """The client to read the response."""
    DISCARDING = auto()
    """It receives the rest of a body, which is discarded, after the response."""
    CLOSING = auto()


class Connections:
    """The open connections of a server. New ones are admitted, and those that keep the server waiting are closed.

    At a limit, the connections that have waited longest for their clients are closed to make room. If the server works
    for all, a few more are admitted for the probes only. `trusted_proxies`: the peers, by commas, without a limit of
    their own: each serves many clients. `siblings`: the open connections of the other processes of the server.
    """

    def __init__(
        self,
        limits: ConnectionLimits,
        metrics: AppMetrics,
        trusted_proxies: str = "",
        siblings: SharedCounts | None = None,
    ) -> None:
        self.limits = limits
        self._siblings = siblings
        self._trusted = Peers.of(trusted_proxies)
        self._metrics = metrics
        self._open: dict[BoundedConnection, str] = {}
        self._per_peer: Counter[str] = Counter()
        self._warned_at = float("-inf")

    def admit(self, peer: str) -> Service:
        """The service that a new connection of that peer gets. May close others."""
        of_peer = 0 if peer in self._trusted else self._per_peer[peer]
        if of_peer >= self.limits.per_address and not self.make_room(peer):
            return self._spare("address_limit", is_left=of_peer < self.limits.per_address + SPARE)
        if len(self._open) >= self.limits.most and not self.make_room():
            return self._spare("limit", is_left=len(self._open) < self.limits.most + SPARE)
        return Service.FULL

    def make_room(self, peer: str | None = None) -> bool:
        """Close connections that wait for their clients, those that wait longest: a sixteenth of the limit, at least
        one; of that peer, or of all. Return whether there were any.
        """
        most = self.limits.most if peer is None else self.limits.per_address
        waiting = [
            connection
            for connection, whose in self._open.items()
            if connection.phase is not Phase.WORKING and peer in (None, whose)
        ]
        waiting.sort(key=lambda connection: connection.since)
        for connection in waiting[: max(1, most // 16)]:
            self.close(connection, "limit" if peer is None else "address_limit")
        return bool(waiting)

    def sweep(self, now: float) -> None:
        """Close the connections whose time is over."""
        for connection in [*self._open]:
            why = connection.overdue(now)
            if why is not None:
                self.close(connection, why)

    def close(self, connection: BoundedConnection, why: str) -> None:
        """Close a connection at once, and forget it."""
        self.forget(connection)
        if why != "idle":
            self._count(why)
        connection.cut(why)

    def opened(self, connection: BoundedConnection, peer: str) -> None:
        self._open[connection] = peer
        self._count_open()
        self._per_peer[peer] += 1

    def forget(self, connection: BoundedConnection) -> None:
        """Remove a connection. An unknown one is ignored."""
        peer = self._open.pop(connection, None)
        if peer is not None:
            self._count_open()
            self._per_peer[peer] -= 1
            if not self._per_peer[peer]:
                del self._per_peer[peer]

    def warn(self, text: str, *arguments: object) -> None:
        """Log a warning, unless there was one within the last minute."""
        now = asyncio.get_running_loop().time()
        if now - self._warned_at >= _QUIET_SECONDS:
            self._warned_at = now
            _log.warning(text, *arguments)

    def has_most(self) -> bool:
        """Whether another process of the server has clearly fewer connections."""
        least = None if self._siblings is None else self._siblings.least_of_others()
        return least is not None and len(self._open) > least + len(self._open) // 8

    def _count_open(self) -> None:
        self._metrics.connections.set(len(self._open))
        if self._siblings is not None:
            self._siblings.set(len(self._open))

    def _spare(self, why: str, *, is_left: bool) -> Service:
        self._count(why)
        return Service.PROBES if is_left else Service.REFUSED

    def _count(self, why: str) -> None:
        self._metrics.connections_closed.labels(why).inc()
        if why.endswith("limit"):
            told = "connections: at a limit (max_connections %d, max_connections_per_address %d), some are closed"
            self.warn(told, self.limits.most, self.limits.per_address)


class RequestPart(Enum):
    """The part of a request that arrives next."""

    NONE = auto()
    """It waits for the first byte of a request."""
    HEADERS = auto()
    BODY = auto()


class BoundedConnection(HttpToolsProtocol):
    """uvicorn's connection, with limits on the time and the size of a request's headers."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        *,
        connections: Connections,
        peer: str,
        service: Service,
    ) -> None:
        super().__init__(config, server_state, app_state, asyncio.get_running_loop())
        if service is Service.PROBES:
            self.app: Any = _probes_only(cast("ASGIApp", self.app))
        self._connections = connections
        self._peer = peer
        self._part = RequestPart.NONE
        self._requests = 0
        """Requests whose headers have arrived."""
        self._header_bytes = 0
        """Received bytes since the end of the last request, before they are parsed."""
        self._discarded_bytes = 0
        self._known = (Phase.HEADERS, 0)
        self._refused: HTTPStatus | None = None
        self.since = self.loop.time()
        """The time at which the connection entered its phase; in BODY, when data arrived last."""

    @property
    def phase(self) -> Phase:
        return self._known[0]

    def overdue(self, now: float) -> str | None:
        """Why the connection is to be closed now, as a label of the metric; None if it is not."""
        self._note()
        header_seconds = self._connections.limits.header_seconds
        limits: dict[Phase, tuple[float, str]] = {
            Phase.IDLE: (KEEP_ALIVE_SECONDS, "idle"),
            Phase.HEADERS: (header_seconds, "header_time"),
            Phase.DISCARDING: (header_seconds, "unread_body"),
            Phase.CLOSING: (FAREWELL_SECONDS, "unread_response"),
        }
        longest, why = limits.get(self.phase, (math.inf, ""))
        return why if now - self.since > longest else None

    def cut(self, why: str) -> None:
        """Close the connection without waiting for the client."""
        if why == "header_size":
            detail = f"the request line and headers may have at most {MAX_HEADER_BYTES:,} bytes"
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "request_header_fields_too_large", detail)
        elif why == "header_time" and self._part is RequestPart.HEADERS:
            seconds = self._connections.limits.header_seconds
            detail = f"the headers did not arrive within {seconds:g} seconds; nothing was done"
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "request_timeout", detail)
        if self.transport.is_closing() or self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._connections.opened(self, self._peer)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.forget(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._part is not RequestPart.BODY:
            self._header_bytes += len(data)
        elif self.phase is Phase.DISCARDING:
            self._discarded_bytes += len(data)
        super().data_received(data)
        if self._part is not RequestPart.BODY and self._header_bytes > MAX_HEADER_BYTES:
            self._connections.close(self, "header_size")
        elif self._discarded_bytes > MAX_BODY_BYTES:
            self._connections.close(self, "unread_body")
        if self.phase is Phase.BODY:
            self.since = self.loop.time()
        self._note()

    def on_message_begin(self) -> None:
        self._part = RequestPart.HEADERS
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > MAX_HEADER_BYTES:
            raise HeadersTooLarge  # the parser reports it as an invalid request
        super().on_headers_complete()
        self._part = RequestPart.BODY
        self._requests += 1
        self._header_bytes = self._discarded_bytes = 0

    def on_message_complete(self) -> None:
        self._part = RequestPart.NONE
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._note()

    def send_400_response(self, msg: str) -> None:
        error = sys.exception()
        if error is not None and isinstance(error.__context__, HeadersTooLarge):
            self._connections.close(self, "header_size")
        else:
            super().send_400_response(msg)

    def _note(self) -> None:
        """Note the phase, and since when. A phase of another request is another one."""
        known = (self._phase(), self._requests)
        if known != self._known:
            self._known = known
            self.since = self.loop.time()

    def _phase(self) -> Phase:
        if self.transport.is_closing():
            return Phase.CLOSING
        if self._requests and not self.cycle.response_complete:
            if self.flow.write_paused:
                return Phase.STALLED
            return Phase.BODY if self.cycle.more_body else Phase.WORKING
        if self._part is RequestPart.BODY:
            return Phase.DISCARDING
        return Phase.IDLE if self._requests and self._part is RequestPart.NONE else Phase.HEADERS

    def _refuse(self, status: HTTPStatus, code: str, detail: str) -> None:
        """Write a problem in place of a response that no request has asked for yet."""
        response = problems.problem(code, status, detail, headers={"Connection": "close"})
        lines = [b"HTTP/1.1 %d %s" % (status, status.phrase.encode())]
        lines += [b"%s: %s" % header for header in response.raw_headers]
        self.transport.write(b"\r\n".join([*lines, b"", bytes(response.body)]))


class HeadersTooLarge(Exception):
    """The headers of a request exceed the limit."""


def _probes_only(app: ASGIApp) -> ASGIApp:
    """An app that answers the probes as `app` does, and refuses all else. Each response closes its connection."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def closing(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["Connection"] = "close"
            await send(message)

        if scope["path"] in PROBES:
            await app(scope, receive, closing)
            return
        detail = "the server has reached its limit of connections, in total or for this address"
        refused = problems.problem(
            "too_many_connections", HTTPStatus.SERVICE_UNAVAILABLE, detail, headers={"Retry-After": "1"}
        )
        await refused(scope, receive, closing)

    return answer


@dataclass(slots=True)
class Acceptor:
    """Accepts the connections of a listening socket, and hands each to `begin` with its peer.

    Without a free descriptor it closes connections that wait, and pauses: 50 ms, each time twice as long, 1 s at most.
    """

    listener: socket.socket
    connections: Connections
    begin: Callable[[socket.socket, str, Service], Awaitable[None]]

    async def run(self) -> None:
        """Accept until cancelled."""
        pause = _SHORTEST_PAUSE
        while True:
            try:
                accepted, address = await self._next()
            except OSError as error:
                if error.errno in _OF_ONE_CONNECTION:
                    continue
                self.connections.warn("connections cannot be accepted now: %s", error.strerror)
                self.connections.make_room()
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                continue
            pause = _SHORTEST_PAUSE
            peer = peer_of(address[0])
            service = self.connections.admit(peer)
            if service is Service.REFUSED:
                accepted.close()
                continue
            try:
                await self.begin(accepted, peer, service)
            except OSError:  # it is closed already
                accepted.close()

    async def _next(self) -> tuple[socket.socket, Any]:
        """The next connection, and its address. Of the processes that wait for it, those with fewer connections take it
        first: a client may send all its requests over one.
        """
        loop = asyncio.get_running_loop()
        while self.connections.has_most():
            readable = asyncio.Event()
            loop.add_reader(self.listener, readable.set)
            try:
                await readable.wait()
            finally:
                loop.remove_reader(self.listener)
            await asyncio.sleep(_PRECEDENCE_SECONDS)
            with suppress(BlockingIOError):
                return self.listener.accept()
        return await loop.sock_accept(self.listener)


def within_descriptors(limits: ConnectionLimits) -> ConnectionLimits:
    """The limits that this process's file descriptors allow. Raises the soft limit on them as far as needed and
    allowed; logs a warning if that is not enough.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = limits.most + SPARE + OTHER_DESCRIPTORS
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return limits
    available = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (available, hard))
    if available == needed:
        return limits
    most = max(1, available - SPARE - min(OTHER_DESCRIPTORS, available // 2))
    _log.warning("max_connections: %d of %d, because this process may open %d files", most, limits.most, available)
    return replace(limits, most=most)
