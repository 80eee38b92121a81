"""The index of one workspace for one embedding model, in memory: loading, updating and searching."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Self
from uuid import UUID

import numpy as np

from remembrancer.domain.candidates import Candidates
from remembrancer.domain.query import Filter, LexicalQuery
from remembrancer.domain.scope import Reader, Scope
from remembrancer.index.columns import MemoryColumns
from remembrancer.index.context import CueContext
from remembrancer.index.file import Stored
from remembrancer.index.growing import GrowingArray
from remembrancer.index.lookup import UNKNOWN, CueLookup, SlotLookup
from remembrancer.index.order import best, distinct, ordered
from remembrancer.index.postings import Counts, LexicalScores, Postings
from remembrancer.index.vectors import TokenEmbeddingCache, VectorTable
from remembrancer.ports.changes import ChangedCue, ChangedMemory, ChangeFeed, CueWords, WorkspaceState, term_hash
from remembrancer.ports.index import SearchRequest
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOAD_BATCH: Final = 2048
"""The number of memories appended at a time."""
LEAST_WRITTEN: Final = 1_000
WRITTEN_SHARE: Final = 100
"""A file is written anew after this many changes, or one for this many memories, whichever is more: catching up then
takes at most about 30 ms, or a hundredth of deriving all.
"""
SCANNED: Final = 32_768
"""In a workspace of at most this many cues, every vector is compared with the question's; in a larger one, only vectors
with similar signs.
"""
LIKELY: Final = 8192
LIKELY_SHARE: Final = 32
"""In a larger workspace, `LIKELY` cues or one cue in `LIKELY_SHARE` are compared, whichever is more: forty times the
depth of a search.
"""


_NONE: Final = np.zeros(0, dtype=np.bool_)
_OWN: Final = "own."
_COLUMNS: Final = "columns."
_POSTINGS: Final = "postings."
_CONTEXT: Final = "context."
_VECTORS: Final = "vectors."
"""The prefixes of the arrays of each part, in a file."""
_OWN_ARRAYS: Final = ("first_cue", "memory_of_cue", "ref_of_cue")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LookedUp:
    """The result of a search's lexical part. `kept`, `scores` are by slot; `cue_kept` (None: all), `coverage` by cue.

    `kept`: the slots that may be returned; `visible`, `without_vector` (None: not counted yet): as in `Candidates`.
    `coverage`: from `CueContext.neighbour_coverage`. `lexical_slots`, `context_slots`: the slots that the lexical
    search and the context search return, best first.
    """

    of: tuple[WorkspaceIndex, int]
    """The index, and the number of the last change it had read."""
    kept: NDArray[np.bool_]
    cue_kept: NDArray[np.bool_] | None
    visible: int
    without_vector: int | None
    lexical: LexicalScores | None
    scores: NDArray[np.float32] | None
    coverage: NDArray[np.float32] | None
    lexical_slots: NDArray[np.int64]
    context_slots: NDArray[np.int64]


class WorkspaceIndex:
    """The index of one workspace and model, derived from the records. Not thread-safe: the owner locks each call."""

    def __init__(
        self, scope: Scope, model: str | None, *, scanned: int = SCANNED, past: bool = False, one_in: int = 1
    ) -> None:
        """`scanned`: as in `ResidentIndex`. `past`: it is fed by feeds of one past time. `one_in`: it holds a sample,
        as in `ChangeFeed.changes`.
        """
        self._scope = scope
        self.one_in = one_in
        self._model = model
        self._scanned = scanned
        self._past = past
        self._change = 0
        self._erasures = 0
        self._unwritten = 0
        """The number of memories read since the index was read from, or written to, a file."""
        self._columns = MemoryColumns()
        self._postings = Postings()
        self._vectors: VectorTable | None = None
        self._context = CueContext()
        self._token_embeddings = TokenEmbeddingCache()
        self._slots = SlotLookup()
        self._cues = CueLookup()
        self._first_cue = GrowingArray[np.int64](np.int64)
        """For each slot, its first cue; the cues of a slot have consecutive numbers, by ordinal."""
        self._memory_of_cue = GrowingArray[np.int32](np.int32)
        self._ref_of_cue = GrowingArray[np.int64](np.int64)
        self._kept_context: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        """The cues added by `add_context` whose words count."""
        self._last_kept: tuple[Reader, Filter, int, NDArray[np.bool_]] | None = None

    def __len__(self) -> int:
        """The number of memories."""
        return int(np.count_nonzero(self._columns.alive))

    @classmethod
    def restored(cls, stored: Stored, scope: Scope, model: str | None, *, scanned: int) -> Self:
        """The index that `stored` describes; the change and erasure numbers are those of its file."""
        index, table = cls(scope, model, scanned=scanned), stored.table
        index._change, index._erasures = table["change"], table["erasures"]

        def part(prefix: str) -> dict[str, GrowingArray[Any]]:
            return {
                name.removeprefix(prefix): array for name, array in stored.arrays.items() if name.startswith(prefix)
            }

        own = part(_OWN)
        index._first_cue, index._memory_of_cue, index._ref_of_cue = (own[name] for name in _OWN_ARRAYS)
        index._columns = MemoryColumns.restored(part(_COLUMNS), table["texts"])
        index._postings = Postings.restored(part(_POSTINGS), table["terms"])
        index._context = CueContext.restored(part(_CONTEXT), table["actors"], table["streams"])
        if vectors := part(_VECTORS):
            index._vectors = VectorTable.restored(vectors)
        index._slots = SlotLookup.restored(index._columns.id_halves, own["slots_by_id"].values)
        cues = own["cues_by_ref"].values
        index._cues = CueLookup.restored(index._ref_of_cue.values[cues], cues)
        return index

    def stored(self) -> Stored:
        """All that `restored` needs. The arrays are those of this index: they change with it."""
        halves = self._columns.id_halves
        alive = np.flatnonzero(self._columns.alive)
        own = {
            **dict(zip(_OWN_ARRAYS, (self._first_cue, self._memory_of_cue, self._ref_of_cue), strict=True)),
            "slots_by_id": _whole(alive[np.lexsort((halves[alive, 1], halves[alive, 0]))]),
            "cues_by_ref": _whole(self._cues_by_ref()),
        }
        parts: dict[str, Mapping[str, GrowingArray[Any]]] = {
            _OWN: own,
            _COLUMNS: self._columns.arrays(),
            _POSTINGS: self._postings.arrays(),
            _CONTEXT: self._context.arrays(),
            _VECTORS: {} if self._vectors is None else self._vectors.arrays(),
        }
        table = {
            "change": self._change,
            "erasures": self._erasures,
            "texts": self._columns.texts,
            "terms": self._postings.terms,
            "actors": self._context.actors,
            "streams": self._context.streams,
        }
        return Stored({prefix + name: array for prefix, part in parts.items() for name, array in part.items()}, table)

    def _cues_by_ref(self) -> NDArray[np.int64]:
        """The last number of each ref, in the order of the refs."""
        refs = self._ref_of_cue.values
        order = np.argsort(refs, kind="stable")
        return order[np.append(refs[order[1:]] != refs[order[:-1]], True)[: len(order)]]

    @property
    def is_worth_writing(self) -> bool:
        """Whether reading a file would save the time of many changes."""
        return self._unwritten >= max(LEAST_WRITTEN, len(self._columns) // WRITTEN_SHARE)

    def count_as_written(self) -> None:
        self._unwritten = 0

    @property
    def nbytes(self) -> int:
        parts = (self._columns, self._postings, self._context, self._token_embeddings)
        vectors = 0 if self._vectors is None else self._vectors.nbytes
        return sum(part.nbytes for part in parts) + vectors + 150 * len(self._memory_of_cue)

    @property
    def slots_per_memory(self) -> float:
        """The number of slots for each memory. It is more than one because of revisions, which leave slots unused."""
        return len(self._columns) / max(len(self), 1)

    @property
    def _is_whole(self) -> bool:
        """Whether all memories of the workspace are here."""
        return self._change > 0 and self.one_in == 1

    def has_erased_rows(self, state: WorkspaceState) -> bool:
        """Whether a process erased something since the index was loaded; it must then be reloaded."""
        return self._change > 0 and state.erasures > self._erasures

    def has_all_of(self, state: WorkspaceState) -> bool:
        """Whether all changes up to `state` have been read. A read that began earlier can find more changes than its
        own state; changes are never removed.
        """
        return self._change >= state.change

    def catch_up(self, feed: ChangeFeed, state: WorkspaceState) -> None:
        """Read the changes since the last call, by any process. `state`: the state of the feed."""
        if self._change == 0:
            self._erasures = state.erasures
        self.add(feed.changes(self._scope, after=self._change, model=self._model, one_in=self.one_in))
        self._change = state.change

    def add(self, memories: Iterable[ChangedMemory]) -> None:
        """Add memories, or update those that are here."""
        fresh = self._fresh(memories)
        while self._append(islice(fresh, LOAD_BATCH)):
            pass

    def add_context(self, passages: Sequence[CueWords], but: Collection[UUID] = ()) -> None:
        """Add cues that no search returns, before any memory. Their words count for the turns around them and for
        their sessions, if they are kept, and not of a memory in `but`, which will be added itself.

        Turns are then neighbours only if they follow each other directly or have been read together.
        """
        if not passages:
            return
        memories, _, kept, read_to, refs, terms, lengths, turns = zip(*passages, strict=True)
        self._columns.append([_CONTEXT_MEMORY])
        self._columns.bury(0)
        self._first_cue.extend(np.zeros(1, dtype=np.int64))
        self._memory_of_cue.extend(np.zeros(len(passages), dtype=np.int32))
        self._ref_of_cue.extend(np.array(refs, dtype=np.int64))
        self._context.extend(turns, [0] * len(passages))
        self._postings.extend(terms, lengths)
        self._context.set_read_to(np.array(read_to, dtype=np.int64))
        self._kept_context = np.flatnonzero(
            [one and memory not in but for memory, one in zip(memories, kept, strict=True)]
        )

    def context_scores(self, query: LexicalQuery, known: Counts) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The scores of the lexical and of the context search of what `add_context` added, each of shape (cues,).

        Both are 0 for a cue that is not kept. `known`: as in `look_up`.
        """
        kept = np.zeros(len(self._memory_of_cue), dtype=np.bool_)
        kept[self._kept_context] = True
        lexical = self._postings.score([term_hash(term) for term in query.terms], kept, known)
        if not sum(lexical.idf):
            return lexical.bm25, lexical.coverage
        coverage = self._context.neighbour_coverage(lexical, self._postings.lengths)
        return lexical.bm25, (lexical.coverage + coverage) * kept

    def counts(self, reader: Reader, request: SearchRequest) -> Counts:
        """The counts of what the reader may see and the filter keeps; of a sample, those of the whole are estimated."""
        kept = self._kept(reader, request.where)
        visible = int(np.count_nonzero(kept))
        cue_kept = self._cues_kept(kept, visible)
        terms = () if request.lexical is None else request.lexical.terms
        found = self._postings.counts([term_hash(term) for term in terms], cue_kept)
        return Counts(
            self.one_in * found.cues,
            self.one_in * found.length,
            tuple(self.one_in * holding for holding in found.holding),
            self.one_in * visible,
            self.one_in * self._without_vector(request, cue_kept),
        )

    def look_up(
        self,
        feed: ChangeFeed,
        reader: Reader,
        request: SearchRequest,
        *,
        known: Counts | None = None,
    ) -> LookedUp:
        """Do everything in a search that needs no question vector. The feed is read only for phrase queries.

        `known`: the counts of the whole collection, if only a part of it is here.
        """
        kept = self._kept(reader, request.where)
        visible = int(np.count_nonzero(kept))
        cue_kept = self._cues_kept(kept, visible)
        if cue_kept is not None:
            cue_kept[self._kept_context] = True
        lexical = self._lexical(feed, request.lexical, cue_kept, known)
        scores = None if lexical is None else self._best_per_slot(lexical.bm25)
        coverage, together = None, None
        if request.context_features and lexical is not None and lexical.idf:
            coverage = self._context.neighbour_coverage(lexical, self._postings.lengths)
            together = self._best_per_slot(lexical.coverage + coverage)
        return LookedUp(
            of=(self, self._change),
            kept=kept,
            cue_kept=cue_kept,
            visible=visible if known is None else max(visible, known.memories),
            without_vector=None if known is None else known.without_vector,
            lexical=lexical,
            scores=scores,
            coverage=coverage,
            lexical_slots=self._best(scores, kept, 0.0, request.depth),
            context_slots=self._best(together, kept, 0.0, request.depth),
        )

    def is_current(self, looked_up: LookedUp) -> bool:
        """Whether `looked_up` came from this index and no change has been read since."""
        return looked_up.of == (self, self._change)

    def search(self, request: SearchRequest, looked_up: LookedUp, vector: NDArray[np.float32] | None) -> Candidates:
        """Finish a search, as `ports.index.Search.candidates`. `looked_up` must fulfil `is_current`."""
        kept, cue_kept, lexical, coverage = looked_up.kept, looked_up.cue_kept, looked_up.lexical, looked_up.coverage
        lexical_slots, context_slots = looked_up.lexical_slots, looked_up.context_slots
        similarity = self._similarity(vector, cue_kept)
        dense_scores = None if similarity is None else self._best_per_slot(similarity)
        dense = self._best(dense_scores, kept, -np.inf, request.depth)
        stated = self._columns.preferences() if request.preferences else None
        brought = distinct(
            np.concatenate(
                [
                    dense,
                    lexical_slots,
                    context_slots,
                    self._any_at(request, kept),
                    self._newest(_NONE if stated is None else kept & (stated > 0), request.depth),
                ]
            )
        )
        found = ordered(brought, self._columns.newest_first)
        if similarity is not None and len(similarity) > self._scanned:
            dense_scores = self._similarity_per_slot(vector, similarity, found)
        cue, cue_by_words = self._best_cues(found, similarity, lexical)
        blank = np.full(len(found), np.nan, dtype=np.float32)
        return Candidates(
            ids=self._columns.ids(found),
            cue=(cue - self._first_cue.values[found]).astype(np.int32),
            ref=self._ref_of_cue.values[cue],
            similarity=blank if dense_scores is None else dense_scores[found],
            bm25=blank if looked_up.scores is None else looked_up.scores[found],
            coverage=blank if lexical is None else lexical.coverage[cue_by_words],
            dense_rank=_ranks(dense, found, len(kept)),
            lexical_rank=_ranks(lexical_slots, found, len(kept)),
            states=self._columns.states(found),
            bm25_bound=0.0 if lexical is None else lexical.bound,
            visible=looked_up.visible,
            without_vector=self._without_vector(request, cue_kept)
            if looked_up.without_vector is None
            else looked_up.without_vector,
            idf=np.array(lexical.idf) if lexical is not None and lexical.idf else None,
            preferences=None if stated is None else stated[found],
            has_left_out_tags=self._columns.has_any_tag(request.where.without_tags) if self._is_whole else None,
            context_features=None
            if coverage is None or lexical is None
            else self._context.features(
                request,
                lexical,
                coverage,
                by_words=cue_by_words,
                best=cue,
                rank=_ranks(context_slots, found, len(kept)),
            ),
        )

    def participants(self, reader: Reader, where: Filter) -> frozenset[str]:
        """As `ports.index.Index.participants`."""
        kept = self._kept(reader, where)
        return self._context.speakers(None if kept.all() else kept[self._memory_of_cue.values])

    def token_embeddings(self, feed: ChangeFeed, reader: Reader, refs: Sequence[int]) -> dict[int, NDArray[np.uint8]]:
        """As `ports.index.Index.token_embeddings`. Unchanged token embeddings are read from the cache."""
        if self._model is None:
            return {}
        seen = self._visible_cues(reader, refs)
        found = self._token_embeddings.of(seen)
        missing = [ref for ref in seen if ref not in found]
        if missing:
            for ref, signs in feed.token_embeddings(self._scope, self._model, missing).items():
                self._token_embeddings.keep(ref, signs)
                found[ref] = signs
        return found

    def _visible_cues(self, reader: Reader, refs: Sequence[int]) -> list[int]:
        """The cues among `refs` that are in use and visible to the reader."""
        cues = self._cues.find(refs)
        known = cues != UNKNOWN
        seen = self._columns.seen_by(reader, self._memory_of_cue.values.take(cues[known]))
        if known.all() and seen.all():
            return list(refs)
        known[known] = seen
        return [ref for ref, is_seen in zip(refs, known.tolist(), strict=True) if is_seen]

    # ── loading ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _fresh(self, memories: Iterable[ChangedMemory]) -> Iterator[ChangedMemory]:
        """The memories to append. The other ones only changed validity or strength and are updated in place."""
        for memory in memories:
            self._unwritten += 1
            slot = self._slots.get(memory.id)
            if slot is not None:
                places = self._places_of(slot)
                self._token_embeddings.drop(self._ref_of_cue.values[places].tolist())
                # An import can add a cue to a memory without a new revision: the memory is then appended again.
                # Of the past, a later write may tell more of the same revision.
                known = not self._past and self._cues.knows(cue.ref for cue in memory.cues)
                if known and self._columns.revision(slot) == memory.revision:
                    self._columns.update(slot, memory)
                    self._take_vectors(memory.cues)
                    continue
                self._columns.bury(slot)
                self._context.bury(places)
            yield memory

    def _places_of(self, slot: int) -> NDArray[np.int64]:
        """The cues of a slot."""
        first = int(self._first_cue.values[slot])
        ends = self._first_cue.values[slot + 1 : slot + 2].tolist() or [len(self._memory_of_cue)]
        return np.arange(first, ends[0])

    def _append(self, memories: Iterable[ChangedMemory]) -> int:
        """Append memories; returns how many."""
        first_slot, first_cue = len(self._columns), len(self._memory_of_cue)
        ids: list[UUID] = []
        sizes: list[int] = []
        values: list[Any] = []

        def with_cues_taken() -> Iterator[ChangedMemory]:
            for memory in memories:
                ids.append(memory.id)
                sizes.append(len(memory.cues))
                for cue in memory.cues:
                    values.extend(cue)
                yield memory

        count = self._columns.append(with_cues_taken())
        if not count:
            return 0
        refs, terms, lengths, vectors, flags, turns = (values[place::6] for place in range(6))
        slots = np.arange(first_slot, first_slot + count, dtype=np.int32)
        self._slots.add(ids, slots.tolist())
        self._first_cue.extend(first_cue + np.cumsum(sizes, dtype=np.int64) - sizes)
        self._memory_of_cue.extend(np.repeat(slots, sizes))
        self._ref_of_cue.extend(np.array(refs, dtype=np.int64))
        self._cues.add(refs, range(first_cue, first_cue + len(refs)))
        self._context.extend(turns, flags)
        self._postings.extend(terms, lengths)
        if self._model is not None:
            self._append_vectors(vectors, first_cue)
        return count

    def _append_vectors(self, vectors: Sequence[NDArray[np.float32] | None], first_cue: int) -> None:
        if self._vectors is None:
            dim = next((len(vector) for vector in vectors if vector is not None), None)
            if dim is None:
                return
            self._vectors = VectorTable.without_vectors(first_cue, dim)
        gap = np.full(self._vectors.dim, np.nan, dtype=np.float32)
        self._vectors.extend(np.array([gap if vector is None else vector for vector in vectors]))

    def _take_vectors(self, cues: Sequence[ChangedCue]) -> None:
        for cue in cues:
            if cue.vector is None:
                continue
            if self._vectors is None:
                self._vectors = VectorTable.without_vectors(len(self._memory_of_cue), len(cue.vector))
            self._vectors.replace(int(self._cues.find([cue.ref])[0]), cue.vector)

    # ── searching ────────────────────────────────────────────────────────────────────────────────────────────────

    def _kept(self, reader: Reader, where: Filter) -> NDArray[np.bool_]:
        """The slots that the reader may see and the filter keeps. One recall asks twice with the same objects: for the
        participants and for the search.
        """
        last = self._last_kept
        if last is not None and last[0] is reader and last[1] is where and last[2] == self._change:
            return last[3]
        kept = self._columns.mask(reader, where)
        kept.flags.writeable = False
        self._last_kept = reader, where, self._change, kept
        return kept

    def _cues_kept(self, kept: NDArray[np.bool_], visible: int) -> NDArray[np.bool_] | None:
        """The cues of the kept slots; None: all."""
        return None if visible == len(kept) else kept[self._memory_of_cue.values]

    def _similarity(
        self, vector: NDArray[np.float32] | None, kept: NDArray[np.bool_] | None
    ) -> NDArray[np.float32] | None:
        """The cosine of each cue; NaN for cues without a vector and, in a large workspace, for unlikely ones."""
        if vector is None:
            return None
        cues = len(self._memory_of_cue)
        if self._vectors is not None and cues <= self._scanned:
            return self._vectors.similarities(vector)
        similarity = np.full(cues, np.nan, dtype=np.float32)
        if self._vectors is not None:
            likely = self._vectors.likely(vector, kept, max(LIKELY, cues // LIKELY_SHARE))
            similarity[likely] = self._vectors.similarities(vector, likely)
        return similarity

    def _similarity_per_slot(
        self, vector: NDArray[np.float32] | None, similarity: NDArray[np.float32], found: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """The similarity of each slot, after adding to `similarity` the missing cues of all `found` slots."""
        if self._vectors is not None and vector is not None:
            cues, _, _ = self._cues_of(found)
            unknown = cues[np.isnan(similarity.take(cues))]
            similarity[unknown] = self._vectors.similarities(vector, unknown)
        return self._best_per_slot(similarity)

    def _lexical(
        self, feed: ChangeFeed, query: LexicalQuery | None, kept: NDArray[np.bool_] | None, known: Counts | None
    ) -> LexicalScores | None:
        if query is None:
            return None
        if query.phrase:
            refs = feed.cues_with_phrase(self._scope, query.phrase)
            found = self._cues.find(refs)
            found = found[found != UNKNOWN]
            hits = np.zeros(len(self._memory_of_cue), dtype=np.float32)
            hits[found] = 1.0
            if kept is not None:
                hits *= kept
            return LexicalScores(hits, hits, 1.0)
        return self._postings.score([term_hash(term) for term in query.terms], kept, known)

    def _best_per_slot(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """For each slot, the greatest value of its cues; NaN if none has one."""
        if len(self._first_cue) == len(scores):
            return scores
        return np.fmax.reduceat(scores, self._first_cue.values)

    def _best(
        self, scores: NDArray[np.float32] | None, kept: NDArray[np.bool_], above: float, depth: int
    ) -> NDArray[np.int64]:
        if scores is None:
            return np.zeros(0, dtype=np.int64)
        return best(scores, kept & (scores > above), self._columns.newest_first, depth)

    def _any_at(self, request: SearchRequest, kept: NDArray[np.bool_]) -> NDArray[np.int64]:
        if not request.any_at:
            return np.zeros(0, dtype=np.int64)
        then = np.zeros(len(kept), dtype=np.bool_)
        for start, end in request.any_at:
            then |= self._columns.happened_in(start, end)
        return self._newest(kept & then, request.depth)

    def _newest(self, those: NDArray[np.bool_], depth: int) -> NDArray[np.int64]:
        return ordered(np.flatnonzero(those), self._columns.newest_first)[:depth]

    def _best_cues(
        self, slots: NDArray[np.int64], similarity: NDArray[np.float32] | None, lexical: LexicalScores | None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each slot, its best cue by both searches, and its best cue by the lexical search alone."""
        if len(self._first_cue) == len(self._memory_of_cue):
            return slots, slots
        cues, begins, sizes = self._cues_of(slots)
        if len(cues) == len(slots):
            return cues, cues
        bm25 = np.zeros(len(cues)) if lexical is None else lexical.bm25[cues].astype(np.float64)
        meaning = 0.0 if similarity is None else np.clip(np.nan_to_num(similarity[cues]), 0.0, None)
        bound = 1.0 if lexical is None or lexical.bound <= 0 else lexical.bound
        return cues[_first_of_most(bm25 / bound + meaning, begins, sizes)], cues[_first_of_most(bm25, begins, sizes)]

    def _cues_of(self, slots: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """All cues of these slots in one array, grouped by slot; the start of each slot's group; the size of each
        group.
        """
        firsts = self._first_cue.values
        starts = firsts[slots]
        sizes = np.append(firsts[1:], len(self._memory_of_cue))[slots] - starts
        begins = np.cumsum(sizes) - sizes
        return np.arange(int(sizes.sum())) - np.repeat(begins - starts, sizes), begins, sizes

    def _without_vector(self, request: SearchRequest, kept: NDArray[np.bool_] | None) -> int:
        """The number of visible memories with a cue without a vector."""
        if request.model is None or (self._vectors is not None and not self._vectors.waiting):
            return 0
        none = np.ones(len(self._memory_of_cue), dtype=np.bool_)
        waiting = none if self._vectors is None else ~self._vectors.present
        if kept is not None:
            waiting &= kept
        return len(distinct(self._memory_of_cue.values[waiting])) if waiting.any() else 0


_CONTEXT_MEMORY: Final = ChangedMemory._make((UUID(int=0), 0, *[""] * 8, *[0] * 8, *[0.0] * 4, *[0] * 6, (), {}, ()))
"""The memory that stands for those of all context, which is never returned."""


def _whole(rows: NDArray[Any]) -> GrowingArray[Any]:
    return GrowingArray.over(rows, len(rows))


def _ranks(leg: NDArray[np.int64], found: NDArray[np.int64], slots: int) -> NDArray[np.int32]:
    """The rank, from 1, of each found slot in a search's order; 0 if the search did not return it."""
    ranks = np.zeros(slots, dtype=np.int32)
    ranks[leg] = np.arange(1, len(leg) + 1, dtype=np.int32)
    return ranks[found]


def _first_of_most(
    values: NDArray[np.float64], begins: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """For each group of consecutive values, the index of its first greatest value."""
    most = np.maximum.reduceat(values, begins)
    places = np.flatnonzero(values == np.repeat(most, sizes))
    return places[np.searchsorted(places, begins)]
