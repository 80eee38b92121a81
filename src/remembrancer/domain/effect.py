"""Effects: all writes that an engine function has decided on, as one value. A store writes it completely or not at all.

Between reading and writing, a language model may have been asked, and other processes may have written. Therefore an
effect states what it expects of the stored state. If the state differs, nothing is written, and the next run decides
again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from types import MappingProxyType
from uuid import UUID

from remembrancer.domain.memory import MemoryWrite, Status
from remembrancer.domain.relation import Relation
from remembrancer.domain.review import Review
from remembrancer.domain.stream import Cursor
from remembrancer.domain.strength import Adjustment, Strength
from remembrancer.values import dataclass


@dataclass(frozen=True, slots=True)
class StatusChange:
    """The new status of a memory: taken out of recall or returned to it. The audit stores `reason`."""

    memory_id: UUID
    status: Status
    reason: str


def _none() -> Mapping[UUID, int]:
    return MappingProxyType({})


def _no_changes() -> Mapping[UUID, Callable[[Strength], Adjustment]]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """The expected state, then the writes, in this order.

    - `expected`: the revision that each of these memories must have; it must be active and neither superseded nor
      expired.
    - `consolidated`: memories to be marked as consolidated; they must not be marked yet.
    - `cursor`: a stream that must still be at the position from which it was read; the position advances.
    - `inserted`: new memories, which must not exist. `revised`: new texts of memories in `expected`, each at its next
      revision.
    - `status_changes`: memories taken out of recall, or returned to it. `superseded`: validity ends, with or without a
      successor.
    - `related`: relations; an existing one gets the new weight. `adjusted`: a pure change of a memory's strength.
    - `reviewed`: logged; the memory gets the review's stability, difficulty and time. Its last review must be
      `Review.previous`.
    """

    expected: Mapping[UUID, int] = field(default_factory=_none)
    consolidated: frozenset[UUID] = frozenset()
    cursor: Cursor | None = None
    inserted: tuple[MemoryWrite, ...] = ()
    revised: tuple[MemoryWrite, ...] = ()
    status_changes: tuple[StatusChange, ...] = ()
    superseded: tuple[tuple[UUID, UUID | None], ...] = ()
    related: tuple[Relation, ...] = ()
    adjusted: Mapping[UUID, Callable[[Strength], Adjustment]] = field(default_factory=_no_changes)
    reviewed: tuple[Review, ...] = ()
