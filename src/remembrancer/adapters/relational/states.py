"""The states of many memories as arrays, read without their texts."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import numpy as np

from remembrancer.adapters.relational.clauses import kept_by, seen_by
from remembrancer.adapters.relational.columns import Row
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.errors import as_written
from remembrancer.adapters.relational.rows import LEVEL
from remembrancer.domain.candidates import States
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader
from remembrancer.domain.strength import Exposure

if TYPE_CHECKING:
    from numpy.typing import NDArray

_OWN: Final[dict[str, tuple[str, type[np.generic]]]] = {
    "occurred_from": ("m.occurred_from", np.int64),
    "occurred_at": ("m.occurred_to", np.int64),
    "importance": ("m.importance", np.float32),
    "importance_floor": ("m.importance_floor", np.float32),
    "confidence": ("m.confidence", np.float32),
    "priority": ("m.priority", np.int32),
    "stability": ("m.stability", np.float32),
    "reviewed_at": ("coalesce(m.last_reviewed_at, 0)", np.int64),
    "level": (LEVEL, np.int32),
}
_NUMBERS: Final = {
    **_OWN,
    **{kind.value: (f"m.{kind}", np.int32) for kind in Exposure},
    **{f"{kind}_at": (f"coalesce(m.last_{kind}_at, 0)", np.int64) for kind in Exposure},
}
"""The column of table `m` and the type of each array."""
_SELECT: Final = ", ".join(column for column, _ in _NUMBERS.values())


def states(connection: Connection, reader: Reader, where: Filter) -> tuple[tuple[UUID, ...], States]:
    conditions = kept_by(connection.dialect, where, seen_by(reader, "m", visibility=True))
    # Sorted here: to read rows in the order of their ids, the database would read pages from all over the file.
    rows: list[Row] = sorted(
        connection.execute(f"SELECT m.id, {_SELECT} FROM memories m WHERE {conditions.sql}", conditions.bindings),
        key=itemgetter(0),
    )
    with as_written():
        return _states(rows)


def _states(rows: list[Row]) -> tuple[tuple[UUID, ...], States]:
    columns: list[Row] = list(zip(*rows, strict=True)) if rows else [()] * (1 + len(_NUMBERS))
    with np.errstate(over="raise"):  # a number too large for its array is an unreadable row
        numbers: dict[str, NDArray[Any]] = {
            name: np.array(values, dtype=kind)
            for (name, (_, kind)), values in zip(_NUMBERS.items(), columns[1:], strict=True)
        }
    return tuple(UUID(bytes=identifier) for identifier in columns[0]), States(
        **{name: numbers[name] for name in _OWN},
        exposed={kind: numbers[kind.value] for kind in Exposure},
        exposed_at={kind: numbers[f"{kind}_at"] for kind in Exposure},
    )
