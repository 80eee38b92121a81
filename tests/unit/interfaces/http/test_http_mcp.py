"""MCP at a path of the server, with the same authentication as every route."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import httpx
import pytest
from served import Served, asked

T = TypeVar("T")

ACCEPT = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


def running(steps: Callable[[Served], Awaitable[T]]) -> T:
    """`asked`, of an app whose lifespan has begun."""

    async def within(served: Served) -> T:
        async with served.app.router.lifespan_context(served.app):
            return await steps(served)

    return asked(within)


async def sent(served: Served, tool: str, *, path: str = "/mcp", token: str = "", **arguments: Any) -> httpx.Response:
    headers = {**ACCEPT, **({"Authorization": f"Bearer {token}"} if token else {})}
    call = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    return await served.http.post(path, json=message, headers=headers)


async def called(served: Served, tool: str, *, path: str = "/mcp", token: str = "", **arguments: Any) -> Any:
    answer = await sent(served, tool, path=path, token=token, **arguments)
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]


def test_a_memory_remembered_over_mcp_is_found_over_http() -> None:
    async def steps(served: Served) -> tuple[str, str]:
        await called(served, "remember", text="Checkout needs 2 GiB")
        found = await served.http.post("/v1/recall", json={"query": "how much does checkout need?"})
        return "Checkout needs 2 GiB", found.json()["hits"][0]["memory"]["text"]

    told, found = running(steps)
    assert found == told


def test_the_query_string_narrows_the_scope() -> None:
    async def steps(served: Served) -> Any:
        await called(served, "remember", path="/mcp?agent=coder&session=s1", text="a kestrel")
        return (await served.memory.recent())[0].scope

    scope = running(steps)
    assert (scope.agent, scope.session) == ("coder", "s1")


def test_a_key_sees_its_own_workspace() -> None:
    async def steps(served: Served) -> list[str]:
        other = served.memory.of_workspace("other")
        token = (await other.keys.create("agent", "write")).token
        await called(served, "remember", token=token, text="a kestrel")
        return [memory.text for memory in (*await served.memory.recent(), *await other.recent())]

    assert running(steps) == ["a kestrel"]


def test_a_key_that_may_read_remembers_nothing() -> None:
    async def steps(served: Served) -> tuple[Any, int]:
        token = (await served.memory.keys.create("reader", "read")).token
        refused = await called(served, "remember", token=token, text="a kestrel")
        return refused, len(await served.memory.recent())

    refused, kept = running(steps)
    assert (refused["isError"], kept) == (True, 0)
    assert "this needs a key that may write" in refused["content"][0]["text"]


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/mcp", {"Authorization": "Bearer rem_unknown"}, 401),
        ("/mcp", {"Host": "kestrel.example"}, 403),
        ("/mcp", {"Origin": "https://kestrel.example"}, 403),
        ("/mcp?workspace=other", {}, 400),
    ],
)
def test_a_refused_request_is_a_problem_as_on_other_routes(path: str, headers: dict[str, str], status: int) -> None:
    async def steps(served: Served) -> httpx.Response:
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        return await served.http.post(path, json=message, headers={**ACCEPT, **headers})

    answer = running(steps)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")


def test_it_is_counted_by_its_path() -> None:
    async def steps(served: Served) -> str:
        await called(served, "recent")
        return (await served.http.get("/metrics")).text

    assert 'route="/mcp"' in running(steps)
