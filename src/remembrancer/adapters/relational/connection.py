"""The database connection that the functions of this package use, as a protocol."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from remembrancer.adapters.relational.dialect import Dialect

LOCK_TIMEOUT_S: Final = 60.0
"""The default time in seconds that a statement waits for the lock of another process."""

EVERY_WORKSPACE: Final = " "
"""In place of a workspace, whose name is never blank: the statements are for the whole database."""

Binding = str | int | float | bytes | None
"""A value for one `?` of a statement. Lists are bound as `Dialect.listed` returns them."""


class DatabaseCursor(Protocol):
    """The rows of one executed statement."""

    @property
    def get(self) -> Any:
        """The first row: its value if the statement selects one column, else the tuple; None if there is no row."""
        ...

    def fetchone(self) -> tuple[Any, ...] | None: ...
    def __iter__(self) -> Iterator[tuple[Any, ...]]: ...


class Connection(Protocol):
    """One connection to the database, used by one thread at a time.

    Statements have `?` for each value, never a number; a driver may replace it by its own placeholder.
    """

    @property
    def dialect(self) -> Dialect:
        """The SQL dialect of this database."""
        ...

    @property
    def in_transaction(self) -> bool: ...

    def within(self, workspace: str) -> None:
        """Say which workspace the next statements of the transaction are about. If the database supports it, they see
        and write no rows of others, whatever their conditions.
        """
        ...

    def execute(self, statements: str, bindings: Sequence[Binding] | None = None) -> DatabaseCursor: ...

    def stream(self, statement: str, bindings: Sequence[Binding]) -> Iterator[tuple[Any, ...]]:
        """Execute a SELECT with many rows, in a transaction. They are received in parts as they are iterated over, and
        other statements may run in between.
        """
        ...

    def executemany(self, statements: str, sequenceofbindings: Iterable[Sequence[Binding]]) -> DatabaseCursor: ...

    def count(self, statement: str, bindings: Sequence[Binding]) -> int:
        """Execute an INSERT, UPDATE or DELETE. Returns the number of changed rows, without cascades."""
        ...

    def insert_many(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Binding]]) -> None:
        """Insert many rows, in the fastest way; not into tables with row-level security."""
        ...

    def number_of(self, insertion: str, bindings: Sequence[Binding]) -> int:
        """Execute an INSERT of one row. Returns its column `n`."""
        ...

    def wait_for_locks(self, seconds: float) -> None:
        """Set how long statements wait for the lock of another connection before they fail."""
        ...

    def close(self) -> None: ...
