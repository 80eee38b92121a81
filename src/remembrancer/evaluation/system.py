"""The interface of a system under test: the memory, or a baseline."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from remembrancer.evaluation.dataset import Transcript
from remembrancer.values import dataclass


class TurnOutcome(StrEnum):
    """The outcome of a turn in an answer."""

    RETURNED = "returned"
    LIMIT = "beyond the depth"
    """It was found, but ranks below the last turn that is read."""
    DUPLICATE = "the same text as a better hit"
    ALIKE = "too similar to better hits"
    THRESHOLD = "below the threshold"
    GONE = "gone since"
    """It was found, but could no longer be read."""
    NO_CANDIDATE = "not a candidate"
    """It is stored, but no search returned it."""
    NOT_INGESTED = "not ingested"
    """No memory was formed from it."""


@dataclass(frozen=True, slots=True)
class MeasuredBlock:
    """A prompt block made from an answer: the ids of its turns, and its length in characters."""

    turns: tuple[str, ...]
    chars: int


class SystemAnswer(Protocol):
    """A system's answer to one question. Blocks and outcomes are computed on demand."""

    @property
    def ranked(self) -> tuple[str, ...]:
        """Turn ids, best first; a turn may occur twice. Empty: the system abstains."""
        ...

    @property
    def scores(self) -> tuple[float, ...]:
        """The score of each of `ranked`, not increasing; empty if the system gives no scores."""
        ...

    def block(self, max_chars: int) -> MeasuredBlock:
        """The answer as a prompt block of at most `max_chars` characters."""
        ...

    async def outcome(self, turn_id: str) -> TurnOutcome:
        """The outcome of a turn of the transcript."""
        ...


class Ranker(Protocol):
    """Answers questions about one conversation."""

    async def answer(self, question: str, *, asked_at: datetime, limit: int) -> SystemAnswer:
        """Up to `limit` turns, best first. The system is given only the question's text and its time."""
        ...


class System(Protocol):
    """A retrieval system under test. It sees the transcript, but never the evidence."""

    @property
    def name(self) -> str:
        """The name in the report, unique within a run."""
        ...

    @property
    def scores_are_fractions(self) -> bool:
        """Whether scores lie in [0, 1] for every question, so that one threshold can apply to all questions."""
        ...

    def prepared(self, transcript: Transcript) -> AbstractAsyncContextManager[Ranker]:
        """Index all turns of the conversation and yield a ranker for it; resources are released on exit."""
        ...
