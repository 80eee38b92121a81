"""Retention: archiving old telemetry, and erasing rows past the time of a retention rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.erasure import ErasureSelection
from remembrancer.domain.retention import LegalHold, RetentionRule
from remembrancer.domain.scope import Scope
from remembrancer.engine.context import Caller, Context
from remembrancer.engine.erase import Selected, erase_rows, purge
from remembrancer.errors import OnHold
from remembrancer.ports.journal import Aged
from remembrancer.values import dataclass

BATCH: Final = 500
"""The rows of one transaction: few, so that other writers do not wait long."""
MAX_EVENTS: Final = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionReport:
    """The result of a run. `archived`: the number of archived events. `erased`: the number of memories and events that
    retention rules erased. `held`: the number of those that a legal hold kept. `more`: whether the limit left events to
    archive. `reason`: why nothing was done.
    """

    archived: int = 0
    erased: int = 0
    held: int = 0
    more: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueRows:
    """The rows past the time of a retention `rule`: how many `memories` and `events`. `held`: how many of these rows a
    legal hold keeps.
    """

    rule: RetentionRule
    memories: int
    events: int
    held: int


async def add_rule(ctx: Context, caller: Caller, *, after: timedelta, **parts: Any) -> RetentionRule:
    """Store a rule for the caller's workspace. Raises InvalidInput."""
    now = ctx.clock()
    rule = RetentionRule(id=ctx.new_id(now), after=after, by=caller.name, created_at=now, **parts)
    await ctx.store.put_rule(caller.scope, rule)
    return rule


async def place_hold(ctx: Context, caller: Caller, *, reason: str, **parts: Any) -> LegalHold:
    """Place a hold on rows of the caller's workspace. Raises InvalidInput."""
    now = ctx.clock()
    hold = LegalHold(id=ctx.new_id(now), reason=reason, by=caller.name, placed_at=now, **parts)
    await ctx.store.put_hold(caller.scope, hold)
    return hold


async def retain(ctx: Context, scope: Scope, *, limit: int | None = None) -> RetentionReport:
    """Archive the events of the workspace that the preset's retention covers, oldest first, up to `limit` (1 to
    10,000,000; None: all), and erase the rows past the time of a retention rule, with everything that quotes them or
    was derived from them.

    The next run continues an interrupted one. Raises InvalidInput for a limit out of range.
    """
    report = await _archive(ctx, scope, limit)
    rules = await ctx.store.rules(scope)
    erased = held = 0
    for rule in rules:
        gone, kept = await _expire(ctx, scope, rule)
        erased += gone
        held += kept
    if erased:
        await purge(ctx, scope, at=ctx.clock())  # if it fails, the next erasure or health job tries again
    reason = ""
    if not (report.archived or erased):
        rest = f"{held} rows past the time of a rule are on legal hold" if held else "no row is past the time of a rule"
        reason = f"{report.reason}; {rest}" if rules else report.reason
    return replace(report, erased=erased, held=held, reason=reason)


async def due(ctx: Context, scope: Scope) -> tuple[DueRows, ...]:
    """The rows that the next run of `retain` would select, by rule. Rows derived from them are not counted."""
    found: list[DueRows] = []
    for rule in await ctx.store.rules(scope):
        choice = _past(ctx, rule)
        memories, events = await ctx.store.lying_in(scope, choice)
        free = await ctx.store.lying_in(scope, choice, unheld=True)
        held = len(memories) + len(events) - sum(map(len, free))
        found.append(DueRows(rule=rule, memories=len(memories), events=len(events), held=held))
    return tuple(found)


async def _archive(ctx: Context, scope: Scope, limit: int | None) -> RetentionReport:
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


def _past(ctx: Context, rule: RetentionRule) -> ErasureSelection:
    """The rows past the time of a rule."""
    parts: dict[str, Any] = dict(rule.parts)
    return ErasureSelection(**parts, before=ctx.clock() - rule.after)


async def _expire(ctx: Context, scope: Scope, rule: RetentionRule) -> tuple[int, int]:
    """Erase what is past the time of a rule, in batches. Returns the number of rows erased, and of those on hold."""
    choice = _past(ctx, rule)
    every = await ctx.store.lying_in(scope, choice)
    memories, events = await ctx.store.lying_in(scope, choice, unheld=True) if any(every) else every
    rows = [*((one, True) for one in sorted(memories)), *((one, False) for one in sorted(events))]
    erased, held = 0, sum(map(len, every)) - len(rows)
    for start in range(0, len(rows), BATCH):
        gone, kept = await _erase(ctx, scope, choice, f"retention rule {rule.id}", rows[start : start + BATCH])
        erased += gone
        held += kept
    return erased, held


async def _erase(
    ctx: Context, scope: Scope, choice: ErasureSelection, by: str, rows: Sequence[tuple[UUID, bool]]
) -> tuple[int, int]:
    """Erase these rows (each an id, and whether it is a memory) but for those from which a row on hold was derived.

    A batch with such a row is halved until it stands alone. Returns as `_expire` does.
    """
    only: Selected = (
        frozenset(one for one, is_memory in rows if is_memory),
        frozenset(one for one, is_memory in rows if not is_memory),
    )
    try:
        counts = (await erase_rows(ctx, scope, choice, by=by, only=only)).counts
    except OnHold:
        if len(rows) == 1:
            return 0, 1
    else:
        return counts["memories"] + counts["events"] + counts["archived"], 0
    middle = len(rows) // 2
    halves = [await _erase(ctx, scope, choice, by, half) for half in (rows[:middle], rows[middle:])]
    return sum(gone for gone, _ in halves), sum(kept for _, kept in halves)
