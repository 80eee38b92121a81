"""SQL for SQLite (lists and tags as JSON, words in FTS5 tables), and its connection."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, Protocol, cast
from uuid import UUID

import apsw

from remembrancer.adapters import relational
from remembrancer.adapters.relational.columns import insert_into
from remembrancer.adapters.relational.connection import Binding, Connection
from remembrancer.adapters.relational.dialect import BEGINNING_CHARS
from remembrancer.adapters.relational.sqlite import checksums, ciphers
from remembrancer.patterns import pattern

if TYPE_CHECKING:
    from pathlib import Path

    from remembrancer.adapters.encryption import FileKey
    from remembrancer.adapters.relational.dialect import Indexed
    from remembrancer.domain.validation import JsonScalar
    from remembrancer.ports.transfer import OnPages

_JSON_TYPES: Final[dict[type, str]] = {
    str: "'text'",
    bool: "'true', 'false'",
    int: "'integer', 'real'",
    float: "'integer', 'real'",
    type(None): "'null'",
}
"""The type names of `json_each`. Comparing types too keeps SQLite's 1 from equalling true."""
_SECURE_DELETE: Final = {0: "off", 1: "on", 2: "fast"}


_MATCH: Final = "remembrancer_match"
"""The SQL function `_match`."""
_QUOTE: Final = '"'
_ESCAPED: Final = '""'
PAGES: Final = 1024
"""The number of pages copied between two reports of progress."""
_STRING: Final = pattern(r'"((?:[^"]|"")*)"')
_GROUP: Final = pattern(r'\(("(?:[^"]|"")*"(?: OR "(?:[^"]|"")*")*)\)')
_WAITING: Final = insert_into("waiting_words", ("indexed", "row", "words"))
MOST_WAITING: Final = 128
"""The rows whose words wait for the full-text index. A search reads them all, which takes about a microsecond a row."""
MANY_ROWS: Final = 32
"""A write of at least this many rows adds them to the full-text index at once: together, each takes microseconds."""


class SqliteDialect:
    """See `Dialect`."""

    begin_reading = "BEGIN"
    begin_writing = "BEGIN IMMEDIATE"  # plain BEGIN fails at a write if another connection wrote meanwhile
    then_join = "CROSS JOIN"
    beginning = f"substr(m.text, 1, {BEGINNING_CHARS})"
    row_is_taken: type[Exception] = apsw.ConstraintError
    cannot_read: tuple[type[Exception], ...] = (
        apsw.CorruptError,
        apsw.NotADBError,
        apsw.IOError,
        apsw.SQLError,
        UnicodeDecodeError,
    )

    def serialise(self, connection: Connection, workspaces: Sequence[str]) -> None:
        """BEGIN IMMEDIATE has waited for every other writer."""

    def unique(self, *columns: str) -> str:
        return ", ".join(columns)

    def in_list(self, column: str) -> str:
        return f"{column} IN (SELECT value FROM json_each(?))"

    def listed(self, values: Iterable[int] | Iterable[str]) -> Binding:
        return json.dumps(list(values))

    def in_ids(self, column: str) -> str:
        return f"{column} IN (SELECT unhex(value) FROM json_each(?))"

    def ids(self, values: Iterable[UUID]) -> Binding:
        return json.dumps(sorted(identifier.hex for identifier in values))

    def in_few_ids(self, column: str, values: Sequence[UUID]) -> tuple[str, tuple[Binding, ...]]:
        return f"{column} IN ({', '.join('?' * len(values))})", tuple(value.bytes for value in values)

    def has_tag(self, column: str) -> str:
        return f"EXISTS (SELECT 1 FROM json_each({column}) WHERE value = ?)"

    def has_entry(self, column: str, key: str, value: JsonScalar) -> tuple[str, tuple[Binding, ...]]:
        types = _JSON_TYPES[type(value)]
        condition = f"EXISTS (SELECT 1 FROM json_each({column}) WHERE key = ? AND type IN ({types}) AND atom IS ?)"
        return condition, (key, value)

    def matches(self, table: Indexed) -> str:
        # The full-text index first, then the words that wait. CROSS JOIN: the query is known before the rows are read.
        return (
            f"(WITH asked (query) AS (SELECT ?) SELECT f.rowid AS n FROM asked CROSS JOIN {table}_fts f"
            f" WHERE f.{table}_fts MATCH asked.query UNION ALL SELECT w.row FROM asked CROSS JOIN waiting_words w"
            f" WHERE w.indexed = '{table}' AND {_MATCH}(w.words, asked.query))"
        )

    def all_of(self, words: Sequence[frozenset[str]]) -> Binding:
        return " AND ".join("(" + " OR ".join(map(_quoted, sorted(one))) + ")" for one in words)

    def phrase(self, words: Sequence[str]) -> Binding:
        return _quoted(" ".join(words))

    def add_words(
        self,
        connection: Connection,
        table: Indexed,
        rows: Sequence[tuple[int, Iterable[str]]],
        *,
        at_once: bool = False,
    ) -> None:
        lines = [(number, " ".join(words)) for number, words in rows]
        if at_once or len(lines) >= MANY_ROWS:
            connection.insert_many(f"{table}_fts", ("rowid", "words"), lines)
            return
        for number, words in lines:
            last = connection.number_of(_WAITING, (table, number, f" {words} "))
            if last >= MOST_WAITING:
                _index_waiting(connection)

    @contextmanager
    def overwriting(self, connection: Connection) -> Generator[None]:
        # By default SQLite only marks the space of deleted rows as free; here it fills them with zeros.
        usual: int = connection.execute("PRAGMA secure_delete").get
        connection.execute("PRAGMA secure_delete = on")
        try:
            yield
        finally:
            connection.execute(f"PRAGMA secure_delete = {_SECURE_DELETE[usual]}")

    def new_numbers(self, connection: Connection, counts: Mapping[str, int]) -> Mapping[str, Sequence[int]]:
        last = connection.execute(f"VALUES {', '.join(map(_last_number, counts))}")
        return {
            table: range(number + 1, number + 1 + count)
            for (table, count), (number,) in zip(counts.items(), last, strict=True)
        }

    def last_number(self, connection: Connection, table: str) -> int:
        return connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).get or 0

    def continue_after(self, connection: Connection, table: str, number: int) -> None:
        """Without AUTOINCREMENT, the next number is one above the greatest."""
        definition: str = connection.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).get
        if "AUTOINCREMENT" in definition:
            connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
            connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, number))

    def octets(self, column: str) -> str:
        return f"length(CAST({column} AS BLOB))"


@cache
def _last_number(table: str) -> str:
    """The last number of the table as a row of SQL."""
    given = f"(SELECT seq FROM sqlite_sequence WHERE name = '{table}')"
    return f"(max(coalesce((SELECT max(n) FROM {table}), 0), coalesce({given}, 0)))"


def _index_waiting(connection: Connection) -> None:
    """Move the words that wait into the full-text indexes."""
    for table in relational.rows.INDEXED:
        connection.execute(
            f"INSERT INTO {table}_fts (rowid, words) SELECT row, words FROM waiting_words WHERE indexed = ? ORDER BY n",
            (table,),
        )
    connection.execute("DELETE FROM waiting_words")


def _match(words: str, query: str) -> bool:
    """Whether these words, each between blanks, match a full-text query, as they would in the index."""
    for several in _alternatives(query):
        for one in several:
            if one in words:
                break
        else:
            return False
    return True


@lru_cache(maxsize=256)
def _alternatives(query: str) -> tuple[tuple[str, ...], ...]:
    """Read a query of `SqliteDialect.all_of` or `phrase`: it matches words that contain one text of each tuple."""
    groups = _GROUP.findall(query) if query.startswith("(") else [query]
    return tuple(tuple(f" {one.replace(_ESCAPED, _QUOTE)} " for one in _STRING.findall(group)) for group in groups)


def _quoted(phrase: str) -> str:
    """The phrase as an FTS5 string, whatever characters it contains."""
    escaped = phrase.replace('"', '""')
    return f'"{escaped}"'


_DIALECT: Final = SqliteDialect()


class SqliteConnection(Connection, Protocol):
    """Methods that only the SQLite dialect calls."""

    @property
    def file_key(self) -> FileKey | None:
        """The key of an encrypted file."""
        ...

    def pragma(self, name: str, value: str | int | None = None) -> Any: ...
    def backup(self, name: str, source: Any, source_name: str) -> apsw.Backup: ...
    def config(self, option: int, value: int) -> int: ...
    def file_control(self, name: str, operation: int, pointer: int) -> bool: ...
    def serialize(self, name: str) -> bytes: ...
    def deserialize(self, name: str, contents: bytes) -> None: ...


class _Connection(apsw.Connection):
    dialect = _DIALECT
    file_key: FileKey | None = None

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        cast("Any", self).create_scalar_function(_MATCH, _match, 2, deterministic=True)

    def within(self, workspace: str) -> None:
        """SQLite has no row-level security."""

    def stream(self, statement: str, bindings: Sequence[Binding]) -> Iterator[tuple[Any, ...]]:
        return iter(cast("Connection", self).execute(statement, bindings))

    def count(self, statement: str, bindings: Sequence[Binding]) -> int:
        cast("Connection", self).execute(statement, bindings)
        return self.changes()

    def insert_many(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Binding]]) -> None:
        cast("Connection", self).executemany(insert_into(table, columns), rows)

    def number_of(self, insertion: str, bindings: Sequence[Binding]) -> int:
        cast("Connection", self).execute(insertion, bindings)
        return self.last_insert_rowid()  # takes half the time of RETURNING

    def wait_for_locks(self, seconds: float) -> None:
        self.set_busy_timeout(int(seconds * 1000))


def connect(path: str, *, create: bool = True, key: FileKey | None = None, uris: bool = False) -> SqliteConnection:
    """A connection. `create`: a missing file is created. `key`: of an encrypted file. `uris`: its statements may name
    files by URI, and the path is absolute. Raises apsw.Error, and StoreUnavailable for a wrong key.
    """
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    flags |= apsw.SQLITE_OPEN_URI if uris else 0
    return _connect(path, flags, None if path == ":memory:" else _vfs(path, key), key, path)


def connect_immutable(path: Path, key: FileKey | None = None) -> SqliteConnection:
    """A connection for reading a file that does not change: its write-ahead log is neither read nor created. Raises
    apsw.Error, and StoreUnavailable for a wrong key.
    """
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return _connect(f"{path.absolute().as_uri()}?immutable=1", flags, _vfs(str(path), key), key, str(path))


def _vfs(path: str, key: FileKey | None) -> str | None:
    return checksums.vfs() if key is None else ciphers.require(path)


def _connect(file: str, flags: int, vfs: str | None, key: FileKey | None, name: str) -> SqliteConnection:
    opened = _Connection(file, flags, vfs)
    connection = cast("SqliteConnection", opened)
    try:
        if key is not None:
            ciphers.unlock(connection, key, name)
            opened.file_key = key
        connection.pragma("secure_delete", False)  # some builds have it on, which makes each deletion slower
        # Without it, SQLite prepares statements with an ORDER BY again whenever another value is bound, which takes ten
        # times as long as running one: its planner compares bound values. Nothing here depends on that.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    except BaseException:
        connection.close()
        raise
    return connection


def copy_pages(source: SqliteConnection, path: str, on_pages: OnPages | None = None) -> None:
    """Copy the state that a connection reads to a new file, which then has no write-ahead log, and is encrypted as the
    source is. Raises apsw.Error.

    `VACUUM INTO` would write pages without checksums to a large file: SQLite writes page 1, which says that pages end
    with checksums, last. So page 1 is written before the copy.
    """
    key, page_size = source.file_key, source.pragma("page_size")
    if key is None:
        with closing(connect(path)) as first:
            first.pragma("page_size", page_size)
            checksums.reserved(first, checksums.reserved(source))
            first.pragma("user_version", 1)
    with closing(connect(path, key=key)) as copy:
        if key is None:
            checksums.are_on(copy)  # the VFS reads page 1
        else:
            copy.pragma("page_size", page_size)
        with copy.backup("main", source, "main") as copying:
            while not copying.done:
                copying.step(PAGES)
                if on_pages is not None:
                    on_pages(copying.page_count - copying.remaining, copying.page_count)
        copy.pragma("journal_mode", "delete")
