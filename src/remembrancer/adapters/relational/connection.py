"""The connection that every function of this package is given: what a database driver has to offer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from remembrancer.adapters.relational.dialect import Dialect

LOCK_TIMEOUT_S: Final = 60.0
"""How long a statement waits for the lock of another process before it fails, unless told otherwise."""

Binding = str | int | float | bytes | None
"""A value for one `?` of a statement. A list of values is bound as `Dialect.listed` makes it."""


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

    Statements are written with `?` for each value, never with a number; a driver that wants another mark replaces it.
    """

    @property
    def dialect(self) -> Dialect:
        """How statements are written for this database."""
        ...

    @property
    def in_transaction(self) -> bool: ...

    def execute(self, statements: str, bindings: Sequence[Binding] | None = None) -> DatabaseCursor: ...

    def executemany(self, statements: str, sequenceofbindings: Iterable[Sequence[Binding]]) -> DatabaseCursor: ...

    def count(self, statement: str, bindings: Sequence[Binding]) -> int:
        """Execute an INSERT, UPDATE or DELETE. Returns how many rows it changed, not counting cascades."""
        ...

    def number_of(self, insertion: str, bindings: Sequence[Binding]) -> int:
        """Execute an INSERT of one row. Returns the row's number, its column `n`."""
        ...

    def wait_for_locks(self, seconds: float) -> None:
        """From now on, a statement waits this long for the lock of another connection before it fails."""
        ...

    def close(self) -> None: ...
