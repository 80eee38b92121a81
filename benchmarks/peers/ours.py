"""This package in a process of its own, for `benchmarks.peers.process`.

Vectors of memories are given, as they are to the other systems. Their token embeddings, which the other systems do not
have, are those of one of the real texts in `--texts`. A question is embedded by the local embedder before the clock
starts.
"""

from __future__ import annotations

import asyncio
import sys
import zlib
from collections.abc import Awaitable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.worker import Item, Peer, Vectors, serve
from remembrancer import AsyncRemembrancer, EventDraft
from remembrancer.config import Settings
from remembrancer.models import choose_embedder
from remembrancer.ports.embedder import (
    ComputingEmbedder,
    Embedded,
    EmbeddedPassages,
    EmbeddedQuestion,
    Passage,
    computing,
)

T = TypeVar("T")
WITHOUT_VECTORS: Final = "words"


class RealTexts:
    """Vectors and token embeddings of real texts; any other text gets those of one of them, chosen by its checksum."""

    def __init__(self, vectors: NDArray[np.float32], tokens: Sequence[NDArray[np.float32]]) -> None:
        self.vectors = vectors
        self.tokens = tokens

    def save(self, path: Path) -> None:
        ends = np.cumsum([len(each) for each in self.tokens])
        np.savez(path, vectors=self.vectors, tokens=np.concatenate(self.tokens), ends=ends)

    @classmethod
    def load(cls, path: Path) -> RealTexts:
        with np.load(path) as saved:
            return cls(saved["vectors"], np.split(saved["tokens"], saved["ends"][:-1]))

    def place(self, text: str) -> int:
        return zlib.crc32(text.encode()) % len(self.tokens)

    def moved(self, texts: Sequence[str], chance: np.random.Generator) -> NDArray[np.float32]:
        """A vector near that of a real text for each of these texts."""
        vectors = self.vectors[[self.place(text) for text in texts]]
        vectors = vectors + chance.normal(0, 0.03, vectors.shape)
        return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


class PreparedQuestions(Vectors):
    """Also embeds questions, when they come, with the local embedder."""

    def __init__(self) -> None:
        super().__init__()
        self.questions: dict[str, EmbeddedQuestion] = {}
        self._embedder: ComputingEmbedder | None = None

    def take(self, items: Sequence[Item]) -> None:
        super().take(items)
        self.questions = {
            item["embedded"]: self.embedder.question_now(item["embedded"]) for item in items if "embedded" in item
        }

    @property
    def embedder(self) -> ComputingEmbedder:
        if self._embedder is None:
            chosen = choose_embedder(Settings(embedder="local")).embedder
            assert chosen is not None
            asyncio.run(_loaded(chosen.embed_query("loaded before the clock starts")))
            self._embedder = computing(chosen)
            assert self._embedder is not None
        return self._embedder


async def _loaded(work: Awaitable[object]) -> None:
    await work


class GivenVectors:
    """An embedder that returns what it was given."""

    model_id = "given"
    computes = True

    def __init__(self, vectors: PreparedQuestions, real: RealTexts) -> None:
        self.dim = real.vectors.shape[1]
        self._given = vectors
        self._real = real
        self.last_read = ""
        self.reading = True

    def reads(self, text: str) -> bool:
        self.last_read = text
        return self.reading

    def query_now(self, text: str) -> NDArray[np.float32]:
        return self.question_now(text).vector

    def question_now(self, text: str) -> EmbeddedQuestion:
        """As prepared; a text that was not is embedded now, which then is a part of the cost."""
        return self._given.questions.get(text) or self._given.embedder.question_now(text)

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        return self.query_now(text)

    async def embed_question(self, text: str) -> EmbeddedQuestion:
        return self.question_now(text)

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        return Embedded(np.array(self._given.all(texts), np.float32), np.zeros(len(texts), dtype=np.bool_))

    async def embed_passages(self, passages: Sequence[Passage]) -> EmbeddedPassages:
        plain = await self.embed_documents([passage.text for passage in passages])
        tokens = tuple(self._real.tokens[self._real.place(passage.text)] for passage in passages)
        return EmbeddedPassages(plain.vectors, plain.truncated, tokens)

    async def close(self) -> None: ...


class Ours(Peer):
    """The default preset. Writing ends when the vectors are stored; without an embedder, when the memories are."""

    def __init__(self, folder: Path, vectors: Vectors, *, embedder: GivenVectors | None) -> None:
        super().__init__(folder, vectors)
        self._loop = asyncio.new_event_loop()
        self._embedder = embedder
        self._rem = self._do(
            AsyncRemembrancer.open(
                str(folder / "memory.db"), embedder=embedder or "none", settings={"background_index": False}
            )
        )

    def _do(self, work: Awaitable[T]) -> T:
        return self._loop.run_until_complete(work)

    def write(self, items: Sequence[Item], *, together: bool) -> None:
        drafts = [
            EventDraft(
                text=item["text"],
                role=item["role"],
                actor=item["actor"],
                session=item["session"],
                occurred_at=datetime.fromisoformat(item["at"]),
                key=item["key"],
            )
            for item in items
        ]
        for several in [drafts] if together else [[draft] for draft in drafts]:
            self._do(self._rem.observe_many(several))
            if self._embedder is not None:
                self._do(self._rem.jobs.index_now())

    def recall(self, question: Item, limit: int) -> list[str]:
        recall = self._do(self._rem.recall(question["text"], limit=limit))
        assert self._embedder is None or not recall.degraded, recall.degraded
        return [str(hit.memory.id) for hit in recall]

    def embedded(self, question: str) -> str:
        if self._embedder is None:
            return question
        self._embedder.reading = False
        self._do(self._rem.recall(question, limit=1))
        self._embedder.reading = True
        return self._embedder.last_read

    def close(self) -> None:
        self._do(self._rem.close())
        self._loop.close()


def main() -> None:
    folder, texts = Path(sys.argv[1]), sys.argv[2]
    if texts == WITHOUT_VECTORS:
        serve(partial(Ours, embedder=None), folder, Vectors())
    else:
        vectors = PreparedQuestions()
        embedder = GivenVectors(vectors, RealTexts.load(Path(texts)))
        serve(partial(Ours, embedder=embedder), folder, vectors)


if __name__ == "__main__":
    main()
