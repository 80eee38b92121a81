"""Sleep: consolidate old working memory into episodic memory, the rows of one source and session together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.effect import Effect
from remembrancer.domain.memory import Memory, MemoryWrite, Tier
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Scope
from remembrancer.engine import condense
from remembrancer.engine.context import Context
from remembrancer.errors import Conflict
from remembrancer.language.cues import analysed
from remembrancer.policies.consolidation.condensing import Condensed, cues_of, home_of, id_of, ids_told, one_of
from remembrancer.policies.consolidation.sleeping import SUMMARY_OF, Sleep, sleepers, stand_in
from remembrancer.policies.prompts.condense import SLEEP, Summary
from remembrancer.values import dataclass

JOB: Final = "sleep"
AAAK: Final = "aaak"
AS_IT_IS: Final = "as it is"
NOTHING: Final = "nothing to keep"
MAX_GROUPS: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Slept:
    """Rows of working memory that were consolidated, oldest first, and the resulting memory.

    `by`: the model that summarised them; "aaak": compressed without a model; "as it is": a single row, which became the
    memory itself; "nothing to keep": the rows contained only recalled text, and `memory_id` is None.
    """

    memory_id: UUID | None
    sources: tuple[UUID, ...]
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SleepReport:
    """`slept`: groups that were consolidated, or would be with `dry_run`. `failed`: groups whose summary failed.
    `left`: groups that wait, changed meanwhile, or exceeded the limit. `reason`: why nothing, or not everything, was
    done. `stand_in`: why no model was asked; empty where one was.
    """

    slept: tuple[Slept, ...] = ()
    failed: int = 0
    left: int = 0
    reason: str = ""
    stand_in: str = ""
    dry_run: bool = False

    @property
    def rows(self) -> int:
        """The number of consolidated rows."""
        return sum(len(one.sources) for one in self.slept)


async def sleep(ctx: Context, scope: Scope, *, dry_run: bool = False, limit: int | None = None) -> SleepReport:
    """Consolidate working memory older than half the TTL, in all sessions of the workspace, up to `limit` groups (1 to
    100,000; None: all).

    Each group is one transaction. Its summary replaces its rows, which leave recall and stay reachable from it; a
    single row only changes its tier. Rows that are no longer current are left out. `dry_run` asks no model and writes
    nothing. Raises InvalidInput for a limit out of range.
    """
    if limit is not None:
        validation.whole("limit", limit, 1, MAX_GROUPS)
    rule = ctx.preset.sleep
    if rule is None:
        return SleepReport(reason=f"the preset {ctx.preset.name} has no sleep", dry_run=dry_run)
    now = ctx.clock()
    groups = await condense.not_undone(ctx, await _groups(ctx, scope, rule, now), JOB)
    stand_in_for = ctx.without_llm if ctx.llm is None else ""
    taken = groups[:limit]
    if dry_run:
        return SleepReport(
            slept=tuple(_planned(ctx, group) for group in taken),
            left=len(groups) - len(taken),
            reason="" if groups else _idle(rule),
            stand_in=stand_in_for,
            dry_run=True,
        )
    asking = await condense.summaries(ctx, scope, JOB)
    slept: list[Slept] = []
    lost = 0
    for group in taken:
        said = await _said(ctx, rule, group, asking)
        if said is None:
            continue
        at = ctx.clock()  # a model may have taken its time
        effect, one = _laid_down(ctx, rule, group, said, at)
        try:
            await ctx.store.commit(scope, effect, at=at)
        except Conflict:
            lost += 1
            continue
        await asking.done(_item(group))
        slept.append(one)
    await asking.gone(_item(group) for group in groups)
    reason = asking.reason or (f"changed by another meanwhile: {lost}" if lost else "")
    return SleepReport(
        slept=tuple(slept),
        failed=asking.failed,
        left=len(groups) - len(slept) - asking.failed,
        reason=reason if groups else _idle(rule),
        stand_in=stand_in_for,
    )


async def _groups(ctx: Context, scope: Scope, rule: Sleep, now: datetime) -> tuple[tuple[Memory, ...], ...]:
    where = Filter(current_at=now, tiers=frozenset({Tier.WORKING}), until=now - rule.ttl / 2)
    rows = await condense.current(ctx, scope, where)
    return sleepers([row for row in rows if rule.due(row, now)], rule, pinned_tag=ctx.preset.pinned_tag)


def _idle(rule: Sleep) -> str:
    return f"nothing in working memory is older than {rule.ttl_hours / 2:g} hours"


def _planned(ctx: Context, group: Sequence[Memory]) -> Slept:
    ids = tuple(row.id for row in group)
    if not stand_in(group):
        return Slept(memory_id=None, sources=ids, by=NOTHING)
    if len(group) == 1:
        return Slept(memory_id=ids[0], sources=ids, by=AS_IT_IS)
    return Slept(memory_id=id_of(group, JOB), sources=ids, by=AAAK if ctx.llm is None else ctx.llm.model_id)


async def _said(
    ctx: Context, rule: Sleep, group: Sequence[Memory], asking: condense.Summaries
) -> tuple[Condensed, condense.OrderedMemories] | None:
    """The text and cues of a group from now on; None: try again later."""
    found = await condense.found_by(ctx, group)
    short = stand_in(found.sources)
    if not short:
        return Condensed(text="", by=NOTHING), found
    if len(group) == 1:
        return Condensed(text=group[0].text, title=group[0].title, by=AS_IT_IS), found
    summary = await asking.of(_item(group), SLEEP, condense.told(found), max_chars=rule.summary_chars)
    match summary:
        case Summary(title, text):
            return Condensed(text=text, title=title, by=asking.model), found
        case condense.Instead.STAND_IN:
            return Condensed(text=short, by=AAAK), found
        case condense.Instead.LATER:
            return None


def _laid_down(
    ctx: Context,
    rule: Sleep,
    group: Sequence[Memory],
    told_of: tuple[Condensed, condense.OrderedMemories],
    now: datetime,
) -> tuple[Effect, Slept]:
    """The effect for a group, and its report."""
    said, found = told_of
    ids = tuple(row.id for row in group)
    if said.by == NOTHING:
        effect = condense.in_place_of(group, None, "it says nothing but what was recalled", now)
        return effect, Slept(memory_id=None, sources=ids, by=NOTHING)
    if said.by == AS_IT_IS:
        return _alone(group[0], found), Slept(memory_id=ids[0], sources=ids, by=AS_IT_IS)
    memory = one_of(
        group,
        said,
        identifier=id_of(group, JOB),
        home=home_of(group[0], sessions_apart="session" in rule.by, pinned_tag=ctx.preset.pinned_tag),
        tier=Tier.EPISODIC,
        metadata={SUMMARY_OF: ids_told(group)},
        now=now,
    )
    # A compressed text is told, not searched: the words it was made of are what finds it.
    write = MemoryWrite(memory, cues_of(memory, found.cues, own=said.by != AAAK), found.event_ids)
    effect = condense.in_place_of(group, write, f"slept, and is part of {memory.id}", now)
    return effect, Slept(memory_id=memory.id, sources=ids, by=said.by)


def _alone(row: Memory, found: condense.OrderedMemories) -> Effect:
    """A single row changes its tier; no summary could say it better."""
    promoted = replace(
        row, tier=Tier.EPISODIC, metadata={**row.metadata, SUMMARY_OF: ids_told([row])}, revision=row.revision + 1
    )
    write = MemoryWrite(promoted, tuple(analysed(cue) for cue in found.cues), found.event_ids)
    return Effect(expected={row.id: row.revision}, revised=(write,))


def _item(group: Sequence[Memory]) -> str:
    """The name of the group among the deferred items: rows may join it, its first one stays."""
    return str(group[0].id)
