"""Server time of every page of the dashboard, over 100,000 memories.

`remembrancer serve` runs in its own process over a prepared file (benchmarks/dashboard_memory.py), with the local
embedder and without scheduled jobs. One client asks for one page at a time and reads the whole answer. `first`: the
first request for the page, after the server has loaded its index. The doctor reads the whole file; its findings are
loaded after its page and are measured apart.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

from rich.console import Console
from rich.table import Table

from benchmarks.dashboard_memory import fill
from benchmarks.server_process import ServerProcess, serving
from remembrancer import Remembrancer
from remembrancer.config import Settings
from remembrancer.evaluation.machine import machine_line
from remembrancer.models import choose_embedder

SIZE: Final = 100_000
REQUESTS: Final = 20
LIMIT_MS: Final = 300.0
QUESTION: Final = "What did we decide about the lamp?"
WHOLE_FILE: Final = "findings of the doctor"
LOADING_S: Final = 120.0
"""Seconds that the server may take to load its index."""


@dataclass(frozen=True, slots=True)
class PageTimes:
    """Times in milliseconds; `busy`: mean CPU time of the server, which other programs disturb less; `size`: of the
    answer, in KiB.
    """

    page: str
    first: float
    p50: float
    p95: float
    busy: float
    size: float


def addresses(file: Path) -> Mapping[str, str]:
    """The address of each page, and of each part that is loaded after a page."""
    with Remembrancer.open(str(file), embedder="none", settings={"background_index": False}) as rem:
        episode = rem.memories(kinds=["episode"], limit=1).memories[0].id
        turn = rem.show(episode).events[20].id
        actor = rem.show(episode).events[20].actor
    asked = urlencode({"q": QUESTION})
    return {
        "overview": "/",
        "overview, counts": "/parts/counts",
        "overview, state": "/parts/state",
        "overview, fading": "/parts/fading",
        "overview, whole": "/?whole=1",
        "search": f"/search?{asked}",
        "search with filters": f"/search?{asked}&kinds=decision&walk=1",
        "why not": f"/search?{asked}&why={episode}",
        "missed memory": f"/search?{asked}&missing=coffee",
        "compare": f"/compare?{asked}",
        "memories": "/memories",
        "a memory": f"/memories/{episode}",
        "timeline": "/timeline",
        "timeline, all": "/timeline?span=quarter&kind=all",
        "graph": "/graph",
        "graph around": f"/graph?memory={episode}",
        "graph of a speaker": f"/graph?{urlencode({'speaker': actor or ''})}",
        "graph of a name": "/graph?name=PX_3071",
        "conversations": "/conversations",
        "a conversation": f"/conversations/{turn}",
        "journal": "/journal",
        "journal, words": "/journal?q=coffee",
        "journal, filters": f"/journal?{urlencode({'actor': actor or ''})}&severities=error",
        "preferences": "/preferences",
        "jobs": "/jobs",
        "doctor": "/doctor",
        WHOLE_FILE: "/parts/doctor",
    }


class Client:
    """One connection, which is kept."""

    def __init__(self, server: ServerProcess) -> None:
        self._connection = http.client.HTTPConnection(server.host, server.port, timeout=300)

    def ms(self, address: str) -> tuple[float, int]:
        """The time of a request, and the length of the answer."""
        began = time.perf_counter()
        self._connection.request("GET", address, headers={"Accept": "text/html"})
        answer = self._connection.getresponse()
        body = answer.read()
        assert answer.status == http.client.OK, f"{address}: {answer.status}"
        return (time.perf_counter() - began) * 1000, len(body)

    def wait_until_loaded(self, server: ServerProcess) -> None:
        """Wait until the server's memory has stopped growing: it loads its index in the background."""
        until, before = time.monotonic() + LOADING_S, -1.0
        while time.monotonic() < until and (now := server.cpu_seconds()) - before > 0.05:
            before = now
            time.sleep(1)


def measure(file: Path, log: Path) -> list[PageTimes]:
    pages = addresses(file)
    with serving(file, log) as server:
        client = Client(server)
        client.wait_until_loaded(server)
        return [_measured(client, server, name, address) for name, address in pages.items()]


def _measured(client: Client, server: ServerProcess, name: str, address: str) -> PageTimes:
    first, size = client.ms(address)
    requests, before = 3 if name == WHOLE_FILE else REQUESTS, server.cpu_seconds()
    times = [client.ms(address)[0] for _ in range(requests)]
    return PageTimes(
        name,
        first=first,
        p50=statistics.median(times),
        p95=statistics.quantiles(times, n=20)[-1],
        busy=(server.cpu_seconds() - before) * 1000 / requests,
        size=size / 1024,
    )


def table(results: Sequence[PageTimes], size: int) -> Table:
    drawn = Table(title=f"Server time of a page, one request at a time, {size:,} memories (ms)")
    for heading in ("page", "first", "p50", "p95", "busy", "KiB"):
        drawn.add_column(heading, justify="left" if heading == "page" else "right")
    for one in results:
        drawn.add_row(
            one.page, f"{one.first:.0f}", f"{one.p50:.0f}", f"{one.p95:.0f}", f"{one.busy:.0f}", f"{one.size:.0f}"
        )
    return drawn


async def _filled(path: Path, size: int) -> None:
    embedder = choose_embedder(Settings(embedder="local")).embedder
    assert embedder is not None
    try:
        await fill(path, size, embedder)
    finally:
        await embedder.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=SIZE, help="the number of memories")
    parser.add_argument("--db", type=Path, help="a file that was filled before; filled if it is not there")
    options = parser.parse_args()
    console = Console(width=120)
    console.print(machine_line())
    with tempfile.TemporaryDirectory() as folder:
        file = options.db or Path(folder) / "dashboard.db"
        if not file.exists():
            asyncio.run(_filled(file, options.size))
        results = measure(file, Path(folder) / "server.log")
    console.print(table(results, options.size))
    slow = [one.page for one in results if one.page != WHOLE_FILE and one.p95 > LIMIT_MS]
    console.print(f"Above {LIMIT_MS:.0f} ms: {', '.join(slow) or 'none'}")


if __name__ == "__main__":
    main()
