"""Effects: all writes that an engine function has decided on, as one value that a store writes completely or not at
all.

Between reading and writing, a language model may have been asked and other processes may have written. An effect names
the state that it was decided on; if that state has changed, nothing is written and the next sweep decides again.
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
class Moved:
    """A memory taken out of recall, or back into it. `reason` goes to the audit."""

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
    - `consolidated`: memories without facts drawn from them; they are marked as consolidated.
    - `cursor`: a stream that must still be at the position from which it was read; it advances.
    - `inserted`: new memories, which must not exist. `revised`: new texts of memories in `expected`, each at its next
      revision.
    - `moved`: taken out of recall, or back. `superseded`: validity ends, with or without a successor.
    - `related`: relations; an existing one gets the new weight. `adjusted`: a pure change of a memory's strength.
    - `reviewed`: logged; the memory gets the review's stability, difficulty and time. Its last review must be
      `Review.previous`.
    """

    expected: Mapping[UUID, int] = field(default_factory=_none)
    consolidated: frozenset[UUID] = frozenset()
    cursor: Cursor | None = None
    inserted: tuple[MemoryWrite, ...] = ()
    revised: tuple[MemoryWrite, ...] = ()
    moved: tuple[Moved, ...] = ()
    superseded: tuple[tuple[UUID, UUID | None], ...] = ()
    related: tuple[Relation, ...] = ()
    adjusted: Mapping[UUID, Callable[[Strength], Adjustment]] = field(default_factory=_no_changes)
    reviewed: tuple[Review, ...] = ()
