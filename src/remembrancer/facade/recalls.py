"""`rem.recalls`: answers that were kept by `rem.recall(…, keep=True)`."""

from __future__ import annotations

from remembrancer import engine
from remembrancer.domain.recall import Recall
from remembrancer.facade.view import Identifier, View


class AsyncRecallsApi(View):
    """Gives kept answers again, and drops them."""

    async def replay(self, recall_id: Identifier) -> Recall:
        """A kept answer: the same hits with the same scores, and, under the same preset, the same blocks, whatever was
        written since. The memories are as they were then.

        What was erased since, or may not be seen by this caller, is left out; `degraded["replay"]` says how much.
        `timings` and most of `trace` are empty. Raises NotFound.
        """
        identifier = await self._identified("recall_id", recall_id, "recall")
        return await engine.replay.replay(self._ctx, self._reader(), identifier)

    async def drop(self, recall_id: Identifier) -> bool:
        """Remove a kept answer. Returns whether there was one."""
        identifier = await self._identified("recall_id", recall_id, "recall")
        return await self._ctx.store.drop_recall(self._reader(), identifier)
