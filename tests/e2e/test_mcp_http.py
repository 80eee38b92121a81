"""MCP over streamable HTTP, served by the program to this machine."""

from __future__ import annotations

import asyncio
import http.client
import signal
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from driver import Cli
from mcp_clients import PATIENCE, over_http, recall_feedback_and_health, serving_http

pytestmark = pytest.mark.usefixtures("folder")


def asked(
    url: str, method: str = "POST", body: bytes = b"{}", kind: str = "application/json", **headers: str
) -> tuple[int, bytes]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PATIENCE)
    try:
        connection.request(method, parts.path, body, {"Content-Type": kind, **headers})
        answered = connection.getresponse()
        return answered.status, answered.read()
    finally:
        connection.close()


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_memory_remembered_over_http_is_recalled_and_rated(mode: str) -> None:
    async def talk(url: str) -> None:
        async with over_http(url, mode) as call:
            await recall_feedback_and_health(call)

    with serving_http() as (url, _):
        asyncio.run(talk(url))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that several tests ask."""
    db = tmp_path_factory.mktemp("shared") / "a.db"
    with serving_http("--db", str(db), "--embedder", "none") as (url, _):
        yield url


def test_several_clients_at_once_are_answered_each_with_its_own(shared: str) -> None:
    async def one(url: str, name: str) -> None:
        async with over_http(url) as call:
            kept = await asyncio.gather(*(call.done("remember", text=f"{name} said {n}") for n in range(10)))
            assert len({each.shape["id"] for each in kept}) == 10
            found = await call.done("recall", query=f"what did {name} say?", limit=20)
            assert sum(hit["memory"]["text"].startswith(name) for hit in found.shape["hits"]) == 10

    async def talk(url: str) -> None:
        await asyncio.gather(*(one(url, name) for name in ("ana", "ben", "cleo", "dora")))

    asyncio.run(talk(shared))


def test_a_client_continues_after_a_restart_of_the_server() -> None:
    async def talk() -> None:
        with serving_http() as (url, first):
            port = str(urlsplit(url).port)
            async with over_http(url) as call:
                kept = await call.done("remember", text="Checkout needs 2 GiB")
                first.send_signal(signal.SIGTERM)
                assert await asyncio.to_thread(first.wait, PATIENCE) == 0
                with serving_http("--port", port):
                    assert kept.shape["id"][-8:] in (await call.done("recall", query="checkout")).text

    asyncio.run(talk())


def test_a_signal_ends_the_server_and_acknowledged_writes_are_kept(cli: Cli) -> None:
    async def talk(url: str) -> None:
        async with over_http(url) as call:
            await asyncio.gather(*(call.done("remember", text=f"fact {n}") for n in range(10)))

    with serving_http() as (url, running):
        asyncio.run(talk(url))
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=PATIENCE)
    assert (running.returncode, out, err) == (0, "", "")
    assert len(cli.done("recent", "--json", "--limit", "20").json["memories"]) == 10


def test_only_this_machines_own_names_and_pages_are_answered(shared: str) -> None:
    assert asked(shared, Host="evil.example")[0] == 421
    assert asked(shared, Host="127.0.0.1.evil.example:80")[0] == 421
    assert asked(shared, Origin="http://evil.example")[0] == 403
    assert asked(shared, Origin="null")[0] == 403
    assert asked(shared, kind="text/plain")[0] == 400


def test_an_invalid_message_is_refused_without_harm(shared: str) -> None:
    assert asked(shared, "GET")[0] == 405
    assert asked(shared, "DELETE")[0] == 405
    assert asked(shared, body=b"\xff\x00 no JSON", Accept="application/json, text/event-stream")[0] == 400
    assert asked(shared, body=b" " * (1024 * 1024 + 1))[0] == 413
    assert asked(shared.replace("/mcp", "/other"))[0] == 404


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "example.org"])  # noqa: S104  it is refused
def test_another_address_than_this_machines_is_refused_with_advice(cli: Cli, host: str) -> None:
    ran = cli("mcp", "--http", "--host", host)
    assert ran.code == 2
    assert f"host: '{host}' is not allowed" in ran.err
    assert "remembrancer serve" in ran.err


def test_a_port_that_is_taken_is_an_error_of_one_line(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = cli("mcp", "--http", "--port", str(port))
    assert ran.code == 2
    assert f"error: port: {port} is not allowed; expected another port" in ran.err
