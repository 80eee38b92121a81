"""What the health of a workspace is computed from, and its daily snapshots."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from remembrancer.adapters.relational.clauses import Where, kept_by, seen_by
from remembrancer.adapters.relational.columns import put_row
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.errors import as_written
from remembrancer.adapters.relational.rows import SNAPSHOTS
from remembrancer.domain.health import HealthSnapshot
from remembrancer.domain.instants import micros, moment
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.strength import Exposure
from remembrancer.ports.inspection import Vitals


def vitals(
    connection: Connection, reader: Reader, where: Filter, *, model: str | None, shown_since: datetime
) -> Vitals:
    kept = kept_by(connection.dialect, where, seen_by(reader, "m", visibility=True))
    rows = _rows(connection, reader, kept, model)
    shown = connection.execute(
        "SELECT x.similarity FROM memories m JOIN exposures x ON x.memory = m.n"
        f" WHERE {kept.sql} AND x.kind = ? AND x.at >= ? AND x.similarity IS NOT NULL ORDER BY x.at, m.id",
        (*kept.bindings, Exposure.SHOWN, micros(shown_since)),
    )
    with as_written():
        return Vitals(
            ids=tuple(UUID(bytes=identifier) for identifier, *_ in rows),
            occurred=tuple(moment(at) for _, at, _ in rows),
            with_vector=sum(related is not None for *_, related in rows),
            related=sum(related == 1 for *_, related in rows),
            shown=tuple(similarity for (similarity,) in shown),
        )


def _rows(
    connection: Connection, reader: Reader, kept: Where, model: str | None
) -> list[tuple[bytes, int, int | None]]:
    """For each memory its id, its time, and whether it is related to another (None if a cue has no vector), by id."""
    seen = seen_by(reader, "o", visibility=True)
    # Edges first: left to itself, SQLite reads the whole workspace for each memory to look for an edge.
    edge = (
        f"EXISTS (SELECT 1 FROM relations r {connection.dialect.then_join} memories o ON o.n = r.{{far}}"
        f" WHERE r.{{near}} = m.n AND o.n <> m.n AND {seen.sql})"
    )
    rows = connection.execute(
        "SELECT m.id, m.occurred_to,"
        " CASE WHEN (SELECT min(CASE WHEN EXISTS (SELECT 1 FROM embeddings v WHERE v.cue = c.n AND v.model = ?)"
        " THEN 1 ELSE 0 END) FROM cues c WHERE c.memory = m.n) = 1"
        f" THEN {edge.format(near='source', far='target')} OR {edge.format(near='target', far='source')} END"
        f" FROM memories m WHERE {kept.sql}",
        (model, *seen.bindings, *seen.bindings, *kept.bindings),
    )
    # Sorted here: to read rows in the order of their ids, the database would read pages from all over the file, which
    # takes twice as long.
    return sorted((identifier, at, related) for identifier, at, related in rows)


def put_snapshot(connection: Connection, scope: Scope, snapshot: HealthSnapshot) -> None:
    put_row(
        connection,
        "health_snapshots",
        ("workspace", "crew", "day"),
        SNAPSHOTS.names[2:],
        (scope.workspace, *SNAPSHOTS.bindings(snapshot)),
    )


def snapshots(connection: Connection, scope: Scope, crew: str | None, *, limit: int) -> tuple[HealthSnapshot, ...]:
    return SNAPSHOTS.all(
        connection,
        "health_snapshots h WHERE workspace = ? AND crew = ? ORDER BY day DESC LIMIT ?",
        (scope.workspace, crew or "", limit),
    )


def crews(connection: Connection, scope: Scope) -> tuple[str, ...]:
    rows = connection.execute(
        "SELECT DISTINCT crew FROM memories WHERE workspace = ? AND crew <> '' ORDER BY crew", (scope.workspace,)
    )
    return tuple(crew for (crew,) in rows)
