"""`rem.embedder`: which model answers, and a change to another one while questions are answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remembrancer import engine
from remembrancer.domain import validation
from remembrancer.facade.view import View

if TYPE_CHECKING:
    from remembrancer.engine.spaces import Dropped, EmbedderStatus, Switched
    from remembrancer.jobs.indexer import OnIndexed


class AsyncEmbedderApi(View):
    """Changes the embedder of the workspace: the vectors of the old one answer until those of the new one are made.

    Open the memory with the new embedder as `embedder`, and the old one as `embedder_before`.
    """

    async def status(self) -> EmbedderStatus:
        """Which model answers, the vectors of each model, how far a change is, and the next step. Counts all vectors
        of the workspace.
        """
        return await engine.spaces.status(self._ctx, self._scope)

    async def change(self, *, wait: bool = True, on_indexed: OnIndexed | None = None) -> EmbedderStatus:
        """Begin a change to the embedder in use, or go on with it, and make its vectors before returning.

        Every text that has no vector of it yet is embedded; if this is interrupted, the next call, or an open memory in
        the background, goes on. `wait` False: only begin. Raises Conflict if the embedder in use answers already, if
        there are no vectors yet, or if a change to another one is under way; ModelUnavailable without an embedder.
        """
        await engine.spaces.change(self._ctx, self._scope)
        if wait:
            await self._indexer.run(on_indexed)
        else:
            self._indexer.wake()
        return await self.status()

    async def switch(self, *, allow_missing: bool = False) -> Switched:
        """Let the new vectors answer from the next recall on, in every process. The old ones are kept, and made for new
        texts too, until `drop`.

        Raises Conflict if no change is under way, or if texts lack a new vector, which `allow_missing` allows: those
        are then found by their words.
        """
        given = validation.truth("allow_missing", allow_missing)
        return await engine.spaces.switch(self._ctx, self._scope, allow_missing=given)

    async def rollback(self, *, allow_missing: bool = False) -> Switched:
        """Let the vectors from before the last switch answer again. Raises Conflict if none are kept, or if texts lack
        one, which `allow_missing` allows.
        """
        given = validation.truth("allow_missing", allow_missing)
        return await engine.spaces.roll_back(self._ctx, self._scope, allow_missing=given)

    async def drop(self, model: str | None = None) -> Dropped:
        """Delete the vectors of a model that does not answer: those kept for a roll-back, or of `model`, which gives up
        a change to it. They are made again only by `change`.

        Raises Conflict if none are kept, or if those of `model` answer; NotFound for a model without vectors.
        """
        return await engine.spaces.drop(self._ctx, self._scope, validation.optional_name("model", model))
