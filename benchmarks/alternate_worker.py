"""One version of the package in a process of its own: does what `benchmarks.alternate` sends, and returns the cost.

Uses only what both versions have: the asynchronous facade, and embedders as their port describes them.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
import zlib
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from remembrancer import AsyncRemembrancer, EventDraft
from remembrancer.ports.embedder import Embedded, EmbeddedPassages, EmbeddedQuestion, Passage

DIM: Final = 384
NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""The clock shows this time in every call, because scores depend on it."""


class KnownVectors:
    """A random vector for each word; the vector of a text is their sum. Vectors are cached, so embedding a question
    costs nothing.
    """

    model_id = "known-vectors"
    dim = DIM
    computes = True

    def reads(self, text: str) -> bool:
        return True

    def query_now(self, text: str) -> NDArray[np.float32]:
        return self.question_now(text).vector

    @cache  # noqa: B019  there is one embedder in this process
    def question_now(self, text: str) -> EmbeddedQuestion:
        return EmbeddedQuestion(_unit(_words(text).sum(axis=0)), _words(text), tuple(text.split()))

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        return self.query_now(text)

    async def embed_question(self, text: str) -> EmbeddedQuestion:
        return self.question_now(text)

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        vectors = np.stack([_unit(_words(text).sum(axis=0)) for text in texts])
        return Embedded(vectors, np.zeros(len(texts), dtype=np.bool_))

    async def embed_passages(self, passages: Sequence[Passage]) -> EmbeddedPassages:
        plain = await self.embed_documents([passage.text for passage in passages])
        return EmbeddedPassages(plain.vectors, plain.truncated, tuple(_words(passage.text) for passage in passages))

    async def close(self) -> None: ...


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def _words(text: str) -> NDArray[np.float32]:
    return np.stack([_direction(word) for word in text.split()])


@cache
def _direction(word: str) -> NDArray[np.float32]:
    return _unit(np.random.default_rng(zlib.crc32(word.encode())).normal(size=DIM).astype(np.float32))


async def _timed(work: Callable[[], Awaitable[Any]]) -> tuple[Any, list[float]]:
    """The result, and the seconds of wall-clock time and of CPU time that it took."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = await work()
    return result, [time.perf_counter() - wall, time.process_time() - cpu]


class Worker:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._rem: AsyncRemembrancer | None = None

    @property
    def rem(self) -> AsyncRemembrancer:
        assert self._rem is not None
        return self._rem

    async def open(self, *, vectors: bool) -> list[float]:
        """Open the file anew. Returns the cost of the first recall, which loads the index."""
        if self._rem is not None:
            await self._rem.close()
        self._rem = await AsyncRemembrancer.open(
            str(self._folder / "memory.db"),
            embedder=KnownVectors() if vectors else "none",
            settings={"background_index": False},
            clock=lambda: NOW,
        )
        return (await _timed(lambda: self.rem.recall("what was decided?")))[1]

    async def observe_many(self, events: Sequence[dict[str, Any]]) -> list[float]:
        drafts = [_draft(event) for event in events]
        return (await _timed(lambda: self.rem.observe_many(drafts)))[1]

    async def observe(self, events: Sequence[dict[str, Any]]) -> list[list[float]]:
        return [(await _timed(lambda event=event: self.rem.observe_many([_draft(event)])))[1] for event in events]

    async def observe_together(self, events: Sequence[dict[str, Any]]) -> list[float]:
        """Record events at the same time, each in a call of its own. Returns the cost of one."""
        calls = [self.rem.observe_many([_draft(event)]) for event in events]
        _, cost = await _timed(lambda: asyncio.gather(*calls))
        return [part / len(events) for part in cost]

    async def index(self) -> list[float]:
        """Index all pending cues. `index_now` is in another place in the oldest versions that may be compared."""
        index_now = getattr(self.rem, "index_now", None) or self.rem.jobs.index_now
        return (await _timed(index_now))[1]

    async def recall(self, questions: Sequence[str]) -> list[tuple[list[float], list[tuple[str, float]]]]:
        answers: list[tuple[list[float], list[tuple[str, float]]]] = []
        for question in questions:
            recalled, cost = await _timed(lambda question=question: self.rem.recall(question, limit=10))
            answers.append((cost, [(hit.memory.text, hit.score) for hit in recalled]))
        return answers

    async def export(self) -> list[float]:
        path = self._folder / "export.jsonl"
        path.unlink(missing_ok=True)
        return (await _timed(lambda: self.rem.export(path)))[1]


def _draft(event: dict[str, Any]) -> EventDraft:
    fields: dict[str, Any] = {**event, "occurred_at": datetime.fromisoformat(event["occurred_at"])}
    return EventDraft(**fields)


async def main() -> None:
    logging.disable()  # the warning about the missing embedder is expected
    worker = Worker(Path(sys.argv[1]))
    for line in sys.stdin:
        name, arguments = json.loads(line)
        print(json.dumps(await getattr(worker, name)(**arguments)), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
