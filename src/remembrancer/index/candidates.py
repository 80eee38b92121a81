"""The index over a candidate source: for workspaces that do not fit into memory.

A source chooses memories (`ports.candidate_source`). Their words, and those of the turns around the best of them, are
read from the records into a small `WorkspaceIndex`, which ranks them by BM25 and by context. Only the memories that can
be returned are then read whole, into a second one, which checks visibility and filter and computes every score, as it
does for a whole workspace.
What depends on all memories (idf, mean length, numbers of memories) is counted in a sample of the workspace that is
held in memory: exactly if the workspace has at most `SAMPLED` memories, otherwise as an estimate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar
from uuid import UUID

from remembrancer.domain.candidates import Candidates
from remembrancer.domain.preference import stating
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader, Scope
from remembrancer.index.postings import BM25, Counts
from remembrancer.index.resident import CAPABILITIES, ResidentIndex, readable
from remembrancer.index.workspace import WorkspaceIndex
from remembrancer.ports.candidate_source import CandidateSource, SourceUnavailable, Wanted, separate_source
from remembrancer.ports.changes import ChangeFeed
from remembrancer.ports.index import Capabilities, Search, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from remembrancer.ports.changes import ChangedMemory, CueWords
    from remembrancer.ports.store import Store

T = TypeVar("T")

SAMPLED: Final = 32_768
"""A workspace of up to this many memories is counted exactly, a larger one in a sample of at least half as many."""
SAMPLE_BYTES: Final = 256 << 20
"""The memory budget for the samples of all workspaces."""
FEW: Final = 2_048
"""If a sample says that at most about this many memories may be found, all of them are read."""
LEAST: Final = 64
"""A source is asked for at least this many memories."""
SURPLUS: Final = 4
"""Terms are looked up for this many times the depth of a search, because they are ordered otherwise than by BM25."""
SEEDS: Final = 120
"""The turns around this many memories, the best of each search, are read."""
MOST_HOLDING: Final = 6_000
"""Terms are looked up in the records from the rarest on, as long as about this many cues have any of them."""
NAME: Final = "index"
"""The name in `Candidates.degraded`."""


class Samples(ResidentIndex):
    """Samples of workspaces. A sample is taken anew, of one memory in twice as many, when it has become too large."""

    def __init__(self, budget_bytes: int = SAMPLE_BYTES, *, sampled: int = SAMPLED) -> None:
        super().__init__(budget_bytes)
        self._sampled = sampled

    def _empty(self, feed: ChangeFeed, scope: Scope, model: str | None) -> WorkspaceIndex:
        # Rounded up to a power of two: each smaller sample is a part of a larger one.
        share = -(-feed.count_changed(scope, after=0) // self._sampled)
        one_in = 1 << max(share - 1, 0).bit_length()
        return WorkspaceIndex(scope, model, past=feed.at is not None, one_in=one_in)

    def _is_outdated(self, index: WorkspaceIndex) -> bool:
        return super()._is_outdated(index) or len(index) > 2 * self._sampled


class CandidateIndex:
    """See `Index`. Answers as the resident index does, if the source misses no candidate and the sample is the whole
    workspace.

    The best BM25 of a session is the best of its turns that were read: those whose terms were looked up, the candidates
    and the turns around the best `SEEDS` of each search.
    """

    def __init__(self, source: CandidateSource, *, sampled: int = SAMPLED, few: int = FEW) -> None:
        self.source = source
        self._few = few
        self._samples = Samples(sampled=sampled)

    @property
    def capabilities(self) -> Capabilities:
        return CAPABILITIES

    def search(self, feed: ChangeFeed, reader: Reader, request: SearchRequest) -> Search:
        with self._samples.caught_up(feed, reader.scope, request.model) as sample:
            known = sample.counts(reader, request)
            is_whole = sample.one_in == 1
        if feed.at is not None and is_whole and separate_source(self):
            return self._samples.search(feed, reader, request)  # such a source holds no earlier texts
        every: Sequence[UUID] = ()
        if not is_whole and known.memories <= self._few:
            found = feed.newest(reader, request.where, limit=self._few + 1)
            every = found if len(found) <= self._few else ()
        search = CandidateSearch(self.source, feed, reader, request, known, every)
        search.look_up()
        return search

    def participants(self, feed: ChangeFeed, reader: Reader, where: Filter, *, model: str | None) -> frozenset[str]:
        """See `Index`. In a sampled workspace, people who said little may be missing."""
        return self._samples.participants(feed, reader, where, model=model)

    def token_embeddings(
        self, feed: ChangeFeed, reader: Reader, model: str, refs: Sequence[int]
    ) -> Mapping[int, NDArray[np.uint8]]:
        index = WorkspaceIndex(Scope(workspace=reader.scope.workspace), model)
        with readable():
            index.add(feed.changed(reader.scope, feed.memories_of(reader.scope, refs), model=None))
        return index.token_embeddings(feed, reader, refs)

    async def save(self, store: Store) -> None:
        """Does nothing: the source has what lasts."""

    def prepare(self, model: str, dim: int) -> None:
        self.source.prepare(model, dim)

    async def purge(self, store: Store, scope: Scope) -> str:
        source = separate_source(self)
        if source is None:
            return ""
        try:
            await store.read(lambda view: source.forget(view, scope))
        except SourceUnavailable as error:
            return (
                f"the index still has the vectors and hashed words of what was erased, but returns none of it: {error}"
            )
        return ""

    async def close(self) -> None:
        await self._samples.close()
        await self.source.close()


class CandidateSearch:
    """A search that reads its candidates from the records."""

    def __init__(
        self,
        source: CandidateSource,
        feed: ChangeFeed,
        reader: Reader,
        request: SearchRequest,
        known: Counts,
        every: Sequence[UUID] = (),
    ) -> None:
        """`every`: all memories that may be found, if they are few: they are read and counted without the source."""
        self._every = every
        self._source, self._feed, self._reader, self._request = source, feed, reader, request
        self._known = known
        self._scope = Scope(workspace=reader.scope.workspace)
        self._wanted = Wanted(
            reader=reader,
            where=request.where,
            limit=max(LEAST, SURPLUS * request.depth),
            visible=known.memories,
        )
        self._read: dict[UUID, ChangedMemory] = {}
        """The memories that can be returned."""
        self._passages: dict[int, CueWords] = {}
        """By ref, the cues read for their words and turns."""
        self._surrounded: set[UUID] = set()
        """The memories whose neighbouring turns have been read."""
        self._degraded: dict[str, str] = {}

    def look_up(self) -> None:
        """Read the candidates that need no question vector, with the turns around them."""
        request = self._request
        if self._every:
            self._bring(self._every)
            self._bring_around(self._every)
            return
        behind = self._asked(lambda: self._source.catch_up(self._feed, self._scope, request.model))
        if behind:
            self._degraded[NAME] = behind
        ids = list(self._ranked(self._by_words()))
        if request.any_at:
            ids += self._feed.newest(self._reader, request.where, spans=request.any_at, limit=request.depth)
        if request.preferences:
            for where in stating(request.where):
                ids += self._feed.newest(self._reader, where, limit=request.depth)
        self._bring(ids)

    def candidates(self, vector: NDArray[np.float32] | None = None) -> Candidates:
        """As `ports.index.Search.candidates`."""
        request, model = self._request, self._request.model
        request.require_model(vector)
        if vector is not None and model is not None and not self._every:
            # The order of a source of vectors is nearly that of their cosines: no surplus is needed.
            wanted = replace(self._wanted, limit=max(LEAST, request.depth))
            closest = self._asked(lambda: self._source.dense(self._feed, wanted, model, vector)) or ()
            self._bring(closest)
            self._bring_around(closest[:SEEDS])
        index = WorkspaceIndex(self._scope, model)
        with readable():
            index.add_context(list(self._passages.values()), but=self._read)
            index.add(self._read.values())
        known = None if self._every else self._known
        looked_up = index.look_up(self._feed, self._reader, request, known=known)
        found = index.search(request, looked_up, vector)
        return found if not self._degraded else replace(found, degraded=self._degraded)

    def _by_words(self) -> Sequence[UUID]:
        query, where, limit = self._request.lexical, self._request.where, self._wanted.limit
        if query is None:
            return ()
        if query.phrase:
            return self._feed.newest(self._reader, where, phrase=query.phrase, limit=limit)
        if not self._degraded:
            found = self._asked(lambda: self._source.lexical(self._feed, self._wanted, query, self._known.holding))
            if found is not None:
                return found
        weights = telling(dict(zip(query.terms, self._known.holding, strict=True)), self._known.cues)
        return self._feed.with_terms(self._reader, where, weights, limit=limit)

    def _asked(self, ask: Callable[[], T]) -> T | None:
        """The source's answer; None if it does not answer."""
        try:
            return ask()
        except SourceUnavailable as error:
            self._degraded[NAME] = str(error)
            return None

    def _ranked(self, ids: Sequence[UUID]) -> Iterable[UUID]:
        """The best of these memories by BM25, and the best of them and the turns around them by context."""
        query, depth = self._request.lexical, self._request.depth
        if query is None or query.phrase or not ids:
            return ids
        self._keep(self._feed.passages(self._reader, self._request.where, ids))
        self._bring_around(ids[:SEEDS])
        passages = list(self._passages.values())
        index = WorkspaceIndex(self._scope, None)
        with readable():
            index.add_context(passages)
        bm25, together = index.context_scores(query, self._known)
        by_words = _best(passages, bm25, depth)
        if not self._needs_context:
            return by_words
        # A turn without a term of the question can be a candidate because of the turns around it.
        by_context = _best(passages, together, depth)
        self._bring_around([*by_words[:SEEDS], *by_context[: 2 * SEEDS]])
        return *by_words, *by_context

    @property
    def _needs_context(self) -> bool:
        query = self._request.lexical
        return self._request.context_features and query is not None and not query.phrase

    def _bring(self, ids: Iterable[UUID]) -> None:
        """Read these memories as candidates."""
        new = [one for one in dict.fromkeys(ids) if one not in self._read]
        if new:
            self._read.update((one.id, one) for one in self._feed.changed(self._scope, new, model=self._request.model))

    def _bring_around(self, ids: Iterable[UUID]) -> None:
        """Read the turns around those of these memories, if the search uses context."""
        new = [one for one in dict.fromkeys(ids) if one not in self._surrounded]
        if new and self._needs_context:
            self._surrounded.update(new)
            self._keep(self._feed.around(self._reader, self._request.where, new))

    def _keep(self, passages: Iterable[CueWords]) -> None:
        for one in passages:
            known = self._passages.get(one.ref)
            if known is None or known.read_to < one.read_to:
                self._passages[one.ref] = one


def _best(passages: Sequence[CueWords], scores: NDArray[np.float32], depth: int) -> list[UUID]:
    """The memories of the passages with the greatest scores above 0; equal ones newest first, then by id."""
    above = [
        (-score, -one.occurred_to, one.memory)
        for one, score in zip(passages, scores.tolist(), strict=True)
        if score > 0
    ]
    return list(dict.fromkeys(memory for _, _, memory in sorted(above)))[:depth]


def telling(holding: Mapping[str, int], cues: int) -> dict[str, float]:
    """The terms to look up, with their idf as weights: the rarest, as long as at most `MOST_HOLDING` cues have any.

    `holding`: for each term, the number of cues that have it, of `cues`. Always at least one term.
    """
    chosen: dict[str, float] = {}
    total = 0
    for term, count in sorted(holding.items(), key=lambda one: one[1]):
        total += count
        if chosen and total > MOST_HOLDING:
            break
        chosen[term] = math.log1p((cues + BM25.background - count + 0.5) / (count + 0.5))
    return chosen
