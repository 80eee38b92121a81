"""The JSON shapes of memories: a single one, lists, one with everything that belongs to it, and fading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self
from uuid import UUID

from pydantic import AwareDatetime, JsonValue

from remembrancer.domain.event import Origin, Role
from remembrancer.domain.memory import Status, Tier
from remembrancer.domain.outcome import CreditBasis, TaskResult
from remembrancer.domain.relation import RelationKind
from remembrancer.domain.scope import Visibility
from remembrancer.interfaces.wire.journal import EventOut
from remembrancer.interfaces.wire.shape import Derived, Many, Of, ScopeOut, Wire

if TYPE_CHECKING:
    from remembrancer.domain.listing import MemoryPage
    from remembrancer.domain.memory import Cue, Memory, Revision
    from remembrancer.domain.outcome import Credit, TaskOutcome
    from remembrancer.domain.relation import Relation
    from remembrancer.domain.review import Review
    from remembrancer.domain.strength import Strength, Usage
    from remembrancer.engine.fading import DecayForecast, FadingCurve
    from remembrancer.engine.inspect import MemoryDetails
    from remembrancer.ports.memories import Audited


class UsageOut(Wire, Of["Usage"]):
    """Counts of uses and ratings. `worked`, `failed`: the evidence of outcomes and ratings, at most 5 in all."""

    retrieved: int
    shown: int
    used: int
    helped: int
    unhelpful: int
    harmed: int
    worked: float
    failed: float
    last_retrieved_at: AwareDatetime | None
    last_shown_at: AwareDatetime | None
    last_used_at: AwareDatetime | None


class StrengthOut(Wire, Of["Strength"]):
    """The strength of a memory. `importance`, `importance_floor`, `confidence` and `surprise` in [0, 1]; `priority` 1
    to 10; `stability` in days.
    """

    importance: float
    importance_floor: float
    priority: int
    confidence: float
    surprise: float
    stability: float
    difficulty: float
    last_reviewed_at: AwareDatetime | None
    usage: UsageOut


class MemoryOut(Wire, Of["Memory"]):
    """A memory. `actor`, `role`: who spoke; null for notes, and for memories of several events. `flagged`: whether its
    text, from a tool, the web or an import, tells a language model what to do.
    """

    id: UUID
    scope: ScopeOut
    visibility: Visibility
    tier: Tier
    kind: str
    title: str | None
    text: str
    source: str | None
    origin: Origin
    actor: str | None
    role: Role | None
    occurred_from: AwareDatetime
    occurred_to: AwareDatetime
    recorded_at: AwareDatetime
    valid_from: AwareDatetime | None
    valid_until: AwareDatetime | None
    superseded_by: UUID | None
    superseded_at: AwareDatetime | None
    retired_at: AwareDatetime | None
    consolidated_at: AwareDatetime | None
    topic_key: str | None
    key: str | None
    revision: int
    tags: list[str]
    flagged: bool
    metadata: dict[str, JsonValue]
    status: Status
    strength: StrengthOut


class MemoriesOut(Wire, Many["Memory"]):
    memories: list[MemoryOut]


class CueOut(Wire, Of["Cue"]):
    """A cue. `start`, `end`: of a passage of a long event, the characters [start, end) of the event's
    text; else null.
    """

    ordinal: int
    heading: str
    text: str
    event_id: UUID | None
    start: int | None
    end: int | None


class RevisionOut(Wire, Of["Revision"]):
    number: int
    title: str | None
    text: str
    replaced_at: AwareDatetime


class RelationOut(Wire, Of["Relation"]):
    source: UUID
    target: UUID
    kind: RelationKind
    weight: float
    created_at: AwareDatetime


class AuditedOut(Wire, Of["Audited"]):
    """An action on a memory, and the reason for it."""

    action: str
    reason: str
    at: AwareDatetime


class ReviewOut(Derived):
    """A review of a memory. `rating`: again, hard, good or easy. Stability in days, difficulty 1 to 10. `by`: what gave
    the rating.
    """

    rating: str
    at: AwareDatetime
    stability_before: float
    stability: float
    difficulty_before: float
    difficulty: float
    by: str

    @classmethod
    def of(cls, review: Review) -> Self:
        return cls.copied(review, rating=review.rating.name.lower())


class CreditOut(Wire, Of["Credit"]):
    """A memory's share in the outcome of a task, and what that changed. `basis`: named, cited or shown. `share`: its
    part of the task's credit, at most 1. `scope`: who reported it.
    """

    memory_id: UUID
    outcome_id: UUID
    at: AwareDatetime
    result: TaskResult
    basis: CreditBasis
    share: float
    scope: ScopeOut
    recall_id: UUID | None
    task: str
    note: str
    worked_before: float
    worked: float
    failed_before: float
    failed: float
    confidence_before: float
    confidence: float
    stability_before: float
    stability: float


class TaskOutcomeOut(Wire, Of["TaskOutcome"]):
    """The outcome of a task as recorded. `credits`: one for each memory, by id. `repeated`: whether its key was
    recorded before; nothing was changed then.
    """

    id: UUID
    result: TaskResult
    credits: list[CreditOut]
    repeated: bool


class MemoryDetailsOut(Wire, Of["MemoryDetails"]):
    memory: MemoryOut
    cues: list[CueOut]
    events: list[EventOut]
    revisions: list[RevisionOut]
    relations: list[RelationOut]
    audit: list[AuditedOut]
    reviews: list[ReviewOut]
    credits: list[CreditOut]


class FeedbackOut(Wire):
    """The memory's strength and status after the feedback. Repeated bad feedback retires a memory."""

    id: UUID
    strength: StrengthOut
    status: Status

    @classmethod
    def of(cls, memory_id: UUID, strength: Strength, status: Status) -> Self:
        return cls(id=memory_id, strength=StrengthOut.of(strength), status=status)


class MemoryPageOut(Wire, Of["MemoryPage"]):
    """A page of memories. `next`: the cursor of the next page; null on the last one."""

    memories: list[MemoryOut]
    next: str | None


class DecayForecastOut(Derived):
    """The predicted fading of a memory. `falls_at`: when its strength first falls below `below`; null: not within a
    hundred years.
    """

    memory: MemoryOut
    strength: float
    below: float
    faded: bool
    falls_at: AwareDatetime | None

    @classmethod
    def of(cls, forecast: DecayForecast) -> Self:
        return cls.copied(forecast, faded=forecast.has_faded)


class DecayForecastsOut(Wire, Many["DecayForecast"]):
    memories: list[DecayForecastOut]


class CurvePointOut(Wire):
    """The strength at one time."""

    at: AwareDatetime
    strength: float


class CurveOut(Wire):
    """The forgetting curve of a memory. `points`: the strength at evenly spaced times, from before `now` to
    after it.
    """

    forecast: DecayForecastOut
    now: AwareDatetime
    points: list[CurvePointOut]

    @classmethod
    def of(cls, curve: FadingCurve) -> Self:
        return cls.copied(curve, points=[{"at": at, "strength": strength} for at, strength in curve.points])
