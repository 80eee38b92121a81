"""Counts of what a reader sees, and what `doctor` looks at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import apsw

from remembrancer.adapters.relational import schema
from remembrancer.adapters.relational.clauses import seen_by
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.errors import UNREADABLE, unreadable
from remembrancer.adapters.relational.rows import EVENT_COLUMNS, MEMORY_SELECT, TABLES, event_of, memory_of
from remembrancer.adapters.relational.times import optional_moment
from remembrancer.domain.scope import Reader, Scope
from remembrancer.ports.inspection import Finding, Stats

WAL_RESET_FIXED: Final = (3, 51, 3)
"""SQLite before this version may damage a write-ahead log that two connections reset at once."""

RESTORE: Final = "restore a backup, or export what can be read and import it"


def stats(connection: Connection, reader: Reader) -> Stats:
    events = seen_by(reader, "e", visibility=False)
    memories = seen_by(reader, "m", visibility=True)
    count = connection.execute(f"SELECT count(*) FROM events e WHERE {events.sql}", events.bindings).get
    by_status = dict(
        connection.execute(
            f"SELECT m.status, count(*) FROM memories m WHERE {memories.sql} GROUP BY 1 ORDER BY 1", memories.bindings
        )
    )
    oldest, newest = connection.execute(
        f"SELECT min(m.occurred_from), max(m.occurred_to) FROM memories m WHERE {memories.sql}", memories.bindings
    ).get
    joined = f"FROM memories m JOIN cues c ON c.memory = m.n %s WHERE {memories.sql}"
    cues = connection.execute(f"SELECT count(*) {joined % ''}", memories.bindings).get
    vectors = list(
        connection.execute(
            f"SELECT v.model, count(*), sum(v.truncated) {joined % 'JOIN embeddings v ON v.cue = c.n'} GROUP BY 1",
            memories.bindings,
        )
    )
    target = seen_by(reader, "t", visibility=True)
    relations = connection.execute(
        "SELECT count(*) FROM relations r JOIN memories m ON m.n = r.source JOIN memories t ON t.n = r.target"
        f" WHERE {memories.sql} AND {target.sql}",
        (*memories.bindings, *target.bindings),
    ).get
    try:
        span = optional_moment(oldest), optional_moment(newest)
    except UNREADABLE as error:
        raise unreadable(error) from error
    return Stats(
        events=count,
        memories=by_status,
        cues=cues,
        vectors={model: number for model, number, _ in vectors},
        truncated=sum(cut for *_, cut in vectors),
        relations=relations,
        oldest=span[0],
        newest=span[1],
        bytes=connection.pragma("page_count") * connection.pragma("page_size"),
    )


def check(connection: Connection, scope: Scope, model: str | None) -> tuple[Finding, ...]:
    looks: dict[str, Callable[[], Finding]] = {
        "sqlite": _library,
        "file": lambda: _integrity(connection),
        "rows": lambda: _rows(connection, scope),
        "references": lambda: _references(connection),
        "full text": lambda: _full_text(connection),
        "cues": lambda: _cues(connection, scope),
        "streams": lambda: _streams(connection, scope),
    }
    if model is not None:
        looks |= {
            "vectors": lambda: _vectors(connection, scope, model),
            "long texts": lambda: _truncated(connection, scope, model),
        }
    return tuple(_looked(name, look) for name, look in looks.items())


def _looked(name: str, look: Callable[[], Finding]) -> Finding:
    """What cannot be read is a finding too: a damaged file is what the doctor is called for."""
    try:
        return look()
    except (apsw.CorruptError, apsw.NotADBError, apsw.IOError, apsw.SQLError, UnicodeDecodeError) as error:
        return Finding(name, False, f"cannot be read ({error})", RESTORE)


def _library() -> Finding:
    version = apsw.sqlite_lib_version()
    sound = tuple(int(part) for part in version.split(".")) >= WAL_RESET_FIXED
    return Finding("sqlite", sound, f"SQLite {version}, file version {schema.current_version()}", "upgrade apsw")


_FULL_TEXTS: Final = "SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE % USING fts5%'"


def _integrity(connection: Connection) -> Finding:
    # SQLite would hold a full-text index against what this connection saw of it last: a look at it refreshes that.
    for name in [row[0] for row in connection.execute(_FULL_TEXTS)]:
        connection.execute(f"SELECT rowid FROM {name} LIMIT 1").get  # noqa: B018
    faults = [row[0] for row in connection.execute("PRAGMA integrity_check(10)")]
    ok = faults == ["ok"]
    detail = "every page and index is sound" if ok else "; ".join(faults)
    return Finding("file", ok, detail, RESTORE)


def _rows(connection: Connection, scope: Scope) -> Finding:
    """Pages may be sound and what stands in them not."""
    read = 0
    for columns, table, value_of in (
        (EVENT_COLUMNS, "events e", event_of),
        (EVENT_COLUMNS, "archive e", event_of),
        (MEMORY_SELECT, "memories m", memory_of),
    ):
        for row in connection.execute(f"SELECT {columns} FROM {table} WHERE workspace = ?", (scope.workspace,)):
            value_of(row)
            read += 1
    return Finding("rows", True, f"{read} events and memories can be read", RESTORE)


def _references(connection: Connection) -> Finding:
    broken = len(list(connection.execute("PRAGMA foreign_key_check")))
    return Finding(
        "references", broken == 0, f"{broken} rows name a row that is not there", "export and import into a new file"
    )


def _full_text(connection: Connection) -> Finding:
    """Of cues, of events and of what is in the archive."""
    missing, stray = 0, 0
    for table in ("cues", *TABLES):
        without, alone = connection.execute(
            f"SELECT (SELECT count(*) FROM {table} c"
            f" WHERE NOT EXISTS (SELECT 1 FROM {table}_fts_docsize d WHERE d.id = c.n)),"
            f" (SELECT count(*) FROM {table}_fts_docsize d"
            f" WHERE NOT EXISTS (SELECT 1 FROM {table} c WHERE c.n = d.id))"
        ).get
        missing, stray = missing + without, stray + alone
    detail = f"{missing} texts without a full-text row, {stray} full-text rows without a text"
    return Finding("full text", missing == stray == 0, detail, "export and import into a new file")


def _cues(connection: Connection, scope: Scope) -> Finding:
    without = connection.execute(
        "SELECT count(*) FROM memories m WHERE m.workspace = ?"
        " AND NOT EXISTS (SELECT 1 FROM cues c WHERE c.memory = m.n)",
        (scope.workspace,),
    ).get
    return Finding("cues", without == 0, f"{without} memories that no search can find", "export and import again")


def _streams(connection: Connection, scope: Scope) -> Finding:
    beyond, twice = connection.execute(
        "SELECT (SELECT count(*) FROM streams WHERE workspace = ?1 AND segmented NOT BETWEEN 0 AND last_seq),"
        " (SELECT count(*) FROM archive a JOIN events e ON e.workspace = a.workspace AND e.id = a.id"
        " WHERE a.workspace = ?1)",
        (scope.workspace,),
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
        " AND v.truncated",
        (scope.workspace, model),
    ).get
    return Finding("long texts", True, f"{cut} cues are longer than {model} reads: their end is found by words only")
