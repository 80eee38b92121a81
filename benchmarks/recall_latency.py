"""Recall latency, including the embedding of the question, with 1k, 10k and 100k memories.

First one warm process, one question at a time, one thread of arithmetic. Then, over the same file: `remembrancer
recall` on the shell, and recalls a second by several threads and by two processes. Memories and questions:
benchmarks/corpus.py.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from benchmarks.corpus import SIZES, Words, fill, open_memory
from benchmarks.start import cost_of
from remembrancer import AsyncRemembrancer, Remembrancer
from remembrancer.config import Settings
from remembrancer.evaluation.machine import machine_line
from remembrancer.models import choose_embedder
from remembrancer.ports.embedder import Embedder

QUESTIONS: Final = 300
THREADS: Final = (1, 2, 4)
PROCESSES: Final = 2
SECONDS: Final = 3.0
"""How long threads and processes ask."""
SHELL_RUNS: Final = 5


@dataclass(frozen=True, slots=True)
class LatencyRow:
    """Times in milliseconds; `inserted`: memories per second, without embedding; `bytes`: on disk per memory.

    `shell`: CPU and wall time of `remembrancer recall`. `by_threads`, `by_processes`: recalls a second.
    """

    memories: int
    p50: float
    p95: float
    stages: dict[str, float]
    first: float
    inserted: float
    bytes: float
    shell: tuple[float, float]
    by_threads: tuple[float, ...]
    by_processes: float


async def measure(size: int, embedder: Embedder, folder: Path) -> LatencyRow:
    words = Words(seed=size)
    path = folder / f"{size}.db"
    inserted = await fill(path, words, size, embedder)
    async with await open_memory(path, embedder) as rem:
        began = time.perf_counter()
        await rem.recall(words.question())
        first = (time.perf_counter() - began) * 1000
        for _ in range(20):
            await rem.recall(words.question(), limit=10)
        times, stages = await _ask(rem, [words.question() for _ in range(QUESTIONS)])
    return LatencyRow(
        memories=size,
        p50=statistics.median(times),
        p95=statistics.quantiles(times, n=20)[-1],
        stages={stage: statistics.median(values) for stage, values in stages.items()},
        first=first,
        inserted=inserted,
        bytes=path.stat().st_size / size,
        shell=_on_the_shell(path, words),
        by_threads=_by_threads(path),
        by_processes=_by_processes(path),
    )


def _on_the_shell(path: Path, words: Words) -> tuple[float, float]:
    costs = [
        cost_of(path.parent, "-m", "remembrancer", "recall", words.question(), "--db", str(path), "--embedder", "local")
        for _ in range(1 + SHELL_RUNS)
    ]
    cpu, wall = zip(*costs[1:], strict=True)
    return statistics.median(cpu), statistics.median(wall)


def _by_threads(path: Path) -> tuple[float, ...]:
    with Remembrancer.open(str(path), embedder="local", settings={"background_index": False}) as rem:
        rem.recall(Words(seed=0).question())
        return tuple(_asked_by(rem, threads) for threads in THREADS)


def _asked_by(rem: Remembrancer, threads: int) -> float:
    """Recalls a second."""

    def ask(seed: int) -> int:
        words, until, asked = Words(seed=seed), time.perf_counter() + SECONDS, 0
        while time.perf_counter() < until:
            rem.recall(words.question(), limit=10)
            asked += 1
        return asked

    with ThreadPoolExecutor(threads) as pool:
        began = time.perf_counter()
        return sum(pool.map(ask, range(threads))) / (time.perf_counter() - began)


def _by_processes(path: Path) -> float:
    """Recalls a second of `PROCESSES` processes together, which begin when all are warm."""
    command = [sys.executable, "-m", "benchmarks.recall_latency", "--as", str(path)]
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(PROCESSES)
    ]
    try:
        for process in started:
            assert process.stdout is not None
            assert process.stdout.readline(), "a process ended before it was warm"
        for process in started:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        return sum(json.loads(process.communicate()[0]) for process in started)
    finally:
        for process in started:
            process.kill()
            process.communicate()


def _ask_when_told(path: str) -> None:
    with Remembrancer.open(path, embedder="local", settings={"background_index": False}) as rem:
        rem.recall(Words(seed=0).question())
        print(flush=True)
        sys.stdin.readline()
        print(_asked_by(rem, 1))


async def _ask(rem: AsyncRemembrancer, questions: Sequence[str]) -> tuple[list[float], dict[str, list[float]]]:
    times: list[float] = []
    stages: dict[str, list[float]] = {}
    for question in questions:
        began = time.perf_counter()
        recall = await rem.recall(question, limit=10)
        times.append((time.perf_counter() - began) * 1000)
        for stage, took in recall.timings.items():
            stages.setdefault(stage, []).append(took.total_seconds() * 1000)
    return times, stages


def table(results: Sequence[LatencyRow]) -> Table:
    drawn = Table(title="Recall, warm, one question at a time, with the question's embedding (ms)")
    for heading in ("memories", "p50", "p95", "embed", "search", "rest", "first", "inserted/s", "bytes each"):
        drawn.add_column(heading, justify="right")
    for result in results:
        embed, search = result.stages["embed"], result.stages["search"]
        drawn.add_row(
            f"{result.memories:,}",
            f"{result.p50:.2f}",
            f"{result.p95:.2f}",
            f"{embed:.2f}",
            f"{search:.2f}",
            f"{sum(result.stages.values()) - embed - search:.2f}",
            f"{result.first:.0f}",
            f"{result.inserted:,.0f}",
            f"{result.bytes:,.0f}",
        )
    return drawn


def at_once_table(results: Sequence[LatencyRow]) -> Table:
    drawn = Table(title="`remembrancer recall` on the shell (ms), and recalls a second by several at once")
    threads = (f"{number} thread{'s' * (number > 1)}" for number in THREADS)
    for heading in ("memories", "shell: CPU", "wall", *threads, f"{PROCESSES} processes"):
        drawn.add_column(heading, justify="right")
    for result in results:
        rates = (*result.by_threads, result.by_processes)
        drawn.add_row(f"{result.memories:,}", *(f"{figure:.0f}" for figure in (*result.shell, *rates)))
    return drawn


async def run(sizes: Sequence[int]) -> list[LatencyRow]:
    embedder = choose_embedder(Settings(embedder="local")).embedder
    assert embedder is not None
    try:
        with tempfile.TemporaryDirectory() as folder:
            return [await measure(size, embedder, Path(folder)) for size in sizes]
    finally:
        await embedder.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--as", dest="part", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        _ask_when_told(options.part)
        return
    console = Console(width=120)
    console.print(machine_line())
    results = asyncio.run(run(options.sizes))
    console.print(table(results))
    console.print(at_once_table(results))


if __name__ == "__main__":
    main()
