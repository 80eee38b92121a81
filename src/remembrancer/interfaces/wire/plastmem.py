"""The JSON shapes of PlastMem's routes, with the fields that PlastMem documents. Times of messages are in milliseconds
since 1970, all others ISO 8601 in UTC.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self
from uuid import UUID

from pydantic import AwareDatetime, Field

from remembrancer.domain.relation import RelationKind
from remembrancer.interfaces.wire.shape import Wire

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from remembrancer.domain.event import Event
    from remembrancer.domain.recall import Hit
    from remembrancer.engine.inspect import MemoryDetails


MILLISECONDS: Final = 1_000


class PlastmemAcceptedOut(Wire):
    """The answer to messages that were recorded."""

    accepted: bool


class PlastmemMessageOut(Wire):
    """A message. `role`: user or assistant, or the speaker's name. `timestamp`: milliseconds since 1970."""

    role: str
    content: str
    timestamp: int

    @classmethod
    def of(cls, event: Event) -> Self:
        return cls(role=event.actor or event.role.value, content=event.text, timestamp=_milliseconds(event.occurred_at))


class PlastmemEpisodeOut(Wire):
    """An episode, or a turn that belongs to no episode yet. `stability` in days, `difficulty` 1 to 10, `surprise` and
    `score` in [0, 1].
    """

    id: UUID
    conversation_id: str
    messages: list[PlastmemMessageOut]
    title: str
    summary: str
    stability: float
    difficulty: float
    surprise: float
    start_at: AwareDatetime
    end_at: AwareDatetime
    created_at: AwareDatetime
    last_reviewed_at: AwareDatetime
    consolidated_at: AwareDatetime | None
    score: float | None = Field(default=None, description="Not there where nothing was searched for.")

    @classmethod
    def of(cls, details: MemoryDetails, score: float | None = None) -> Self:
        memory, strength = details.memory, details.memory.strength
        shown = {} if score is None else {"score": score}
        return cls(
            id=memory.id,
            conversation_id=memory.scope.session or "",
            messages=[PlastmemMessageOut.of(event) for event in details.events],
            title=memory.title or "",
            summary=memory.text,
            stability=strength.stability,
            difficulty=strength.difficulty,
            surprise=strength.surprise,
            start_at=memory.occurred_from,
            end_at=memory.occurred_to,
            created_at=memory.recorded_at,
            # Both systems count a memory as reviewed when it is made.
            last_reviewed_at=strength.last_reviewed_at or memory.recorded_at,
            consolidated_at=memory.consolidated_at,
            **shown,
        )


class PlastmemFactOut(Wire):
    """A fact. `valid_at`: from when the fact holds. `invalid_at`: until when; null while it holds."""

    id: UUID
    conversation_id: str
    category: str
    fact: str
    keywords: list[str]
    source_episodic_ids: list[UUID]
    valid_at: AwareDatetime
    invalid_at: AwareDatetime | None
    score: float

    @classmethod
    def of(cls, hit: Hit, details: MemoryDetails) -> Self:
        memory = details.memory
        sources = [
            edge.target
            for edge in details.relations
            if edge.source == memory.id and edge.kind is RelationKind.DERIVED_FROM
        ]
        return cls(
            id=memory.id,
            conversation_id=memory.scope.session or "",
            category=memory.kind,
            fact=memory.text,
            keywords=list(memory.tags),
            source_episodic_ids=sources,
            valid_at=memory.valid_from or memory.occurred_to,
            invalid_at=memory.valid_until or memory.superseded_at,
            score=hit.score,
        )


class PlastmemRetrievedOut(Wire):
    semantic: list[PlastmemFactOut]
    episodic: list[PlastmemEpisodeOut]

    @classmethod
    def of(cls, facts: Iterable[tuple[Hit, MemoryDetails]], episodes: Sequence[tuple[Hit, MemoryDetails]]) -> Self:
        return cls(
            semantic=[PlastmemFactOut.of(hit, details) for hit, details in facts],
            episodic=[PlastmemEpisodeOut.of(details, hit.score) for hit, details in episodes],
        )


def _milliseconds(at: datetime) -> int:
    return round(at.timestamp() * MILLISECONDS)
