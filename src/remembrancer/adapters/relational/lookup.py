"""Look up memories by id, topic or filter, with their cues, revisions and relations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, TypeVar
from uuid import UUID

from remembrancer.adapters.relational.clauses import Where, found_by, kept_by, owner, seen_by, selected_by
from remembrancer.adapters.relational.columns import Columns, Row, as_written
from remembrancer.adapters.relational.dialect import BEGINNING_CHARS
from remembrancer.adapters.relational.past import NOW, Then
from remembrancer.adapters.relational.rows import CUES, MEMORIES, RELATIONS, REVISIONS
from remembrancer.domain import past
from remembrancer.domain.instants import micros
from remembrancer.domain.listing import USUAL, MemoryOrder
from remembrancer.domain.memory import topic_order
from remembrancer.domain.scope import Level, Visibility
from remembrancer.errors import NotFound

if TYPE_CHECKING:
    from remembrancer.adapters.relational.connection import Binding, Connection
    from remembrancer.domain.listing import MemoryListing, MemoryPlace
    from remembrancer.domain.memory import Cue, Memory, Revision
    from remembrancer.domain.query import Filter
    from remembrancer.domain.relation import Relation
    from remembrancer.domain.scope import Reader, Scope

T = TypeVar("T")

_ORDERED_BY: Final = {
    MemoryOrder.TIME: "m.occurred_to",
    MemoryOrder.IMPORTANCE: "m.importance",
    MemoryOrder.USED: "m.last_used_at",
}
_CHUNK: Final = 500
"""The number of ids in one statement."""


def get(connection: Connection, reader: Reader, ids: Sequence[UUID], *, then: Then = NOW) -> dict[UUID, Memory]:
    rows = by_ids(connection, reader, ids, MEMORIES.select, then=then)
    return {memory.id: memory for memory in map(MEMORIES.value_of, rows)}


def at_revisions(
    connection: Connection, reader: Reader, wanted: Mapping[UUID, int]
) -> dict[UUID, tuple[Memory, tuple[Cue, ...]]]:
    ids = list(wanted)
    revisions = by_ids(connection, reader, ids, REVISIONS.select, "JOIN revisions r ON r.memory = m.n")
    joins = "JOIN cues c ON c.memory = m.n LEFT JOIN events e ON e.n = c.event"
    cues = by_ids(connection, reader, ids, f"{CUES.select}, c.revision, c.last", joins)
    return past.at_revisions(
        reader,
        wanted,
        get(connection, reader, ids),
        map(REVISIONS.value_of, revisions),
        ((CUES.value_of(row), row[-2], row[-1]) for row in cues),
    )


def there(connection: Connection, scope: Scope, memory_id: UUID) -> Memory:
    """A memory of the workspace, whatever its visibility. Raises NotFound."""
    memory = MEMORIES.first(
        connection, "memories m WHERE m.workspace = ? AND m.id = ?", (scope.workspace, memory_id.bytes)
    )
    if memory is None:
        raise NotFound("memory", memory_id)
    return memory


def cues(
    connection: Connection, reader: Reader, ids: Sequence[UUID], *, then: Then = NOW
) -> dict[UUID, tuple[Cue, ...]]:
    joins = f"JOIN cues c ON c.memory = m.n AND {then.cues} LEFT JOIN events e ON e.n = c.event"
    rows = by_ids(connection, reader, ids, CUES.select, joins, then=then)
    found: dict[UUID, list[Cue]] = {}
    for cue in map(CUES.value_of, rows):
        found.setdefault(cue.memory_id, []).append(cue)
    return {identifier: tuple(sorted(several, key=lambda cue: cue.ordinal)) for identifier, several in found.items()}


def memories(
    connection: Connection,
    reader: Reader,
    where: Filter,
    *,
    limit: int,
    oldest_first: bool = False,
    after: MemoryPlace | None = None,
    listing: MemoryListing = USUAL,
    then: Then = NOW,
) -> tuple[Memory, ...]:
    conditions = selected_by(connection.dialect, where, listing, seen_by(reader, "m", visibility=True))
    order, behind = ("ASC", ">") if oldest_first else ("DESC", "<")
    column = _ORDERED_BY[listing.order]
    if after is not None:
        at = micros(after.value) if isinstance(after.value, datetime) else after.value
        # Ids ascend in both orders, so a row comparison cannot be used. The first condition uses the index.
        conditions.add(f"{column} {behind}= ?", at)
        conditions.add(f"({column} {behind} ? OR m.id > ?)", at, after.id.bytes)
    return MEMORIES.all(
        connection,
        f"{then.memories()} WHERE {conditions.sql} ORDER BY {column} {order}, m.id LIMIT ?",
        (*conditions.bindings, limit),
    )


def workspace_memories(
    connection: Connection,
    scope: Scope,
    where: Filter,
    *,
    limit: int,
    after: Memory | None = None,
    unconsolidated: bool = False,
) -> tuple[Memory, ...]:
    conditions = Where()
    conditions.add("m.workspace = ?", scope.workspace)
    kept_by(connection.dialect, where, conditions)
    if after is not None:
        conditions.add("(m.occurred_to, m.id) > (?, ?)", micros(after.occurred_to), after.id.bytes)
    if unconsolidated:
        conditions.add("m.consolidated_at IS NULL")
    return MEMORIES.all(
        connection,
        f"memories m WHERE {conditions.sql} ORDER BY m.occurred_to, m.id LIMIT ?",
        (*conditions.bindings, limit),
    )


def by_topic(connection: Connection, scope: Scope, topic_key: str, topics: Level = Level.AGENT) -> tuple[Memory, ...]:
    workspace, *parts = owner(scope)
    exactly = "m.project = ? AND m.crew = ? AND m.agent = ?"
    conditions = Where()
    conditions.add("m.workspace = ?", workspace)
    for level, value in zip((Level.PROJECT, Level.CREW, Level.AGENT), parts, strict=True):
        if level <= topics:
            conditions.add(f"m.{level.name.lower()} = ?", value)
    conditions.add(f"m.visibility = 'workspace' OR ({exactly})", *parts)
    found = MEMORIES.all(
        connection,
        f"memories m WHERE {conditions.sql} AND m.topic_key = ? AND m.status = 'active' AND m.superseded_by IS NULL",
        (*conditions.bindings, topic_key),
    )
    return tuple(sorted(found, key=topic_order))


def by_content(connection: Connection, memory: Memory) -> Memory | None:
    """The stored memory with the same content as this one. See `Memories.insert`."""
    conditions = Where()
    conditions.add("m.workspace = ? AND m.project = ? AND m.crew = ? AND m.agent = ?", *owner(memory.scope))
    # Lets the database use an index: what is equal is compared whole.
    conditions.add(f"{connection.dialect.beginning} = ?", memory.text[:BEGINNING_CHARS])
    conditions.add("m.text = ? AND coalesce(m.title, '') = ?", memory.text, memory.title or "")
    conditions.add("m.visibility = ?", memory.visibility)
    if memory.visibility is Visibility.SESSION:
        conditions.add("m.session = ?", memory.scope.session or "")
    conditions.add("m.status = 'active' AND m.superseded_by IS NULL")
    conditions.add("m.valid_until IS NULL OR m.valid_until > ?", micros(memory.recorded_at))
    return MEMORIES.first(
        connection, f"memories m WHERE {conditions.sql} ORDER BY m.recorded_at, m.id LIMIT 1", conditions.bindings
    )


def revisions(connection: Connection, reader: Reader, memory_id: UUID) -> tuple[Revision, ...]:
    return of_memory(connection, reader, memory_id, REVISIONS, "revisions", "r.number")


def of_memory(
    connection: Connection, reader: Reader, memory_id: UUID, columns: Columns[T], table: str, order: str
) -> tuple[T, ...]:
    """The rows of a table that belong to a memory; empty if it is not visible. `order`: the columns to sort by."""
    conditions = seen_by(reader, "m", visibility=True)
    return columns.all(
        connection,
        f"{table} {columns.alias} JOIN memories m ON m.n = {columns.alias}.memory"
        f" WHERE {conditions.sql} AND m.id = ? ORDER BY {order}",
        (*conditions.bindings, memory_id.bytes),
    )


def relations(connection: Connection, reader: Reader, ids: Sequence[UUID], *, then: Then = NOW) -> tuple[Relation, ...]:
    made = "TRUE" if then.at is None else f"r.created_at <= {then.at}"
    ends = [seen_by(reader, table, visibility=True) for table in ("s", "t")]
    dialect, then_join = connection.dialect, connection.dialect.then_join
    # From the memories to their edges, by one end, then by the other: SQLite's own plan reads the edges of the
    # whole workspace.
    rows = connection.execute(
        "WITH near (n) AS MATERIALIZED ("
        f"SELECT m.n FROM memories m WHERE m.workspace = ? AND {dialect.in_ids('m.id')}),"
        f" edges AS (SELECT r.* FROM near {then_join} relations r ON r.source = near.n"
        f" UNION SELECT r.* FROM near {then_join} relations r ON r.target = near.n)"
        f" SELECT {RELATIONS.select} FROM edges r"
        f" {then_join} {then.memories('s')} ON s.n = r.source {then_join} {then.memories('t')} ON t.n = r.target"
        f" WHERE {made} AND {ends[0].sql} AND {ends[1].sql} ORDER BY r.created_at, s.id, t.id, r.kind",
        (reader.scope.workspace, dialect.ids(ids), *ends[0].bindings, *ends[1].bindings),
    )
    return tuple(map(RELATIONS.value_of, rows))


def hubs(connection: Connection, reader: Reader, where: Filter, *, limit: int) -> dict[UUID, int]:
    kept = found_by(connection.dialect, reader, where)
    # From the edges to their ends: memories without an edge are not read.
    rows = connection.execute(
        "WITH ends (n) AS ("
        "SELECT source FROM relations WHERE workspace = ? UNION SELECT target FROM relations WHERE workspace = ?),"
        " kept (n, id) AS MATERIALIZED ("
        f"SELECT m.n, m.id FROM ends {connection.dialect.then_join} memories m ON m.n = ends.n WHERE {kept.sql}),"
        " edges (source, target) AS MATERIALIZED ("
        "SELECT r.source, r.target FROM relations r WHERE r.source IN (SELECT n FROM kept)"
        " AND r.target + 0 IN (SELECT n FROM kept)),"  # "+ 0": searched by source only, not for every pair of ends
        " counted (n, edges) AS (SELECT n, count(*) FROM ("
        "SELECT source AS n FROM edges UNION ALL SELECT target FROM edges) AS each_end GROUP BY n)"
        " SELECT k.id, c.edges FROM counted c JOIN kept k ON k.n = c.n ORDER BY c.edges DESC, k.id LIMIT ?",
        (reader.scope.workspace, reader.scope.workspace, *kept.bindings, limit),
    )
    with as_written():
        return {UUID(bytes=identifier): edges for identifier, edges in rows}


def by_ids(
    connection: Connection,
    reader: Reader,
    ids: Sequence[UUID],
    columns: str,
    joins: str = "",
    *bindings: Binding,
    then: Then = NOW,
) -> list[Row]:
    """Select columns of the memories with these ids that the reader may see. `bindings`: those of `joins`."""
    conditions = seen_by(reader, "m", visibility=True)
    rows: list[Row] = []
    distinct = list(dict.fromkeys(ids))
    for start in range(0, len(distinct), _CHUNK):
        these, chunk = connection.dialect.in_few_ids("m.id", distinct[start : start + _CHUNK])
        rows.extend(
            connection.execute(
                f"SELECT {columns} FROM {then.memories()} {joins} WHERE {conditions.sql} AND {these}",
                (*bindings, *conditions.bindings, *chunk),
            )
        )
    return rows


def with_value(connection: Connection, scope: Scope, column: str, value: str, extra: str = "") -> Memory | None:
    """The memory of exactly this scope (session ignored) with that value in a column that is unique there."""
    return MEMORIES.first(
        connection,
        f"memories m WHERE m.workspace = ? AND m.project = ? AND m.crew = ? AND m.agent = ? AND m.{column} = ? {extra}",
        (*owner(scope), value),
    )
