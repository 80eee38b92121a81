"""Calls of language models, and their cost."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from remembrancer.values import dataclass


class Outcome(StrEnum):
    ANSWERED = "answered"
    UNUSABLE = "unusable"
    """The model answered, but every answer was invalid."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One task for a language model, with all its attempts. `cost` in US dollars; None: unknown."""

    at: datetime
    purpose: str
    model: str
    outcome: Outcome
    requests: int
    input_tokens: int
    output_tokens: int
    took: timedelta
    cost: float | None = None
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Sums over the calls of one purpose to one model. `failed`: calls without a valid answer. `cost` in US dollars;
    `unpriced`: the number of calls not included in it.
    """

    purpose: str
    model: str
    calls: int
    failed: int
    requests: int
    input_tokens: int
    output_tokens: int
    cost: float
    unpriced: int
