"""What the server does about memory that it no longer uses."""

from __future__ import annotations

import asyncio
import platform
from pathlib import Path
from resource import getpagesize

import pytest
from fastapi import FastAPI

from remembrancer.interfaces.http import server
from remembrancer.interfaces.http.connections import ConnectionLimits, Connections
from remembrancer.interfaces.http.telemetry import AppMetrics

MIB = 1 << 20

pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no malloc_trim")


def resident() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * getpagesize()


def test_freed_memory_between_blocks_in_use_is_returned_to_the_system() -> None:
    # Each tenth block stays, so that glibc does not return the others by itself. Smaller blocks than 128 KiB are not
    # mapped one by one.
    blocks = [b"x" * 100_000 for _ in range(1_500)]
    in_use = blocks[::10]
    del blocks
    before = resident()
    server.return_free_memory()
    assert before - resident() > 100 * MIB
    assert len(in_use) == 150


@pytest.mark.parametrize(("ticks", "times"), [(599, 0), (600, 1), (1_200, 1)])
def test_the_server_returns_freed_memory_every_minute(ticks: int, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    returned: list[bool] = []
    monkeypatch.setattr(server, "return_free_memory", lambda: returned.append(True))
    serving = server.BoundedServer(FastAPI(), lambda: None, Connections(ConnectionLimits(), AppMetrics()))
    asyncio.run(serving.on_tick(ticks))
    assert len(returned) == times
