"""Run the index sweep until no cue is pending: on request and in the background."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final
from uuid import UUID

from remembrancer.domain.scope import Reader, Scope
from remembrancer.engine.context import Context, answering
from remembrancer.engine.index import BATCH, BATCH_BEHIND, index_batch, index_memory
from remembrancer.engine.index_source import fill, is_separate
from remembrancer.engine.search_state import SearchMode, search_state
from remembrancer.engine.spaces import load_built
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

    def __init__(self, ctx: Context, scope: Scope, has_turn: Callable[[], bool] = lambda: True) -> None:
        """`has_turn`: whether this process does the background work of the workspace now."""
        self._ctx = ctx
        self._scope = scope
        self._has_turn = has_turn
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
        return await self._sweep(on_indexed)

    async def _sweep(self, on_indexed: OnIndexed | None = None, *, rests: bool = False) -> IndexReport:
        """As `run`. `rests`: after each batch of a change of embedder, wait so long that the change takes only its
        share of the time, and embed only what is new meanwhile.
        """
        report = await self._embed(on_indexed, rests=rests)
        lacking = await fill(self._ctx, self._scope)
        return replace(report, reason=lacking, down=True) if lacking else report

    async def _embed(self, on_indexed: OnIndexed | None, *, rests: bool) -> IndexReport:
        ctx = self._ctx
        if ctx.embedder is None:
            return IndexReport(indexed=0, deferred=0, reason=ctx.without_embedder)
        indexed = deferred = reused = 0
        reason = ""
        before: tuple[str, tuple[int, ...]] = ("", ())
        down: dict[str, str] = {}
        behind = BATCH_BEHIND if rests else BATCH
        rested_at = ctx.stopwatch()
        while True:
            begun = ctx.stopwatch()
            resting = rests and begun < rested_at
            if resting:
                self._wake.clear()
            async with self._one_at_a_time:
                swept = await index_batch(ctx, self._scope, behind=behind, down=down, first_only=resting)
            if swept.idle and resting:
                await self._wait(rested_at - begun)
                continue
            if swept.idle:
                reason = reason or swept.error
                break
            now = swept.model, swept.refs
            if swept.refs and now == before:  # otherwise it would loop forever
                refs = len(swept.refs)
                return IndexReport(indexed=indexed - refs, deferred=deferred + refs, reason=NOT_KEPT)
            before = now
            indexed, deferred = indexed + swept.indexed, deferred + swept.deferred
            reused += swept.reused
            reason = swept.error or reason
            if swept.behind:
                ended = ctx.stopwatch()
                rested_at = ended + (ended - begun) * (1 / ctx.reembed_share - 1)
            if on_indexed is not None:
                on_indexed(indexed)
        if down:
            reason = "; ".join(down.values())
        reason = reason or ("" if indexed else "nothing waits")
        return IndexReport(indexed=indexed, deferred=deferred, reused=reused, reason=reason, down=bool(down))

    async def run_anew(self, on_indexed: OnIndexed | None = None) -> IndexReport:
        """Drop all vectors of the model that answers, and sweep. Raises ModelUnavailable, before anything is dropped,
        if the embedder does not answer.
        """
        ctx = await answering(self._ctx, self._scope)
        state = await search_state(ctx)
        if ctx.embedder is None or state.mode is not SearchMode.VECTOR:
            raise ModelUnavailable(state.detail)
        await ctx.store.drop_vectors(self._scope, ctx.embedder.model_id)
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
                has_turn = self._has_turn()
                report = await self._sweep(rests=True) if has_turn else IndexReport(indexed=0, deferred=0)
                self.last_error = report.reason if report.deferred or report.down else ""
                if not report.down:
                    await load_built(self._ctx, self._scope)
                if has_turn:
                    await self._ctx.index.save(self._ctx.store)
            except Exception as error:  # noqa: BLE001  outermost handler: the next sweep finds the same work
                self.last_error = str(error) or type(error).__name__
            await self._wait(SWEEP_SECONDS)

    async def _wait(self, seconds: float) -> None:
        """Wait until woken, but not longer."""
        # Not wait_for: before Python 3.12 it loses a cancellation that comes as the event is set, and stop() hangs.
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()
