"""A server whose process may open no more files keeps answering."""

from __future__ import annotations

import resource
import socket
from contextlib import ExitStack
from pathlib import Path

import httpx
from server_process import PATIENCE, serving

HALF = b"GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "


def test_without_a_free_descriptor_it_waits_and_continues(tmp_path: Path) -> None:
    with serving(tmp_path / "a.db", "--no-work") as running:
        url = httpx.URL(running.url)
        used = len([*Path(f"/proc/{running.pid}/fd").iterdir()])
        allowed = resource.prlimit(running.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(running.pid, resource.RLIMIT_NOFILE, (used + 10, allowed[1]))
        with ExitStack() as lines:
            for _ in range(100):
                line = lines.enter_context(socket.create_connection((url.host, url.port or 80), PATIENCE))
                line.sendall(HALF)
            assert httpx.get(f"{running.url}healthz", timeout=PATIENCE, trust_env=False).status_code == 200
    assert len(running.stderr) < 10_000
    assert running.stderr.count("connections cannot be accepted now: Too many open files") == 1
