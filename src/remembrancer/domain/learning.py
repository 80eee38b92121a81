"""One learning: what a session taught, with what a markdown header says of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.memory import Status


class LearningType(StrEnum):
    DECLARATIVE = "declarative"
    PROCEDURAL = "procedural"
    DIRECTIVE = "directive"
    CORRECTIVE = "corrective"


class Domain(StrEnum):
    """What a learning is about: the work at hand, or how the team works."""

    TASK = "task"
    TEAM = "team"


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """A learning as its file has it, checked on construction. `importance` in [0, 1]; days are in UTC.

    `phase`: the stage of the project it was learned in. `promoted_from`: the learning it was raised from.
    """

    id: UUID
    text: str
    type: LearningType = LearningType.PROCEDURAL
    domain: Domain = Domain.TEAM
    importance: float = 0.5
    reinforcement_count: int = 0
    last_reinforced: date | None = None
    status: Status = Status.ACTIVE
    phase: str | None = None
    created_at: date | None = None
    session_id: str | None = None
    session_task: str | None = None
    promoted_from: str | None = None

    def __post_init__(self) -> None:
        validation.text("text", self.text)
        validation.fraction("importance", self.importance)
        validation.whole("reinforcement_count", self.reinforcement_count, 0, 2**31 - 1)
        for field in ("phase", "session_id", "session_task", "promoted_from"):
            validation.optional_name(field, getattr(self, field))
