"""Counts, integrity checks and health snapshots."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Protocol
from uuid import UUID

from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.domain.health import HealthSnapshot
    from remembrancer.domain.query import Filter
    from remembrancer.domain.scope import Reader, Scope


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of rows that the reader may see. `bytes`: the length of the texts of these events and memories in UTF-8.
    The size of the files would tell of rows that the reader may not see.
    """

    events: int
    memories: Mapping[str, int]
    """The number of memories by status."""
    cues: int
    vectors: Mapping[str, int]
    """The number of vectors by model."""
    truncated: int
    relations: int
    oldest: datetime | None
    newest: datetime | None
    bytes: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of `doctor`. `ok` False means a fault; `repair` says how to fix it. `warning`: nothing is faulty, but
    something could work better; `repair` says how.
    """

    check: str
    ok: bool
    detail: str
    repair: str = ""
    warning: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthInputs:
    """The inputs of health metrics. `ids` and `occurred` (the end of each memory's span) are parallel, by id.

    `with_vector`: the number of memories whose cues all have a vector of the model. `related`: the number of memories
    with a relation. `shown`: the similarities of SHOWN exposures since the requested time.
    """

    ids: tuple[UUID, ...]
    occurred: tuple[datetime, ...]
    with_vector: int
    related: int
    shown: tuple[float, ...]


IdentifiedRows = Literal["memory", "event", "recall"]
"""Rows that people name by their ids: memories, events (archived or not), and kept answers."""


class Inspection(Protocol):
    """Counts rows, finds their ids, checks integrity, and keeps daily health snapshots."""

    async def stats(self, reader: Reader) -> Stats:
        """Counts of the rows that the reader sees."""
        ...

    async def ids_ending(self, reader: Reader, rows: IdentifiedRows, ending: str) -> tuple[UUID, ...]:
        """The ids, ascending, of the rows that the reader sees whose 32 hexadecimal digits end with `ending`, at least
        two digits in lower case.
        """
        ...

    async def check(self, scope: Scope, model: str | None) -> tuple[Finding, ...]:
        """Check for damage and drift: the files, the schema, the full-text rows, the vectors of `model`."""
        ...

    async def health_inputs(
        self, reader: Reader, where: Filter, *, model: str | None, shown_since: datetime
    ) -> HealthInputs:
        """The inputs of the health metrics of the memories that the filter keeps."""
        ...

    async def put_snapshot(self, scope: Scope, snapshot: HealthSnapshot) -> None:
        """Store a day's health, replacing one of the same workspace, crew and day."""
        ...

    async def snapshots(self, scope: Scope, crew: str | None, *, limit: int) -> tuple[HealthSnapshot, ...]:
        """Daily health of the workspace (crew None) or of one crew, newest day first."""
        ...
