"""Flagging memories that were recorded before instruction-like texts were recognised."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from remembrancer.domain.event import UNTRUSTED
from remembrancer.domain.job import Run
from remembrancer.domain.memory import FLAGGED, Memory
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader, Scope
from remembrancer.engine.context import PAGE, Context
from remembrancer.errors import Conflict
from remembrancer.policies.admission.flagging import flagged_by_text, with_flag
from remembrancer.policies.admission.updating import write_of

MARK: Final = "flag"
"""The name of the record that says how far it has come, among the runs of jobs."""
MOST: Final = 5_000
"""The texts that one call judges, about a second of CPU for each 2,000 of 1,000 characters."""


async def flag_older(ctx: Context, scope: Scope) -> int:
    """Flag the workspace's current memories of tools, the web and imports whose text tells a language model what to do,
    and return how many. Those that somebody released are left as they are.

    A memory is judged once: a call judges some `MOST` of them, oldest first, and the next call goes on from there. When
    all are judged, calls do nothing, because memories are judged when they are recorded.
    """
    last = (await ctx.store.runs(scope)).get(MARK)
    if last is not None and not last.left:
        return 0
    started = ctx.clock()
    begin = None if last is None else datetime.fromisoformat(last.reason)
    where = Filter(current_at=started, since=begin)
    flagged = judged = 0
    seen: Memory | None = None
    reached = ""
    while page := await ctx.store.workspace_memories(scope, where, limit=PAGE, after=seen):
        seen = page[-1]
        waiting = [memory for memory in page if memory.origin in UNTRUSTED and not memory.flagged]
        for memory in await asyncio.to_thread(_instructing, waiting):
            flagged += await _flag(ctx, memory)
        judged += len(waiting)
        if judged >= MOST and seen.occurred_to != begin:  # the next call begins at this time
            reached = seen.occurred_to.isoformat()
            break
    run = Run(job=MARK, started_at=started, ended_at=started, done=flagged, left=1 if reached else 0, reason=reached)
    await ctx.store.put_run(scope, run)
    return flagged


def _instructing(memories: Sequence[Memory]) -> list[Memory]:
    return [memory for memory in memories if flagged_by_text(memory).flagged]


async def _flag(ctx: Context, memory: Memory) -> bool:
    """Flag a memory, unless it was released, or another process changed it: it is then judged by that change."""
    reader = Reader(memory.scope)
    if any(FLAGGED in revision.tags for revision in await ctx.store.revisions(reader, memory.id)):
        return False
    cues = (await ctx.store.cues(reader, [memory.id])).get(memory.id, ())
    later = replace(with_flag(memory, flagged=True), revision=memory.revision + 1)
    try:
        await ctx.store.revise(
            memory.scope, write_of(later, memory, cues), expected_revision=memory.revision, at=ctx.clock()
        )
    except Conflict:
        return False
    return True
