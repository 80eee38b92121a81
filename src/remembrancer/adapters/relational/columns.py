"""Tables of columns: for each column of a record its name, its codec, and the field that it stores."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from enum import Enum
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast
from uuid import UUID

from remembrancer.domain.flat import Flat
from remembrancer.domain.instants import micros, moment
from remembrancer.domain.scope import Scope
from remembrancer.ports.changes import CueTurn, UnreadableRow
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.adapters.relational.connection import Binding, Connection
    from remembrancer.domain.validation import JsonValue

T = TypeVar("T")
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Codec:
    """Functions that convert a field to a binding, and a value other than NULL to a field.

    None: no conversion.
    """

    bind: Callable[[Any], Binding] | None = None
    read: Callable[[Any], object] | None = None


PLAIN: Final = Codec()


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `path`: the field it stores, if that has another name, such as "strength.usage.shown"."""

    name: str
    codec: Codec = PLAIN
    path: str = ""

    @property
    def place(self) -> str:
        return self.path or self.name.rpartition(".")[2]


def columns(names: str, codec: Codec = PLAIN) -> tuple[Column, ...]:
    """A column for each of the blank-separated names."""
    return tuple(Column(name, codec) for name in names.split())


def inside(owner: str, columns: Iterable[Column]) -> tuple[Column, ...]:
    """The columns of a value nested in this field of another."""
    return tuple(replace(column, path=f"{owner}.{column.place}") for column in columns)


class Columns(Generic[T]):
    """The columns that a value of type T is read from, in order, and those of its own table that it is written to.

    `alias`: that of its own table in statements. A column of another table has that table's alias as prefix ("m.id");
    the own table has two columns or more. `inner`: the constructors of nested values by path.
    """

    def __init__(
        self,
        alias: str,
        kind: Callable[..., T],
        columns: Sequence[Column],
        inner: Mapping[str, Callable[..., object]] | None = None,
    ) -> None:
        self.alias: Final = alias
        self.names: Final = tuple(column.name for column in columns if "." not in column.name)
        """The names of the columns of its own table."""
        self._own = itemgetter(*(place for place, column in enumerate(columns) if "." not in column.name))
        self.selected: Final = tuple(
            column.name if "." in column.name else f"{alias}.{column.name}" for column in columns
        )
        self.select: Final = ", ".join(self.selected)
        self._flat = Flat[T]([column.place for column in columns], {"": kind, **(inner or {})})
        codecs = [column.codec for column in columns]
        self._binds = [(place, codec.bind) for place, codec in enumerate(codecs) if codec.bind is not None]
        self._reads = [(place, codec.read) for place, codec in enumerate(codecs) if codec.read is not None]

    def bindings(self, value: T) -> tuple[Binding, ...]:
        """One binding for each column of its own table."""
        fields = list(self._flat.fields_of(value))
        for place, bind in self._binds:
            fields[place] = bind(fields[place])
        return cast("tuple[Binding, ...]", self._own(fields))

    def value_of(self, row: Row) -> T:
        """The value of a row that begins with these columns.

        Raises UnreadableRow for a row that this program never writes.
        """
        fields = list(row[: len(self.selected)])
        try:
            for place, read in self._reads:
                if (held := fields[place]) is not None:
                    fields[place] = read(held)
            return self._flat.value_of(fields)
        except UNREADABLE as error:
            raise UnreadableRow(error) from error

    def all(self, connection: Connection, source: str, bindings: Sequence[Binding]) -> tuple[T, ...]:
        """The values of all rows of `SELECT … FROM <source>`."""
        rows = connection.execute(f"SELECT {self.select} FROM {source}", bindings)
        return tuple(map(self.value_of, rows))

    def first(self, connection: Connection, source: str, bindings: Sequence[Binding]) -> T | None:
        """The value of the first row of `SELECT … FROM <source>`; None if there is no row."""
        row = connection.execute(f"SELECT {self.select} FROM {source}", bindings).fetchone()
        return None if row is None else self.value_of(row)


def insert_into(table: str, columns: Sequence[str]) -> str:
    """An INSERT of one row, with a `?` for each column."""
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def assigned(*columns: str) -> str:
    """The assignments of an UPDATE, with a `?` for each column."""
    return ", ".join(f"{column} = ?" for column in columns)


def add_row(connection: Connection, table: str, columns: Sequence[str], bindings: Sequence[Binding]) -> bool:
    """Insert a row unless its key exists. Returns whether it was inserted."""
    return connection.count(f"{insert_into(table, columns)} ON CONFLICT DO NOTHING", bindings) > 0


def put_row(
    connection: Connection, table: str, key: Sequence[str], columns: Sequence[str], bindings: Sequence[Binding]
) -> None:
    """Insert a row, or overwrite the one with its key. The columns of the key come first."""
    overwritten = ", ".join(f"{column} = excluded.{column}" for column in columns)
    connection.execute(
        f"{insert_into(table, (*key, *columns))} ON CONFLICT ({', '.join(key)}) DO UPDATE SET {overwritten}", bindings
    )


# `json.dumps` would make an encoder for each value.
_ENCODE: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def encoded(value: Mapping[str, JsonValue]) -> str:
    return _ENCODE(value) if value else "{}"


def decoded(value: str) -> dict[str, JsonValue]:
    return {} if value == "{}" else json.loads(value)


def _id_binding(value: UUID | None) -> bytes | None:
    return None if value is None else value.bytes


def _id(value: bytes) -> UUID:
    return UUID(bytes=value)


def encoded_tags(tags: tuple[str, ...]) -> str:
    return json.dumps(tags, ensure_ascii=False) if tags else "[]"


def decoded_tags(value: str) -> tuple[str, ...]:
    return () if value == "[]" else tuple(cast("list[str]", json.loads(value)))


def _empty_for_none(value: str | None) -> str:
    return value or ""


def _none_for_empty(value: str) -> str | None:
    return value or None


ID: Final = Codec(_id_binding, _id)
TIME: Final = Codec(micros, moment)
DAY: Final = Codec(date.isoformat, date.fromisoformat)
FLAG: Final = Codec(int, bool)
OBJECT: Final = Codec(encoded, decoded)
TAGS: Final = Codec(encoded_tags, decoded_tags)
SCOPE_PART: Final = Codec(_empty_for_none)
"""A part of a scope as text; '' means None. `scope_of` reads it."""
NAME: Final = Codec(_empty_for_none, _none_for_empty)
"""A name as text; '' means None."""


def one_of(kind: type[Enum]) -> Codec:
    """A member of an enumeration, stored as its value."""
    members = {member.value: member for member in kind}
    # Looked up first: calling the enumeration takes three times as long.
    return Codec(read=lambda value: members.get(value) or kind(value))


UNREADABLE: Final = (ValueError, TypeError, ArithmeticError)
"""Errors of the constructors of domain values for a row with invalid values."""


@contextmanager
def as_written() -> Generator[None]:
    """Wrap the construction of values from rows. Raises UnreadableRow for a row that this program never writes."""
    try:
        yield
    except UNREADABLE as error:
        raise UnreadableRow(error) from error


@lru_cache(maxsize=1024)  # the rows of one answer have few scopes
def scope_of(workspace: str, project: str, crew: str, agent: str, session: str) -> Scope:
    """The scope in these columns of a row: "" means None."""
    return Scope(
        workspace=workspace,
        project=project or None,
        crew=crew or None,
        agent=agent or None,
        session=session or None,
    )


def turn_of(workspace: str | None, project: str, crew: str, agent: str, session: str, *turn: Any) -> CueTurn | None:
    """The turn in these columns of a cue's event: its stream, `seq`, time, role and actor. None without an event."""
    return None if workspace is None else CueTurn(scope_of(workspace, project, crew, agent, session), *turn)
