"""Synthetic memories and questions for the recall benchmarks.

Texts are random words of the shipped demo conversation, drawn by their frequency. A thousand texts are embedded; the
others get a vector near one of those, because embedding 100,000 texts would take an hour without changing the results.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from remembrancer import AsyncRemembrancer, EventDraft
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.domain.event import Severity
from remembrancer.domain.scope import Scope
from remembrancer.language.cues import analysed
from remembrancer.policies.ranking.late_interaction import packed
from remembrancer.ports.embedder import Embedder, Passage, token_embedder
from remembrancer.ports.embeddings import CueVector

SIZES: Final = (1_000, 10_000, 100_000)
EMBEDDED: Final = 1_000
"""Texts that are embedded; the vectors of the others are derived from theirs."""
BATCH: Final = 2_000
SEVERITIES: Final = (*[Severity.INFO] * 16, *[Severity.NOTICE] * 2, Severity.WARN, Severity.ERROR)
"""Severities of consecutive events, so that memories differ in importance."""


class Words:
    """Generates texts from the words of the shipped demo conversation, with a seed."""

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
            severity=SEVERITIES[number % len(SEVERITIES)],
        )


async def open_memory(path: Path, embedder: Embedder) -> AsyncRemembrancer:
    return await AsyncRemembrancer.open(str(path), embedder=embedder, settings={"background_index": False})


async def fill(path: Path, words: Words, size: int, embedder: Embedder) -> float:
    """Create a file with `size` memories and their vectors. Returns memories written per second, not counting the
    vectors.
    """
    async with await open_memory(path, embedder) as rem:
        began = time.perf_counter()
        for batch in _batches(size):
            await rem.observe_many([words.event(number) for number in batch])
        seconds = time.perf_counter() - began
        await embed_as_drawn(path, embedder, rem.scope, size)
    return size / seconds


async def embed_as_drawn(path: Path, embedder: Embedder, scope: Scope, size: int) -> None:
    """Write vectors for all cues: each gets the token embeddings of one of `EMBEDDED` real texts, and that text's
    vector with noise added. `size`: the number of memories, if there are fewer.
    """
    words, chance, embedded = Words(seed=1), np.random.default_rng(1), min(EMBEDDED, size)
    reading = token_embedder(embedder)
    assert reading is not None, "the default preset keeps the vectors of words"
    real = await reading.embed_passages([Passage(words.text()) for _ in range(embedded)])
    signs = [packed(*tokens) for tokens in real.tokens()]
    store = RelationalStore(SqliteFile(str(path)), analyse=analysed)
    try:
        while waiting := await store.pending(scope, embedder.model_id, limit=BATCH, now=datetime.now(UTC)):
            drawn: list[int] = chance.integers(0, embedded, len(waiting)).tolist()
            vectors = _moved(real.vectors[drawn], chance)
            await store.put_vectors(
                scope,
                embedder.model_id,
                [
                    CueVector(cue.ref, vector, truncated=False, token_embeddings=signs[one])
                    for cue, vector, one in zip(waiting, vectors, drawn, strict=True)
                ],
                at=datetime.now(UTC),
            )
    finally:
        await store.close()


def _moved(vectors: NDArray[np.float32], chance: np.random.Generator) -> NDArray[np.float32]:
    moved = vectors + chance.normal(0, 0.03, vectors.shape)
    return (moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float32)


def _batches(size: int) -> Iterator[range]:
    return (range(start, min(start + BATCH, size)) for start in range(0, size, BATCH))
