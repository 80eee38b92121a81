"""The strength of a memory, which changes with use, feedback and time."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from remembrancer.domain.scope import Scope
from remembrancer.values import dataclass

INITIAL_STABILITY: Final = 2.3065
"""The initial stability: days until retrievability is 0.9. FSRS-6 default parameters, w[2]: after a first review rated
Good.
"""

INITIAL_DIFFICULTY: Final = 2.118103970459015
"""The difficulty of a new memory, from 1 (easy) to 10. FSRS-6: w[4] - exp(2 w[5]) + 1, after a first
review rated Good.
"""


class Exposure(StrEnum):
    """The use of a memory in one recall: retrieved, shown and used are counted separately."""

    RETRIEVED = "retrieved"
    SHOWN = "shown"
    USED = "used"


class Feedback(StrEnum):
    """A rating of a memory that was recalled."""

    HELPFUL = "helpful"
    UNHELPFUL = "unhelpful"
    HARMFUL = "harmful"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Counts of a memory's exposures and feedback. They do not depend on the preset.

    `worked`, `failed`: the evidence that the memory helps or misleads, from outcomes of tasks and from ratings. Each
    observation adds 1, or its share of a task, and weakens earlier ones (`policies.forgetting.reinforcement`).
    """

    retrieved: int = 0
    shown: int = 0
    used: int = 0
    helped: int = 0
    unhelpful: int = 0
    harmed: int = 0
    worked: float = 0.0
    failed: float = 0.0
    last_retrieved_at: datetime | None = None
    last_shown_at: datetime | None = None
    last_used_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """The numbers that use, feedback and reviews change. `importance`, `confidence` and `surprise` are in [0, 1];
    `priority` is 1 to 10.

    `importance_floor`: importance never decays below it. `stability` (days, more than 0) and `difficulty` (1 to 10):
    the FSRS-6 state; by default that after a first review rated Good.
    """

    importance: float = 0.5
    importance_floor: float = 0.0
    priority: int = 5
    confidence: float = 0.5
    surprise: float = 0.0
    stability: float = INITIAL_STABILITY
    difficulty: float = INITIAL_DIFFICULTY
    last_reviewed_at: datetime | None = None
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A memory's new strength. `retire`: why the memory is retired; "": it is not."""

    strength: Strength
    retire: str = ""


@dataclass(frozen=True, slots=True)
class Exposed:
    """One entry of the exposure log. `similarity`: the cosine with the question, in [-1, 1]; None: not found by its
    vector.

    `query`: the question, "" if not known. `session`: the session that asked; `project`, `crew` and `agent`: whose
    session it is.
    """

    memory_id: UUID
    exposure: Exposure
    at: datetime
    similarity: float | None = None
    query: str = ""
    session: str | None = None
    project: str | None = None
    crew: str | None = None
    agent: str | None = None

    def is_of(self, stream: Scope) -> bool:
        """Whether it was asked in the session that this scope names, by its owner."""
        owner = (stream.session, stream.project, stream.crew, stream.agent)
        return (self.session, self.project, self.crew, self.agent) == owner
