"""What the adapter uses of an apsw connection, typed in one place: apsw's own stubs leave parts unknown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, cast

import apsw

Binding = str | int | float | bytes | None


class Cursor(Protocol):
    @property
    def get(self) -> Any:
        """The first row: its value where it has one column, else the tuple; None when there is no row."""
        ...

    def fetchone(self) -> tuple[Any, ...] | None: ...
    def __iter__(self) -> Iterator[tuple[Any, ...]]: ...


class Connection(Protocol):
    known: dict[str, Any] | None
    """What was found out in a read transaction, where no write can change it before it ends; None outside of one."""

    @property
    def in_transaction(self) -> bool: ...
    def execute(self, statements: str, bindings: Sequence[Binding] | None = None) -> Cursor: ...
    def executemany(self, statements: str, sequenceofbindings: Iterable[Sequence[Binding]]) -> Cursor: ...
    def pragma(self, name: str, value: str | int | None = None) -> Any: ...
    def last_insert_rowid(self) -> int: ...
    def changes(self) -> int: ...
    def set_busy_timeout(self, milliseconds: int) -> None: ...
    def serialize(self, name: str) -> bytes: ...
    def deserialize(self, name: str, contents: bytes) -> None: ...
    def close(self) -> None: ...


class _Connection(apsw.Connection):
    known: dict[str, Any] | None = None


def connect(path: str) -> Connection:
    """A connection that may make the file. Raises apsw.Error."""
    return cast("Connection", _Connection(path))
