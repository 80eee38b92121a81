"""A request without a valid key is refused by its headers, before its body is read."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from fastapi import FastAPI
from requests_made import Answer, Client, with_client
from served import Served, asked
from starlette.types import Message

from remembrancer.domain.api_key import ApiKey
from remembrancer.interfaces.http import v1
from remembrancer.ports.store import Store

WRONG = "rem_" + "A" * 43
OPEN = {"/login", "/logout"}
"""Forms that need no key: at most 16 KiB, from the server's own pages only."""


class BodyWasRead(Exception):
    """The app asked for the body of a request that it should have refused by its headers."""


def writing_routes(app: FastAPI) -> list[tuple[str, str]]:
    """The method and a path of each route that may take a body."""
    told = app.openapi()["paths"]
    documented = [(method.upper(), path) for path, one in told.items() for method in one if method != "get"]
    filled = [(method, re.sub(r"\{\w+\}", "0195b7a0-0000-7000-8000-000000000000", path)) for method, path in documented]
    return [*filled, ("POST", "/mcp")]


async def status_of(app: FastAPI, method: str, path: str, token: str | None) -> int:
    """The status with which the app answers a request whose body never comes."""
    found: list[int] = []
    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json"), (b"content-length", b"7500000")]
    if token is not None:
        headers.append((b"authorization", f"Bearer {token}".encode()))

    async def receive() -> Message:
        raise BodyWasRead(f"{method} {path}")

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            found.append(message["status"])

    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": headers,
        "client": ("203.0.113.9", 4711),
        "server": ("127.0.0.1", 8765),
    }
    await app(scope, receive, send)
    return found[0]


@pytest.mark.parametrize("token", [None, WRONG], ids=["no key", "a wrong key"])
def test_a_request_without_a_valid_key_is_refused_before_its_body_is_read(token: str | None) -> None:
    async def steps(served: Served) -> dict[tuple[str, str], int]:
        await served.memory.keys.create("somebody's")
        found: dict[tuple[str, str], int] = {}
        for method, path in writing_routes(served.app):
            found[method, path] = await status_of(served.app, method, path, token)
        return {route: status for route, status in found.items() if status not in {401, 429}}

    assert asked(steps) == {}


@pytest.mark.parametrize("body", [b"{", b'{"events": NaN}', b"\xff", b"[" * 100_000])
def test_a_body_that_is_not_json_is_401_without_a_key(body: bytes) -> None:
    async def steps(client: Client) -> Answer:
        await client.memory.keys.create("somebody's")
        return await client("POST", "/v1/events", body)

    assert with_client(steps).status == 401


def test_a_wrong_key_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def steps(client: Client) -> int:
        await client.memory.keys.create("somebody's")
        store = client.memory.context.store
        looked_up = store.key_of
        lookups: list[bytes] = []

        async def counted(_: Store, digest: bytes) -> ApiKey | None:
            lookups.append(digest)
            return await looked_up(digest)

        monkeypatch.setattr(type(store), "key_of", counted)
        await client("POST", "/v1/events", {"events": []}, headers={"Authorization": f"Bearer {WRONG}"})
        return len(lookups)

    assert with_client(steps) == 1


@pytest.mark.parametrize(("size", "goes_on"), [(1_000, False), (1_000_000, True)])
def test_the_event_loop_is_not_blocked_while_a_large_body_is_parsed(size: int, goes_on: bool) -> None:
    async def steps() -> bool:
        went_on: list[bool] = []
        asyncio.get_running_loop().call_soon(went_on.append, True)
        await v1.parsed(b'"' + b"a" * size + b'"')
        return bool(went_on)

    assert asyncio.run(steps()) is goes_on
