"""Replacing each cluster of similar memories by one memory. The others leave recall and stay reachable from it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Final
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.effect import Effect
from remembrancer.domain.event import UNTRUSTED
from remembrancer.domain.memory import Memory, MemoryWrite
from remembrancer.domain.query import Filter
from remembrancer.domain.recalled import without_recalled
from remembrancer.domain.scope import Scope
from remembrancer.engine import condense
from remembrancer.engine.context import Context, every_memory
from remembrancer.policies.consolidation.clusters import Clusters, central, clusters_of
from remembrancer.policies.consolidation.condensing import (
    Condensed,
    SharedAttributes,
    cues_of,
    id_of,
    ids_told,
    one_of,
    shared_attributes,
)
from remembrancer.policies.prompts.condense import CLUSTER, Summary
from remembrancer.values import copied, dataclass

JOB: Final = "clusters"
CENTRAL: Final = "most central text"
CONSOLIDATED_FROM: Final = "consolidated_from"
"""The metadata field with the ids of the memories of a cluster."""
LIMIT: Final = 50
MAX_LIMIT: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidated:
    """A cluster, oldest memory first, and the memory that replaced it. `by`: the model that wrote its text, or "most
    central text": without a model, the text most similar to the others is used.
    """

    memory_id: UUID
    sources: tuple[UUID, ...]
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClustersReport(condense.CondenseReport):
    """The result of replacing clusters. `consolidated`: the replaced clusters; with `dry_run`, those that would be."""

    consolidated: tuple[Consolidated, ...] = ()


async def consolidate_clusters(
    ctx: Context, scope: Scope, *, limit: int = LIMIT, dry_run: bool = False
) -> ClustersReport:
    """Replace up to `limit` clusters of the workspace (1 to 10,000) by one memory each, in the order of their oldest
    memory.

    Each cluster is one transaction. Its memories leave recall; `derived_from` relations lead to them from the new one.
    `dry_run` asks no model and writes nothing. Raises InvalidInput for a limit out of range.
    """
    validation.whole("limit", limit, 1, MAX_LIMIT)
    rule = ctx.preset.clusters
    if rule is None:
        return ClustersReport(reason=f"preset {ctx.preset.name} does not cluster memories", dry_run=dry_run)
    by = CENTRAL if ctx.llm is None else ctx.llm.model_id
    consolidated, report = await condense.sweep(
        ctx,
        scope,
        JOB,
        await _clusters(ctx, scope, rule, ctx.clock()),
        limit=limit,
        idle=f"there are no {rule.least} memories with nearly the same text",
        planned=(lambda cluster: _report(cluster, by)) if dry_run else None,
        replaced=partial(_replaced, ctx, rule),
    )
    return copied(report, ClustersReport, consolidated=consolidated)


async def _clusters(ctx: Context, scope: Scope, rule: Clusters, now: datetime) -> list[tuple[Memory, ...]]:
    where = Filter(current_at=now, tiers=frozenset(rule.tiers))
    # Memories with a topic key are updated under it, so they stay as they are.
    free = [row async for row in every_memory(ctx, scope, where) if row.topic_key is None]
    # Nor does a text of a tool, the web or an import lower the trust of what people said.
    apart = [(_attributes(ctx, row), row.kind, row.tier, row.origin in UNTRUSTED) for row in free]
    texts = [without_recalled(row.text) for row in free]
    # In another thread: with many memories it takes seconds, and would block the event loop.
    found = await asyncio.to_thread(clusters_of, texts, rule, apart=apart)
    return [tuple(free[place] for place in group) for group in found]


async def _replaced(
    ctx: Context, rule: Clusters, cluster: condense.MemoryGroup, asking: condense.Summaries
) -> tuple[Effect, Consolidated, datetime] | None:
    found = await condense.found_by(ctx, cluster)
    summary = await asking.of(condense.item(cluster), CLUSTER, condense.headed(found), max_chars=rule.summary_chars)
    match summary:
        case Summary(title, text):
            said = Condensed(text=text, title=title, by=asking.model)
        case condense.Instead.STAND_IN:
            texts = [without_recalled(row.text) for row in cluster]
            place = central(texts)
            said = Condensed(text=texts[place], title=cluster[place].title, by=CENTRAL)
        case condense.Instead.LATER:
            return None
    now = ctx.clock()  # asking a model may have taken minutes
    memory = one_of(
        cluster,
        said,
        identifier=id_of(cluster, JOB),
        attributes=_attributes(ctx, cluster[0]),
        tier=cluster[0].tier,
        metadata={CONSOLIDATED_FROM: ids_told(cluster)},
        now=now,
    )
    write = MemoryWrite(memory, cues_of(memory, found.cues, own=True), found.event_ids)
    reason = f"summarised with {len(cluster) - 1} others by {memory.id}"
    return condense.in_place_of(cluster, write, reason, now), _report(cluster, said.by), now


def _attributes(ctx: Context, row: Memory) -> SharedAttributes:
    return shared_attributes(row, sessions_apart=False, pinned_tag=ctx.preset.pinned_tag)


def _report(cluster: Sequence[Memory], by: str) -> Consolidated:
    return Consolidated(memory_id=id_of(cluster, JOB), sources=tuple(row.id for row in cluster), by=by)
