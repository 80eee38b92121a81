"""The graph of memories and relations around one memory, or around the most connected ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from remembrancer.domain.query import Filter
from remembrancer.domain.relation import Relation
from remembrancer.domain.scope import Reader
from remembrancer.engine.context import Context
from remembrancer.engine.fading import DecayForecast, forecasts
from remembrancer.engine.inspect import get
from remembrancer.values import dataclass

HUBS: Final = 8
"""The number of memories from which the overview starts."""
STEPS: Final = 2
"""The greatest number of relations between a memory and the start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Memories and the relations among them. `memories`: nearest to the start first. `cut`: whether the limit left some
    out.
    """

    memories: tuple[DecayForecast, ...]
    relations: tuple[Relation, ...]
    cut: bool


async def graph(ctx: Context, reader: Reader, memory_id: UUID | None, *, limit: int) -> Graph:
    """Up to `limit` memories within two relations of one memory, or of the most connected ones.

    A given memory and its neighbours may have any status; the most connected ones are current. Of equally near
    memories, those with relations of greater weight come first. Raises NotFound.
    """
    if memory_id is None:
        hubs = await ctx.store.hubs(reader, Filter(current_at=ctx.clock()), limit=HUBS)
        seeds = list(hubs)[:limit]
    else:
        seeds = [(await get(ctx, reader, memory_id)).id]
    known, edges, cut = list(seeds), set[Relation](), False
    newest = seeds
    for _ in range(STEPS):
        near = await ctx.store.relations(reader, newest)
        edges.update(near)
        found = _ends_beyond(near, known)
        newest = found[: limit - len(known)]
        cut = cut or len(found) > len(newest)
        known += newest
        if not newest:
            break
    if newest:
        edges.update(await ctx.store.relations(reader, newest))
    shown = set(known)
    among = [edge for edge in edges if edge.source in shown and edge.target in shown]
    among.sort(key=lambda edge: (edge.created_at, edge.source, edge.target, edge.kind))
    return Graph(memories=await forecasts(ctx, reader, known), relations=tuple(among), cut=cut)


def _ends_beyond(near: Sequence[Relation], known: Sequence[UUID]) -> list[UUID]:
    """The ends of relations that are not known yet: greatest weight first, ties by id."""
    weights: dict[UUID, float] = {}
    for edge in near:
        for end in (edge.source, edge.target):
            weights[end] = max(weights.get(end, 0.0), edge.weight)
    return sorted(weights.keys() - set(known), key=lambda end: (-weights[end], end))
