"""Memories: their texts, strength and relations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from remembrancer.domain.listing import USUAL
from remembrancer.domain.scope import Level
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.domain.candidates import States
    from remembrancer.domain.effect import Effect
    from remembrancer.domain.event import Event
    from remembrancer.domain.listing import MemoryListing, MemoryPlace
    from remembrancer.domain.memory import Cue, Memory, MemoryWrite, Revision, Status
    from remembrancer.domain.query import Filter
    from remembrancer.domain.relation import Relation
    from remembrancer.domain.scope import Reader, Scope
    from remembrancer.domain.strength import Adjustment, Exposed, Strength


@dataclass(frozen=True, slots=True)
class Audited:
    """A change of a memory that its row does not show. `action` is a word such as "retired"."""

    memory_id: UUID
    action: str
    reason: str
    at: datetime


class Memories(Protocol):
    """Writes and reads memories and relations."""

    async def insert(
        self, scope: Scope, write: MemoryWrite, *, topics: Level = Level.AGENT, once: bool = False
    ) -> tuple[Memory, bool]:
        """Add a memory; returns it and True. If its key exists: the stored memory and False.

        `once`: a stored memory with the same content is returned likewise. It has the same title, text and visibility,
        belongs to exactly this scope (session ignored, unless the visibility is SESSION), is active, not superseded,
        and not expired when `write` was recorded. Of several, the one recorded first.

        `topics`: the level that a topic belongs to (`by_topic`). Raises Conflict if the stored memory has another text
        (a revised memory is compared by key alone), or if `by_topic` finds a memory with its topic key. Whatever the
        level, no two active memories of exactly one scope (session ignored) have the same topic key.
        """
        ...

    async def insert_many(
        self,
        scope: Scope,
        writes: Sequence[MemoryWrite],
        *,
        topics: Level = Level.AGENT,
        once: Collection[UUID] = frozenset(),
    ) -> tuple[tuple[Memory, bool], ...]:
        """Add memories, all or none: what `insert` returns for each, as if called in order. `once`: the ids of those
        that are inserted with `once`.
        """
        ...

    async def revise(self, scope: Scope, write: MemoryWrite, *, expected_revision: int, at: datetime) -> Memory:
        """Replace a memory's text; keep the previous text as a revision. Its new revision is `expected_revision` + 1.

        Status, usage, confidence and reviews stay. `write.event_ids` are added to the provenance. Cues that are the
        same, with the same analysis, stay with their vectors. The others are replaced; they are kept with the previous
        revision, with their vectors. A state that ends is kept too (`domain.past`). Raises Conflict unless the memory
        is at `expected_revision` and not superseded.
        """
        ...

    async def by_topic(self, scope: Scope, topic_key: str, topics: Level = Level.AGENT) -> tuple[Memory, ...]:
        """The active memories with that topic key, for a topic that belongs to the scope's `topics` level.

        A preset says which level that is (`formation.topics`): AGENT: the memory of exactly this scope (session
        ignored), one at most; WORKSPACE: the memories of the whole workspace; PROJECT, CREW: those of the scope's
        project or crew. Of other scopes only memories count that everybody in the workspace may see. There are several
        only if they were written under another level. Those of exactly this scope with a narrower visibility come
        first, then those whose scope has the fewest parts, then the newest, then by id. Superseded memories have no
        topic key.
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
        """Apply the pure `change` to the strength of each memory once; returns the new strengths.

        An adjustment may also retire its memory; the audit stores the reason. `exposed` is appended to the exposure
        log. Nothing is written if `change` raises, or if a memory of `ids` or `exposed` does not exist (NotFound).
        """
        ...

    async def supersede(self, reader: Reader, old: UUID, new: UUID | None, *, at: datetime) -> Memory:
        """End the validity of `old` at `at`; returns `old`. If `new` is given, a `supersedes` relation leads from it to
        `old`.

        An end that `old` already has is kept. Raises NotFound for a memory that the reader cannot see; Conflict if
        `new` is not active or not valid at `at`, if `old` has another successor, or if supersession would form a cycle.
        Nothing is written then.
        """
        ...

    async def relate(self, reader: Reader, relations: Sequence[Relation]) -> int:
        """Add relations; one with the same ends and kind gets the new weight. Returns how many were new.

        Raises NotFound, and writes nothing, for an end that the reader cannot see.
        """
        ...

    async def set_status(
        self, reader: Reader, memory_id: UUID, status: Status, *, at: datetime, topics: Level = Level.AGENT
    ) -> Memory:
        """Retire a memory or make it active again; setting its current status changes nothing.

        `topics`: the level that a topic belongs to (`by_topic`). Raises NotFound if the reader cannot see it, Conflict
        if another active memory has its topic key.
        """
        ...

    async def commit(self, scope: Scope, effect: Effect, *, at: datetime) -> None:
        """Write an effect in one transaction. It may change every memory of the workspace, whatever its visibility.

        Raises Conflict if the stored state differs from what the effect expects, an inserted memory exists (by id, key
        or topic), or a review of the same time exists; NotFound for a missing memory or event; InvalidInput for a scope
        of another workspace, a revised memory without an expected revision, or a cursor that would move back or past
        the end of its stream. Nothing is written then.
        """
        ...

    async def get(self, reader: Reader, ids: Sequence[UUID]) -> Mapping[UUID, Memory]:
        """The memories the reader may see, by id, whatever their status; others are left out."""
        ...

    async def cues(self, reader: Reader, ids: Sequence[UUID]) -> Mapping[UUID, tuple[Cue, ...]]:
        """The cues of each memory the reader may see, by ordinal."""
        ...

    async def revisions(self, reader: Reader, memory_id: UUID) -> tuple[Revision, ...]:
        """The memory's earlier texts, oldest first."""
        ...

    async def relations(self, reader: Reader, ids: Sequence[UUID]) -> tuple[Relation, ...]:
        """Relations from or to any of the memories, if the reader may see both ends; oldest first, then by ends."""
        ...

    async def hubs(self, reader: Reader, where: Filter, *, limit: int) -> Mapping[UUID, int]:
        """The memories with the most relations to each other, among those that the filter keeps, and the number of
        these relations; most first, ties by id. Memories without relations are left out.
        """
        ...

    async def audit(self, reader: Reader, memory_id: UUID) -> tuple[Audited, ...]:
        """Changes of the memory by policies and people, oldest first, then by action and reason."""
        ...

    async def provenance(self, reader: Reader, memory_id: UUID) -> tuple[Event, ...]:
        """The events that the memory was formed from, in order, if the reader may see them."""
        ...

    async def memories(
        self,
        reader: Reader,
        where: Filter,
        *,
        limit: int,
        oldest_first: bool = False,
        after: MemoryPlace | None = None,
        listing: MemoryListing = USUAL,
    ) -> tuple[Memory, ...]:
        """Memories in the order of the listing, usually current ones by `occurred_to`; ties by id. The newest, most
        important or latest used first, or with `oldest_first` last.

        `after`: continue behind this position. Consecutive pages neither repeat nor skip a memory whose position did
        not change since the first page was read.
        """
        ...

    async def workspace_memories(
        self, scope: Scope, where: Filter, *, limit: int, after: Memory | None = None, unconsolidated: bool = False
    ) -> tuple[Memory, ...]:
        """For background jobs: memories of the whole workspace that the filter keeps, whatever their visibility, by
        `occurred_to` and id, oldest first. `after`: continue after this one.

        `unconsolidated`: only memories that are not marked as consolidated. A memory formed from the result must not be
        visible to more readers than each of its sources.
        """
        ...

    async def states(self, reader: Reader, where: Filter) -> tuple[Sequence[UUID], States]:
        """Ids and states of all current memories that the reader may see and the filter keeps, in the same order."""
        ...

    async def crews(self, scope: Scope) -> tuple[str, ...]:
        """The crews of the workspace that have memories, by name."""
        ...
