"""The checks of `doctor` for an SQLite file: library version, pages, references and full text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import apsw

from remembrancer.adapters.relational.inspection import RESTORE
from remembrancer.adapters.relational.rows import INDEXED
from remembrancer.adapters.relational.schema import current_version
from remembrancer.adapters.relational.sqlite import checksums, ciphers
from remembrancer.adapters.relational.sqlite.errors import WRONG_CHECKSUM, is_wrong_checksum
from remembrancer.ports.inspection import Finding

if TYPE_CHECKING:
    from remembrancer.adapters.relational.connection import Connection
    from remembrancer.adapters.relational.sqlite.dialect import SqliteConnection

WAL_RESET_FIXED: Final = (3, 51, 3)
"""SQLite before this version may damage a write-ahead log that two connections reset at once."""
_EXPORT: Final = "export and import into a new file"
_FULL_TEXTS: Final = "SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE % USING fts5%'"


def library() -> Finding:
    version = apsw.sqlite_lib_version()
    sound = tuple(int(part) for part in version.split(".")) >= WAL_RESET_FIXED
    return Finding("sqlite", sound, f"SQLite {version}, file version {current_version()}", "upgrade apsw")


def pages(connection: Connection) -> Finding:
    connection.execute("PRAGMA shrink_memory")  # pages that this connection has in memory are read from the file anew
    # SQLite checks a full-text index against this connection's last view of it: a read refreshes that view.
    for name in [row[0] for row in connection.execute(_FULL_TEXTS)]:
        connection.execute(f"SELECT rowid FROM {name} LIMIT 1").get  # noqa: B018
    try:
        faults = [row[0] for row in connection.execute("PRAGMA integrity_check(10)")]
    except apsw.IOError as error:
        if not is_wrong_checksum(error):
            raise
        faults = [WRONG_CHECKSUM]
    ok = faults == ["ok"]
    detail = "every page and index is sound" if ok else "; ".join(faults)
    return Finding("file", ok, detail, RESTORE)


def page_checksums(connection: SqliteConnection) -> Finding:
    on = checksums.are_on(connection)
    return Finding(
        "checksums", on, "every page has one" if on else "none: damaged pages are not detected", checksums.ABSENT
    )


def encryption() -> Finding:
    return Finding("encryption", ok=True, detail=f"every page is encrypted and has a tag ({ciphers.NAME})", repair="")


def references(connection: Connection) -> Finding:
    broken = len(list(connection.execute("PRAGMA foreign_key_check")))
    return Finding("references", broken == 0, f"{broken} dangling references", _EXPORT)


def full_text(connection: Connection) -> Finding:
    """Whether every cue, event and archived event has one full-text row, or words that wait for it, and there are no
    others.
    """
    missing, stray = 0, 0
    for table in INDEXED:
        rows = f"SELECT id FROM {table}_fts_docsize UNION ALL SELECT row FROM waiting_words WHERE indexed = '{table}'"
        without, alone = connection.execute(
            f"WITH found (n) AS MATERIALIZED ({rows})"
            f" SELECT (SELECT count(*) FROM {table} c WHERE c.n NOT IN (SELECT n FROM found)),"
            f" (SELECT count(*) FROM found) - (SELECT count(*) FROM {table} c WHERE c.n IN (SELECT n FROM found))"
        ).get
        missing, stray = missing + without, stray + alone
    detail = f"{missing} texts without a full-text row, {stray} full-text rows without a text"
    return Finding("full text", missing == stray == 0, detail, _EXPORT)
