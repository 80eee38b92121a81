"""Retention: moving old telemetry from the journal to the archive."""

from __future__ import annotations

from typing import Final

from remembrancer.domain import validation
from remembrancer.domain.scope import Scope
from remembrancer.engine.context import Context
from remembrancer.ports.journal import Aged
from remembrancer.values import dataclass

BATCH: Final = 500
"""The events of one transaction: few, so that other writers do not wait long."""
MAX_EVENTS: Final = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionReport:
    """The result of archiving events. `archived`: the number of archived events. `more`: whether the limit left some.
    `reason`: why nothing was done.
    """

    archived: int = 0
    more: bool = False
    reason: str = ""


async def retain(ctx: Context, scope: Scope, *, limit: int | None = None) -> RetentionReport:
    """Archive the events of the workspace that the preset's retention covers, oldest first, up to `limit` (1 to
    10,000,000; None: all).

    The next run continues an interrupted one. Raises InvalidInput for a limit out of range.
    """
    if limit is not None:
        validation.whole("limit", limit, 1, MAX_EVENTS)
    rule = ctx.preset.retention
    if rule is None:
        return RetentionReport(reason=f"preset {ctx.preset.name} does not archive events")
    now = ctx.clock()
    aged = Aged(types=frozenset(rule.types), keep=frozenset(rule.keep), before=now - rule.after)
    archived = 0
    while limit is None or archived < limit:
        batch = BATCH if limit is None else min(BATCH, limit - archived)
        moved = await ctx.store.archive(scope, aged, at=now, limit=batch)
        archived += moved
        if moved < batch:
            reason = "" if archived else f"no event to archive is older than {rule.after_days:g} days"
            return RetentionReport(archived=archived, reason=reason)
    return RetentionReport(archived=archived, more=True)
