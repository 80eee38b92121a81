"""Limits on connections: how many there are, and how long each may keep the server waiting."""

from __future__ import annotations

import asyncio
import json
import logging
import resource
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from served import QUIET, share_routes

from remembrancer import AsyncRemembrancer
from remembrancer.interfaces.http import connections, server
from remembrancer.interfaces.http.app import Serving, build_app
from remembrancer.interfaces.http.connections import ConnectionLimits, Connections, within_descriptors
from remembrancer.interfaces.http.peers import peer_of
from remembrancer.interfaces.http.rates import FAILURES
from remembrancer.jobs.worker import Stop

PATIENCE = 30.0
SHORT = ConnectionLimits(header_seconds=0.3)
HALF = b"GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
STREAM = b"GET /v1/events/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@dataclass
class Line:
    """A client's connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def send(self, sent: bytes) -> None:
        self.writer.write(sent)
        await self.writer.drain()

    async def some(self) -> bytes:
        return await asyncio.wait_for(self.reader.read(65_536), PATIENCE)

    async def rest(self) -> bytes:
        """All data until the server closes the connection."""
        found = b""
        try:
            while chunk := await self.some():
                found += chunk
        except ConnectionResetError:
            pass
        return found


@dataclass
class Running:
    """A server on a real socket."""

    port: int
    memory: AsyncRemembrancer
    lines: list[Line]

    async def connect(self, sent: bytes = b"", *, source: str = "127.0.0.1") -> Line:
        line = Line(*await asyncio.open_connection("127.0.0.1", self.port, local_addr=(source, 0)))
        self.lines.append(line)
        await line.send(sent)
        return line

    async def stream(self, source: str = "127.0.0.1") -> Line:
        """A connection with an open stream."""
        line = await self.connect(STREAM, source=source)
        assert (await line.some()).startswith(b"HTTP/1.1 200")
        return line

    async def answer(self, path: str, source: str = "127.0.0.1") -> bytes:
        """The answer to a request on a new connection; empty if there is none."""
        line = await self.connect(source=source)
        await line.send(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        return await line.rest()

    async def status(self, path: str, source: str = "127.0.0.1") -> int:
        return int((await self.answer(path, source)).split(b" ", 2)[1])


@asynccontextmanager
async def running(limits: ConnectionLimits, proxies: str) -> AsyncGenerator[Running]:
    async with await AsyncRemembrancer.open(settings=QUIET) as memory:
        stop, ready = Stop(), asyncio.Event()
        app = build_app(memory, Serving(rate_limit=0), stop)
        share_routes(app)
        listener = server.listening("127.0.0.1", 0)
        serving = server.BoundedServer(
            app, ready.set, Connections(limits, app.state.metrics, proxies), trusted_proxies=proxies
        )
        async with app.router.lifespan_context(app):
            task = asyncio.create_task(serving.serve(sockets=[listener]))
            await ready.wait()
            found = Running(listener.getsockname()[1], memory, [])
            try:
                yield found
            finally:
                for line in found.lines:
                    line.writer.close()
                stop.set()
                serving.should_exit = True
                await task


def served(steps: Callable[[Running], Awaitable[None]], limits: ConnectionLimits = SHORT, *, proxies: str = "") -> None:
    async def whole() -> None:
        async with running(limits, proxies) as found:
            await steps(found)

    asyncio.run(whole())


def test_headers_that_do_not_all_arrive_in_time_end_the_connection() -> None:
    async def steps(found: Running) -> None:
        head, _, body = (await (await found.connect(HALF)).rest()).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
        assert json.loads(body)["type"] == "urn:remembrancer:problem:request_timeout"

    served(steps)


def test_a_header_that_arrives_a_byte_at_a_time_has_no_more_time() -> None:
    async def steps(found: Running) -> None:
        line = await found.connect(HALF)
        answer = asyncio.create_task(line.rest())
        while not answer.done():
            await line.send(b"a")
            await asyncio.wait([answer], timeout=SHORT.header_seconds / 10)
        assert answer.result().startswith(b"HTTP/1.1 408")

    served(steps)


def test_a_silent_connection_is_closed() -> None:
    async def steps(found: Running) -> None:
        assert await (await found.connect()).rest() == b""

    served(steps)


def test_a_connection_between_requests_is_closed_when_it_has_been_idle_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def steps(found: Running) -> None:
        line = await found.connect(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert (await line.rest()).startswith(b"HTTP/1.1 200")

    monkeypatch.setattr(connections, "KEEP_ALIVE_SECONDS", 0.3)
    served(steps)


def test_the_second_request_of_a_connection_has_no_more_time() -> None:
    async def steps(found: Running) -> None:
        line = await found.connect(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert (await line.some()).startswith(b"HTTP/1.1 200")
        await line.send(HALF)
        assert (await line.rest()).startswith(b"HTTP/1.1 408")

    served(steps)


@pytest.mark.parametrize("end", [b"", b"\r\n\r\n"], ids=["unfinished", "whole"])
def test_headers_that_are_too_large_are_refused(end: bytes) -> None:
    async def steps(found: Running) -> None:
        line = await found.connect(HALF + b"a" * connections.MAX_HEADER_BYTES + end)
        assert (await line.rest()).startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")

    served(steps)


def test_a_body_that_nobody_reads_does_not_hold_its_connection() -> None:
    head = b"POST /v1/events HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{"

    async def steps(found: Running) -> None:
        await found.memory.keys.create("somebody's")
        assert (await (await found.connect(head)).rest()).startswith(b"HTTP/1.1 401")

    served(steps)


def test_as_many_half_sent_requests_as_there_may_be_connections_keep_no_other_client_out() -> None:
    async def steps(found: Running) -> None:
        for _ in range(60):
            await found.connect(HALF)
        assert [await found.status(path) for path in ("/healthz", "/v1/events", "/healthz")] == [200, 200, 200]

    served(steps, ConnectionLimits(most=20, header_seconds=600))


def test_as_many_half_sent_bodies_as_there_may_be_connections_keep_no_other_client_out() -> None:
    head = b"POST /login HTTP/1.1\r\nHost: a\r\nOrigin: http://a\r\nContent-Length: 100\r\n"
    form = head + b"Content-Type: application/x-www-form-urlencoded\r\n\r\nk"

    async def steps(found: Running) -> None:
        for _ in range(60):
            await found.connect(form)
        assert [await found.status(path) for path in ("/healthz", "/v1/events")] == [200, 200]

    served(steps, ConnectionLimits(most=20))


def test_a_server_whose_connections_are_all_in_use_answers_the_probes_and_refuses_the_rest() -> None:
    async def steps(found: Running) -> None:
        for _ in range(4):
            await found.stream()
        statuses = {path: await found.status(path) for path in ("/healthz", "/readyz", "/v1/events", "/")}
        assert statuses == {"/healthz": 200, "/readyz": 200, "/v1/events": 503, "/": 503}
        assert b"urn:remembrancer:problem:too_many_connections" in await found.answer("/v1/events")

    served(steps, ConnectionLimits(most=4))


def test_connections_that_have_ended_make_room() -> None:
    async def steps(found: Running) -> None:
        for line in [await found.stream() for _ in range(4)]:
            line.writer.close()
            await line.writer.wait_closed()
        async with asyncio.timeout(PATIENCE):
            while await found.status("/v1/events") == 503:
                pass

    served(steps, ConnectionLimits(most=4))


def test_one_address_does_not_use_up_the_connections_of_others() -> None:
    async def steps(found: Running) -> None:
        for _ in range(3):
            await found.stream()
        assert [await found.status("/v1/events", source) for source in ("127.0.0.1", "127.0.0.2")] == [503, 200]

    served(steps, ConnectionLimits(per_address=3))


def test_a_trusted_proxy_may_have_as_many_connections_as_there_are() -> None:
    async def steps(found: Running) -> None:
        for _ in range(3):
            await found.stream()
        assert await found.status("/v1/events") == 200

    served(steps, ConnectionLimits(per_address=3), proxies="127.0.0.0/8, 10.0.0.1")


async def guessed(found: Running) -> list[int]:
    """The statuses of more wrong keys than one address may try, each sent with a different forwarded address."""
    await found.memory.keys.create("somebody's")
    statuses: list[int] = []
    for number in range(int(FAILURES.burst) + 3):
        head = f"GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: 198.51.100.{number}\r\n"
        key = f"Authorization: Bearer rem_{number:043}\r\nConnection: close\r\n\r\n"
        answer = await (await found.connect((head + key).encode())).rest()
        statuses.append(int(answer.split(b" ", 2)[1]))
    return statuses


def test_a_client_that_claims_other_addresses_does_not_get_more_tries_of_keys() -> None:
    async def steps(found: Running) -> None:
        assert (await guessed(found))[-1] == 429

    served(steps)


def test_a_trusted_proxy_forwards_the_addresses_of_its_clients() -> None:
    async def steps(found: Running) -> None:
        assert set(await guessed(found)) == {401}

    served(steps, proxies="127.0.0.1")


def test_connections_are_counted() -> None:
    async def steps(found: Running) -> None:
        await (await found.connect(HALF)).rest()
        told = (await found.answer("/metrics")).decode()
        assert "remembrancer_connections 1.0" in told
        assert 'remembrancer_connections_closed_total{why="header_time"} 1.0' in told

    served(steps)


def test_an_ipv6_network_counts_as_one_address() -> None:
    assert peer_of("2001:db8:1:2::3") == peer_of("2001:db8:1:2:ffff::1") != peer_of("2001:db8:1:3::3")
    assert peer_of("::ffff:203.0.113.9") == peer_of("203.0.113.9")


def files_allowed(monkeypatch: pytest.MonkeyPatch, both: tuple[int, int], raised: list[tuple[int, int]]) -> None:
    """The soft and the hard limit on this process's files; `raised` gets those that are set."""

    def getrlimit(_: int) -> tuple[int, int]:
        return both

    def setrlimit(_: int, given: tuple[int, int]) -> None:
        raised.append(given)

    monkeypatch.setattr(resource, "getrlimit", getrlimit)
    monkeypatch.setattr(resource, "setrlimit", setrlimit)


def test_the_limit_on_files_is_raised_for_the_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = ConnectionLimits(most=1000)
    found: list[tuple[int, int]] = []
    files_allowed(monkeypatch, (256, 4096), found)
    assert within_descriptors(limits) == limits
    assert found == [(1000 + connections.SPARE + connections.OTHER_DESCRIPTORS, 4096)]


def test_there_are_no_more_connections_than_files_may_be_opened(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    files_allowed(monkeypatch, (256, 256), [])
    with caplog.at_level(logging.WARNING):
        assert within_descriptors(ConnectionLimits(most=1000)).most == 256 - connections.SPARE - 128
    assert "max_connections: 112 of 1000" in caplog.text
