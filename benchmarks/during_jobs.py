"""Recall time while background jobs run in the same process, as in `remembrancer serve --work`.

Questions are asked one after another, with a pause in between: first with nothing else to do, then while each job of
the default preset runs, while a session is erased, and while a backup is written, then idle again. Before the jobs,
turns are recorded that have no vectors yet, so that there is something to embed, to segment and to consolidate.

    python -m benchmarks.during_jobs --memories 10000
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from benchmarks.corpus import Words, fill, open_memory
from remembrancer import AsyncRemembrancer
from remembrancer.config import Settings
from remembrancer.domain.job import Job
from remembrancer.evaluation.machine import machine_line
from remembrancer.models import choose_embedder
from remembrancer.ports.embedder import Embedder

MEMORIES: Final = 10_000
NEW: Final = 400
"""Turns recorded before the jobs."""
ASKED: Final = 200
"""Questions asked while nothing else runs."""
LEAST: Final = 20
"""A phase with fewer questions has no 95th percentile."""
PAUSE: Final = 0.02
"""Seconds between two questions."""
WARM: Final = 20


@dataclass(frozen=True)
class Phase:
    """Questions while something ran. Times in milliseconds, `seconds` of the phase; `p95` None: too few questions."""

    name: str
    seconds: float
    asked: int
    p50: float
    p95: float | None
    longest: float


async def asked_during(rem: AsyncRemembrancer, words: Words, name: str, work: Callable[[], Awaitable[object]]) -> Phase:
    """Ask until the work is done, once at least."""
    times: list[float] = []
    began = time.perf_counter()
    task = asyncio.ensure_future(work())
    while not times or not task.done():
        question = words.question()
        at = time.perf_counter()
        await rem.recall(question, limit=10)
        times.append(1000 * (time.perf_counter() - at))
        await asyncio.sleep(PAUSE)
    await task
    p95 = statistics.quantiles(times, n=20)[-1] if len(times) >= LEAST else None
    return Phase(name, time.perf_counter() - began, len(times), statistics.median(times), p95, max(times))


async def measured(folder: Path, embedder: Embedder, *, memories: int, new: int, asked: int) -> list[Phase]:
    db, words = folder / "jobs.db", Words(seed=2)
    await fill(db, words, memories, embedder)
    async with await open_memory(db, embedder) as rem:
        for _ in range(WARM):
            await rem.recall(words.question(), limit=10)

        async def nothing() -> None:
            await asyncio.sleep(asked * PAUSE)

        async def job(one: Job) -> None:
            report = (await rem.maintain([one], force=True)).get(one)
            if error := getattr(report, "error", ""):
                raise RuntimeError(f"{one}: {error}")

        phases = [await asked_during(rem, words, "idle", nothing)]
        await rem.observe_many([words.event(memories + number) for number in range(new)])
        for one in Job:
            phases.append(await asked_during(rem, words, one.value, lambda one=one: job(one)))
        last = f"session-{memories // 40}"
        phases.append(await asked_during(rem, words, "erase a session", lambda: rem.erase(session=last)))
        phases.append(await asked_during(rem, words, "back up", lambda: rem.backup(folder / "backup.db")))
        phases.append(await asked_during(rem, words, "idle again", nothing))
        return phases


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.during_jobs", description=__doc__)
    parser.add_argument("--memories", type=int, default=MEMORIES)
    parser.add_argument("--new", type=int, default=NEW, help="turns recorded before the jobs")
    parser.add_argument("--asked", type=int, default=ASKED, help="questions while nothing else runs")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    embedder = choose_embedder(Settings(embedder="local")).embedder
    if embedder is None:
        parser.error("the local embedder is not installed")
    with tempfile.TemporaryDirectory() as folder:
        phases = asyncio.run(
            measured(Path(folder), embedder, memories=options.memories, new=options.new, asked=options.asked)
        )
    if options.json:
        sys.stdout.write(json.dumps([asdict(one) for one in phases]) + "\n")
        return
    console = Console(width=100)
    console.print(machine_line())
    table = Table("while", "seconds", "questions", "p50 ms", "p95 ms", "longest ms")
    for one in phases:
        p95 = "–" if one.p95 is None else f"{one.p95:.1f}"
        table.add_row(one.name, f"{one.seconds:.1f}", str(one.asked), f"{one.p50:.1f}", p95, f"{one.longest:.1f}")
    console.print(table)


if __name__ == "__main__":
    main()
