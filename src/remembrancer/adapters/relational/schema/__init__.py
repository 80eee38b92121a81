"""The tables and their migrations, in SQLite's words; PostgreSQL translates them."""

from __future__ import annotations

import re
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Final

from remembrancer.errors import StoreUnavailable, Unsupported
from remembrancer.values import dataclass

_FOLDER: Final = Path(__file__).parent
PREFERENCE_TAGS: Final = 26
"""The migration after which turns that state a preference get its tags."""
NAME_TAGS: Final = 32
"""The migration after which turns that say another name of somebody get its tag."""


@dataclass(frozen=True, slots=True)
class Migration:
    """The statements that migrate tables from the previous version to version `number`."""

    number: int
    sql: str


@cache
def migrations() -> tuple[Migration, ...]:
    """All migrations, numbered from 1 without a gap."""
    files = sorted((_FOLDER / "migrations").glob("*.sql"))
    return tuple(Migration(int(file.name[:4]), file.read_text(encoding="utf-8")) for file in files)


def schema_sql() -> str:
    """The statements that create the tables of the current version."""
    return (_FOLDER / "schema.sql").read_text(encoding="utf-8")


@cache
def current_version() -> int:
    """The number of the last migration, without reading any of them."""
    return sum(file.suffix == ".sql" for file in (_FOLDER / "migrations").iterdir())


@dataclass(frozen=True, slots=True)
class Table:
    """A table of rows. `key`: the columns of its primary key. `parents`: the tables that a column refers to, by that
    column; it holds their `n`. `reals`: the columns with floating point numbers.
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    parents: tuple[tuple[str, str], ...]
    reals: frozenset[str]


OF_FILES: Final = frozenset({"index_files", "waiting_words"})
"""Tables that belong to one database alone: of files beside it, and of words that its full-text index lacks yet."""


@cache
def tables() -> tuple[Table, ...]:
    """The tables of rows that belong to the record, those that others refer to first; no full-text indexes."""
    defined = _TABLE.findall(re.sub("--.*", "", schema_sql()))
    found = [_table(name, columns) for name, columns in defined if name not in OF_FILES]
    placed: dict[str, Table] = {}
    while len(placed) < len(found):
        for table in found:
            if all(parent in placed for _, parent in table.parents):
                placed.setdefault(table.name, table)
    return tuple(placed.values())


_TABLE: Final = re.compile(r"CREATE TABLE (\w+) \((.*?)\)(?: WITHOUT ROWID)?;", re.DOTALL)


def _table(name: str, definitions: str) -> Table:
    columns: dict[str, str] = {}
    key: tuple[str, ...] = ()
    parents: list[tuple[str, str]] = []
    for definition in re.split(r",(?![^(]*\))", definitions):
        first, *rest = definition.split()
        if first == "PRIMARY":
            key = tuple(re.findall(r"\w+", definition.partition("(")[2]))
        elif first != "UNIQUE":
            columns[first] = rest[0]
            key = (first,) if "PRIMARY KEY" in definition else key
            parents += ((first, parent) for parent in re.findall(r"REFERENCES (\w+)", definition))
    reals = frozenset(column for column, kind in columns.items() if kind == "REAL")
    return Table(name, tuple(columns), key, tuple(parents), reals)


class Readiness(Enum):
    """Whether a database can be opened as a store. UNFINISHED: `moving` has begun to fill it."""

    ABSENT = "absent"
    UNFINISHED = "unfinished"
    READY = "ready"


def readiness(version: int, name: str) -> Readiness:
    """Read from the version number of a database: 0 without tables, negative while it is being filled.

    Raises Unsupported for a newer version, and for one that another version of this package has begun to fill.
    """
    if version < 0:
        if version != -current_version():
            raise Unsupported(f"{name}: another version of Remembrancer began to fill it; delete it and begin again")
        return Readiness.UNFINISHED
    if version > current_version():
        raise Unsupported(
            f"{name}: written by a newer Remembrancer (tables of version {version}, this one knows up to"
            f" {current_version()}); upgrade remembrancer to open it"
        )
    return Readiness.READY if version else Readiness.ABSENT


def require_finished(version: int, name: str) -> None:
    """Raises StoreUnavailable for a database that is being filled."""
    if readiness(version, name) is Readiness.UNFINISHED:
        raise StoreUnavailable(f"{name}: an unfinished copy; run the same `remembrancer migrate` again to finish it")


def require_current(version: int, name: str) -> None:
    """Raises what `readiness` raises, StoreUnavailable for a database without tables or one that is being filled, and
    Unsupported for one of an older version.
    """
    require_finished(version, name)
    if not version:
        raise StoreUnavailable(f"{name}: it has no memory yet")
    if version < current_version():
        raise Unsupported(
            f"{name}: tables of version {version}, which reading does not migrate to {current_version()}; open it once,"
            " such as with `remembrancer stats`"
        )
