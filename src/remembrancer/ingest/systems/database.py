"""Reading the SQLite files of other systems."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from remembrancer.errors import InvalidInput

SIGNATURE: Final = b"SQLite format 3\x00"
BUSY_MS: Final = 5_000
"""The longest wait of a read for the program that is writing to the file, in milliseconds."""


def is_database(path: Path) -> bool:
    """Whether the file begins as an SQLite file does."""
    with path.open("rb") as file:
        return file.read(len(SIGNATURE)) == SIGNATURE


def columns(path: Path) -> dict[str, frozenset[str]]:
    """The columns of each table. Raises InvalidInput if the file cannot be read."""
    found: dict[str, set[str]] = {}
    sql = (
        "SELECT m.name AS name, c.name AS col FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'"
    )
    for row in rows(path, sql):
        found.setdefault(str(row["name"]), set()).add(str(row["col"]))
    return {table: frozenset(names) for table, names in found.items()}


def rows(path: Path, sql: str) -> Iterator[dict[str, object]]:
    """The rows of a query, by column; the file is opened for reading only. Raises InvalidInput."""
    import apsw  # noqa: PLC0415  most files are none of SQLite

    try:
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            connection.set_busy_timeout(BUSY_MS)
            cursor = connection.cursor().execute(sql)  # pyright: ignore[reportUnknownMemberType]
            for row in cursor:
                names = (name for name, _ in cursor.get_description())
                yield dict(zip(names, row, strict=True))
    except (apsw.Error, UnicodeDecodeError) as error:
        raise InvalidInput("file", str(path), f"a readable SQLite file ({error})") from error


def json_of(argument: str, value: object) -> object:
    """The value of a column that has JSON; None if it is empty. Raises InvalidInput."""
    if value is None or value == "":
        return None
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        raise InvalidInput(argument, value, "JSON") from None
