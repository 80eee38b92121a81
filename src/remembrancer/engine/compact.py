"""Compaction: merging near-duplicate memories."""

from __future__ import annotations

import asyncio
from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.effect import Effect, StatusChange
from remembrancer.domain.memory import MemoryWrite, Status
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Scope
from remembrancer.engine.condense import derived_from, found_by
from remembrancer.engine.context import Context, every_memory
from remembrancer.errors import Conflict
from remembrancer.policies.consolidation.compacting import Merge, merges_of, with_counts_of
from remembrancer.policies.consolidation.condensing import cues_of
from remembrancer.values import dataclass

LIMIT: Final = 500
MAX_LIMIT: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """The kept memory, and the memories merged into it, in time order."""

    memory_id: UUID
    gone: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionReport:
    """The result of merging near-duplicates. `merged`: the merged groups; with `dry_run`, those that would be. `left`:
    groups that changed meanwhile or exceeded the limit. `reason`: why nothing, or not everything, was done.
    """

    merged: tuple[Merged, ...] = ()
    left: int = 0
    reason: str = ""
    dry_run: bool = False


async def compact(ctx: Context, scope: Scope, *, limit: int = LIMIT, dry_run: bool = False) -> CompactionReport:
    """Merge up to `limit` groups of near-duplicates of the workspace (1 to 100,000).

    The most important memory of a group is kept. It gets the longest text, keeps its previous text as a revision, gets
    the usage counts of all, and `derived_from` relations to the others. Each group is one transaction. `dry_run` writes
    nothing. Raises InvalidInput for a limit out of range.
    """
    validation.whole("limit", limit, 1, MAX_LIMIT)
    rule = ctx.preset.compaction
    if rule is None:
        return CompactionReport(reason=f"preset {ctx.preset.name} does not merge near-duplicates", dry_run=dry_run)
    now = ctx.clock()
    where = Filter(current_at=now, tiers=frozenset(rule.tiers))
    rows = [row async for row in every_memory(ctx, scope, where)]
    # In another thread: with many memories it takes seconds, and would block the event loop.
    merges = await asyncio.to_thread(merges_of, rows, rule, pinned_tag=ctx.preset.pinned_tag)
    merged: list[Merged] = []
    lost = 0
    for merge in merges[:limit]:
        if not dry_run:
            try:
                await _put(ctx, scope, merge, now)
            except Conflict:
                lost += 1
                continue
        merged.append(Merged(memory_id=merge.kept.id, gone=tuple(memory.id for memory in merge.gone)))
    reason = f"another process changed a memory meanwhile: {lost}" if lost else ""
    return CompactionReport(
        merged=tuple(merged),
        left=len(merges) - len(merged),
        reason=reason if merges else "there are no near-duplicates",
        dry_run=dry_run,
    )


async def _put(ctx: Context, scope: Scope, merge: Merge, now: datetime) -> None:
    """Write one merge. Raises Conflict if one of its memories has changed since it was read."""
    found = await found_by(ctx, (merge.kept, *merge.gone))
    write = MemoryWrite(merge.revised, cues_of(merge.revised, found.cues, own=True), found.event_ids)
    effect = Effect(
        expected={memory.id: memory.revision for memory in (merge.kept, *merge.gone)},
        revised=(write,),
        status_changes=tuple(
            StatusChange(memory.id, Status.COMPACTED, f"merged into {merge.kept.id}") for memory in merge.gone
        ),
        related=derived_from(merge.kept.id, merge.gone, now),
        adjusted={merge.kept.id: partial(with_counts_of, merge.gone)},
    )
    await ctx.store.commit(scope, effect, at=now)
