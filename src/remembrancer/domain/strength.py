"""What use, feedback and time have made of a memory."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Exposure(StrEnum):
    """How far a memory got in one recall. Being found is not being shown, and being shown is not being used."""

    RETRIEVED = "retrieved"
    SHOWN = "shown"
    USED = "used"


class Feedback(StrEnum):
    HELPFUL = "helpful"
    UNHELPFUL = "unhelpful"
    HARMFUL = "harmful"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Counts of what happened to a memory, each counted apart, true under any policy."""

    retrieved: int = 0
    shown: int = 0
    used: int = 0
    helped: int = 0
    harmed: int = 0
    last_retrieved_at: datetime | None = None
    last_shown_at: datetime | None = None
    last_used_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """`importance`, `confidence` and `surprise` lie in [0, 1], `priority` in 1..10."""

    importance: float = 0.5
    priority: int = 5
    confidence: float = 0.5
    surprise: float = 0.0
    usage: Usage = Usage()
