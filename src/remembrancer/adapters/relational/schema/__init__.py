"""The tables and their migrations, in SQLite's words; PostgreSQL translates them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from remembrancer.values import dataclass

_FOLDER: Final = Path(__file__).parent


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
