"""`rem.learnings`: what agents learned from their tasks, and who is told of it."""

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
    """The levels that something can be promoted to."""

    PROJECT = "project"
    WORKSPACE = "workspace"


class AsyncLearningsApi(View):
    """Reminds agents to write down what they learned, and spreads it. `rem.learn` keeps a learning."""

    async def nudge(self) -> str | None:
        """The reminder to write down what was learned, for this agent's next prompt; None while there is no need.

        Given once a session, when the agent's events since its last `memory.updated` are as many as the preset says
        (60). It is no reading method: an event `memory.nudged` records that the reminder was given, without its words.
        Raises InvalidInput without an agent and a session in the scope.
        """
        reminder = await engine.nudge.nudge(self._ctx, self._scope)
        self._arrivals.wake()
        return reminder

    async def promotable(self) -> tuple[Candidate, ...]:
        """What came up in enough tasks to be told to the whole workspace; what came up in most of them first."""
        return await engine.promote.candidates(self._ctx, self._scope)

    async def promote(self, memory_id: Identifier, to: Level | str = "workspace") -> Memory:
        """Copy what a memory says to a wider level, `project` or `workspace`. Returns the memory made there.

        Raises NotFound, Conflict, and InvalidInput for a level that is not wider.
        """
        level = to if isinstance(to, Level) else Level[validation.choice("to", to, _Wider).name]
        identifier = validation.identifier("memory_id", memory_id)
        return self._indexed((await engine.promote.promote(self._ctx, self._scope, identifier, to=level))[0])

    async def enter_stage(self, intent: str) -> StageReport:
        """Read from the text of an INTENT.md which stage the project is in. Where that is a new stage, what was learned
        for the tasks of the one before is retired.
        """
        return await engine.stages.enter_stage(self._ctx, self._scope, validation.text("intent", intent))
