"""Telemetry that has aged leaves the journal for the archive."""

from __future__ import annotations

from typing import Final

from remembrancer.domain import validation
from remembrancer.domain.scope import Scope
from remembrancer.engine.context import Context
from remembrancer.ports.journal import Aged
from remembrancer.values import dataclass

BATCH: Final = 500
"""Events of one transaction: a writer that waits for it waits a moment."""
MAX_EVENTS: Final = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionReport:
    """`archived`: how many events were moved. `more`: whether the limit left some. `reason`: why nothing was done."""

    archived: int = 0
    more: bool = False
    reason: str = ""


async def retain(ctx: Context, scope: Scope, *, limit: int | None = None) -> RetentionReport:
    """Move the events of the workspace that the preset's retention calls aged into the archive, the oldest first, up to
    `limit` (1 to 10,000,000; None: all), batch by batch: what is cut off half way goes on where it was.

    Raises InvalidInput for a limit out of range.
    """
    if limit is not None:
        validation.whole("limit", limit, 1, MAX_EVENTS)
    rule = ctx.preset.retention
    if rule is None:
        return RetentionReport(reason=f"the preset {ctx.preset.name} archives nothing")
    now = ctx.clock()
    aged = Aged(types=frozenset(rule.types), keep=frozenset(rule.keep), before=now - rule.after)
    archived = 0
    while limit is None or archived < limit:
        batch = BATCH if limit is None else min(BATCH, limit - archived)
        moved = await ctx.store.archive(scope, aged, at=now, limit=batch)
        archived += moved
        if moved < batch:
            reason = "" if archived else f"no telemetry is older than {rule.after_days:g} days"
            return RetentionReport(archived=archived, reason=reason)
    return RetentionReport(archived=archived, more=True)
