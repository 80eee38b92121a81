"""Recall, memory, writes and the building of an index by size and backend, and what follows for larger sizes.

`fill SIZE` makes a file of memories (`benchmarks/corpus.py`), `measure BACKEND SIZE` asks it in a process of its own,
and `render` writes a table and a picture of all results. PostgreSQL is a server that the command itself starts, filled
by `remembrancer migrate`. On a machine that others use too, compare CPU times: wall times contain the waiting.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import psycopg
from markupsafe import Markup

from benchmarks.corpus import Words, fill
from remembrancer import AsyncRemembrancer, compose
from remembrancer.config import Settings
from remembrancer.evaluation.machine import machine_line
from remembrancer.index.resident import ResidentIndex
from remembrancer.interfaces.charts.document import document
from remembrancer.interfaces.charts.panel import row_panel
from remembrancer.interfaces.charts.svg import SMALL, fitted
from remembrancer.models import choose_embedder
from remembrancer.ports.embedder import Embedder

FOLDER: Final = Path("build/scaling")
SIZES: Final = (10_000, 100_000, 1_000_000)
QUESTIONS: Final = 100
WARMING: Final = 10
WRITTEN: Final = 500
"""Memories that are written, one call each, into a workspace of their own."""
TICKS: Final = os.sysconf("SC_CLK_TCK")
PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Figures of one backend and size. Times in milliseconds; CPU of this process and, if there is one, its server.

    `cpu_ms`: the mean over the questions. `cpu_p50_ms`: the median of this process alone, because a server's CPU is
    counted in steps of 10 ms.
    `built_ms`: CPU until the first answer, which builds the index, or fills another one. `rss_mb`: the memory of the
    process after the questions; `grown_mb`: of it, since the store was opened. `write_ms`: CPU for one
    memory, without its vector. `bytes`: of the store, for one memory. `moved`: rows a second when PostgreSQL was
    filled; 0: it was before.
    `load_before`, `load_after`: how many processes wanted a processor.
    """

    backend: str
    size: int
    machine: str
    p50_ms: float
    p95_ms: float
    cpu_ms: float
    cpu_p50_ms: float
    built_ms: float
    rss_mb: float
    grown_mb: float
    write_ms: float
    bytes: float
    moved: float
    load_before: float
    load_after: float


@dataclass(frozen=True, slots=True)
class Place:
    """A store to measure: its address, the process of its server, and the rows a second with which it was filled."""

    url: str
    server: int | None = None
    moved: float = 0.0


@contextmanager
def in_file(file: Path) -> Generator[Place]:
    yield Place(str(file))


def filled(file: Path, url: str) -> float:
    """Move the memories to the server. Returns the rows a second; 0 if an earlier run has done so."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        there = connection.execute("SELECT to_regclass('memories')").fetchone()
        if there != (None,) and connection.execute("SELECT 1 FROM memories LIMIT 1").fetchone():
            return 0.0
    began = time.perf_counter()
    return compose.move_store(str(file), url).copied_rows / (time.perf_counter() - began)


@contextmanager
def on_server(file: Path) -> Generator[Place]:
    """A PostgreSQL server with the memories of the file, which are moved to it first."""
    folder = file.with_suffix(".postgres")
    folder.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    server = import_module("pgserver").get_server(folder / "data")
    try:
        yield Place(server.get_uri(), server.get_pid(), filled(file, server.get_uri()))
    finally:
        server.cleanup()


BACKENDS: Final = {
    "resident-on-sqlite": (in_file, None),
    "resident-on-postgresql": (on_server, None),
    "pgvector": (on_server, "pgvector"),
    "qdrant-in-process": (in_file, "qdrant://{folder}"),
}
"""Where the memories of a file are, and the address of the index; None: the resident one."""


def stored_bytes(place: Place) -> int:
    """The size of the database: of its file, or of its tables and their indexes."""
    if place.server is None:
        return Path(place.url).stat().st_size
    with psycopg.connect(place.url) as connection:
        (stored,) = connection.execute("SELECT pg_database_size(current_database())").fetchone() or (0,)
        return int(stored)


def cpu_s(server: int | None) -> float:
    """Seconds of CPU of this process, and of the server's processes that are running or have ended."""
    if server is None:
        return time.process_time()
    return time.process_time() + _cpu_of(Path(f"/proc/{server}/stat"), end=15) + sum(map(_cpu_of, _children(server)))


def _children(parent: int) -> list[Path]:
    found: list[Path] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        fields = _fields(stat)
        if fields and int(fields[1]) == parent:
            found.append(stat)
    return found


def _cpu_of(stat: Path, end: int = 13) -> float:
    """The user and system time of a process; up to 15, with its children that have ended."""
    return sum(map(int, _fields(stat)[11:end])) / TICKS


def _fields(stat: Path) -> list[str]:
    """The fields after the name of a process; none if it has ended."""
    try:
        return stat.read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return []


def rss_mb() -> float:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGE_BYTES / 1e6


@asynccontextmanager
async def opened(place: Place, index: str | None, embedder: Embedder) -> AsyncGenerator[AsyncRemembrancer]:
    settings = {"background_index": False, **({} if index is None else {"index": index})}
    resident = ResidentIndex() if index is None else None  # keeps no files, so that it is built each time
    async with AsyncRemembrancer.open(place.url, embedder=embedder, settings=settings, index=resident) as rem:
        yield rem


async def measure(backend: str, file: Path, size: int, embedder: Embedder, *, asked: int = QUESTIONS) -> Measured:
    """Ask a store of `size` memories, which `fill` made. The embedder is asked too: its time is a part of a recall."""
    placing, index = BACKENDS[backend]
    words, before = Words(seed=size + 1), os.getloadavg()[0]
    await embedder.embed_query("loaded before the clock starts")
    with placing(file) as place:
        address = None if index is None else index.format(folder=file.with_suffix(".qdrant").absolute())
        began = cpu_s(place.server)
        async with opened(place, address, embedder) as rem:
            empty = rss_mb()
            await rem.jobs.index_now()
            await rem.recall(words.question())
            built = cpu_s(place.server) - began
            for _ in range(WARMING):
                await rem.recall(words.question(), limit=10)
            times: list[float] = []
            own: list[float] = []
            began = cpu_s(place.server)
            for _ in range(asked):
                question = words.question()
                start, spent = time.perf_counter(), time.process_time()
                await rem.recall(question, limit=10)
                own.append((time.process_time() - spent) * 1000)
                times.append((time.perf_counter() - start) * 1000)
            cpu, memory = (cpu_s(place.server) - began) / asked, rss_mb()
            stored = stored_bytes(place)
            writing = rem.of_workspace("written")
            began = cpu_s(place.server)
            for _ in range(WRITTEN):
                await writing.observe(words.text())
            written = (cpu_s(place.server) - began) / WRITTEN
    return Measured(
        backend=backend,
        size=size,
        machine=machine_line(embedder),
        p50_ms=statistics.median(times),
        p95_ms=statistics.quantiles(times, n=20)[-1],
        cpu_ms=cpu * 1000,
        cpu_p50_ms=statistics.median(own),
        built_ms=built * 1000,
        rss_mb=memory,
        grown_mb=memory - empty,
        write_ms=written * 1000,
        bytes=stored / size,
        moved=place.moved,
        load_before=before,
        load_after=os.getloadavg()[0],
    )


def results(folder: Path) -> list[Measured]:
    """All results in the folder, by backend and size."""
    rows: list[dict[str, Any]] = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")]
    found = [Measured(**row) for row in rows]
    places = {name: place for place, name in enumerate(BACKENDS)}
    return sorted(found, key=lambda one: (places[one.backend], one.size))


HEADINGS: Final = (
    "backend",
    "memories",
    "p50 / p95, ms",
    "CPU of a recall, ms",
    "first answer, s of CPU",
    "memory, MB",
    "CPU of a write, ms",
    "stored bytes per memory",
    "load",
)


def table(measured: Sequence[Measured]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(HEADINGS)} |", f"|{'---|' * len(HEADINGS)}"]
    lines += [
        f"| {one.backend} | {one.size:,} | {one.p50_ms:,.0f} / {one.p95_ms:,.0f} | {one.cpu_ms:,.1f} |"
        f" {one.built_ms / 1000:,.1f} | {one.grown_mb:,.0f} | {one.write_ms:,.1f} | {one.bytes:,.0f} |"
        f" {one.load_before:.0f} to {one.load_after:.0f} |"
        for one in measured
    ]
    return "\n".join(lines)


def picture(measured: Sequence[Measured]) -> str:
    """The CPU of a recall by backend and size, as an SVG document."""
    rows: Mapping[str, float] = {f"{one.backend}, {one.size:,}": one.cpu_ms for one in measured}
    panel = row_panel(len(rows), (0.0, max(rows.values(), default=1.0) * 1.15 or 1.0), left=300.0)
    marks = Markup() + panel.uprights() + panel.rows([fitted(name, 290.0, SMALL) for name in rows])
    for place, value in enumerate(rows.values()):
        marks += panel.bar((0.0, place - 0.3), (value, place + 0.3), "blue")
        marks += panel.words((value, place), f"{value:.1f}", (6.0, 4.0))
    told = "Milliseconds of CPU, of the process and of its database server, with the question's embedding."
    return document("scaling", "CPU time of a recall", told, [panel.picture(marks)])


def render(folder: Path) -> str:
    """Write the table and the picture next to the results. Returns the table."""
    measured = results(folder)
    (folder / "scaling.md").write_text(table(measured) + "\n", encoding="utf-8")
    (folder / "scaling.svg").write_text(picture(measured), encoding="utf-8")
    return table(measured)


async def _run(arguments: argparse.Namespace) -> str:
    folder: Path = arguments.folder
    file = folder / f"{arguments.size}.db"
    embedder = choose_embedder(Settings(embedder="local")).embedder
    assert embedder is not None
    try:
        if arguments.command == "fill":
            began = time.process_time()
            arguments.folder.mkdir(parents=True, exist_ok=True)
            await fill(file, Words(seed=arguments.size), arguments.size, embedder)
            return f"{file}: {time.process_time() - began:.0f} s of CPU"
        measured = await measure(arguments.backend, file, arguments.size, embedder)
    finally:
        await embedder.close()
    told = json.dumps(asdict(measured), indent=2)
    (folder / f"{measured.backend}-{measured.size}.json").write_text(told + "\n", encoding="utf-8")
    return told


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("render")
    filling, measuring = commands.add_parser("fill"), commands.add_parser("measure")
    measuring.add_argument("backend", choices=BACKENDS)
    for one in (filling, measuring):
        one.add_argument("size", type=int, help=f"such as {', '.join(map(str, SIZES))}")
    arguments = parser.parse_args(given)
    sys.stdout.write(
        (render(arguments.folder) if arguments.command == "render" else asyncio.run(_run(arguments))) + "\n"
    )


if __name__ == "__main__":
    main()
