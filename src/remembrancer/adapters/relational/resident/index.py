"""One workspace and one model in memory: loaded from the rows, caught up by the change sequence, searched as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.embeddings import words
from remembrancer.adapters.relational.full_text import cues_with_phrase
from remembrancer.adapters.relational.memories import workspace_state
from remembrancer.adapters.relational.resident.columns import SELECT, MemoryColumns, MemoryRow
from remembrancer.adapters.relational.resident.growing import GrowingArray
from remembrancer.adapters.relational.resident.kept_words import KeptWords
from remembrancer.adapters.relational.resident.postings import LexicalScores, Postings
from remembrancer.adapters.relational.resident.ranking import best, ordered
from remembrancer.adapters.relational.resident.turns import Turns
from remembrancer.adapters.relational.resident.vectors import VectorTable
from remembrancer.adapters.relational.rows import Row, term_hash
from remembrancer.domain.candidates import Candidates, Surroundings
from remembrancer.domain.event import SPEAKERS
from remembrancer.domain.query import Filter, LexicalQuery
from remembrancer.domain.scope import Reader
from remembrancer.ports.store import BRIEF_TERMS, SearchRequest

LOAD_BATCH: Final = 8192
SCANNED: Final = 32_768
"""Up to so many cues each one's vector is compared with a question's; of more only those whose signs are near."""
LIKELY: Final = 8192
LIKELY_SHARE: Final = 16
"""Of more cues, so many are compared, or one in this many where that is more: forty times what a search wants."""
_FIRST_COLUMN: Final = 12
"""Where the memory's own columns begin in a row of `_changed`."""


class FileState(NamedTuple):
    """The number of a file's last change, and of the last erasure in a workspace."""

    change: int
    erasures: int

    @classmethod
    def of(cls, connection: Connection, workspace: str) -> Self:
        """Asked once in a read transaction: a recall wants it four times."""
        known = {} if connection.known is None else connection.known
        if workspace not in known:
            known[workspace] = cls(*workspace_state(connection, workspace))
        return known[workspace]


NOBODY: Final = -1
"""In place of a role: of what no event tells, as notes and facts."""
ANOTHER: Final = -2
"""In place of a role: of what tools and systems tell."""
_CODES: Final[Mapping[str | None, int]] = {None: NOBODY, **{str(role): n for n, role in enumerate(SPEAKERS)}}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LookedUp:
    """What a search knows before it has a vector. `kept`, `scores` by slot, `cue_kept` (None: all), `nearby` by cue;
    `lexically`, `in_company`: the slots that these legs bring, best first.
    """

    of: tuple[WorkspaceIndex, int]
    """The index, and up to which change it knew of them."""
    kept: NDArray[np.bool_]
    cue_kept: NDArray[np.bool_] | None
    visible: int
    lexical: LexicalScores | None
    scores: NDArray[np.float32] | None
    nearby: NDArray[np.float32] | None
    lexically: NDArray[np.int64]
    in_company: NDArray[np.int64]


class WorkspaceIndex:
    """Derived from the rows and never the only copy. Not safe for threads: its owner holds a lock around each call."""

    def __init__(self, workspace: str, model: str | None, *, scanned: int) -> None:
        """`scanned`: up to how many cues each is compared by meaning."""
        self.workspace = workspace
        self.model = model
        self._scanned = scanned
        self._change = 0
        self._erasures = 0
        self._columns = MemoryColumns()
        self._postings = Postings()
        self._vectors: VectorTable | None = None
        self._slot_of_memory: dict[int, int] = {}
        self._cue_rows: dict[int, int] = {}
        """The table's number of a cue in use → its place here."""
        self._first_cue = GrowingArray[np.int64](np.int64)
        """Each slot's first cue; the cues of a slot stand together, by ordinal."""
        self._memory_of_cue = GrowingArray[np.int32](np.int32)
        self._ref_of_cue = GrowingArray[np.int64](np.int64)
        self._actor_of_cue = GrowingArray[np.int32](np.int32)
        self._role_of_cue = GrowingArray[np.int8](np.int8)
        """Its place in SPEAKERS; NOBODY or ANOTHER where it is of no turn of talk."""
        self._marks_of_cue = GrowingArray[np.int32](np.int32)
        self._turns = Turns()
        self._actors: dict[str, int] = {"": 0}
        """Names of those who speak → their code in `_actor_of_cue`."""
        self._words = KeptWords()
        self._last_kept: tuple[Reader, Filter, int, NDArray[np.bool_]] | None = None

    @property
    def nbytes(self) -> int:
        vectors = 0 if self._vectors is None else self._vectors.nbytes
        cues = 163 * len(self._memory_of_cue)
        return self._columns.nbytes + self._postings.nbytes + self._turns.nbytes + vectors + cues + self._words.nbytes

    @property
    def is_mostly_dead(self) -> bool:
        """Whether more slots were left behind by revisions than are in use: time to load it anew."""
        return len(self._columns) > 2 * len(self._slot_of_memory)

    def holds_erased(self, state: FileState) -> bool:
        """Whether something was erased, by whatever process, since it was loaded: it is to be loaded anew."""
        return self._change > 0 and state.erasures > self._erasures

    def has_all_of(self, state: FileState) -> bool:
        """Whether all that was written by then is here. A transaction that began earlier than another's last question
        finds more: nothing is ever taken back.
        """
        return self._change >= state.change

    def catch_up(self, connection: Connection, state: FileState) -> None:
        """Take over what was written since the last time, by whatever process. `state`: that of the connection now."""
        if self._change == 0:
            self._erasures = state.erasures
        for batch in self._changed(connection):
            self._take(batch)
        self._change = state.change

    def look_up(self, connection: Connection, reader: Reader, request: SearchRequest) -> LookedUp:
        """All that a search needs no vector for. The connection is asked only for phrases."""
        kept = self._kept(reader, request.where)
        visible = int(np.count_nonzero(kept))
        cue_kept = None if visible == len(kept) else kept[self._memory_of_cue.values]
        lexical = self._lexical(connection, request.lexical, cue_kept)
        scores = None if lexical is None else self._folded(lexical.bm25)
        nearby = self._nearby(request, lexical)
        together = None if nearby is None or lexical is None else self._folded(lexical.coverage + nearby)
        return LookedUp(
            of=(self, self._change),
            kept=kept,
            cue_kept=cue_kept,
            visible=visible,
            lexical=lexical,
            scores=scores,
            nearby=nearby,
            lexically=self._best(scores, kept, 0.0, request.depth),
            in_company=self._best(together, kept, 0.0, request.depth),
        )

    def is_of_now(self, looked_up: LookedUp) -> bool:
        """Whether it was looked up here, and nothing has been taken over since."""
        return looked_up.of == (self, self._change)

    def search(self, request: SearchRequest, looked_up: LookedUp, vector: NDArray[np.float32] | None) -> Candidates:
        """As `Store.search` says, once what needs no vector `is_of_now`."""
        kept, cue_kept, lexical, nearby = looked_up.kept, looked_up.cue_kept, looked_up.lexical, looked_up.nearby
        lexically, in_company = looked_up.lexically, looked_up.in_company
        similarity = self._similarity(vector, cue_kept)
        dense_scores = None if similarity is None else self._folded(similarity)
        dense = self._best(dense_scores, kept, -np.inf, request.depth)
        brought = np.unique(np.concatenate([dense, lexically, in_company, self._any_at(request, kept)]))
        found = ordered(brought, self._columns.newest_first)
        if similarity is not None and len(similarity) > self._scanned:
            dense_scores = self._completed(vector, similarity, found)
        cue, text_cue = self._best_cues(found, similarity, lexical)
        blank = np.full(len(found), np.nan, dtype=np.float32)
        return Candidates(
            ids=tuple(map(self._columns.ids.__getitem__, found.tolist())),
            cue=(cue - self._first_cue.values[found]).astype(np.int32),
            ref=self._ref_of_cue.values[cue],
            similarity=blank if dense_scores is None else dense_scores[found],
            bm25=blank if looked_up.scores is None else looked_up.scores[found],
            coverage=blank if lexical is None else lexical.coverage[text_cue],
            dense_rank=_ranks(dense, found, len(kept)),
            lexical_rank=_ranks(lexically, found, len(kept)),
            states=self._columns.states(found),
            bm25_bound=0.0 if lexical is None else lexical.bound,
            visible=looked_up.visible,
            without_vector=self._without_vector(request, cue_kept),
            surroundings=None
            if nearby is None or lexical is None
            else Surroundings(
                nearby=nearby[text_cue],
                session=self._turns.best_of_session(text_cue, lexical.bm25, np.concatenate(lexical.holding)),
                spoken=self._spoken(request, cue),
                marks=self._marks_of_cue.values[cue],
                rank=_ranks(in_company, found, len(kept)),
                stream=self._turns.session_of(cue),
                idf=np.array(lexical.idf),
            ),
        )

    def participants(self, reader: Reader, where: Filter) -> frozenset[str]:
        """As `Store.participants` says."""
        kept = self._kept(reader, where)
        if kept.all():
            return frozenset(name for name in self._actors if name)
        speaking = np.zeros(len(self._actors), dtype=np.bool_)
        speaking[self._actor_of_cue.values[kept[self._memory_of_cue.values]]] = True
        return frozenset(name for name, code in self._actors.items() if name and speaking[code])

    def words(self, connection: Connection, reader: Reader, refs: Sequence[int]) -> dict[int, NDArray[np.uint8]]:
        """As `Store.words` says. What was read before and has not changed since is not read again."""
        if self.model is None or self._vectors is None:
            return {}
        seen = self._seen(reader, refs)
        found = self._words.of(seen)
        missing = [ref for ref in seen if ref not in found]
        for ref, signs in words(connection, self.model, missing, self._vectors.dim).items():
            self._words.keep(ref, signs)
            found[ref] = signs
        return found

    def _seen(self, reader: Reader, refs: Sequence[int]) -> list[int]:
        """Those of the cues that are in use, and that the reader may see."""
        known = [ref for ref in refs if ref in self._cue_rows]
        places = np.array([self._cue_rows[ref] for ref in known], dtype=np.intp)
        seen = self._columns.seen_by(reader, self._memory_of_cue.values.take(places))
        return known if seen.all() else [ref for ref, is_seen in zip(known, seen.tolist(), strict=True) if is_seen]

    # ── loading ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _changed(self, connection: Connection) -> Iterator[list[Row]]:
        """Rows of (memory, cue, terms, length, vector, actor, marks, stream, whether it is a session, number in it, its
        time, role, memory columns …); a memory's rows stand together.
        """
        rows = connection.execute(
            "SELECT m.n, c.n, c.terms, c.length, v.vector,"
            " iif(e.role IN ('user', 'assistant'), ifnull(e.actor, ''), ''), c.marks,"
            " e.project || char(31) || e.crew || char(31) || e.agent || char(31) || e.session, e.session <> '', e.seq,"
            f" e.occurred_at, e.role, {SELECT} FROM memories m"
            " JOIN cues c ON c.memory = m.n LEFT JOIN embeddings v ON v.cue = c.n AND v.model = ?"
            " LEFT JOIN events e ON e.n = c.event"
            " WHERE m.workspace = ? AND m.change > ? ORDER BY m.change, m.n, c.ordinal",
            (self.model, self.workspace, self._change),
        )
        batch: list[Row] = []
        for _, group in groupby(rows, key=lambda row: row[0]):
            batch.extend(group)
            if len(batch) >= LOAD_BATCH:
                yield batch
                batch = []
        if batch:
            yield batch

    def _take(self, rows: Sequence[Row]) -> None:
        fresh: list[Row] = []
        for number, group in groupby(rows, key=lambda row: row[0]):
            cues = list(group)
            slot = self._slot_of_memory.get(number)
            if slot is not None:
                places = self._places_of(slot)
                self._words.drop(self._ref_of_cue.values[places].tolist())
                memory = MemoryRow(*cues[0][_FIRST_COLUMN:])
                # An import may bring a memory a cue without a revision: then it is taken anew.
                known = all(row[1] in self._cue_rows for row in cues)
                if known and self._columns.revisions[slot] == memory.revision:
                    self._columns.update(slot, memory)
                    self._take_vectors(cues)
                    continue
                self._columns.bury(slot)
                self._turns.bury(places)
                for ref in self._ref_of_cue.values[places].tolist():
                    self._cue_rows.pop(ref, None)
            fresh.extend(cues)
        if fresh:
            self._append(fresh)

    def _places_of(self, slot: int) -> NDArray[np.int64]:
        """Of the cues of a slot."""
        first = int(self._first_cue.values[slot])
        ends = self._first_cue.values[slot + 1 : slot + 2].tolist() or [len(self._memory_of_cue)]
        return np.arange(first, ends[0])

    def _append(self, rows: list[Row]) -> None:
        heads = [(index, row) for index, row in enumerate(rows) if index == 0 or rows[index - 1][0] != row[0]]
        first_slot, first_cue = len(self._columns), len(self._memory_of_cue)
        self._columns.append([MemoryRow(*row[_FIRST_COLUMN:]) for _, row in heads])
        self._first_cue.extend(np.array([first_cue + index for index, _ in heads], dtype=np.int64))
        self._slot_of_memory.update((row[0], first_slot + place) for place, (_, row) in enumerate(heads))
        sizes = np.diff([index for index, _ in heads], append=len(rows))
        slots = np.arange(first_slot, first_slot + len(heads), dtype=np.int32)
        self._memory_of_cue.extend(np.repeat(slots, sizes))
        self._ref_of_cue.extend(np.array([row[1] for row in rows], dtype=np.int64))
        actors = [self._actors.setdefault(row[5], len(self._actors)) for row in rows]
        self._actor_of_cue.extend(np.array(actors, dtype=np.int32))
        self._role_of_cue.extend(np.array([_CODES.get(row[11], ANOTHER) for row in rows], dtype=np.int8))
        self._marks_of_cue.extend(np.array([row[6] for row in rows], dtype=np.int32))
        self._turns.extend([(row[7], bool(row[8]), row[9], row[10]) for row in rows])
        self._cue_rows.update((row[1], first_cue + place) for place, row in enumerate(rows))
        self._postings.extend([row[2] for row in rows], [row[3] for row in rows])
        if self.model is not None:
            self._append_vectors([row[4] for row in rows], first_cue)

    def _append_vectors(self, blobs: list[bytes | None], first_cue: int) -> None:
        dim = next((len(blob) // 4 for blob in blobs if blob is not None), None)
        if self._vectors is None:
            if dim is None:
                return
            self._vectors = VectorTable.without_vectors(first_cue, dim)
        dim = self._vectors.dim
        gap = np.full(dim, np.nan, dtype="<f4").tobytes()
        joined = b"".join(gap if blob is None else blob for blob in blobs)
        self._vectors.extend(np.frombuffer(joined, dtype="<f4").reshape(len(blobs), dim).astype(np.float32))

    def _take_vectors(self, cues: list[Row]) -> None:
        for row in cues:
            blob = row[4]
            if blob is None:
                continue
            vector = np.frombuffer(blob, dtype="<f4").astype(np.float32)
            if self._vectors is None:
                self._vectors = VectorTable.without_vectors(len(self._memory_of_cue), len(vector))
            self._vectors.replace(self._cue_rows[row[1]], vector)

    # ── searching ────────────────────────────────────────────────────────────────────────────────────────────────

    def _kept(self, reader: Reader, where: Filter) -> NDArray[np.bool_]:
        """The slots that count. One recall asks twice, with the same two objects: who speaks in them, and for them."""
        last = self._last_kept
        if last is not None and last[0] is reader and last[1] is where and last[2] == self._change:
            return last[3]
        kept = self._columns.mask(reader, where)
        kept.flags.writeable = False
        self._last_kept = reader, where, self._change, kept
        return kept

    def _similarity(
        self, vector: NDArray[np.float32] | None, kept: NDArray[np.bool_] | None
    ) -> NDArray[np.float32] | None:
        """Per cue; NaN where it has no vector, and where there are many and it is not among the likely ones."""
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

    def _completed(
        self, vector: NDArray[np.float32] | None, similarity: NDArray[np.float32], found: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """The similarity of each slot, once `similarity` has that of every cue of what was found, by whichever leg."""
        if self._vectors is not None and vector is not None:
            cues, _, _ = self._cues_of(found)
            unknown = cues[np.isnan(similarity.take(cues))]
            similarity[unknown] = self._vectors.similarities(vector, unknown)
        return self._folded(similarity)

    def _lexical(
        self, connection: Connection, query: LexicalQuery | None, kept: NDArray[np.bool_] | None
    ) -> LexicalScores | None:
        if query is None:
            return None
        if query.phrase:
            found = [self._cue_rows[number] for number in cues_with_phrase(connection, self.workspace, query.phrase)]
            hits = np.zeros(len(self._memory_of_cue), dtype=np.float32)
            hits[found] = 1.0
            if kept is not None:
                hits *= kept
            return LexicalScores(hits, hits, 1.0)
        return self._postings.score([term_hash(term) for term in query.terms], kept)

    def _nearby(self, request: SearchRequest, lexical: LexicalScores | None) -> NDArray[np.float32] | None:
        """Per cue, the share of the question's idf that stands around its turn and not in it."""
        if not request.surroundings or lexical is None or not lexical.idf:
            return None
        self._turns.link()
        brief = self._postings.lengths <= BRIEF_TERMS
        return self._turns.nearby(lexical.holding, lexical.idf, brief) / np.float32(sum(lexical.idf))

    def _spoken(self, request: SearchRequest, cues: NDArray[np.int64]) -> NDArray[np.float32]:
        """1 for a cue that one of those asked about says; where a role is asked about, for what no event tells too."""
        spoken = np.zeros(len(cues), dtype=np.bool_)
        for name in request.speakers:
            if name and name in self._actors:  # under no name are all those who do not speak
                spoken |= self._actor_of_cue.values[cues] == self._actors[name]
        if request.roles:
            told_by = [_CODES[role] for role in request.roles if role in SPEAKERS]
            spoken |= np.isin(self._role_of_cue.values[cues], [NOBODY, *told_by])
        return spoken.astype(np.float32)

    def _folded(self, scores: NDArray[np.float32]) -> NDArray[np.float32]:
        """Per slot, the greatest of its cues; NaN where none has a score."""
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
        return ordered(np.flatnonzero(kept & then), self._columns.newest_first)[: request.depth]

    def _best_cues(
        self, slots: NDArray[np.int64], similarity: NDArray[np.float32] | None, lexical: LexicalScores | None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """For each slot, the cue that answers best by both legs, and the one that does by words alone."""
        if len(self._first_cue) == len(self._memory_of_cue):
            return slots, slots
        cues, begins, sizes = self._cues_of(slots)
        if len(cues) == len(slots):
            return cues, cues
        words = np.zeros(len(cues)) if lexical is None else lexical.bm25[cues].astype(np.float64)
        meaning = 0.0 if similarity is None else np.clip(np.nan_to_num(similarity[cues]), 0.0, None)
        bound = 1.0 if lexical is None or lexical.bound <= 0 else lexical.bound
        return cues[_first_of_most(words / bound + meaning, begins, sizes)], cues[_first_of_most(words, begins, sizes)]

    def _cues_of(self, slots: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The cues of all these slots in one row, each slot's together; where each slot's begin in it; how many."""
        firsts = self._first_cue.values
        starts = firsts[slots]
        sizes = np.append(firsts[1:], len(self._memory_of_cue))[slots] - starts
        begins = np.cumsum(sizes) - sizes
        return np.arange(int(sizes.sum())) - np.repeat(begins - starts, sizes), begins, sizes

    def _without_vector(self, request: SearchRequest, kept: NDArray[np.bool_] | None) -> int:
        """Visible memories with a cue that awaits its vector."""
        if request.model is None or (self._vectors is not None and not self._vectors.waiting):
            return 0
        none = np.ones(len(self._memory_of_cue), dtype=np.bool_)
        waiting = none if self._vectors is None else ~self._vectors.present
        if kept is not None:
            waiting &= kept
        return len(np.unique(self._memory_of_cue.values[waiting])) if waiting.any() else 0


def _ranks(leg: NDArray[np.int64], found: NDArray[np.int64], slots: int) -> NDArray[np.int32]:
    """The rank, from 1, of each found slot in a leg's order; 0 where the leg did not bring it."""
    ranks = np.zeros(slots, dtype=np.int32)
    ranks[leg] = np.arange(1, len(leg) + 1, dtype=np.int32)
    return ranks[found]


def _first_of_most(
    values: NDArray[np.float64], begins: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The place of the first greatest value of each stretch."""
    most = np.maximum.reduceat(values, begins)
    places = np.flatnonzero(values == np.repeat(most, sizes))
    return places[np.searchsorted(places, begins)]
