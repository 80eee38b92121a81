"""A deliberately simple index: exact cosines and plain BM25, worked out anew from the change feed for each question.

It shows what an index has to do, and how one that can do less says so: no phrases, no context features and no token
embeddings. An index that lives in a database server differs in where its rows lie.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.domain.candidates import Candidates
from remembrancer.domain.event import SPEAKERS
from remembrancer.domain.query import Filter, LexicalQuery
from remembrancer.domain.scope import Reader
from remembrancer.errors import EmbedderMismatch
from remembrancer.index.columns import MemoryColumns
from remembrancer.ports.changes import ChangedCue, ChangedMemory, ChangeFeed, term_hash, unpacked_terms
from remembrancer.ports.index import Bm25, Capabilities, SearchRequest
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

BM25: Final = Bm25(k1=1.2, b=0.75, background=0)


class SimpleIndex:
    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(bm25=BM25)

    def search(self, feed: ChangeFeed, reader: Reader, request: SearchRequest) -> SimpleSearch:
        return SimpleSearch(_Rows.of(feed, reader, request.where, request.model), request)

    def participants(self, feed: ChangeFeed, reader: Reader, where: Filter, *, model: str | None) -> frozenset[str]:
        turns = [cue.turn for memory in _Rows.of(feed, reader, where, None).memories for cue in memory.cues]
        return frozenset(turn.actor for turn in turns if turn and turn.actor and turn.role in SPEAKERS)

    def token_embeddings(
        self, feed: ChangeFeed, reader: Reader, model: str, refs: Sequence[int]
    ) -> Mapping[int, NDArray[np.uint8]]:
        return {}

    async def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """The memories that a reader may see and a filter keeps, newest first, then by id."""

    memories: Sequence[ChangedMemory]
    columns: MemoryColumns
    places: NDArray[np.int64]
    """Where each memory is in the columns."""

    @classmethod
    def of(cls, feed: ChangeFeed, reader: Reader, where: Filter, model: str | None) -> _Rows:
        every = list(feed.changes(reader.scope, after=0, model=model))
        columns = MemoryColumns()
        if not every:
            return cls([], columns, np.zeros(0, dtype=np.int64))
        columns.append(every)
        kept: list[int] = np.flatnonzero(columns.mask(reader, where)).tolist()
        kept.sort(key=lambda place: (-every[place].occurred_to, every[place].id))
        return cls([every[place] for place in kept], columns, np.array(kept, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class SimpleSearch:
    rows: _Rows
    request: SearchRequest

    def candidates(self, vector: NDArray[np.float32] | None = None) -> Candidates:
        """Each memory scores by the best of its cues in each leg."""
        self.request.require_model(vector)
        memories = self.rows.memories
        cues = [cue for memory in memories for cue in memory.cues]
        begins = np.cumsum([0, *(len(memory.cues) for memory in memories)])
        similar = _similarities(cues, vector)
        bm25, coverage, bound, idf = _lexical(cues, self.request.lexical)
        cosines = np.array([_best(similar[start:end]) for start, end in _spans(begins)], dtype=np.float32)
        by_words = [start + _first_best(bm25[start:end]) for start, end in _spans(begins)]
        scores = bm25[by_words].astype(np.float32) if by_words else np.zeros(0, dtype=np.float32)
        dense_rank = _ranks(cosines, ~np.isnan(cosines), self.request.depth)
        lexical_rank = _ranks(scores, scores > 0, self.request.depth)
        brought = np.flatnonzero((dense_rank > 0) | (lexical_rank > 0) | self._then())
        both = np.nan_to_num(np.maximum(np.nan_to_num(similar), 0) + np.nan_to_num(bm25) / (bound or 1.0))
        best = [int(begins[row]) + _first_best(both[begins[row] : begins[row + 1]]) for row in brought.tolist()]
        return Candidates(
            ids=tuple(memories[row].id for row in brought.tolist()),
            cue=(np.array(best, dtype=np.int32) - begins[brought]).astype(np.int32),
            ref=np.array([cues[place].ref for place in best], dtype=np.int64),
            similarity=cosines[brought],
            bm25=scores[brought],
            coverage=coverage[np.array(by_words, dtype=np.int64)[brought]].astype(np.float32),
            dense_rank=dense_rank[brought],
            lexical_rank=lexical_rank[brought],
            states=self.rows.columns.states(self.rows.places[brought]),
            bm25_bound=bound,
            visible=len(memories),
            without_vector=0
            if self.request.model is None
            else sum(any(cue.vector is None for cue in memory.cues) for memory in memories),
            idf=idf,
        )

    def _then(self) -> NDArray[np.bool_]:
        """The newest of those that happened in one of the times asked about."""
        then = np.zeros(len(self.rows.memories), dtype=np.bool_)
        for start, end in self.request.any_at:
            then |= self.rows.columns.happened_in(start, end)[self.rows.places]
        then[np.flatnonzero(then)[self.request.depth :]] = False
        return then


def _similarities(cues: Sequence[ChangedCue], vector: NDArray[np.float32] | None) -> NDArray[np.float64]:
    """The cosine of each cue; NaN without a vector. Raises EmbedderMismatch."""
    if vector is None:
        return np.full(len(cues), np.nan)
    for cue in cues:
        if cue.vector is not None and len(cue.vector) != len(vector):
            raise EmbedderMismatch(f"the question's vector has {len(vector)} dimensions, not {len(cue.vector)}")
    return np.array([np.nan if cue.vector is None else float(cue.vector @ vector) for cue in cues], dtype=np.float64)


def _lexical(
    cues: Sequence[ChangedCue], query: LexicalQuery | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], float, NDArray[np.float64] | None]:
    """The score and the coverage of each cue, the bound of any score, and the idf of each term; NaN without terms."""
    if query is None or not query.terms or not cues:
        absent = np.full(len(cues), np.nan)
        return absent, absent, 0.0, None
    terms = [term_hash(term) for term in query.terms]
    repeats = np.array([[unpacked_terms(cue.terms).get(term, 0) for term in terms] for cue in cues], dtype=np.float64)
    holding = np.count_nonzero(repeats, axis=0)
    idf = np.log1p((len(cues) + BM25.background - holding + 0.5) / (holding + 0.5))
    lengths = np.array([cue.length for cue in cues], dtype=np.float64)
    saturation = BM25.k1 * (1 - BM25.b + BM25.b * lengths / max(float(lengths.mean()), math.ulp(1.0)))
    scores = (repeats * (BM25.k1 + 1) / (repeats + saturation[:, np.newaxis])) @ idf
    return scores, ((repeats > 0) @ idf) / idf.sum(), float(idf.sum()) * (BM25.k1 + 1), idf


def _spans(begins: NDArray[np.int64]) -> list[tuple[int, int]]:
    return list(zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True))


def _best(values: NDArray[np.float64]) -> float:
    return float(np.fmax.reduce(values))


def _first_best(values: NDArray[np.float64]) -> int:
    return int(np.argmax(np.nan_to_num(values)))


def _ranks(scores: NDArray[np.float32], among: NDArray[np.bool_], depth: int) -> NDArray[np.int32]:
    """Ranks from 1 of the best `depth`, equals in the order they come; 0 for the others."""
    ranks = np.zeros(len(scores), dtype=np.int32)
    rows = np.flatnonzero(among)
    best = rows[np.argsort(-scores[rows], kind="stable")][:depth]
    ranks[best] = np.arange(1, len(best) + 1)
    return ranks
