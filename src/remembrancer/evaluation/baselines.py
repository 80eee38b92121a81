"""Baseline retrieval systems that the memory is compared with.

Each ranks the turns of one conversation by their text alone, without speaker and date; equal scores are ordered newest
first. Turns that do not match are appended at the end, so that no baseline loses by returning fewer turns.
`WithHeadings` gives any of them the speaker and date of each turn, which the memory's own cues contain.
"""

from __future__ import annotations

import hashlib
import math
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.evaluation.budget import pack_block
from remembrancer.evaluation.dataset import DatasetTurn, Transcript
from remembrancer.evaluation.system import MeasuredBlock, Ranker, System, TurnOutcome
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


Scorer = Callable[[str], Awaitable["NDArray[np.float64]"]]
"""The score of each turn for a question, newest turn first; higher is better."""


class _Baseline(ABC):
    """A system that scores every turn. `shows_scores`: whether the scores mean anything beyond their order."""

    scores_are_fractions = False
    shows_scores = True

    @asynccontextmanager
    async def prepared(self, transcript: Transcript) -> AsyncGenerator[Ranker, None]:
        # Of turns at the same time, the later one in the file counts as the newer one.
        placed = sorted(enumerate(transcript.turns), key=lambda one: (one[1].occurred_at, one[0]), reverse=True)
        turns = [turn for _, turn in placed]
        yield _Ranker({turn.id: turn.text for turn in turns}, await self._scorer(transcript, turns), self.shows_scores)

    @abstractmethod
    async def _scorer(self, transcript: Transcript, turns: Sequence[DatasetTurn]) -> Scorer:
        """Index the turns, given newest first."""


@dataclass(frozen=True, slots=True)
class RandomOrder(_Baseline):
    """Turns in random order. The order depends on the seed, the conversation and the question only."""

    shows_scores = False
    seed: int
    name: str = "random"

    async def _scorer(self, transcript: Transcript, turns: Sequence[DatasetTurn]) -> Scorer:
        async def scores(question: str) -> NDArray[np.float64]:
            digest = hashlib.sha256(f"{self.seed}\n{transcript.id}\n{question}".encode()).digest()
            order: list[int] = np.random.default_rng(int.from_bytes(digest[:8])).permutation(len(turns)).tolist()
            place_of = {transcript.turns[index].id: place for place, index in enumerate(order)}
            return np.array([-place_of[turn.id] for turn in turns], dtype=np.float64)

        return scores


@dataclass(frozen=True, slots=True)
class Recency(_Baseline):
    """The newest turns, for every question."""

    shows_scores = False
    name: str = "recency"

    async def _scorer(self, transcript: Transcript, turns: Sequence[DatasetTurn]) -> Scorer:
        async def scores(_: str) -> NDArray[np.float64]:
            return np.zeros(len(turns))

        return scores


@dataclass(frozen=True, slots=True)
class Grep(_Baseline):
    """Turns by the number of distinct words of the question, of at least four letters, that they contain as a
    substring.
    """

    name: str = "grep"

    async def _scorer(self, transcript: Transcript, turns: Sequence[DatasetTurn]) -> Scorer:
        lowered = [turn.text.lower() for turn in turns]

        async def scores(question: str) -> NDArray[np.float64]:
            words = {word for word in _WORD.findall(question.lower()) if len(word) >= _MIN_GREP_CHARS}
            return np.array([sum(word in text for word in words) for text in lowered], dtype=np.float64)

        return scores


@dataclass(frozen=True, slots=True)
class Bm25Baseline(_Baseline):
    """BM25 over lower-cased words, without stemming or stop words; idf is log(1 + (N - n + 0.5) / (n + 0.5)).

    Source: Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009.
    """

    name: str = "bm25"

    async def _scorer(self, transcript: Transcript, turns: Sequence[DatasetTurn]) -> Scorer:
        counts = [Counter(_WORD.findall(turn.text.lower())) for turn in turns]
        lengths = [count.total() for count in counts]
        average = sum(lengths) / len(lengths)
        weights_of: dict[str, dict[int, float]] = {}
        for position, (count, length) in enumerate(zip(counts, lengths, strict=True)):
            for word, times in count.items():
                damped = times * (K1 + 1) / (times + K1 * (1 - B + B * length / average))
                weights_of.setdefault(word, {})[position] = damped

        async def scores(question: str) -> NDArray[np.float64]:
            totals = np.zeros(len(turns))
            for word in _WORD.findall(question.lower()):
                weights = weights_of.get(word, {})
                idf = math.log(1 + (len(turns) - len(weights) + 0.5) / (len(weights) + 0.5))
                for position, weight in weights.items():
                    totals[position] += idf * weight
            return totals

        return scores


@dataclass(frozen=True, slots=True)
class Dense(_Baseline):
    """Cosine similarity of the question's vector and the turns' vectors, from the embedder that the memory uses."""

    embedder: Embedder
    name: str = "dense"

    async def _scorer(self, transcript: Transcript, turns: Sequence[DatasetTurn]) -> Scorer:
        embedded = await self.embedder.embed_documents([turn.text for turn in transcript.turns])
        vector_of = {turn.id: vector for turn, vector in zip(transcript.turns, embedded.vectors, strict=True)}
        vectors = np.stack([vector_of[turn.id] for turn in turns])

        async def scores(question: str) -> NDArray[np.float64]:
            return (vectors @ await self.embedder.embed_query(question)).astype(np.float64)

        return scores


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


def _headed(turn: DatasetTurn) -> DatasetTurn:
    return replace(turn, text=f"{turn.actor or turn.role}, {spoken_date(turn.occurred_at)}: {turn.text}")


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A baseline's answer: turns with their scores, and the texts for blocks.

    A baseline ranks every turn, so a turn that is missing from `ranked` lies beyond the depth.
    """

    ranked: tuple[str, ...]
    scores: tuple[float, ...]
    texts: Mapping[str, str]

    def block(self, max_chars: int) -> MeasuredBlock:
        return pack_block(self.ranked, self.texts, max_chars)

    async def outcome(self, turn_id: str) -> TurnOutcome:
        return TurnOutcome.RETURNED if turn_id in self.ranked else TurnOutcome.LIMIT


@dataclass(frozen=True, slots=True)
class _Ranker:
    """Orders turns by score, equal scores newest first. `texts`: by turn id, newest first."""

    texts: Mapping[str, str]
    scorer: Scorer
    shows_scores: bool

    async def answer(self, question: str, *, asked_at: datetime, limit: int) -> _Ranked:
        scores = await self.scorer(question)
        order: list[int] = np.argsort(-scores, kind="stable")[:limit].tolist()
        ids = tuple(self.texts)
        shown = tuple(float(scores[index]) for index in order) if self.shows_scores else ()
        return _Ranked(tuple(ids[index] for index in order), shown, self.texts)
