"""Edges between memories: drawn when they are indexed, or said by hand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from remembrancer.domain.memory import Memory
from remembrancer.domain.query import Filter
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Reader, Scope
from remembrancer.engine.context import Context
from remembrancer.errors import InvalidInput
from remembrancer.policies.ranking.selection import excluded_by
from remembrancer.ports.embeddings import PendingCue
from remembrancer.ports.store import SearchRequest

SPARE: Final = 2
"""Neighbours asked for beyond what may be linked: the memory itself may be among them, and so may a batch-mate."""


async def links(
    ctx: Context,
    model: str,
    scope: Scope,
    waiting: Sequence[PendingCue],
    vectors: Sequence[NDArray[np.float32]],
    now: datetime,
) -> tuple[Relation, ...]:
    """The `similar` edges that the preset draws from freshly embedded memories to those there before them.

    `vectors` are of unit length, one for each of `waiting`. Those of one batch come in its order. What is not
    for everyone in the workspace is joined to by nothing: an edge that few may see would take the place of one that all
    may, and who indexes must not matter. Reads only.
    """
    if ctx.preset.links is None:
        return ()
    reader, where = Reader(Scope(workspace=scope.workspace)), Filter(current_at=now)
    first = {cue.memory_id: place for place, cue in reversed(list(enumerate(waiting)))}
    mates = await ctx.store.get(reader, list(first))
    joinable = {identifier for identifier, mate in mates.items() if not excluded_by(mate, where)}
    cosines: dict[UUID, dict[UUID, float]] = {memory: {} for memory in first}
    for place, cue in enumerate(waiting):
        near = cosines[cue.memory_id]
        request = SearchRequest(where=where, depth=ctx.preset.links.at_most + SPARE, vector=vectors[place], model=model)
        found = await ctx.store.search(reader, request)
        for identifier, cosine in zip(found.ids, found.similarity.tolist(), strict=True):
            if identifier not in first or first[identifier] < first[cue.memory_id]:
                near[identifier] = max(near.get(identifier, -1.0), cosine)
        for earlier in range(place):
            mate = waiting[earlier].memory_id
            if mate in joinable and first[mate] < first[cue.memory_id]:
                near[mate] = max(near.get(mate, -1.0), float(vectors[earlier] @ vectors[place]))
    edges = [ctx.preset.links.from_(memory, near, now) for memory, near in cosines.items()]
    return tuple(edge for several in edges for edge in several)


async def link(
    ctx: Context, reader: Reader, source: UUID, target: UUID, kind: RelationKind, weight: float
) -> tuple[Relation, bool]:
    """Say by hand how one memory relates to another; returns the edge and whether it is new.

    One that is there takes the new weight. Raises NotFound for an unknown end, InvalidInput for a memory with itself.
    """
    if source == target:
        raise InvalidInput("target", str(target), "another memory than the source")
    edge = Relation(source, target, kind, weight, ctx.clock())
    return edge, bool(await ctx.store.relate(reader, [edge]))


async def supersede(ctx: Context, reader: Reader, old: UUID, new: UUID) -> Memory:
    """Let `new` stand in the place of `old`, which is not recalled from now on but kept. Returns `old`.

    Raises NotFound for an unknown id, Conflict when another has replaced it, or when `new` was itself replaced by
    `old`.
    """
    if old == new:
        raise InvalidInput("new", str(new), "another memory than the old one")
    return await ctx.store.supersede(reader, old, new, at=ctx.clock())


async def invalidate(ctx: Context, reader: Reader, memory_id: UUID, replacement: UUID | None) -> Memory:
    """End a memory's validity now, in favour of `replacement` where one is given. Raises as `supersede` does."""
    if replacement is not None:
        return await supersede(ctx, reader, memory_id, replacement)
    return await ctx.store.supersede(reader, memory_id, None, at=ctx.clock())
