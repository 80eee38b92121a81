"""The change feed, and the other reads of one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final
from uuid import UUID

import numpy as np

from remembrancer.adapters import relational
from remembrancer.adapters.relational.columns import Row, as_written, decoded, turn_of
from remembrancer.adapters.relational.past import NOW, Then
from remembrancer.domain.listing import USUAL
from remembrancer.domain.names import ALIAS
from remembrancer.ports.changes import ChangedCue, ChangedMemory, WorkspaceState, current_span
from remembrancer.ports.quantised import vector_of

if TYPE_CHECKING:
    from datetime import datetime

    from numpy.typing import NDArray

    from remembrancer.adapters.relational.connection import Binding, Connection
    from remembrancer.domain.candidates import States
    from remembrancer.domain.event import Event
    from remembrancer.domain.journal import ListingPosition
    from remembrancer.domain.listing import MemoryListing, MemoryPlace
    from remembrancer.domain.memory import Cue, Memory
    from remembrancer.domain.query import Filter
    from remembrancer.domain.relation import Relation
    from remembrancer.domain.scope import Reader, Scope
    from remembrancer.ports.changes import CueWords
    from remembrancer.ports.journal import EventFilter, FoundEvent

FEW: Final = 2_000
"""Changed memories up to this number are received at once."""
_CHUNK: Final = 500
"""The number of refs in one statement."""
_CUE: Final = (
    "m.n, c.n, c.terms, c.length, v.vector, v.dim, c.marks,"
    " e.workspace, e.project, e.crew, e.agent, e.session, e.seq, e.occurred_at, e.role, coalesce(e.actor,'')"
)
_MEMORY: Final = (
    "m.id, m.revision, m.project, m.crew, m.agent, m.session, m.visibility, m.tier, m.kind, coalesce(m.source, ''),"
    " m.occurred_from, m.occurred_to, coalesce(m.last_reviewed_at, 0), coalesce(m.last_retrieved_at, 0),"
    " coalesce(m.last_shown_at, 0), coalesce(m.last_used_at, 0), m.importance, m.importance_floor, m.confidence,"
    " m.stability, m.priority, m.retrieved, m.shown, m.used, m.worked, m.failed, m.tags, m.metadata, m.recorded_at,"
    " m.valid_from, m.valid_until, m.superseded_by IS NOT NULL, m.superseded_at, m.status <> 'active', m.retired_at"
)
_FIRST_OF_MEMORY: Final = len(_CUE.split(", "))
"""The first of the memory's own columns in a row of `changes`."""


class RelationalView:
    """The records as seen by one read transaction."""

    def __init__(self, connection: Connection, at: datetime | None = None) -> None:
        self._connection = connection
        self._at = at
        self.then = NOW if at is None else Then.of(at)
        self._states: dict[str, WorkspaceState] = {}

    @property
    def at(self) -> datetime | None:
        return self._at

    def within(self, scope: Scope) -> Connection:
        """The connection, for statements about the scope's workspace."""
        self._connection.within(scope.workspace)
        return self._connection

    def as_of(self, at: datetime) -> RelationalView:
        return RelationalView(self._connection, at)

    def state(self, scope: Scope) -> WorkspaceState:
        """Read once per transaction: it cannot change in between, and a recall needs it often."""
        if scope.workspace not in self._states:
            row = (
                self.within(scope)
                .execute(
                    "SELECT coalesce((SELECT last FROM changes WHERE workspace = ?), 0),"
                    " (SELECT coalesce(max(n), 0) FROM erasures WHERE workspace = ?),"
                    " (SELECT model FROM vector_spaces WHERE workspace = ? AND role = 'answers'),"
                    f" EXISTS (SELECT 1 FROM memories WHERE workspace = ? AND tags LIKE '%\"{ALIAS}\"%')",
                    (scope.workspace,) * 4,
                )
                .get
            )
            *numbers, says_names = row
            self._states[scope.workspace] = WorkspaceState(*numbers, says_names=bool(says_names))
        return self._states[scope.workspace]

    def changes(self, scope: Scope, *, after: int, model: str | None, one_in: int = 1) -> Iterator[ChangedMemory]:
        those = "m.change > ?" if one_in == 1 else f"m.change > ? AND {relational.candidates.in_sample(one_in)}"
        return self._changed(
            scope, those, after, model, order="m.change, m.n", many=self.state(scope).change - after > FEW
        )

    def _changed(
        self, scope: Scope, those: str, binding: Binding, model: str | None, *, order: str, many: bool = False
    ) -> Iterator[ChangedMemory]:
        """The memories that fulfil a condition with one binding. `many`: too many rows to receive them all at once.
        `order`: of an index that the planner shall take.
        """
        connection = self.within(scope)
        rows = (connection.stream if many else connection.execute)(
            f"SELECT {_CUE}, {_MEMORY} FROM {self.then.memories()} JOIN cues c ON c.memory = m.n AND {self.then.cues}"
            " LEFT JOIN embeddings v ON v.cue = c.n AND v.model = ? LEFT JOIN events e ON e.n = c.event"
            f" WHERE m.workspace = ? AND {those} ORDER BY {order}, c.ordinal",
            (model, scope.workspace, binding),
        )
        with as_written():
            for _, cues in groupby(rows, key=itemgetter(0)):
                yield _changed(list(cues))

    def count_changed(self, scope: Scope, *, after: int) -> int:
        return relational.candidates.count_changed(self.within(scope), scope, after)

    def changed(self, scope: Scope, ids: Sequence[UUID], *, model: str | None) -> Iterator[ChangedMemory]:
        dialect = self._connection.dialect
        return self._changed(scope, dialect.in_ids("m.id"), dialect.ids(ids), model, order="m.id")

    def memories_of(self, scope: Scope, refs: Sequence[int]) -> list[UUID]:
        return relational.candidates.memories_of(self.within(scope), scope, refs, self.then)

    def passages(self, reader: Reader, where: Filter, ids: Sequence[UUID]) -> list[CueWords]:
        return relational.candidates.passages(self.within(reader.scope), reader, where, ids, self.then)

    def around(self, reader: Reader, where: Filter, ids: Sequence[UUID]) -> list[CueWords]:
        return relational.candidates.around(self.within(reader.scope), reader, where, ids, self.then)

    def newest(
        self,
        reader: Reader,
        where: Filter,
        *,
        limit: int,
        spans: Sequence[tuple[datetime, datetime]] = (),
        phrase: Sequence[str] = (),
    ) -> list[UUID]:
        return relational.candidates.newest(self.within(reader.scope), reader, where, limit, spans, phrase, self.then)

    def with_terms(self, reader: Reader, where: Filter, weights: Mapping[str, float], *, limit: int) -> list[UUID]:
        return relational.candidates.with_terms(self.within(reader.scope), reader, where, weights, limit, self.then)

    def index_token(self, scope: Scope, model: str | None) -> bytes | None:
        return relational.index_files.index_token(self.within(scope), scope, model)

    def token_embeddings(self, scope: Scope, model: str, refs: Sequence[int]) -> dict[int, NDArray[np.uint8]]:
        connection = self.within(scope)
        dim: int | None = connection.execute(
            "SELECT dim FROM vector_models WHERE workspace = ? AND model = ?", (scope.workspace, model)
        ).get
        found: dict[int, NDArray[np.uint8]] = {}
        for start in range(0, len(refs) if dim else 0, _CHUNK):
            chunk = refs[start : start + _CHUNK]
            rows = connection.execute(
                "SELECT w.cue, w.signs FROM word_vectors w JOIN cues c ON c.n = w.cue"
                f" WHERE c.workspace = ? AND w.model = ? AND w.cue IN ({', '.join('?' * len(chunk))})",
                (scope.workspace, model, *chunk),
            )
            with as_written():
                for ref, signs in rows:
                    found[ref] = np.frombuffer(signs, dtype=np.uint8).reshape(-1, -(-(dim or 0) // 8))
        return found

    def erased(self, scope: Scope, *, after: int) -> frozenset[UUID]:
        return relational.tracing.erased(self.within(scope), scope, after=after)

    def cues_with_phrase(self, scope: Scope, words: Sequence[str]) -> list[int]:
        return relational.full_text.cues_with_phrase(self.within(scope), scope.workspace, words)

    def get(self, reader: Reader, ids: Sequence[UUID]) -> dict[UUID, Memory]:
        return relational.lookup.get(self.within(reader.scope), reader, ids, then=self.then)

    def at_revisions(self, reader: Reader, revisions: Mapping[UUID, int]) -> dict[UUID, tuple[Memory, tuple[Cue, ...]]]:
        return relational.lookup.at_revisions(self.within(reader.scope), reader, revisions)

    def cues(self, reader: Reader, ids: Sequence[UUID]) -> dict[UUID, tuple[Cue, ...]]:
        return relational.lookup.cues(self.within(reader.scope), reader, ids, then=self.then)

    def memories(
        self,
        reader: Reader,
        where: Filter,
        *,
        limit: int,
        oldest_first: bool = False,
        after: MemoryPlace | None = None,
        listing: MemoryListing = USUAL,
    ) -> tuple[Memory, ...]:
        return relational.lookup.memories(
            self.within(reader.scope),
            reader,
            where,
            limit=limit,
            oldest_first=oldest_first,
            after=after,
            listing=listing,
            then=self.then,
        )

    def events(
        self,
        reader: Reader,
        where: EventFilter,
        *,
        limit: int,
        oldest_first: bool = False,
        after: ListingPosition | None = None,
    ) -> tuple[Event, ...]:
        return relational.journal.events(
            self.within(reader.scope), reader, where, limit=limit, oldest_first=oldest_first, after=after
        )

    def count_events(self, reader: Reader, where: EventFilter) -> int:
        return relational.journal.count_events(self.within(reader.scope), reader, where)

    def events_by_words(
        self, reader: Reader, where: EventFilter, weights: Mapping[str, int], *, limit: int, skip: int = 0
    ) -> tuple[FoundEvent, ...]:
        return relational.journal.events_by_words(
            self.within(reader.scope), reader, where, weights, limit=limit, skip=skip
        )

    def relations(self, reader: Reader, ids: Sequence[UUID]) -> tuple[Relation, ...]:
        return relational.lookup.relations(self.within(reader.scope), reader, ids, then=self.then)

    def states(self, reader: Reader, where: Filter) -> tuple[Sequence[UUID], States]:
        return relational.health.states(self.within(reader.scope), reader, where, then=self.then)

    def vectors(self, reader: Reader, model: str, ids: Sequence[UUID]) -> dict[UUID, NDArray[np.float32]]:
        return relational.embeddings.vectors(self.within(reader.scope), reader, model, ids, then=self.then)


def _changed(rows: Sequence[Row]) -> ChangedMemory:
    """The memory of these rows, one row per cue."""
    row = rows[0][_FIRST_OF_MEMORY:]
    fixed, moving, current = row[1:12], row[12:26], current_span(*row[28:])
    values = (UUID(bytes=row[0]), *fixed, *current, *moving, _tags(row[26]), decoded(row[27]), list(map(_cue, rows)))
    return ChangedMemory._make(values)


def _cue(row: Row) -> ChangedCue:
    _, ref, terms, length, vector, dim, flags, *turn = row[:_FIRST_OF_MEMORY]
    return ChangedCue(
        ref,
        terms,
        length,
        None if vector is None else vector_of(vector, dim),
        flags,
        turn_of(*turn),
    )


@lru_cache(maxsize=1024)
def _tags(tags: str) -> tuple[str, ...]:
    """Cached: many memories have the same tags, and most have none."""
    return () if tags == "[]" else tuple(json.loads(tags))
