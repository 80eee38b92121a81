"""BM25 over term hashes: immutable segments, merged when they reach similar sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Self

import numpy as np

from remembrancer.index.growing import GrowingArray
from remembrancer.ports.index import Bm25
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

BM25: Final = Bm25(k1=0.9, b=0.4, background=100)
"""The BM25 parameters. `k1` and `b`: Anserini's defaults for short passages; `b` is low because long turns are hardly
less focused. `background`: without it, each word would count as common in a store of three memories.
"""


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of the cues that a reader may see and a filter keeps: exact, or estimated from a sample.

    `length`: the number of terms of all of them, with repeats. `holding`: for each term of a question, the cues that
    contain it. `memories`: the memories they belong to; `without_vector`: those with a cue without a vector.
    """

    cues: int
    length: int
    holding: tuple[int, ...]
    memories: int = 0
    without_vector: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class LexicalScores:
    """The lexical scores of all cues: `bm25` and `coverage` of each cue, shape (cues,), 0 without a match; `bound`: the
    greatest BM25 that is possible.

    For each term, in the query's order: `idf`, and `holding`, the cues that contain it. Both are empty for a phrase.
    """

    bm25: NDArray[np.float32]
    coverage: NDArray[np.float32]
    bound: float
    idf: tuple[float, ...] = ()
    holding: tuple[NDArray[np.int32], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Segment:
    """Postings sorted by term: rows starts[i]:starts[i + 1] of `cues` and `counts` belong to `terms[i]`."""

    terms: NDArray[np.uint32]
    starts: NDArray[np.int64]
    cues: NDArray[np.int32]
    counts: NDArray[np.uint8]

    @staticmethod
    def of(terms: NDArray[np.uint32], cues: NDArray[np.int32], counts: NDArray[np.uint8]) -> _Segment:
        """Build a segment from parallel arrays with one posting per row, ordered by cue. Each term's rows keep that
        order.
        """
        # Sort term and position as one integer: it takes a tenth of the time of a stable `argsort`.
        keys = terms.astype(np.uint64) << np.uint64(32) | np.arange(len(terms), dtype=np.uint64)
        keys.sort()
        order, terms = (keys & np.uint64(0xFFFFFFFF)).astype(np.intp), (keys >> np.uint64(32)).astype(np.uint32)
        is_first = np.ones(len(terms), dtype=np.bool_)
        is_first[1:] = terms[1:] != terms[:-1]
        starts = np.flatnonzero(is_first)
        return _Segment(terms[starts], np.append(starts, len(terms)), cues[order], counts[order])

    def merged(self, later: _Segment) -> _Segment:
        return _Segment.of(
            np.concatenate([self.flat_terms(), later.flat_terms()]),
            np.concatenate([self.cues, later.cues]),
            np.concatenate([self.counts, later.counts]),
        )

    def flat_terms(self) -> NDArray[np.uint32]:
        return np.repeat(self.terms, np.diff(self.starts))

    def find(self, term: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        place = int(self.terms.searchsorted(np.uint32(term)))  # the function of numpy takes twice as long
        if place == len(self.terms) or self.terms[place] != term:
            return self.cues[:0], self.counts[:0]
        rows = slice(self.starts[place], self.starts[place + 1])
        return self.cues[rows], self.counts[rows]

    @property
    def nbytes(self) -> int:
        return self.terms.nbytes + self.starts.nbytes + self.cues.nbytes + self.counts.nbytes


_NOWHERE: Final = np.zeros(0, dtype=np.int32)
_PARTS: Final = ("terms", "starts", "cues", "counts")
"""The arrays of a segment."""


class Postings:
    """The frequencies of terms in cues. Cues are numbered from 0 in the order they are appended."""

    def __init__(self) -> None:
        self._segments: list[_Segment] = []
        self._lengths = GrowingArray[np.int32](np.int32)
        self._terms = 0
        """The sum of all lengths."""
        self._saturated: tuple[float, NDArray[np.float32]] = (0.0, np.zeros(0, dtype=np.float32))

    @classmethod
    def restored(cls, arrays: Mapping[str, GrowingArray[Any]], terms: int) -> Self:
        """Postings of the `arrays` and `terms` of others."""
        postings = cls()
        postings._lengths, postings._terms = arrays["lengths"], terms
        while f"{len(postings._segments)}.terms" in arrays:
            number = len(postings._segments)
            parts = [arrays[f"{number}.{name}"].values for name in _PARTS]
            postings._segments.append(_Segment(*parts))
        return postings

    def arrays(self) -> dict[str, GrowingArray[Any]]:
        """All arrays, by name."""
        parts: dict[str, GrowingArray[Any]] = {"lengths": self._lengths}
        for number, segment in enumerate(self._segments):
            for name in _PARTS:
                rows: NDArray[Any] = getattr(segment, name)
                parts[f"{number}.{name}"] = GrowingArray.over(rows, len(rows))
        return parts

    @property
    def terms(self) -> int:
        """The sum of all lengths."""
        return self._terms

    @property
    def nbytes(self) -> int:
        kept = self._saturated[1].nbytes
        return self._lengths.nbytes + kept + sum(segment.nbytes for segment in self._segments)

    def extend(self, packed: Sequence[bytes], lengths: Sequence[int]) -> None:
        """Append cues. `packed`: as `ports.changes.packed_terms` returns; `lengths`: the number of
        terms, with repeats.
        """
        sizes = np.array([len(blob) // 5 for blob in packed], dtype=np.int64)
        hashes = np.frombuffer(
            b"".join(blob[: 4 * size] for blob, size in zip(packed, sizes.tolist(), strict=True)), dtype="<u4"
        )
        counts = np.frombuffer(
            b"".join(blob[4 * size :] for blob, size in zip(packed, sizes.tolist(), strict=True)), dtype=np.uint8
        )
        first = len(self._lengths)
        cues = np.repeat(np.arange(first, first + len(packed), dtype=np.int32), sizes)
        self._lengths.extend(np.array(lengths, dtype=np.int32))
        self._terms += sum(lengths)
        self._segments.append(_Segment.of(hashes.astype(np.uint32), cues, counts))
        # Only neighbours of similar size are merged: appending stays cheap and the number of segments logarithmic.
        while len(self._segments) > 1 and len(self._segments[-2].cues) <= 2 * len(self._segments[-1].cues):
            later = self._segments.pop()
            self._segments.append(self._segments.pop().merged(later))

    @property
    def lengths(self) -> NDArray[np.int32]:
        """The number of terms of each cue, with repeats, shape (cues,)."""
        return self._lengths.values

    def counts(self, terms: Sequence[int], visible: NDArray[np.bool_] | None) -> Counts:
        """The numbers of these cues; None: of all. Without numbers of memories."""
        lengths = self._lengths.values
        if visible is None:
            cues, length = len(lengths), self._terms
        else:
            cues, length = int(np.count_nonzero(visible)), int(lengths[visible].sum())
        found = (sum(len(self._visible(one.find(term), visible)[0]) for one in self._segments) for term in terms)
        return Counts(cues, length, tuple(found))

    def score(
        self, terms: Sequence[int], visible: NDArray[np.bool_] | None, known: Counts | None = None
    ) -> LexicalScores:
        """BM25 of each cue for the distinct term hashes `terms`.

        `visible`, shape (cues,): the cues that count for idf, the number of cues and the mean length; None: all.
        `known`: the counts of a larger collection, of which these cues are a part, which then count instead. The
        formula and its source: `ports.index.Bm25`.
        """
        lengths = self._lengths.values
        total = len(lengths) if visible is None else int(np.count_nonzero(visible))
        bm25 = np.zeros(len(lengths), dtype=np.float32)
        coverage = np.zeros(len(lengths), dtype=np.float32)
        terms_in_all = self._terms if visible is None else int(lengths[visible].sum())
        if known is not None and known.cues >= total:
            total, terms_in_all = known.cues, known.length
        if not total:
            return LexicalScores(bm25, coverage, 0.0)
        saturation = self._saturation(max(terms_in_all / total, 1e-9))
        weights: list[float] = []
        holding: list[NDArray[np.int32]] = []
        for place, term in enumerate(terms):
            rows = [self._visible(segment.find(term), visible) for segment in self._segments]
            frequency = sum(len(cues) for cues, _ in rows)
            if known is not None:  # an estimate may be less than what was found, or more than there can be
                frequency = max(frequency, min(known.holding[place], total))
            idf = float(np.log1p((total + BM25.background - frequency + 0.5) / (frequency + 0.5)))
            weights.append(idf)
            holding.append(rows[0][0] if len(rows) == 1 else np.concatenate([_NOWHERE, *(cues for cues, _ in rows)]))
            for cues, counts in rows:
                # `take` with intp indexes: plain indexing converts 32-bit indexes on each use, which takes most of the
                # time.
                places, often = cues.astype(np.intp), counts.astype(np.float32)
                gain = often / (often + saturation.take(places)) * np.float32(idf * (BM25.k1 + 1))
                # A term has at most one posting per cue, so plain assignment of the sums is correct.
                bm25[places] = bm25.take(places) + gain
                coverage[places] = coverage.take(places) + np.float32(idf)
        idf_sum = sum(weights)
        if idf_sum:
            coverage /= np.float32(idf_sum)
        return LexicalScores(bm25, coverage, idf_sum * (BM25.k1 + 1), tuple(weights), tuple(holding))

    def _saturation(self, average: float) -> NDArray[np.float32]:
        """For each cue, the length-dependent term in BM25's denominator, shape (cues,). The last result is cached,
        because most questions search the same cues.
        """
        kept_for, kept = self._saturated
        if kept_for != average or len(kept) != len(self._lengths):
            lengths = self._lengths.values.astype(np.float32)
            kept = np.float32(BM25.k1 * (1 - BM25.b)) + np.float32(BM25.k1 * BM25.b / average) * lengths
            self._saturated = average, kept
        return kept

    @staticmethod
    def _visible(
        rows: tuple[NDArray[np.int32], NDArray[np.uint8]], visible: NDArray[np.bool_] | None
    ) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        if visible is None:
            return rows
        cues, counts = rows
        kept = visible[cues]
        return cues[kept], counts[kept]
