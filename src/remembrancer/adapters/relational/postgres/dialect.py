"""SQL for PostgreSQL (lists as arrays, tags as JSON, words as tsvector), and its connection."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import psycopg
from psycopg import conninfo, sql
from psycopg.adapt import Loader
from psycopg.pq import TransactionStatus

from remembrancer.adapters.relational.connection import LOCK_TIMEOUT_S

if TYPE_CHECKING:
    from remembrancer.adapters.relational.connection import Binding, Connection
    from remembrancer.adapters.relational.dialect import Indexed
    from remembrancer.domain.validation import JsonScalar

CONNECT_TIMEOUT_S: Final = 10
STATEMENT_TIMEOUT_S: Final = 600
"""The longest time of a statement that reads or writes. Migrations and purges take what they need."""
APPLICATION: Final = "remembrancer"
"""The name of our connections in `pg_stat_activity`."""
DEFAULTS: Final[dict[str, str | int]] = {
    "application_name": APPLICATION,
    "connect_timeout": CONNECT_TIMEOUT_S,
    # A connection ends 60 seconds after the other machine was cut off.
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
"""Parameters of connections, unless the address has them."""
LOCK: Final = 0x52454D42
"""The seed of the advisory locks: others of the same database are other numbers."""
WORKSPACE: Final = "current_setting('remembrancer.workspace', true)"
"""The workspace that the transaction's statements are about; '' or NULL: none."""
MOST_BYTES_OF_A_WORD: Final = 2_000
"""A tsvector holds words of up to 2,046 bytes: a longer one is kept by its digest."""
MOST_POSITIONS: Final = 16_383
STREAMED_ROWS: Final = 2_000
"""Rows of a streamed answer that are received at a time."""

_STATEMENT_TIMEOUT: Final = f"SET LOCAL statement_timeout = {STATEMENT_TIMEOUT_S * 1000}"


class PostgresDialect:
    """See `Dialect`."""

    begin_reading = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {_STATEMENT_TIMEOUT}"
    begin_writing = f"BEGIN; {_STATEMENT_TIMEOUT}"
    then_join = "JOIN"
    beginning = "m.beginning"
    row_is_taken: type[Exception] = psycopg.IntegrityError
    cannot_read: tuple[type[Exception], ...] = (psycopg.DataError, psycopg.InternalError, psycopg.ProgrammingError)

    def serialise(self, connection: Connection, workspaces: Sequence[str]) -> None:
        # In ascending order everywhere, so that two transactions never wait for each other.
        for workspace in workspaces:
            connection.execute(
                "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ' ' || ?, ?))", (workspace, LOCK)
            )

    def unique(self, *columns: str) -> str:
        return ", ".join((*columns, "workspace"))

    def in_list(self, column: str) -> str:
        return f"{column} = ANY (?)"

    def listed(self, values: Iterable[int] | Iterable[str]) -> Binding:
        return _array(str(value) for value in values)

    def in_ids(self, column: str) -> str:
        return f"{column} = ANY (?)"

    def ids(self, values: Iterable[UUID]) -> Binding:
        return _array(f"\\x{identifier}" for identifier in sorted(value.hex for value in values))

    def in_few_ids(self, column: str, values: Sequence[UUID]) -> tuple[str, tuple[Binding, ...]]:
        return self.in_ids(column), (self.ids(values),)  # one statement for any number, so that its plan is kept

    def has_tag(self, column: str) -> str:
        return f"jsonb_exists({column}::jsonb, ?)"

    def has_entry(self, column: str, key: str, value: JsonScalar) -> tuple[str, tuple[Binding, ...]]:
        return f"{column}::jsonb -> ? = ?::jsonb", (key, json.dumps(value))

    def matches(self, table: Indexed) -> str:
        # The policy of these tables does not restrict what is read: PostgreSQL searches no full-text index of rows that
        # it has to check. `coalesce`: an expression of its own, that the planner does not derive from other policies.
        mine = f"workspace = coalesce({WORKSPACE}, '')"
        return f"(SELECT n FROM {table}_words WHERE {mine} AND words @@ ?::tsquery)"

    def all_of(self, words: Sequence[frozenset[str]]) -> Binding:
        return " & ".join("(" + " | ".join(map(_lexeme, sorted(one))) + ")" for one in words)

    def phrase(self, words: Sequence[str]) -> Binding:
        return " <-> ".join(map(_lexeme, words))

    def add_words(
        self,
        connection: Connection,
        table: Indexed,
        rows: Sequence[tuple[int, Iterable[str]]],
        *,
        at_once: bool = False,
    ) -> None:
        # A GIN index puts new rows aside by itself.
        vector = _vector_in_order if table == "cues" else _vector
        connection.executemany(
            f"INSERT INTO {table}_words (n, words) VALUES (?, ?::tsvector)",
            ((number, vector(words)) for number, words in rows),
        )

    @contextmanager
    def overwriting(self, connection: Connection) -> Generator[None]:
        yield

    def new_numbers(self, connection: Connection, counts: Mapping[str, int]) -> Mapping[str, Sequence[int]]:
        numbers: dict[str, list[int]] = {table: [] for table in counts}
        one = f"SELECT CAST(? AS text), nextval({_SEQUENCE}) FROM generate_series(1, ?)"
        rows = connection.execute(
            " UNION ALL ".join([one] * len(counts)),
            tuple(binding for table, count in counts.items() for binding in (table, table, count)),
        )
        for table, number in rows:
            numbers[table].append(number)
        return {table: sorted(given) for table, given in numbers.items()}

    def last_number(self, connection: Connection, table: str) -> int:
        return connection.execute(f"SELECT coalesce(pg_sequence_last_value({_SEQUENCE}), 0)", (table,)).get

    def continue_after(self, connection: Connection, table: str, number: int) -> None:
        if number:
            connection.execute(f"SELECT setval({_SEQUENCE}, ?)", (table, number))

    def octets(self, column: str) -> str:
        return f"octet_length({column})"


def _array(values: Iterable[str]) -> str:
    """The literal of an array, whose type PostgreSQL takes from the column it is compared with."""
    return "{" + ",".join('"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' for value in values) + "}"


_SEQUENCE: Final = "pg_get_serial_sequence(quote_ident(current_schema()) || '.' || ?, 'n')::regclass"
"""The sequence of a table's numbers, by the table's name."""


def _vector_in_order(words: Iterable[str]) -> str:
    return " ".join(f"{_lexeme(word)}:{min(at, MOST_POSITIONS)}" for at, word in enumerate(words, start=1))


def _vector(words: Iterable[str]) -> str:
    return " ".join(map(_lexeme, dict.fromkeys(words)))


def _lexeme(word: str) -> str:
    if len(word) * 4 > MOST_BYTES_OF_A_WORD and len(word.encode()) > MOST_BYTES_OF_A_WORD:
        word = hashlib.sha256(word.encode()).hexdigest()
    escaped = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


_SENT_WITH_NEXT: Final = (PostgresDialect.begin_reading, PostgresDialect.begin_writing, "SAVEPOINT one")
"""Statements that are sent in one message with the workspace that the next ones are about."""


class _Number(Loader):
    """Sums of whole numbers are `numeric` in PostgreSQL: read as int or float."""

    def load(self, data: Any) -> int | float:
        number = Decimal(bytes(data).decode())
        return int(number) if number == number.to_integral_value() else float(number)


class _Rows:
    """See `DatabaseCursor`."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Iterator[tuple[Any, ...]]) -> None:
        self._rows = rows

    @property
    def get(self) -> Any:
        row = self.fetchone()
        return row[0] if row is not None and len(row) == 1 else row

    def fetchone(self) -> tuple[Any, ...] | None:
        return next(self._rows, None)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self._rows


@lru_cache(maxsize=2_048)
def written(statement: str) -> bytes:
    """With the driver's placeholders, and as bytes: the driver's types take a text only if it is a literal."""
    return statement.replace("%", "%%").replace("?", "%s").encode()


def _bound(bindings: Sequence[Binding]) -> list[Binding]:
    return [int(value) if value is True or value is False else value for value in bindings]


def connected(url: str) -> psycopg.Connection[tuple[Any, ...]]:
    """A connection in autocommit mode."""
    parameters: dict[str, Any] = {**DEFAULTS, **conninfo.conninfo_to_dict(url)}
    return psycopg.connect(autocommit=True, **parameters)


class PostgresConnection:
    """See `Connection`."""

    dialect = PostgresDialect()

    def __init__(self, url: str, *, on_close: Callable[[], object] | None = None) -> None:
        """`on_close`: called once, when it is closed."""
        self._url = url
        self._on_close = on_close
        self._lock_timeout_s = LOCK_TIMEOUT_S
        self._first = ""
        self._workspace = ""
        self.driver = self._connected()

    def _connected(self) -> psycopg.Connection[tuple[Any, ...]]:
        driver = connected(self._url)
        driver.adapters.register_loader("numeric", _Number)
        driver.execute(_lock_timeout(self._lock_timeout_s))
        return driver

    @property
    def in_transaction(self) -> bool:
        status = self.driver.info.transaction_status
        return bool(self._first) or status in (TransactionStatus.INTRANS, TransactionStatus.INERROR)

    def within(self, workspace: str) -> None:
        if workspace != self._workspace:
            self._send(f"SET LOCAL remembrancer.workspace = {sql.quote(workspace, self.driver)}")
            self._workspace = workspace

    def execute(self, statements: str, bindings: Sequence[Binding] | None = None) -> _Rows:
        driver = self._ready
        if statements in _SENT_WITH_NEXT:
            self._first, self._workspace = statements, ""
            return _Rows(iter(()))
        cursor = (
            driver.execute(statements.encode())
            if bindings is None
            else driver.execute(written(statements), _bound(bindings))
        )
        return _Rows(iter(cursor) if cursor.description else iter(()))

    def stream(self, statement: str, bindings: Sequence[Binding]) -> Iterator[tuple[Any, ...]]:
        driver = self._ready
        driver.execute("SET LOCAL cursor_tuple_fraction = 1")  # plan for all rows, not for the first
        with driver.cursor("streamed") as cursor:
            cursor.itersize = STREAMED_ROWS
            yield from cursor.execute(written(statement), _bound(bindings))

    @property
    def _ready(self) -> psycopg.Connection[tuple[Any, ...]]:
        """The driver's connection, after the statement that was to be sent with the next."""
        if self._first:
            self._send()
        return self.driver

    def _send(self, *then: str) -> None:
        """Send the pending statement together with these, in one message. If the server has closed the connection, as a
        restart does, a transaction begins on a new one.
        """
        first, self._first = self._first, ""
        message = "; ".join((first, *then) if first else then).encode()
        try:
            self.driver.execute(message)
        except psycopg.OperationalError:
            if not (self.driver.closed and first.startswith("BEGIN")):
                raise
            self.driver = self._connected()
            self.driver.execute(message)

    def executemany(self, statements: str, sequenceofbindings: Iterable[Sequence[Binding]]) -> _Rows:
        bound = [_bound(bindings) for bindings in sequenceofbindings]
        if not bound:
            return _Rows(iter(()))
        if len(bound) == 1:  # without the pipeline for several
            self._ready.execute(written(statements), bound[0])
            return _Rows(iter(()))
        with self._ready.cursor() as cursor:
            cursor.executemany(written(statements), bound)
        return _Rows(iter(()))

    def insert_many(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Binding]]) -> None:
        names = ", ".join(columns)
        with self._ready.cursor() as cursor, cursor.copy(f"COPY {table} ({names}) FROM STDIN".encode()) as copy:
            for row in rows:
                copy.write_row(row)

    def count(self, statement: str, bindings: Sequence[Binding]) -> int:
        return self._ready.execute(written(statement), _bound(bindings)).rowcount

    def number_of(self, insertion: str, bindings: Sequence[Binding]) -> int:
        return self.execute(f"{insertion} RETURNING n", bindings).get

    def wait_for_locks(self, seconds: float) -> None:
        self._lock_timeout_s = seconds
        try:
            self.driver.execute(_lock_timeout(seconds))
        except psycopg.OperationalError:  # as in `_send`: work outside of a transaction begins with this statement
            if not self.driver.closed:
                raise
            self.driver = self._connected()

    def close(self) -> None:
        self.driver.close()
        on_close, self._on_close = self._on_close, None
        if on_close is not None:
            on_close()


def _lock_timeout(seconds: float) -> bytes:
    return f"SET lock_timeout = {int(seconds * 1000)}".encode()
