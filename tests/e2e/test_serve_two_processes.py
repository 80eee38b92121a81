"""Two servers on one PostgreSQL database are one memory: what one of them does, the other knows at its next answer."""

from __future__ import annotations

import json
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from typing import Any
from uuid import uuid4

import httpx
import pytest
from postgres_server import Schemas
from server_process import PATIENCE, ServerProcess, serving

from remembrancer import Remembrancer
from remembrancer.domain.api_key import Right

BURST = 10
"""The requests that a key has at once under a rate limit of one a second."""


@pytest.fixture
def clients(postgres: Schemas) -> Generator[tuple[httpx.Client, httpx.Client, str]]:
    """A client of each server, without a key, and an admin's key."""
    url = postgres.take()
    with Remembrancer.open(url, embedder="none", workspace="acme") as rem:
        key = rem.keys.create("admin", right=Right.ADMIN).token
    servers = [serving(url, environment={"REMEMBRANCER_RATE_LIMIT": "1"}) for _ in range(2)]
    with ExitStack() as stack:

        def started(server: AbstractContextManager[ServerProcess]) -> ServerProcess:
            return stack.enter_context(server)

        with ThreadPoolExecutor(2) as threads:
            one, two = threads.map(started, servers)
        yield (
            stack.enter_context(httpx.Client(base_url=one.url, timeout=PATIENCE)),
            stack.enter_context(httpx.Client(base_url=two.url, timeout=PATIENCE)),
            key,
        )


def found(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [hit["memory"]["text"] for hit in answer.json()["hits"]]


def test_two_servers_on_one_database_are_one_memory(clients: tuple[httpx.Client, httpx.Client, str]) -> None:
    one, two, key = clients
    admin = {"Authorization": f"Bearer {key}"}
    question: dict[str, Any] = {"json": {"query": "which pump leaks?"}, "headers": admin}

    # a write through one is in the first answer of the other, which has loaded its index before
    assert found(two.post("/v1/recall", **question)) == []
    heard: list[str] = []
    with two.stream("GET", "/v1/events/stream", params={"limit": 0}, headers=admin) as stream:
        for line in stream.iter_lines():
            if line.startswith("retry:"):
                events = {"events": [{"text": "The pump of line 3 leaks."}]}
                assert one.post("/v1/events", json=events, headers=admin).status_code == 201
            elif line.startswith("data:"):
                heard.append(json.loads(line.removeprefix("data:"))["event"]["text"])
                break
    assert heard == ["The pump of line 3 leaks."]
    answer = two.post("/v1/recall", **question)
    assert found(answer) == heard

    # a request repeated at the other server is executed once
    memory = answer.json()["hits"][0]["memory"]["id"]
    once = {**admin, "Idempotency-Key": str(uuid4())}
    rated = [
        server.post(f"/v1/memories/{memory}/feedback", json={"verdict": "unhelpful"}, headers=once)
        for server in (one, two)
    ]
    assert [response.status_code for response in rated] == [200, 200]
    assert rated[0].json() == rated[1].json()
    assert one.get(f"/v1/memories/{memory}", headers=admin).json()["memory"]["strength"]["usage"]["unhelpful"] == 1

    # what one erases, the other does not find
    erased = one.post("/v1/erasures", json={"ids": [memory]}, headers=admin)
    assert erased.status_code == 200, erased.text
    assert found(two.post("/v1/recall", **question)) == []

    # each server counts the requests of a key by itself
    made = one.post("/v1/keys", json={"name": "reader", "right": "read"}, headers=admin)
    reader = {"Authorization": f"Bearer {made.json()['token']}"}
    statuses = [one.get("/v1/events/count", headers=reader).status_code for _ in range(BURST + 2)]
    assert (statuses[0], statuses[-1]) == (200, 429)
    assert two.get("/v1/events/count", headers=reader).status_code == 200

    # a key revoked at one is refused by the other
    assert one.delete(f"/v1/keys/{made.json()['key']['id']}", headers=admin).is_success
    assert two.get("/v1/events/count", headers=reader).status_code == 401
