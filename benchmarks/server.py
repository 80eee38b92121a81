"""Load test of the HTTP server: requests per second, latency, and whether its memory use stays constant.

`remembrancer serve` runs in its own process over a copy of a prepared file (benchmarks/corpus.py), restarted for each
row. This process runs the clients, which send an API key. Loads: `recall` asks for 10 hits; `observe` records one
event, `observe 100` a hundred at once; `mixed` sends four recalls per observe. A client sends its next request when the
last one is answered. The server embeds new events while it answers requests. The memory test runs for minutes, over the
largest file. Linux only.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from benchmarks.corpus import Words, fill, open_memory
from benchmarks.server_clients import HITS, LOADS, MIXED, RECALL, Loaded, Requests, drive
from benchmarks.server_process import ServerProcess, serving
from remembrancer import Remembrancer
from remembrancer.config import Settings
from remembrancer.domain.api_key import Right
from remembrancer.evaluation.machine import machine_line
from remembrancer.models import choose_embedder
from remembrancer.ports.embedder import Embedder

SIZES: Final = (10_000, 100_000)
CLIENTS: Final = (1, 16, 64)
WATCHED: Final = (RECALL, MIXED)
"""Loads of the memory test: one that adds no memories, and a realistic mix."""
SECONDS: Final = 15.0
MINUTES: Final = 10.0
FLAT_CLIENTS: Final = 16
WARM: Final = 50
"""Recalls before measuring: the first one loads the resident index."""
IN_PROCESS: Final = 300
"""Questions asked without a server, for comparison."""
SAMPLE_SECONDS: Final = 5.0
LEAST_SAMPLES: Final = 20
SETTLING: Final = 0.4
"""Share of the duration, at the beginning, that is not counted, because SQLite's page caches fill and the allocator
grows. A new server is compared after the same time.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """Requests of one kind within a load.

    Times in milliseconds; `by_server`, `by_clients`: mean number of busy CPUs; `before`, `after`: the server's resident
    memory in MiB, when warm and at the end of the load, without what it shares with other processes twice.
    """

    workers: int
    memories: int
    load: str
    kind: str
    clients: int
    requests: int
    a_second: float
    p50: float
    p95: float
    p99: float
    errors: dict[str, int]
    by_server: float
    by_clients: float
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Flatness:
    """Resident memory of a server under a long load, in MiB.

    `first`: after settling; `last`: at the end; `a_minute`: slope of the regression line through the samples between.
    `anew`: memory of a new server, also settled, over the file as it was at the end; the excess of `last` over it is
    not explained by the memories that were added.
    """

    memories: int
    load: str
    clients: int
    minutes: float
    requests: int
    errors: dict[str, int]
    events: int
    first: float
    last: float
    a_minute: float
    anew: float


@dataclass(frozen=True, slots=True)
class LoadReport:
    """All results. `in_process`: median time of a recall without a server in milliseconds, by number of memories."""

    machine: str
    in_process: dict[int, float]
    rows: tuple[Row, ...]
    flatness: tuple[Flatness, ...]

    @property
    def errors(self) -> Counter[str]:
        return sum((Counter(one.errors) for one in (*self.rows, *self.flatness)), Counter[str]())


@dataclass(frozen=True, slots=True)
class Prepared:
    """A file with `memories` memories; each server gets a copy."""

    memories: int
    path: Path


@dataclass(frozen=True, slots=True)
class WarmServer:
    """A warm server and an API key for it."""

    process: ServerProcess
    key: str
    file: Path

    async def load(self, load: str, clients: int, seconds: float) -> Loaded:
        return await drive(self.process, self.requests(load), clients=clients, seconds=seconds)

    def requests(self, load: str) -> Requests:
        return Requests(load, self.key, Words(seed=2))


async def prepare(size: int, embedder: Embedder, folder: Path) -> Prepared:
    path = folder / f"{size}.db"
    if not path.exists():
        await fill(path, Words(seed=size), size, embedder)
    return Prepared(size, path)


async def in_process(prepared: Prepared, embedder: Embedder) -> float:
    """Median time of a recall without a server, in milliseconds."""
    words = Words(seed=2)
    with copied(prepared.path) as path:
        async with await open_memory(path, embedder) as memory:
            times: list[float] = []
            for _ in range(WARM + IN_PROCESS):
                began = time.perf_counter()
                await memory.recall(words.question(), limit=HITS)
                times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times[WARM:])


async def measure(prepared: Prepared, load: str, clients: int, seconds: float, workers: int = 1) -> list[Row]:
    with copied(prepared.path) as file, warm(file, workers) as server:
        await _warm_up(server)
        before = server.process.resident()
        loaded = await server.load(load, clients, seconds)
        after = server.process.resident()
    rows: list[Row] = []
    for kind, answers in sorted(loaded.answers.items()):
        p50, p95, p99 = answers.quantiles()
        rows.append(
            Row(
                workers=workers,
                memories=prepared.memories,
                load=load,
                kind=kind,
                clients=clients,
                requests=len(answers.times),
                a_second=len(answers.times) / loaded.seconds,
                p50=p50,
                p95=p95,
                p99=p99,
                errors=answers.errors,
                by_server=loaded.of_server / loaded.seconds,
                by_clients=loaded.of_clients / loaded.seconds,
                before=before,
                after=after,
            )
        )
    return rows


async def watch(prepared: Prepared, load: str, minutes: float) -> Flatness:
    """Measure the server's memory under a long load."""
    seconds = minutes * 60
    with copied(prepared.path) as file:
        with warm(file) as server:
            await _warm_up(server)
            sampling = asyncio.create_task(_sample(server.process, min(SAMPLE_SECONDS, seconds / LEAST_SAMPLES)))
            loaded = await server.load(load, FLAT_CLIENTS, seconds)
            sampling.cancel()
            samples = [(at, size) for at, size in await sampling if at >= SETTLING * seconds]
        with warm(file) as server:
            await _warm_up(server)
            await server.load(load, FLAT_CLIENTS, SETTLING * seconds)
            anew = server.process.resident()
    return Flatness(
        memories=prepared.memories,
        load=load,
        clients=FLAT_CLIENTS,
        minutes=loaded.seconds / 60,
        requests=sum(len(answers.times) for answers in loaded.answers.values()),
        errors=dict(loaded.errors),
        events=loaded.events,
        first=samples[0][1],
        last=samples[-1][1],
        a_minute=60 * statistics.linear_regression(*zip(*samples, strict=True)).slope,
        anew=anew,
    )


async def _sample(process: ServerProcess, every: float) -> list[tuple[float, float]]:
    """Sample until cancelled: (seconds since the start, MiB)."""
    began, samples = time.perf_counter(), list[tuple[float, float]]()
    try:
        while True:
            samples.append((time.perf_counter() - began, process.resident()))
            await asyncio.sleep(every)
    except asyncio.CancelledError:
        return samples


async def _warm_up(server: WarmServer) -> None:
    workers = len(server.process.pids)
    several = 1 if workers == 1 else 4 * workers  # so that each worker gets some
    loaded = await drive(server.process, server.requests(RECALL), clients=several, each=WARM)
    assert not loaded.errors, f"the server did not answer: {dict(loaded.errors)}"


@contextmanager
def warm(file: Path, workers: int = 1) -> Generator[WarmServer]:
    with Remembrancer.open(str(file), embedder="local", settings={"background_index": False}) as memory:
        key = memory.keys.create("load", Right.WRITE).token
    with serving(file, file.with_suffix(".log"), workers) as process:
        yield WarmServer(process, key, file)


@contextmanager
def copied(file: Path) -> Generator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(shutil.copy(file, folder))


# ── the tables ───────────────────────────────────────────────────────────────────────────────────────────────────────


def rows_table(rows: Sequence[Row], seconds: float) -> Table:
    drawn = Table(title=f"The server under load, {seconds:g} s each", title_justify="left")
    drawn.add_column("workers", justify="right")
    drawn.add_column("memories", justify="right")
    drawn.add_column("load")
    for heading in ("clients", "requests/s", "p50 ms", "p95 ms", "p99 ms", "errors", "CPUs: server", "clients", "MiB"):
        drawn.add_column(heading, justify="right")
    for row in rows:
        drawn.add_row(
            str(row.workers),
            f"{row.memories:,}",
            row.load if row.load == row.kind else f"{row.load}: {row.kind}",
            str(row.clients),
            f"{row.a_second:,.0f}",
            f"{row.p50:.1f}",
            f"{row.p95:.1f}",
            f"{row.p99:.1f}",
            str(sum(row.errors.values())),
            f"{row.by_server:.2f}",
            f"{row.by_clients:.2f}",
            f"{row.before:.0f} → {row.after:.0f}",
        )
    return drawn


def flatness_table(flatness: Sequence[Flatness]) -> Table:
    drawn = Table(title=f"Its memory under load that lasts, {FLAT_CLIENTS} clients, MiB", title_justify="left")
    drawn.add_column("memories", justify="right")
    drawn.add_column("load")
    for heading in (
        "minutes",
        "requests",
        "errors",
        "events added",
        "settled",
        "in the end",
        "a minute",
        "a new server",
    ):
        drawn.add_column(heading, justify="right")
    for one in flatness:
        drawn.add_row(
            f"{one.memories:,}",
            one.load,
            f"{one.minutes:.1f}",
            f"{one.requests:,}",
            str(sum(one.errors.values())),
            f"{one.events:,}",
            f"{one.first:.1f}",
            f"{one.last:.1f}",
            f"{one.a_minute:+.2f}",
            f"{one.anew:.1f}",
        )
    return drawn


async def run(options: argparse.Namespace, folder: Path) -> LoadReport:
    sizes: list[int] = options.sizes
    clients: list[int] = options.clients
    loads: list[str] = options.loads
    workers: list[int] = options.workers
    embedder = choose_embedder(Settings(embedder="local")).embedder
    assert embedder is not None
    try:
        files = [await prepare(size, embedder, folder) for size in sizes]
        alone = {prepared.memories: await in_process(prepared, embedder) for prepared in files}
    finally:
        await embedder.close()  # frees its threads, which would compete with the server for CPUs
    measured = [
        await measure(prepared, load, many, options.seconds, processes)
        for prepared in files
        for load, many, processes in product(loads, clients, workers)
    ]
    watched = [load for load in WATCHED if load in loads and options.minutes]
    lasting = [await watch(files[-1], load, options.minutes) for load in watched]
    return LoadReport(machine_line(), alone, tuple(row for rows in measured for row in rows), tuple(lasting))


def _at_least_one(number: str) -> int:
    if int(number) < 1:
        raise ValueError
    return int(number)


_at_least_one.__name__ = "number of 1 or more"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.server", description=__doc__)
    parser.add_argument("--sizes", type=_at_least_one, nargs="+", default=SIZES, help="memories")
    parser.add_argument("--clients", type=_at_least_one, nargs="+", default=CLIENTS)
    parser.add_argument("--workers", type=_at_least_one, nargs="+", default=(1,), help="processes of the server")
    parser.add_argument("--loads", choices=LOADS, nargs="+", default=LOADS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each load")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="of load while memory is watched; 0: not at all")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="prepared files are kept there, and found again")
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    return parser


def main() -> None:
    parser = _parser()
    options = parser.parse_args()
    if not Path("/proc/self/statm").exists():
        parser.error("it reads processes' figures from /proc, which this system does not have: Linux only")
    if options.seconds <= 0 or options.minutes < 0:
        parser.error("--seconds must be more than 0, --minutes 0 or more")
    with tempfile.TemporaryDirectory() as folder:
        report = asyncio.run(run(options, options.keep or Path(folder)))
    if options.json:
        print(json.dumps(asdict(report)))
    else:
        console = Console(width=130)
        console.print(report.machine)
        console.print(rows_table(report.rows, options.seconds))
        alone = ", ".join(f"{size:,}: {median:.1f} ms" for size, median in report.in_process.items())
        console.print(f"A recall without a server, median of {IN_PROCESS}: {alone}")
        if report.flatness:
            console.print(flatness_table(report.flatness))
    if report.errors:
        sys.exit(f"errors: {dict(report.errors)}")


if __name__ == "__main__":
    main()
