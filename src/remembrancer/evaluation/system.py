"""What can be asked LoCoMo's questions: the memory, and the baselines it has to beat."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from remembrancer.evaluation.locomo import Transcript


class Ranker(Protocol):
    """Answers questions about one conversation."""

    async def rank(self, question: str, *, limit: int) -> list[str]:
        """Up to `limit` ids of turns, best first. Nothing but the question's words is told."""
        ...


class System(Protocol):
    """A way of finding turns. It is shown what was said, never which turns answer which question."""

    @property
    def name(self) -> str:
        """What the report calls it; different for each system of a run."""
        ...

    def prepared(self, transcript: Transcript) -> AbstractAsyncContextManager[Ranker]:
        """All turns taken in, ready for questions about this conversation alone; released on leaving."""
        ...
