"""Inputs of health metrics, daily snapshots, and the states of many memories as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, overload
from uuid import UUID

import numpy as np

from remembrancer.adapters.relational.clauses import Where, found_by, seen_by
from remembrancer.adapters.relational.columns import Row, as_written, put_row
from remembrancer.adapters.relational.past import NOW, Then
from remembrancer.adapters.relational.rows import LEVEL, SNAPSHOTS
from remembrancer.domain.candidates import States
from remembrancer.domain.instants import micros, moment
from remembrancer.domain.strength import Exposure
from remembrancer.ports.inspection import HealthInputs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.adapters.relational.connection import Connection
    from remembrancer.domain.health import HealthSnapshot
    from remembrancer.domain.query import Filter
    from remembrancer.domain.scope import Reader, Scope


def health_inputs(
    connection: Connection, reader: Reader, where: Filter, *, model: str | None, shown_since: datetime
) -> HealthInputs:
    kept = found_by(connection.dialect, reader, where)
    rows = _rows(connection, reader, kept, model)
    shown = connection.execute(
        "SELECT x.similarity FROM memories m JOIN exposures x ON x.memory = m.n"
        f" WHERE {kept.sql} AND x.kind = ? AND x.at >= ? AND x.similarity IS NOT NULL ORDER BY x.at, m.id",
        (*kept.bindings, Exposure.SHOWN, micros(shown_since)),
    )
    with as_written():
        return HealthInputs(
            ids=tuple(UUID(bytes=identifier) for identifier, *_ in rows),
            occurred=tuple(moment(at) for _, at, _ in rows),
            with_vector=sum(related is not None for *_, related in rows),
            related=sum(related == 1 for *_, related in rows),
            shown=tuple(similarity for (similarity,) in shown),
        )


def _rows(
    connection: Connection, reader: Reader, kept: Where, model: str | None
) -> list[tuple[bytes, int, int | None]]:
    """The id and time of each memory, and whether it is related to another (None if a cue has no vector), by id."""
    seen = seen_by(reader, "o", visibility=True)
    # Edges first: SQLite's own plan reads the whole workspace for each memory to look for an edge.
    edge = (
        f"EXISTS (SELECT 1 FROM relations r {connection.dialect.then_join} memories o ON o.n = r.{{far}}"
        f" WHERE r.{{near}} = m.n AND o.n <> m.n AND {seen.sql})"
    )
    rows = connection.execute(
        "SELECT m.id, m.occurred_to,"
        " CASE WHEN (SELECT min(CASE WHEN EXISTS (SELECT 1 FROM embeddings v WHERE v.cue = c.n AND v.model = ?)"
        " THEN 1 ELSE 0 END) FROM cues c WHERE c.memory = m.n AND c.last IS NULL) = 1"
        f" THEN {edge.format(near='source', far='target')} OR {edge.format(near='target', far='source')} END"
        f" FROM memories m WHERE {kept.sql}",
        (model, *seen.bindings, *seen.bindings, *kept.bindings),
    )
    # Sorted here: reading rows in id order would make the database read pages from all over the file, which
    # takes twice as long.
    return sorted((identifier, at, related) for identifier, at, related in rows)


def put_snapshot(connection: Connection, scope: Scope, snapshot: HealthSnapshot) -> None:
    put_row(
        connection,
        "health_snapshots",
        ("workspace", "crew", "day"),
        SNAPSHOTS.names[2:],
        (scope.workspace, *SNAPSHOTS.bindings(snapshot)),
    )


def snapshots(connection: Connection, scope: Scope, crew: str | None, *, limit: int) -> tuple[HealthSnapshot, ...]:
    return SNAPSHOTS.all(
        connection,
        "health_snapshots h WHERE workspace = ? AND crew = ? ORDER BY day DESC LIMIT ?",
        (scope.workspace, crew or "", limit),
    )


def crews(connection: Connection, scope: Scope) -> tuple[str, ...]:
    rows = connection.execute(
        "SELECT DISTINCT crew FROM memories WHERE workspace = ? AND crew <> '' ORDER BY crew", (scope.workspace,)
    )
    return tuple(crew for (crew,) in rows)


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
    "worked": ("m.worked", np.float32),
    "failed": ("m.failed", np.float32),
}
_NUMBERS: Final = {
    **_OWN,
    **{kind.value: (f"m.{kind}", np.int32) for kind in Exposure},
    **{f"{kind}_at": (f"coalesce(m.last_{kind}_at, 0)", np.int64) for kind in Exposure},
}
"""The column of table `m` and the type of each array."""
_SELECT: Final = ", ".join(column for column, _ in _NUMBERS.values())


def states(connection: Connection, reader: Reader, where: Filter, *, then: Then = NOW) -> tuple[Sequence[UUID], States]:
    conditions = found_by(connection.dialect, reader, where)
    rows = list(
        connection.execute(f"SELECT m.id, {_SELECT} FROM {then.memories()} WHERE {conditions.sql}", conditions.bindings)
    )
    with as_written():
        return _states(rows)


class _Ids(Sequence[UUID]):
    """The ids in these bytes, each made a UUID when it is asked for: of 100,000, a few are."""

    def __init__(self, packed: NDArray[np.void]) -> None:
        self._packed = packed

    def __len__(self) -> int:
        return len(self._packed)

    @overload
    def __getitem__(self, index: int) -> UUID: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[UUID]: ...

    def __getitem__(self, index: int | slice) -> UUID | Sequence[UUID]:
        return _Ids(self._packed[index]) if isinstance(index, slice) else UUID(bytes=self._packed[index].tobytes())


def _states(rows: list[Row]) -> tuple[Sequence[UUID], States]:
    """The states, sorted here: rows in the order of their ids would be read from pages all over the file."""
    columns: list[Row] = list(zip(*rows, strict=True)) if rows else [()] * (1 + len(_NUMBERS))
    packed = b"".join(columns[0])
    halves = np.frombuffer(packed, ">u8").reshape(-1, 2)
    order = np.lexsort((halves[:, 1], halves[:, 0]))
    with np.errstate(over="raise"):  # a number too large for its array is an unreadable row
        numbers: dict[str, NDArray[Any]] = {
            name: np.array(values, dtype=kind)[order]
            for (name, (_, kind)), values in zip(_NUMBERS.items(), columns[1:], strict=True)
        }
    return _Ids(np.frombuffer(packed, "V16")[order]), States(
        **{name: numbers[name] for name in _OWN},
        exposed={kind: numbers[kind.value] for kind in Exposure},
        exposed_at={kind: numbers[f"{kind}_at"] for kind in Exposure},
    )
