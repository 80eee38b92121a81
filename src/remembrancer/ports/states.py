"""Making `States` arrays from memories."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from remembrancer.domain.candidates import States
from remembrancer.domain.instants import microseconds
from remembrancer.domain.memory import Memory
from remembrancer.domain.scope import level_of
from remembrancer.domain.strength import Exposure, Usage


def states_of(memories: Sequence[Memory]) -> States:
    """The states of memories, in their order, as a store returns them."""
    strengths = [memory.strength for memory in memories]
    usages = [strength.usage for strength in strengths]
    return States(
        occurred_from=np.array([microseconds(memory.occurred_from) for memory in memories], dtype=np.int64),
        occurred_at=np.array([microseconds(memory.occurred_to) for memory in memories], dtype=np.int64),
        importance=np.array([strength.importance for strength in strengths], dtype=np.float32),
        importance_floor=np.array([strength.importance_floor for strength in strengths], dtype=np.float32),
        confidence=np.array([strength.confidence for strength in strengths], dtype=np.float32),
        priority=np.array([strength.priority for strength in strengths], dtype=np.int32),
        stability=np.array([strength.stability for strength in strengths], dtype=np.float32),
        reviewed_at=np.array([microseconds(strength.last_reviewed_at) for strength in strengths], dtype=np.int64),
        level=np.array([level_of(memory.scope) for memory in memories], dtype=np.int32),
        worked=np.array([usage.worked for usage in usages], dtype=np.float32),
        failed=np.array([usage.failed for usage in usages], dtype=np.float32),
        exposed={
            exposure: np.array([exposures(usage, exposure)[0] for usage in usages], dtype=np.int32)
            for exposure in Exposure
        },
        exposed_at={
            exposure: np.array([microseconds(exposures(usage, exposure)[1]) for usage in usages], dtype=np.int64)
            for exposure in Exposure
        },
    )


def exposures(usage: Usage, exposure: Exposure) -> tuple[int, datetime | None]:
    """The number of exposures of this kind, and the time of the last one."""
    match exposure:
        case Exposure.RETRIEVED:
            return usage.retrieved, usage.last_retrieved_at
        case Exposure.SHOWN:
            return usage.shown, usage.last_shown_at
        case Exposure.USED:
            return usage.used, usage.last_used_at
