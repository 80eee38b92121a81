"""How long a recall takes, end to end with the question's embedding, at 1k, 10k and 100k memories.

One warm process, one question at a time, one thread of arithmetic. The texts are words of the shipped conversation,
drawn anew by their frequency. A thousand of them are embedded; the others get a vector near one of those, because
embedding 100,000 texts would take an hour and change nothing that is measured here.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from remembrancer import AsyncRemembrancer, EventDraft
from remembrancer.adapters.sqlite.store import SqliteStore
from remembrancer.compose import choose_embedder
from remembrancer.config import Settings
from remembrancer.domain.scope import Scope
from remembrancer.evaluation.machine import machine_line
from remembrancer.policies.lexical import tokens_and_terms
from remembrancer.ports.embedder import Embedder
from remembrancer.ports.store import CueVector

SIZES = (1_000, 10_000, 100_000)
QUESTIONS = 300
EMBEDDED = 1_000
BATCH = 2_000


@dataclass(frozen=True, slots=True)
class Measured:
    """Times in milliseconds; `inserted` in memories a second, without embedding; `bytes` on disk for each memory."""

    memories: int
    p50: float
    p95: float
    stages: dict[str, float]
    first: float
    inserted: float
    bytes: float


class Words:
    """Texts made of the shipped conversation's own words, by a seeded choice."""

    def __init__(self, seed: int) -> None:
        history = files("remembrancer") / "demo" / "history.jsonl"
        turns = [json.loads(line) for line in history.read_text(encoding="utf-8").splitlines()]
        self._random = random.Random(seed)
        self._lengths = [len(turn["text"].split()) for turn in turns]
        self._words = [word for turn in turns for word in turn["text"].split()]
        self.actors = sorted({turn["actor"] for turn in turns})

    def text(self) -> str:
        return " ".join(self._random.choices(self._words, k=self._random.choice(self._lengths)))

    def question(self) -> str:
        opening = self._random.choice(("What did we decide about", "When did", "Who said", "Why was", "How many"))
        return f"{opening} {' '.join(self._random.choices(self._words, k=self._random.randint(3, 8)))}?"

    def event(self, number: int) -> EventDraft:
        start = datetime(2025, 1, 1, tzinfo=UTC)
        return EventDraft(
            text=self.text(),
            actor=self._random.choice(self.actors),
            session=f"session-{number // 40}",
            occurred_at=start + timedelta(minutes=5 * number),
        )


async def measure(size: int, embedder: Embedder, folder: Path) -> Measured:
    words = Words(seed=size)
    path = folder / f"{size}.db"
    async with await _open(path, embedder) as rem:
        began = time.perf_counter()
        for batch in _batches(size):
            await rem.observe_many([words.event(number) for number in batch])
        inserted = size / (time.perf_counter() - began)
        await _give_vectors(path, embedder, rem.scope)
    async with await _open(path, embedder) as rem:
        began = time.perf_counter()
        await rem.recall(words.question())
        first = (time.perf_counter() - began) * 1000
        for _ in range(20):
            await rem.recall(words.question(), limit=10)
        times, stages = await _ask(rem, [words.question() for _ in range(QUESTIONS)])
    return Measured(
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


async def _open(path: Path, embedder: Embedder) -> AsyncRemembrancer:
    return await AsyncRemembrancer.open(str(path), embedder=embedder, settings={"background_index": False})


async def _give_vectors(path: Path, embedder: Embedder, scope: Scope) -> None:
    """Vectors for every cue: each one of a thousand real ones, moved a little."""
    words, chance = Words(seed=1), np.random.default_rng(1)
    real = (await embedder.embed_documents([words.text() for _ in range(EMBEDDED)])).vectors
    store = SqliteStore(str(path), analyse=tokens_and_terms)
    try:
        while waiting := await store.pending(scope, embedder.model_id, limit=BATCH, now=datetime.now(UTC)):
            vectors = _near(real, chance, len(waiting))
            await store.put_vectors(
                scope,
                embedder.model_id,
                [CueVector(cue.ref, vector, truncated=False) for cue, vector in zip(waiting, vectors, strict=True)],
            )
    finally:
        await store.close()


def _near(real: NDArray[np.float32], chance: np.random.Generator, count: int) -> NDArray[np.float32]:
    moved = real[chance.integers(0, len(real), count)] + chance.normal(0, 0.03, (count, real.shape[1]))
    return (moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float32)


def _batches(size: int) -> Iterator[range]:
    return (range(start, min(start + BATCH, size)) for start in range(0, size, BATCH))


def table(results: Sequence[Measured]) -> Table:
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


async def run(sizes: Sequence[int]) -> list[Measured]:
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
    console = Console()
    console.print(machine_line())
    console.print(table(asyncio.run(run(sizes))))


if __name__ == "__main__":
    main()
