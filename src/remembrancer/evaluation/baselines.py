"""Simple ways of finding turns, for the memory to be compared with.

Each ranks the turns of one conversation by their text alone (no speaker, no date), equal scores newest first, and goes
on to the turns it knows nothing about, so that none loses by returning fewer.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from remembrancer.evaluation.locomo import Transcript, Turn
from remembrancer.evaluation.system import Ranker
from remembrancer.ports.embedder import Embedder

K1: Final = 1.2
B: Final = 0.75
"""The usual constants of BM25 (Robertson and Zaragoza, 2009; Lucene's defaults)."""

_WORD: Final = re.compile(r"\w+")
_MIN_GREP_CHARS: Final = 4


@dataclass(frozen=True, slots=True)
class RandomOrder:
    """Turns in an order drawn anew for each question; the same question under the same seed gives the same."""

    seed: int
    name: str = "random"

    @asynccontextmanager
    async def prepared(self, transcript: Transcript) -> AsyncGenerator[Ranker, None]:
        yield _RandomRanker(transcript, self.seed)


@dataclass(frozen=True, slots=True)
class Recency:
    """The newest turns, whatever is asked."""

    name: str = "recency"

    @asynccontextmanager
    async def prepared(self, transcript: Transcript) -> AsyncGenerator[Ranker, None]:
        yield _RecencyRanker(transcript.turns)


@dataclass(frozen=True, slots=True)
class Grep:
    """Turns by how many distinct words of the question, of more than three letters, stand in them as substrings."""

    name: str = "grep"

    @asynccontextmanager
    async def prepared(self, transcript: Transcript) -> AsyncGenerator[Ranker, None]:
        yield _GrepRanker(transcript.turns)


@dataclass(frozen=True, slots=True)
class Bm25:
    """BM25 over lower-cased words: no stemming, no stop words. idf is log(1 + (N - n + 0.5) / (n + 0.5)).

    Source: Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009.
    """

    name: str = "bm25"

    @asynccontextmanager
    async def prepared(self, transcript: Transcript) -> AsyncGenerator[Ranker, None]:
        yield _Bm25Ranker(transcript.turns)


@dataclass(frozen=True, slots=True)
class Dense:
    """Cosine similarity of the question's vector and the turns', by the embedder that the memory uses too."""

    embedder: Embedder
    name: str = "dense"

    @asynccontextmanager
    async def prepared(self, transcript: Transcript) -> AsyncGenerator[Ranker, None]:
        embedded = await self.embedder.embed_documents([turn.text for turn in transcript.turns])
        yield _DenseRanker(transcript.turns, embedded.vectors, self.embedder)


class _RandomRanker:
    def __init__(self, transcript: Transcript, seed: int) -> None:
        self._ids = [turn.id for turn in transcript.turns]
        self._start = f"{seed}\n{transcript.id}\n"

    async def rank(self, question: str, *, limit: int) -> list[str]:
        digest = hashlib.sha256((self._start + question).encode()).digest()
        order = np.random.default_rng(int.from_bytes(digest[:8])).permutation(len(self._ids))
        return [self._ids[index] for index in order[:limit]]


class _RecencyRanker:
    def __init__(self, turns: Sequence[Turn]) -> None:
        self._newest_first = [turns[index].id for index in _newest_first(turns)]

    async def rank(self, question: str, *, limit: int) -> list[str]:
        return self._newest_first[:limit]


class _GrepRanker:
    def __init__(self, turns: Sequence[Turn]) -> None:
        self._newest_first = [turns[index] for index in _newest_first(turns)]
        self._texts = [turn.text.lower() for turn in self._newest_first]

    async def rank(self, question: str, *, limit: int) -> list[str]:
        words = {word for word in _WORD.findall(question.lower()) if len(word) >= _MIN_GREP_CHARS}
        found = np.array([sum(word in text for word in words) for text in self._texts], dtype=np.float64)
        return [self._newest_first[index].id for index in _best(found, limit)]


class _Bm25Ranker:
    def __init__(self, turns: Sequence[Turn]) -> None:
        newest_first = [turns[index] for index in _newest_first(turns)]
        self._ids = [turn.id for turn in newest_first]
        counts = [Counter(_WORD.findall(turn.text.lower())) for turn in newest_first]
        lengths = [count.total() for count in counts]
        average = sum(lengths) / len(lengths)
        self._weights: dict[str, dict[int, float]] = {}
        for position, (count, length) in enumerate(zip(counts, lengths, strict=True)):
            for word, times in count.items():
                damped = times * (K1 + 1) / (times + K1 * (1 - B + B * length / average))
                self._weights.setdefault(word, {})[position] = damped

    async def rank(self, question: str, *, limit: int) -> list[str]:
        scores = np.zeros(len(self._ids))
        for word in _WORD.findall(question.lower()):
            weights = self._weights.get(word, {})
            idf = math.log(1 + (len(self._ids) - len(weights) + 0.5) / (len(weights) + 0.5))
            for position, weight in weights.items():
                scores[position] += idf * weight
        return [self._ids[index] for index in _best(scores, limit)]


class _DenseRanker:
    def __init__(self, turns: Sequence[Turn], vectors: NDArray[np.float32], embedder: Embedder) -> None:
        newest_first = _newest_first(turns)
        self._ids = [turns[index].id for index in newest_first]
        self._vectors = vectors[newest_first]
        self._embedder = embedder

    async def rank(self, question: str, *, limit: int) -> list[str]:
        asked = await self._embedder.embed_query(question)
        return [self._ids[index] for index in _best((self._vectors @ asked).astype(np.float64), limit)]


def _newest_first(turns: Sequence[Turn]) -> list[int]:
    """Positions of the turns, newest first; of those at one moment, the later in the file first."""
    return sorted(range(len(turns)), key=lambda index: (turns[index].occurred_at, index), reverse=True)


def _best(scores: NDArray[np.float64], limit: int) -> list[int]:
    """Positions of the best scores, best first; equal ones in the order they stand."""
    return np.argsort(-scores, kind="stable")[:limit].tolist()
