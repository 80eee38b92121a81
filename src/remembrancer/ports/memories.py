"""Memories: what they say, how strong they are, and how they hang together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from remembrancer.domain.candidates import States
from remembrancer.domain.effect import Effect
from remembrancer.domain.event import Event
from remembrancer.domain.listing import MemoryPlace
from remembrancer.domain.memory import Cue, Memory, MemoryWrite, Revision, Status
from remembrancer.domain.query import Filter
from remembrancer.domain.relation import Relation
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.strength import Adjustment, Exposed, Strength

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    """Shape (dim,), of unit length."""


@dataclass(frozen=True, slots=True)
class Audited:
    """Something done to a memory that its own row does not tell. `action` is a word such as "retired"."""

    memory_id: UUID
    action: str
    reason: str
    at: datetime


class Memories(Protocol):
    """Writes memories and their relations, and reads them back."""

    async def insert(self, scope: Scope, write: MemoryWrite) -> tuple[Memory, bool]:
        """Add a memory; returns it and True. With a key already there: the memory as it is and False.

        Raises Conflict when that key holds another text (a memory revised since is known by its key alone), or an
        active memory of this scope has the topic key.
        """
        ...

    async def revise(self, scope: Scope, write: MemoryWrite, *, expected_revision: int, at: datetime) -> Memory:
        """Replace what a memory says, keep what it said as a revision. Conflict unless it is at `expected_revision`
        and nothing supersedes it.

        It is at `expected_revision` + 1 then. Status, usage, confidence and reviews stay as they are stored,
        `write.event_ids` are added to the provenance, the cues are replaced and their vectors go.
        """
        ...

    async def by_topic(self, scope: Scope, topic_key: str) -> Memory | None:
        """The active memory of exactly this scope (session apart) with that topic key.

        One that is superseded has let go of it.
        """
        ...

    async def adjust(
        self,
        reader: Reader,
        ids: Sequence[UUID],
        change: Callable[[Strength], Adjustment],
        *,
        at: datetime,
        exposed: Sequence[Exposed] = (),
    ) -> Mapping[UUID, Strength]:
        """Apply a pure change to the strength of each memory, once each, and return the new ones.

        A memory whose adjustment says so is retired with it, and the audit says why. `exposed` is appended to the log
        of exposures. NotFound if one of `ids`, or of the memories in `exposed`, is missing. Nothing is written then,
        nor when `change` raises.
        """
        ...

    async def supersede(self, reader: Reader, old: UUID, new: UUID | None, *, at: datetime) -> Memory:
        """End the validity of `old` at `at`, in favour of `new` where given: a `supersedes` edge says so. Returns
        `old`.

        NotFound for either that the reader cannot see; nothing is written then. Conflict when `new` is not active or
        holds no longer at `at`, or when `old` is superseded by
        another already, or when `new` is `old` or comes, by the chain of supersession, to be replaced by it. What has
        ended already stays as it is.
        """
        ...

    async def relate(self, reader: Reader, relations: Sequence[Relation]) -> int:
        """Add edges; one that is there (same ends, same kind) takes the new weight. Returns how many were new.

        NotFound for an end the reader cannot see; nothing is written then.
        """
        ...

    async def set_status(self, reader: Reader, memory_id: UUID, status: Status, *, at: datetime) -> Memory:
        """Retire a memory or make it active again; what has that status already stays as it is.

        NotFound where the reader cannot see it. Conflict when its topic has another active memory by now.
        """
        ...

    async def commit(self, scope: Scope, effect: Effect, *, at: datetime) -> None:
        """Write an effect, whole. It reaches every memory of the workspace, whatever its visibility.

        Raises Conflict when something is no longer as the effect expects it, or a memory it inserts is there already
        (by id, key or topic), or has a review of that time; NotFound for a memory or an event it names that is not
        there; InvalidInput for a scope of another workspace, for a revised memory that is not expected, for a cursor
        that would go back or past the end of its stream. Nothing is written then.
        """
        ...

    async def get(self, reader: Reader, ids: Sequence[UUID]) -> Mapping[UUID, Memory]:
        """The memories the reader may see, whatever their status; others are left out."""
        ...

    async def cues(self, reader: Reader, ids: Sequence[UUID]) -> Mapping[UUID, tuple[Cue, ...]]:
        """The cues of each memory the reader may see, by ordinal."""
        ...

    async def revisions(self, reader: Reader, memory_id: UUID) -> tuple[Revision, ...]:
        """What the memory said before, oldest first."""
        ...

    async def relations(self, reader: Reader, ids: Sequence[UUID]) -> tuple[Relation, ...]:
        """Edges from and to any of the memories, whose both ends the reader may see, oldest first, then by ends."""
        ...

    async def hubs(self, reader: Reader, where: Filter, *, limit: int) -> Mapping[UUID, int]:
        """The memories that the filter keeps with the most edges to others that it keeps, and how many those are: the
        most first, ties by id; none without an edge.
        """
        ...

    async def audit(self, reader: Reader, memory_id: UUID) -> tuple[Audited, ...]:
        """What was done to the memory by a policy or a person, oldest first, then by action and reason."""
        ...

    async def provenance(self, reader: Reader, memory_id: UUID) -> tuple[Event, ...]:
        """The events the memory was formed from, in order, as far as the reader may see them."""
        ...

    async def memories(
        self,
        reader: Reader,
        where: Filter,
        *,
        limit: int,
        oldest_first: bool = False,
        after: MemoryPlace | None = None,
    ) -> tuple[Memory, ...]:
        """Current memories by when they happened (the end of the span), ties by id.

        `after`: those that come behind a place in that order. Pages asked for so neither repeat nor skip what has
        stood where it is since the first was read, whatever is remembered or forgotten meanwhile.
        """
        ...

    async def workspace_memories(
        self, scope: Scope, where: Filter, *, limit: int, after: Memory | None = None, unconsolidated: bool = False
    ) -> tuple[Memory, ...]:
        """For sweeps: memories of the whole workspace that the filter keeps, whatever their visibility, by when they
        happened (the end of the span) and id, oldest first, those after `after`.

        `unconsolidated`: only those that no facts were drawn from. Whoever condenses them must not let a memory be seen
        by more than its own visibility allows.
        """
        ...

    async def states(self, reader: Reader, where: Filter) -> tuple[tuple[UUID, ...], States]:
        """All current memories that the reader may see and the filter keeps, by id, and the state of each."""
        ...

    async def crews(self, scope: Scope) -> tuple[str, ...]:
        """The crews of the workspace that have memories, by name."""
        ...
