"""What an engine function has decided: all that it writes, in one value, so that a store can write all of it or none.

Whoever decides has read some memories and perhaps asked a model meanwhile. What was read is named with the effect;
where it is no longer so when the effect is written, another was faster, or the world moved on: nothing is written then,
and the next sweep decides anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from uuid import UUID

from remembrancer.domain.memory import MemoryWrite, Status
from remembrancer.domain.relation import Relation
from remembrancer.domain.review import Review
from remembrancer.domain.stream import Cursor
from remembrancer.domain.strength import Adjustment, Strength


@dataclass(frozen=True, slots=True)
class Moved:
    """A memory taken out of recall, or back into it, and why, for the audit."""

    memory_id: UUID
    status: Status
    reason: str


def _none() -> Mapping[UUID, int]:
    return MappingProxyType({})


def _no_changes() -> Mapping[UUID, Callable[[Strength], Adjustment]]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What is to be true before, then what is written, in this order.

    `expected`: by id the revision at which a memory must be, active, neither superseded nor expired.
    `consolidated`: memories that no facts were drawn from before; they are marked as having been, revised or not.
    `cursor`: a stream that must still stand where it was read from; it moves on.
    `inserted`: new memories; none may be there. `revised`: memories that say something else from now on, at the next
    revision after the one in `expected`, where each of them must be. `moved`: out of recall, or back; `superseded`: by
    which, or by none: its validity ends. `related`: edges; one that is there takes the new weight. `adjusted`: a pure
    change of a memory's strength. `reviewed`: logged, and the memory takes its stability, difficulty and time; it must
    have been reviewed last at `Review.previous`.
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
