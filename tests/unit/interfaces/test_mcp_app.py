"""MCP as part of another server, which identifies the caller by the request."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.mcpserver import Context
from mcp_clients import Caller
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from remembrancer import AsyncRemembrancer
from remembrancer.domain.api_key import Right
from remembrancer.errors import PermissionDenied
from remembrancer.interfaces.mcp.app import McpApp, mcp_app
from remembrancer.interfaces.mcp.server import memory_server

URL = "http://127.0.0.1/mcp"


@asynccontextmanager
async def hosted(memory: AsyncRemembrancer) -> AsyncGenerator[Starlette, None]:
    """A host that knows who asks by a header: the workspace, with the right to write only to its own."""

    async def memory_of_request(request: Request, needed: Right) -> AsyncRemembrancer:
        if needed is Right.WRITE and request.headers["x-may"] != "write":
            raise PermissionDenied("this key may only read; this needs a key that may write")
        return memory.of_workspace(request.headers["x-workspace"])

    mcp = mcp_app(memory_of_request, hosts=None)
    async with mcp.run():
        yield Starlette(routes=[Route("/mcp", mcp)])


@asynccontextmanager
async def client_of(app: Starlette, workspace: str, may: str = "write", mode: str = "auto") -> AsyncGenerator[Caller]:
    transport = httpx2.ASGITransport(app=app)
    headers = {"x-workspace": workspace, "x-may": may}
    async with (
        httpx2.AsyncClient(transport=transport, headers=headers) as http,
        Client(streamable_http_client(URL, http_client=http), mode=mode) as client,
    ):
        yield Caller(client)


@pytest.mark.parametrize(
    ("mode", "spoken"), [("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28"), ("auto", "2026-07-28")]
)
def test_both_revisions_of_the_protocol_are_spoken(mode: str, spoken: str) -> None:
    async def run() -> str | None:
        async with (
            await AsyncRemembrancer.open(":memory:", embedder="none") as memory,
            hosted(memory) as app,
            client_of(app, "acme", mode=mode) as acme,
        ):
            return acme.client.protocol_version

    assert asyncio.run(run()) == spoken


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_each_request_gets_the_memory_of_who_sent_it(mode: str) -> None:
    async def run() -> None:
        async with await AsyncRemembrancer.open(":memory:", embedder="none") as memory, hosted(memory) as app:
            async with client_of(app, "acme", mode=mode) as acme, client_of(app, "other", mode=mode) as other:
                await acme.done("remember", text="The plan of acme")
                assert len((await acme.done("recall", query="which plan?")).shape["hits"]) == 1
                assert (await other.done("recall", query="which plan?")).shape["hits"] == []
            async with client_of(app, "acme", may="read", mode=mode) as guest:
                assert len((await guest.done("recent")).shape["memories"]) == 1
                refused = await guest("remember", text="x")
                assert (refused.failed, refused.text) == (
                    True,
                    "this key may only read; this needs a key that may write",
                )

    asyncio.run(run())


def test_a_host_may_start_and_stop_it_again() -> None:
    async def run() -> None:
        async with await AsyncRemembrancer.open(":memory:", embedder="none") as memory:

            async def memory_of_request(_request: Request, _needed: Right) -> AsyncRemembrancer:
                return memory

            mcp = mcp_app(memory_of_request, hosts=["127.0.0.1"])
            app = Starlette(routes=[Route("/mcp", mcp)])
            for _ in range(2):
                async with mcp.run(), client_of(app, "any") as call:
                    await call.done("memory_health")
            with pytest.raises(RuntimeError, match="lifespan"):
                await asked(app)

    asyncio.run(run())


async def asked(app: Starlette, **headers: str) -> int:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app)) as http:
        return (await http.post(URL, json={}, headers=headers)).status_code


def test_only_the_hosts_that_it_was_given_are_answered() -> None:
    async def run() -> None:
        async def nobody(_request: Request, _needed: Right) -> AsyncRemembrancer:
            raise AssertionError

        mcp = mcp_app(nobody, hosts=["memory.example"])
        app = Starlette(routes=[Route("/mcp", mcp)])
        async with mcp.run():
            assert await asked(app, host="evil.example") == 421
            assert await asked(app, host="memory.example", origin="https://evil.example") == 403
            assert await asked(app, host="memory.example", origin="https://memory.example") == 400  # no message

    asyncio.run(run())


def test_making_a_server_leaves_the_logging_of_its_host_alone() -> None:
    async def nobody(_context: Context, _needed: Right) -> AsyncRemembrancer:
        raise AssertionError

    root = logging.getLogger()
    kept, root.handlers = root.handlers, []
    try:
        level = root.level
        memory_server(nobody)
        assert (root.handlers, root.level) == ([], level)
    finally:
        root.handlers = kept


def test_an_app_answers_nothing_but_posts() -> None:
    async def run() -> None:
        async def nobody(_request: Request, _needed: Right) -> AsyncRemembrancer:
            raise AssertionError

        mcp: McpApp = mcp_app(nobody, hosts=None)
        app = Starlette(routes=[Route("/mcp", mcp)])
        async with mcp.run(), httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app)) as http:
            for method in ("GET", "DELETE", "PUT", "OPTIONS"):
                answered = await http.request(method, URL)
                assert (answered.status_code, answered.headers["allow"]) == (405, "POST")

    asyncio.run(run())
