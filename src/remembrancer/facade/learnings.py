"""`rem.learnings`: reminders to write learnings down, and promotion of learnings to wider scopes."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from remembrancer import engine
from remembrancer.domain import validation
from remembrancer.domain.memory import Memory
from remembrancer.domain.scope import Level
from remembrancer.facade.view import Identifier, View

if TYPE_CHECKING:
    from remembrancer.engine.promote import Candidate
    from remembrancer.engine.stages import StageReport


class _Wider(StrEnum):
    """The levels to which a memory can be promoted."""

    PROJECT = "project"
    WORKSPACE = "workspace"


class AsyncLearningsApi(View):
    """Reminds agents to write down what they learned, and promotes learnings. `rem.learn` stores a learning."""

    async def nudge(self) -> str | None:
        """The reminder for this agent's next prompt to write down what it learned; None if none is due.

        It is due once a session, after as many events of the agent since its last `memory.updated` as the preset says
        (60). This call writes: an event `memory.nudged` records that the reminder was given, without its text. Raises
        InvalidInput without an agent and a session in the scope.
        """
        reminder = await engine.nudge.nudge(self._ctx, self._scope)
        self._arrivals.wake()
        return reminder

    async def promotable(self) -> tuple[Candidate, ...]:
        """Learnings that recurred in enough jobs to be shared with the whole workspace; those of most jobs first."""
        return await engine.promote.candidates(self._ctx, self._widest_reader())

    async def promote(self, memory_id: Identifier, to: Level | str = "workspace") -> Memory:
        """Copy a memory to a wider level, `project` or `workspace`. Returns the copy.

        Raises NotFound, Conflict, and InvalidInput for a level that is not wider.
        """
        level = to if isinstance(to, Level) else Level[validation.choice("to", to, _Wider).name]
        identifier = await self._identified("memory_id", memory_id)
        return self._indexed((await engine.promote.promote(self._ctx, self._widest_reader(), identifier, to=level))[0])

    async def enter_stage(self, intent: str) -> StageReport:
        """Detect the project's stage in the text of an INTENT.md. If the stage is new, learnings for the tasks of the
        previous stage are retired.
        """
        return await engine.stages.enter_stage(self._ctx, self._scope, validation.text("intent", intent))
