"""Sleep: consolidating old working memory into episodic memory, by source and session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.effect import Effect
from remembrancer.domain.memory import Memory, MemoryWrite, Tier
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Scope
from remembrancer.engine import condense
from remembrancer.engine.context import Context, every_memory
from remembrancer.language.cues import analysed
from remembrancer.policies.consolidation.condensing import (
    Condensed,
    cues_of,
    id_of,
    ids_told,
    one_of,
    shared_attributes,
)
from remembrancer.policies.consolidation.sleeping import SUMMARY_OF, Sleep, sleepers, stand_in
from remembrancer.policies.prompts.condense import SLEEP, Summary
from remembrancer.values import copied, dataclass

JOB: Final = "sleep"
AAAK: Final = "aaak"
AS_IT_IS: Final = "as it is"
NOTHING: Final = "nothing to keep"
MAX_GROUPS: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Slept:
    """Working memories that were consolidated, oldest first, and the resulting memory.

    `by`: the model that summarised them; "aaak": abbreviated without a model; "as it is": a single memory, which only
    changed its tier; "nothing to keep": they contained only recalled text, and `memory_id` is None.
    """

    memory_id: UUID | None
    sources: tuple[UUID, ...]
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SleepReport(condense.CondenseReport):
    """The result of consolidating working memory. `slept`: the consolidated groups; with `dry_run`, those that would
    be.
    """

    slept: tuple[Slept, ...] = ()

    @property
    def rows(self) -> int:
        """The number of consolidated memories."""
        return sum(len(one.sources) for one in self.slept)


async def sleep(ctx: Context, scope: Scope, *, dry_run: bool = False, limit: int | None = None) -> SleepReport:
    """Consolidate working memory older than half the TTL, in all sessions of the workspace, up to `limit` groups (1 to
    100,000; None: all).

    Each group is one transaction. Its summary replaces its memories, which leave recall and stay reachable from it; a
    single memory only changes its tier. Memories that are no longer current are left out. `dry_run` asks no model and
    writes nothing. Raises InvalidInput for a limit out of range.
    """
    if limit is not None:
        validation.whole("limit", limit, 1, MAX_GROUPS)
    rule = ctx.preset.sleep
    if rule is None:
        return SleepReport(reason=f"preset {ctx.preset.name} does not consolidate working memory", dry_run=dry_run)
    slept, report = await condense.sweep(
        ctx,
        scope,
        JOB,
        await _groups(ctx, scope, rule, ctx.clock()),
        limit=limit,
        idle=f"nothing in working memory is older than {rule.ttl_hours / 2:g} hours",
        planned=partial(_planned, ctx) if dry_run else None,
        replaced=partial(_replaced, ctx, rule),
    )
    return copied(report, SleepReport, slept=slept)


async def _groups(ctx: Context, scope: Scope, rule: Sleep, now: datetime) -> tuple[tuple[Memory, ...], ...]:
    where = Filter(current_at=now, tiers=frozenset({Tier.WORKING}), until=now - rule.ttl / 2)
    rows = [row async for row in every_memory(ctx, scope, where) if rule.due(row, now)]
    return sleepers(rows, rule, pinned_tag=ctx.preset.pinned_tag)


def _planned(ctx: Context, group: Sequence[Memory]) -> Slept:
    ids = tuple(row.id for row in group)
    if not stand_in(group):
        return Slept(memory_id=None, sources=ids, by=NOTHING)
    if len(group) == 1:
        return Slept(memory_id=ids[0], sources=ids, by=AS_IT_IS)
    return Slept(memory_id=id_of(group, JOB), sources=ids, by=AAAK if ctx.llm is None else ctx.llm.model_id)


async def _replaced(
    ctx: Context, rule: Sleep, group: condense.MemoryGroup, asking: condense.Summaries
) -> tuple[Effect, Slept, datetime] | None:
    found = await condense.found_by(ctx, group)
    ids = tuple(row.id for row in group)
    short = stand_in(found.sources)
    if not short:
        now = ctx.clock()
        effect = condense.in_place_of(group, None, "the memory only repeats recalled text", now)
        return effect, Slept(memory_id=None, sources=ids, by=NOTHING), now
    if len(group) == 1:
        return _alone(group[0], found), Slept(memory_id=ids[0], sources=ids, by=AS_IT_IS), ctx.clock()
    summary = await asking.of(condense.item(group), SLEEP, condense.headed(found), max_chars=rule.summary_chars)
    match summary:
        case Summary(title, text):
            said = Condensed(text=text, title=title, by=asking.model)
        case condense.Instead.STAND_IN:
            said = Condensed(text=short, by=AAAK)
        case condense.Instead.LATER:
            return None
    now = ctx.clock()  # asking a model may have taken minutes
    memory = one_of(
        group,
        said,
        identifier=id_of(group, JOB),
        attributes=shared_attributes(group[0], sessions_apart="session" in rule.by, pinned_tag=ctx.preset.pinned_tag),
        tier=Tier.EPISODIC,
        metadata={SUMMARY_OF: ids_told(group)},
        now=now,
    )
    # An abbreviated text is only shown; the cues with the original words are searched.
    write = MemoryWrite(memory, cues_of(memory, found.cues, own=said.by != AAAK), found.event_ids)
    effect = condense.in_place_of(group, write, f"summarised by {memory.id}", now)
    return effect, Slept(memory_id=memory.id, sources=ids, by=said.by), now


def _alone(row: Memory, found: condense.OrderedMemories) -> Effect:
    """Change the tier of a single memory, which needs no summary."""
    promoted = replace(
        row, tier=Tier.EPISODIC, metadata={**row.metadata, SUMMARY_OF: ids_told([row])}, revision=row.revision + 1
    )
    write = MemoryWrite(promoted, tuple(analysed(cue) for cue in found.cues), found.event_ids)
    return Effect(expected={row.id: row.revision}, revised=(write,))
