"""Counts, integrity checks and health snapshots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from remembrancer.domain.health import HealthSnapshot
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader, Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    """Shape (dim,), of unit length."""


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of what the reader may see, and the size of the store in bytes (0 where it has no size)."""

    events: int
    memories: Mapping[str, int]
    """By status."""
    cues: int
    vectors: Mapping[str, int]
    """By model."""
    truncated: int
    relations: int
    oldest: datetime | None
    newest: datetime | None
    bytes: int


@dataclass(frozen=True, slots=True)
class Finding:
    """Something `doctor` looked at. `ok` False is a fault; `repair` says what mends it."""

    check: str
    ok: bool
    detail: str
    repair: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vitals:
    """`occurred`: when each memory happened (the end of its span), by id order. `ids` in the same order.

    `with_vector`: how many have a vector of the model for each of their cues. `related`: how many of those with a
    vector have at least one edge. `shown`: the similarities of the exposures of kind SHOWN since the time asked for.
    """

    ids: tuple[UUID, ...]
    occurred: tuple[datetime, ...]
    with_vector: int
    related: int
    shown: tuple[float, ...]


class Inspection(Protocol):
    """Counts rows, looks for damage, and keeps daily health snapshots."""

    async def stats(self, reader: Reader) -> Stats: ...

    async def check(self, scope: Scope, model: str | None) -> tuple[Finding, ...]:
        """Look for damage and drift: the file, the schema, the full-text rows, the vectors of `model`."""
        ...

    async def vitals(self, reader: Reader, where: Filter, *, model: str | None, shown_since: datetime) -> Vitals:
        """What the health of the memories that the filter keeps is worked out from."""
        ...

    async def put_snapshot(self, scope: Scope, snapshot: HealthSnapshot) -> None:
        """Keep a day's health; one of that workspace, crew and day takes the new values."""
        ...

    async def snapshots(self, scope: Scope, crew: str | None, *, limit: int) -> tuple[HealthSnapshot, ...]:
        """The health of the workspace (crew None) or of one crew, newest day first."""
        ...
