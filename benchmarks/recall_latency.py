"""Recall latency, including the embedding of the question, with 1k, 10k and 100k memories.

One warm process, one question at a time, one thread of arithmetic. Memories and questions: benchmarks/corpus.py.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from benchmarks.corpus import SIZES, Words, fill, open_memory
from remembrancer import AsyncRemembrancer
from remembrancer.compose import choose_embedder
from remembrancer.config import Settings
from remembrancer.evaluation.machine import machine_line
from remembrancer.ports.embedder import Embedder

QUESTIONS: Final = 300


@dataclass(frozen=True, slots=True)
class LatencyRow:
    """Times in milliseconds; `inserted`: memories per second, without embedding; `bytes`: on disk per memory."""

    memories: int
    p50: float
    p95: float
    stages: dict[str, float]
    first: float
    inserted: float
    bytes: float


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
    )


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
    sizes = parser.parse_args().sizes
    console = Console(width=120)
    console.print(machine_line())
    console.print(table(asyncio.run(run(sizes))))


if __name__ == "__main__":
    main()
