"""The credit that memories get for the outcomes of tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from remembrancer.values import dataclass

if TYPE_CHECKING:
    from datetime import datetime

    from remembrancer.domain.memory import Memory
    from remembrancer.domain.outcome import Credit
    from remembrancer.domain.scope import Reader
    from remembrancer.domain.strength import Exposed, Strength


@dataclass(frozen=True, slots=True)
class Judged:
    """The effect of an outcome on one memory: its new strength, the line for the log of credits, and one for that of
    exposures, if the memory counts as used.
    """

    strength: Strength
    credit: Credit
    exposed: Exposed | None = None


Judge = Callable[["Memory"], Judged]
"""The pure function that decides what an outcome makes of a memory."""


class TaskOutcomes(Protocol):
    """Writes and reads the log of credits. It goes with its memories: an erasure removes it, an export has it."""

    async def add_credits(
        self, reader: Reader, outcome: UUID, ids: Sequence[UUID], judge: Judge, *, at: datetime
    ) -> tuple[tuple[Credit, ...], bool]:
        """Give each memory its new strength, and log its credit, in one transaction. Returns the credits by memory id,
        and True.

        If the workspace has credits of that outcome: returns these and False, and changes nothing. Raises NotFound,
        and writes nothing, for a memory that the reader cannot see.
        """
        ...

    async def credits(self, reader: Reader, memory_id: UUID) -> tuple[Credit, ...]:
        """The credits of a memory, oldest first, then by outcome; empty if the reader cannot see it. Those reported
        from scopes beyond the reader's reach are left out, as events are.
        """
        ...
