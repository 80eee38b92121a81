"""Running all consolidation that the preset has: facts, rules, clusters and compaction."""

from __future__ import annotations

from datetime import datetime

from remembrancer.domain.scope import Scope
from remembrancer.engine.clusters import ClustersReport, consolidate_clusters
from remembrancer.engine.compact import CompactionReport, compact
from remembrancer.engine.context import Context
from remembrancer.engine.facts import FactsReport, draw_facts
from remembrancer.engine.rules import RulesReport, learn_rules
from remembrancer.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidation:
    """The report of each part; None for a part that the preset lacks. `reason`: why there is no report."""

    facts: FactsReport | None = None
    rules: RulesReport | None = None
    clusters: ClustersReport | None = None
    compaction: CompactionReport | None = None
    reason: str = ""


async def consolidate(
    ctx: Context, scope: Scope, *, since: datetime | None, limit: int, crew: str | None = None
) -> Consolidation:
    """Draw facts, learn rules from events `since`, replace clusters, and merge near-duplicates, as far as the preset
    has each.

    Processes up to `limit` items of each kind, whether due or not. With a `crew`, only rules are learned, from its
    entries.
    """
    preset = ctx.preset
    if crew is not None:
        if preset.rules is None:
            return Consolidation(reason=f"preset {preset.name} cannot consolidate one crew only")
        return Consolidation(rules=await learn_rules(ctx, scope, since=since, force=True, crew=crew))
    parts = (preset.facts, preset.rules, preset.clusters, preset.compaction)
    if all(part is None for part in parts):
        return Consolidation(reason=f"preset {preset.name} has no consolidation")
    return Consolidation(
        facts=None if preset.facts is None else await draw_facts(ctx, scope, force=True, limit=limit),
        rules=None if preset.rules is None else await learn_rules(ctx, scope, since=since, force=True),
        clusters=None if preset.clusters is None else await consolidate_clusters(ctx, scope, limit=limit),
        compaction=None if preset.compaction is None else await compact(ctx, scope, limit=limit),
    )
