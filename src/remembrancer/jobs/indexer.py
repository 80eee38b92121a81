"""Run the index sweep until no cue is pending: on request and in the background."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final
from uuid import UUID

from remembrancer.domain.scope import Reader, Scope
from remembrancer.engine.context import Context
from remembrancer.engine.index import index_batch, index_memory
from remembrancer.engine.index_source import fill, is_separate
from remembrancer.engine.search_state import SearchMode, search_state
from remembrancer.errors import ModelUnavailable
from remembrancer.values import dataclass

SWEEP_SECONDS: Final = 30.0
NOT_KEPT: Final = "written vectors are missing: the file may be damaged; run `doctor`"

OnIndexed = Callable[[int], None]
"""Called with the number of cues indexed so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexReport:
    """The result of an index sweep. `reason`: why nothing was indexed, or why some cues failed; empty otherwise.

    `reused`: of the indexed cues, those that took the vector of an equal text. `down`: the embedder, or an index
    outside of the database, did not answer; the rest is left for the next sweep.
    """

    indexed: int
    deferred: int
    reason: str = ""
    down: bool = False
    reused: int = 0


class Indexer:
    """Indexes one workspace. A background task runs when woken, and every 30 s to index what other processes wrote."""

    def __init__(self, ctx: Context, scope: Scope) -> None:
        self._ctx = ctx
        self._scope = scope
        self._one_at_a_time = asyncio.Lock()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.last_error = ""

    def start(self) -> None:
        """Start sweeping in the background, in the running event loop."""
        if self._task is None and (self._ctx.embedder is not None or is_separate(self._ctx)):
            self._task = asyncio.get_running_loop().create_task(self._background(), name="remembrancer-indexer")

    def wake(self) -> None:
        """Report that a cue was written."""
        self._wake.set()

    async def stop(self) -> None:
        """Stop at once. The next sweep finds everything not yet written, including an unfinished batch."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def run(self, on_indexed: OnIndexed | None = None) -> IndexReport:
        """Sweep until no cue is pending, all pending cues have failed, or the embedder does not answer. Then write what
        an index outside of the database lacks.
        """
        report = await self._embed(on_indexed)
        lacking = await fill(self._ctx, self._scope)
        return replace(report, reason=lacking, down=True) if lacking else report

    async def _embed(self, on_indexed: OnIndexed | None) -> IndexReport:
        if self._ctx.embedder is None:
            return IndexReport(indexed=0, deferred=0, reason=self._ctx.without_embedder)
        indexed = deferred = reused = 0
        reason = ""
        before: tuple[int, ...] = ()
        async with self._one_at_a_time:
            while True:
                try:
                    swept = await index_batch(self._ctx, self._scope)
                except ModelUnavailable as error:
                    return IndexReport(indexed=indexed, deferred=deferred, reused=reused, reason=str(error), down=True)
                if swept.idle:
                    break
                if swept.refs and swept.refs == before:  # otherwise it would loop forever
                    return IndexReport(indexed=indexed - len(before), deferred=deferred + len(before), reason=NOT_KEPT)
                before = swept.refs
                indexed, deferred = indexed + swept.indexed, deferred + swept.deferred
                reused += swept.reused
                reason = swept.error or reason
                if on_indexed is not None:
                    on_indexed(indexed)
        reason = reason or ("" if indexed else "nothing waits")
        return IndexReport(indexed=indexed, deferred=deferred, reused=reused, reason=reason)

    async def run_anew(self, on_indexed: OnIndexed | None = None) -> IndexReport:
        """Drop all vectors of the embedder's model, and sweep. Raises ModelUnavailable, before anything is dropped, if
        the embedder does not answer.
        """
        state = await search_state(self._ctx)
        if self._ctx.embedder is None or state.mode is not SearchMode.VECTOR:
            raise ModelUnavailable(state.detail)
        await self._ctx.store.drop_vectors(self._scope, self._ctx.embedder.model_id)
        return await self.run(on_indexed)

    async def run_for(self, reader: Reader, memory_id: UUID) -> IndexReport:
        """Index one memory before all others, even during a sweep. Raises NotFound."""
        try:
            swept = await index_memory(self._ctx, reader, memory_id)
        except ModelUnavailable as error:
            return IndexReport(indexed=0, deferred=0, reason=str(error), down=True)
        reason = swept.error or ("" if swept.indexed else "the workspace has no cue without a vector")
        return IndexReport(indexed=swept.indexed, deferred=swept.deferred, reused=swept.reused, reason=reason)

    async def _background(self) -> None:
        while True:
            self._wake.clear()
            try:
                report = await self.run()
                self.last_error = report.reason if report.deferred or report.down else ""
                await self._ctx.index.save(self._ctx.store)
            except Exception as error:  # noqa: BLE001  outermost handler: the next sweep finds the same work
                self.last_error = str(error) or type(error).__name__
            # Not wait_for: before Python 3.12 it loses a cancellation that comes as the event is set, and stop() hangs.
            with suppress(TimeoutError):
                async with asyncio.timeout(SWEEP_SECONDS):
                    await self._wake.wait()
