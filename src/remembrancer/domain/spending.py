"""What language models were asked, and what that cost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Outcome(StrEnum):
    ANSWERED = "answered"
    UNUSABLE = "unusable"
    """It answered, within its tries never with what was asked for."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One task given to a language model, all its tries together. `cost` in US dollars; None: not known."""

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
    """The sums over the calls of one purpose to one model. `failed`: those without a usable answer. `unpriced`: those
    that are not in `cost`, in US dollars.
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
