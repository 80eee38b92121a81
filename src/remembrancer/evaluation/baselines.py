"""Baseline retrieval systems that the memory is compared with.

Each ranks the turns of one conversation by their text alone, without speaker and date; equal scores are ordered newest
first. Turns that do not match are appended at the end, so that no baseline loses by returning fewer turns.
`WithHeadings` gives any of them the speaker and date of each turn, which the memory's own cues contain.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.evaluation.budget import pack_block
from remembrancer.evaluation.dataset import Transcript, Turn
from remembrancer.evaluation.system import Block, Fate, Ranker, System
from remembrancer.language.english.dates import spoken_date
from remembrancer.ports.embedder import Embedder
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

K1: Final = 1.2
B: Final = 0.75
"""BM25 constants: the usual values (Robertson and Zaragoza, 2009; Lucene's defaults)."""

_WORD: Final = re.compile(r"\w+")
_MIN_GREP_CHARS: Final = 4


@dataclass(frozen=True, slots=True)
class RandomOrder:
    """Turns in random order. The order depends on the seed, the conversation and the question only."""

    seed: int
    name: str = "random"
    scores_are_fractions: bool = False

    @asynccontextmanager
    async def prepared(self, transcript: Transcript) -> AsyncGenerator[Ranker, None]:
        yield _RandomRanker(transcript, self.seed)


@dataclass(frozen=True, slots=True)
class Recency:
    """The newest turns, for every question."""

    name: str = "recency"
    scores_are_fractions: bool = False

    @asynccontextmanager
    async def prepared(self, transcript: Transcript) -> AsyncGenerator[Ranker, None]:
        yield _RecencyRanker(transcript.turns)


@dataclass(frozen=True, slots=True)
class Grep:
    """Turns by the number of distinct words of the question, of at least four letters, that they contain as a
    substring.
    """

    name: str = "grep"
    scores_are_fractions: bool = False

    @asynccontextmanager
    async def prepared(self, transcript: Transcript) -> AsyncGenerator[Ranker, None]:
        yield _GrepRanker(transcript.turns)


@dataclass(frozen=True, slots=True)
class Bm25:
    """BM25 over lower-cased words, without stemming or stop words; idf is log(1 + (N - n + 0.5) / (n + 0.5)).

    Source: Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009.
    """

    name: str = "bm25"
    scores_are_fractions: bool = False

    @asynccontextmanager
    async def prepared(self, transcript: Transcript) -> AsyncGenerator[Ranker, None]:
        yield _Bm25Ranker(transcript.turns)


@dataclass(frozen=True, slots=True)
class Dense:
    """Cosine similarity of the question's vector and the turns' vectors, from the embedder that the memory uses."""

    embedder: Embedder
    name: str = "dense"
    scores_are_fractions: bool = False

    @asynccontextmanager
    async def prepared(self, transcript: Transcript) -> AsyncGenerator[Ranker, None]:
        embedded = await self.embedder.embed_documents([turn.text for turn in transcript.turns])
        yield _DenseRanker(transcript.turns, embedded.vectors, self.embedder)


@dataclass(frozen=True, slots=True)
class WithHeadings:
    """Another system over texts with the turn's speaker and date in front, for example "Ana, Friday 1 May 2026: …"."""

    system: System
    scores_are_fractions: bool = False

    @property
    def name(self) -> str:
        return f"{self.system.name}+heading"

    @asynccontextmanager
    async def prepared(self, transcript: Transcript) -> AsyncGenerator[Ranker, None]:
        headed = replace(transcript, turns=tuple(_headed(turn) for turn in transcript.turns))
        async with self.system.prepared(headed) as ranker:
            yield ranker


def _headed(turn: Turn) -> Turn:
    return replace(turn, text=f"{turn.actor or turn.role}, {spoken_date(turn.occurred_at)}: {turn.text}")


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A baseline's answer: turns with their scores, and the texts for blocks.

    A baseline ranks every turn, so a turn that is missing from `ranked` lies beyond the depth.
    """

    ranked: tuple[str, ...]
    scores: tuple[float, ...]
    texts: Mapping[str, str]

    def block(self, max_chars: int) -> Block:
        return pack_block(self.ranked, self.texts, max_chars)

    async def fate(self, turn_id: str) -> Fate:
        return Fate.RETURNED if turn_id in self.ranked else Fate.LIMIT


class _RandomRanker:
    def __init__(self, transcript: Transcript, seed: int) -> None:
        self._texts = {turn.id: turn.text for turn in transcript.turns}
        self._ids = list(self._texts)
        self._start = f"{seed}\n{transcript.id}\n"

    async def answer(self, question: str, *, asked_at: datetime, limit: int) -> _Ranked:
        digest = hashlib.sha256((self._start + question).encode()).digest()
        order: list[int] = np.random.default_rng(int.from_bytes(digest[:8])).permutation(len(self._ids)).tolist()
        return _Ranked(tuple(self._ids[index] for index in order[:limit]), (), self._texts)


class _RecencyRanker:
    def __init__(self, turns: Sequence[Turn]) -> None:
        self._texts = {turns[index].id: turns[index].text for index in _newest_first(turns)}
        self._newest_first = tuple(self._texts)

    async def answer(self, question: str, *, asked_at: datetime, limit: int) -> _Ranked:
        return _Ranked(self._newest_first[:limit], (), self._texts)


class _GrepRanker:
    def __init__(self, turns: Sequence[Turn]) -> None:
        self._texts = {turns[index].id: turns[index].text for index in _newest_first(turns)}
        self._lowered = [text.lower() for text in self._texts.values()]

    async def answer(self, question: str, *, asked_at: datetime, limit: int) -> _Ranked:
        words = {word for word in _WORD.findall(question.lower()) if len(word) >= _MIN_GREP_CHARS}
        found = np.array([sum(word in text for word in words) for text in self._lowered], dtype=np.float64)
        return _best(found, self._texts, limit)


class _Bm25Ranker:
    def __init__(self, turns: Sequence[Turn]) -> None:
        self._texts = {turns[index].id: turns[index].text for index in _newest_first(turns)}
        counts = [Counter(_WORD.findall(text.lower())) for text in self._texts.values()]
        lengths = [count.total() for count in counts]
        average = sum(lengths) / len(lengths)
        self._weights: dict[str, dict[int, float]] = {}
        for position, (count, length) in enumerate(zip(counts, lengths, strict=True)):
            for word, times in count.items():
                damped = times * (K1 + 1) / (times + K1 * (1 - B + B * length / average))
                self._weights.setdefault(word, {})[position] = damped

    async def answer(self, question: str, *, asked_at: datetime, limit: int) -> _Ranked:
        scores = np.zeros(len(self._texts))
        for word in _WORD.findall(question.lower()):
            weights = self._weights.get(word, {})
            idf = math.log(1 + (len(self._texts) - len(weights) + 0.5) / (len(weights) + 0.5))
            for position, weight in weights.items():
                scores[position] += idf * weight
        return _best(scores, self._texts, limit)


class _DenseRanker:
    def __init__(self, turns: Sequence[Turn], vectors: NDArray[np.float32], embedder: Embedder) -> None:
        newest_first = _newest_first(turns)
        self._texts = {turns[index].id: turns[index].text for index in newest_first}
        self._vectors = vectors[newest_first]
        self._embedder = embedder

    async def answer(self, question: str, *, asked_at: datetime, limit: int) -> _Ranked:
        asked = await self._embedder.embed_query(question)
        return _best((self._vectors @ asked).astype(np.float64), self._texts, limit)


def _newest_first(turns: Sequence[Turn]) -> list[int]:
    """Indices of the turns, newest first; of turns at the same time, the later one in the file first."""
    return sorted(range(len(turns)), key=lambda index: (turns[index].occurred_at, index), reverse=True)


def _best(scores: NDArray[np.float64], texts: Mapping[str, str], limit: int) -> _Ranked:
    """The `limit` best turns of `texts`. `scores` has the order of `texts`; equal scores keep it."""
    order: list[int] = np.argsort(-scores, kind="stable")[:limit].tolist()
    ids = tuple(texts)
    return _Ranked(tuple(ids[index] for index in order), tuple(float(scores[index]) for index in order), texts)
