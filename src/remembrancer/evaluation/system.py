"""What can be asked the questions of a data set: the memory, and the baselines it has to beat."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from remembrancer.evaluation.dataset import Transcript


class Fate(StrEnum):
    """What became of a turn in an answer."""

    RETURNED = "returned"
    LIMIT = "beyond the depth"
    """It was found, and stands below the last turn that is read."""
    DUPLICATE = "says the same as a better hit"
    ALIKE = "too much like better hits"
    FLOOR = "below the floor"
    GONE = "gone since"
    """It was found, and could not be read any more."""
    NO_CANDIDATE = "not a candidate"
    """It is remembered, and no search brought it."""
    NOT_INGESTED = "not ingested"
    """There is no memory of it."""


@dataclass(frozen=True, slots=True)
class Block:
    """What of an answer finds room in a prompt: the turns in it, and how many characters it has."""

    turns: tuple[str, ...]
    chars: int


class Answer(Protocol):
    """What a system brings back for one question. Blocks and fates are worked out when asked for."""

    @property
    def ranked(self) -> tuple[str, ...]:
        """Ids of turns, best first; a turn may stand there twice. Empty: the system says that nothing answers."""
        ...

    @property
    def scores(self) -> tuple[float, ...]:
        """How good each of `ranked` is, falling; empty where the system gives no score."""
        ...

    def block(self, max_chars: int) -> Block:
        """The answer as a prompt of at most so many characters."""
        ...

    async def fate(self, turn_id: str) -> Fate:
        """What became of a turn of the transcript."""
        ...


class Ranker(Protocol):
    """Answers questions about one conversation."""

    async def answer(self, question: str, *, asked_at: datetime, limit: int) -> Answer:
        """Up to `limit` turns, best first. Nothing but the question's words and its time is told."""
        ...


class System(Protocol):
    """A way of finding turns. It is shown what was said, never which turns answer which question."""

    @property
    def name(self) -> str:
        """What the report calls it; different for each system of a run."""
        ...

    @property
    def scores_are_fractions(self) -> bool:
        """Whether its scores lie in [0, 1] whatever is asked, so that one least score serves all questions."""
        ...

    def prepared(self, transcript: Transcript) -> AbstractAsyncContextManager[Ranker]:
        """All turns taken in, ready for questions about this conversation alone; released on leaving."""
        ...
