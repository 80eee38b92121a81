"""Counts of the rows that a reader sees, and the checks of `doctor`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final
from uuid import UUID

from remembrancer.adapters.relational.clauses import seen_by
from remembrancer.adapters.relational.columns import as_written
from remembrancer.adapters.relational.rows import EVENTS, MEMORIES
from remembrancer.domain.instants import optional_moment
from remembrancer.domain.memory import Status
from remembrancer.ports.changes import UnreadableRow
from remembrancer.ports.inspection import Finding, IdentifiedRows, Stats

if TYPE_CHECKING:
    from remembrancer.adapters.relational.connection import Connection
    from remembrancer.adapters.relational.dialect import Backend
    from remembrancer.domain.scope import Reader, Scope

RESTORE: Final = "restore a backup, or export what can be read and import it"


def stats(connection: Connection, reader: Reader) -> Stats:
    events = seen_by(reader, "e", visibility=False)
    memories = seen_by(reader, "m", visibility=True)
    octets = connection.dialect.octets
    ((count, said),) = connection.execute(
        f"SELECT count(*), coalesce(sum({octets('e.text')}), 0) FROM events e WHERE {events.sql}", events.bindings
    )
    # One pass over the memories, without sorting them by status.
    statuses = ", ".join(f"count(*) FILTER (WHERE m.status = '{status}')" for status in Status)
    ((*counts, oldest, newest, remembered),) = connection.execute(
        f"SELECT {statuses}, min(m.occurred_from), max(m.occurred_to), coalesce(sum({octets('m.text')}), 0)"
        f" FROM memories m WHERE {memories.sql}",
        memories.bindings,
    )
    joined = f"FROM memories m JOIN cues c ON c.memory = m.n AND c.last IS NULL %s WHERE {memories.sql}"
    cues = connection.execute(f"SELECT count(*) {joined % ''}", memories.bindings).get
    vectors = dict(
        connection.execute(
            f"SELECT v.model, count(*) {joined % 'JOIN embeddings v ON v.cue = c.n'} GROUP BY 1", memories.bindings
        )
    )
    then_join = connection.dialect.then_join  # from the few that are truncated
    truncated = connection.execute(
        f"SELECT count(*) FROM embeddings v {then_join} cues c ON c.n = v.cue AND c.last IS NULL"
        f" {then_join} memories m ON m.n = c.memory WHERE v.truncated <> 0 AND {memories.sql}",
        memories.bindings,
    ).get
    target = seen_by(reader, "t", visibility=True)
    relations = connection.execute(
        "SELECT count(*) FROM relations r JOIN memories m ON m.n = r.source JOIN memories t ON t.n = r.target"
        f" WHERE {memories.sql} AND {target.sql}",
        (*memories.bindings, *target.bindings),
    ).get
    with as_written():
        span = optional_moment(oldest), optional_moment(newest)
    return Stats(
        events=count,
        memories={status: count for status, count in sorted(zip(Status, counts, strict=True)) if count},
        cues=cues,
        vectors=vectors,
        truncated=truncated,
        relations=relations,
        oldest=span[0],
        newest=span[1],
        bytes=int(said + remembered),
    )


_IDENTIFIED: Final[Mapping[IdentifiedRows, Mapping[str, bool]]] = {
    "memory": {"memories": True},
    "event": {"events": False, "archive": False},
    "recall": {"kept_recalls": False},
}
"""The tables of each kind of rows, and whether they have a visibility."""


def ids_ending(connection: Connection, reader: Reader, rows: IdentifiedRows, ending: str) -> tuple[UUID, ...]:
    whole = bytes.fromhex(ending[len(ending) % 2 :])
    found: list[UUID] = []
    for table, visibility in _IDENTIFIED[rows].items():
        seen = seen_by(reader, "r", visibility=visibility)
        # The inner query reads the index of ids only.
        ids = connection.execute(
            f"SELECT r.id FROM {table} r WHERE {seen.sql} AND r.id IN"
            f" (SELECT i.id FROM {table} i WHERE i.workspace = ? AND substr(i.id, ?) = ?)",
            (*seen.bindings, reader.scope.workspace, 17 - len(whole), whole),
        )
        found += [UUID(bytes=identifier) for (identifier,) in ids]
    return tuple(sorted(one for one in found if one.hex.endswith(ending)))


def check(connection: Connection, backend: Backend, scope: Scope, model: str | None) -> tuple[Finding, ...]:
    looks: dict[str, Callable[[], Finding]] = {
        **backend.soundness(connection),
        "rows": lambda: _rows(connection, scope),
        **backend.consistency(connection),
        "cues": lambda: _cues(connection, scope),
        "streams": lambda: _streams(connection, scope),
    }
    if model is not None:
        looks |= {
            "vectors": lambda: _vectors(connection, scope, model),
            "long texts": lambda: _truncated(connection, scope, model),
        }
    cannot_read = (UnreadableRow, *connection.dialect.cannot_read)
    return tuple(_looked(name, look, cannot_read) for name, look in looks.items())


def _looked(name: str, look: Callable[[], Finding], cannot_read: tuple[type[Exception], ...]) -> Finding:
    """The finding of one check. Unreadable rows are a finding too, because `doctor` is run on damaged databases."""
    try:
        return look()
    except cannot_read as error:
        return Finding(name, False, f"cannot be read ({error})", RESTORE)


def _rows(connection: Connection, scope: Scope) -> Finding:
    """Try to decode every row: values may be wrong even in pages that SQLite can read."""
    read = 0
    for columns, table in ((EVENTS, "events e"), (EVENTS, "archive e"), (MEMORIES, "memories m")):
        for row in connection.execute(f"SELECT {columns.select} FROM {table} WHERE workspace = ?", (scope.workspace,)):
            columns.value_of(row)
            read += 1
    return Finding("rows", True, f"{read} events and memories can be read", RESTORE)


def _cues(connection: Connection, scope: Scope) -> Finding:
    without = connection.execute(
        "SELECT count(*) FROM memories m WHERE m.workspace = ?"
        " AND NOT EXISTS (SELECT 1 FROM cues c WHERE c.memory = m.n AND c.last IS NULL)",
        (scope.workspace,),
    ).get
    return Finding(
        "cues", without == 0, f"{without} memories without a cue, which no search can find", "export and import again"
    )


def _streams(connection: Connection, scope: Scope) -> Finding:
    beyond, twice = connection.execute(
        "SELECT (SELECT count(*) FROM streams WHERE workspace = ? AND segmented NOT BETWEEN 0 AND last_seq),"
        " (SELECT count(*) FROM archive a JOIN events e ON e.workspace = a.workspace AND e.id = a.id"
        " WHERE a.workspace = ?)",
        (scope.workspace, scope.workspace),
    ).get
    detail = f"{beyond} streams read past their end, {twice} events both in the journal and in the archive"
    return Finding("streams", beyond == twice == 0, detail, RESTORE)


def _vectors(connection: Connection, scope: Scope, model: str) -> Finding:
    waiting, failed = connection.execute(
        "SELECT count(*), count(r.cue) FROM cues c LEFT JOIN embeddings v ON v.cue = c.n AND v.model = ?"
        " LEFT JOIN vector_retries r ON r.cue = c.n AND r.model = ? WHERE c.workspace = ? AND v.n IS NULL",
        (model, model, scope.workspace),
    ).get
    detail = f"{waiting} cues await the index sweep for {model}"
    if failed:
        detail += f", {failed} of them after failing"
    return Finding("vectors", failed == 0, detail, "remembrancer maintain")


def _truncated(connection: Connection, scope: Scope, model: str) -> Finding:
    cut = connection.execute(
        "SELECT count(*) FROM embeddings v JOIN cues c ON c.n = v.cue WHERE c.workspace = ? AND v.model = ?"
        " AND v.truncated <> 0",
        (scope.workspace, model),
    ).get
    return Finding("long texts", True, f"{cut} cues are longer than {model} reads: their end is searched by words only")
