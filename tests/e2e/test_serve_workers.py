"""Several worker processes behind one address are one server."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
from driver import Cli
from server_process import PATIENCE, ServerProcess, serving, wait_until

CLIENTS = 4
"""Connections that are open at once, so that each worker has some."""
BURST = 10
"""The requests of one address under a rate limit of one in 1,000 seconds."""


@contextmanager
def clients(server: ServerProcess) -> Generator[list[httpx.Client]]:
    with ExitStack() as stack:
        yield [stack.enter_context(httpx.Client(base_url=server.url, timeout=PATIENCE)) for _ in range(CLIENTS)]


def test_two_workers_are_one_server_and_a_killed_one_is_replaced(tmp_path: Path) -> None:
    with serving(tmp_path / "a.db", "--workers", "2") as server, clients(server) as several:
        first, *others = several
        heard: list[str] = []
        with first.stream("GET", "/v1/events/stream", params={"limit": 0}) as stream:
            for line in stream.iter_lines():
                if line.startswith("retry:"):
                    for number, other in enumerate(others):
                        events = {"events": [{"text": f"The pump of line {number} leaks."}]}
                        assert other.post("/v1/events", json=events).status_code == 201
                elif line.startswith("data:"):
                    heard.append(json.loads(line.removeprefix("data:"))["event"]["text"])
                    if len(heard) == len(others):
                        break
        assert heard == [f"The pump of line {number} leaks." for number in range(len(others))]
        found = [
            {hit["memory"]["text"] for hit in one.post("/v1/recall", json={"query": "pump of line"}).json()["hits"]}
            for one in others
        ]
        assert found == [{*heard}] * len(others)
        counted = 'remembrancer_http_requests_total{method="POST",route="/v1/recall",status="200"} 3.0'
        # A worker counts a request after its answer is sent.
        wait_until(lambda: counted in others[0].get("/metrics").text.splitlines())

        children = _children(server.pid)
        os.kill(children[0], signal.SIGKILL)
        wait_until(lambda: bool({*_children(server.pid)} - {*children}))
        assert httpx.get(f"{server.url}readyz", timeout=PATIENCE).json()["status"] == "ready"
        server.ask_to_stop()
        assert server.ended() == 0
    assert "another one takes its place" in server.stderr


def test_the_workers_count_the_requests_of_a_client_together(tmp_path: Path) -> None:
    with serving(tmp_path / "a.db", "--workers", "2", "--rate-limit", "0.001") as server, clients(server) as several:
        statuses = [several[turn % CLIENTS].get("/v1/events/count").status_code for turn in range(BURST + 2)]
    assert statuses == [200] * BURST + [429] * 2


def test_stores_that_one_process_uses_alone_are_refused_with_the_reason(cli: Cli) -> None:
    refused = cli("serve", "--db", ":memory:", "--workers", "2")
    assert (refused.code, "workers: 2 is not allowed; expected 1, because a store in memory" in refused.err) == (
        2,
        True,
    )
    assert "from 1 to 64" in cli("serve", "--workers", "0").err
    assert "from 1 to 64" in cli("serve", "--workers", "65").err


def _children(pid: int) -> list[int]:
    """The workers of a supervisor."""
    found: list[int] = []
    for number in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split():
        command = Path(f"/proc/{number}/cmdline").read_bytes()
        if b"spawn_main" in command:
            found.append(int(number))
    return found
