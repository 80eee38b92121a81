"""Relations between memories: `similar` ones, made when memories are embedded, and those that callers add."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final
from uuid import UUID

from remembrancer.domain.memory import Memory
from remembrancer.domain.query import Filter
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Reach, Reader, Scope, Visibility, is_read_with
from remembrancer.domain.selection import excluded_by
from remembrancer.engine.context import Context
from remembrancer.errors import InvalidInput
from remembrancer.ports.changes import ReadView
from remembrancer.ports.embeddings import PendingCue
from remembrancer.ports.index import SearchRequest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SPARE: Final = 2
"""Neighbours requested beyond the limit, because the memory itself and others of its batch may be among them."""
DEEPER: Final = 8
"""The factor by which a search grows that found too few memories which may be linked."""


async def links(
    ctx: Context,
    model: str,
    scope: Scope,
    waiting: Sequence[PendingCue],
    vectors: Sequence[NDArray[np.float32]],
    now: datetime,
) -> tuple[Relation, ...]:
    """The `similar` relations from newly embedded memories to earlier ones, by the preset's rule. Reads only.

    `vectors`: unit length, one for each of `waiting`. Within a batch, earlier memories are earlier. A memory is linked
    only to those that whoever reads it also reads: memories visible to the workspace, of the same agent and crew, or of
    nobody within these. Rows of others therefore never take the place of a neighbour.
    """
    rule = ctx.preset.links
    if rule is None:
        return ()
    where = Filter(current_at=now, visibilities=frozenset({Visibility.WORKSPACE}))

    def drawn(view: ReadView) -> tuple[Relation, ...]:
        neighbours = partial(_neighbours, ctx, view, model, where, rule.at_most + SPARE)
        found = [neighbours(cue.owner, vector) for cue, vector in zip(waiting, vectors, strict=True)]
        mates = view.get(Reader(Scope(workspace=scope.workspace)), [cue.memory_id for cue in waiting])
        joinable = {identifier for identifier, mate in mates.items() if not excluded_by(mate, where)}
        near = _near(waiting, vectors, found, joinable)
        return tuple(edge for memory, cosines in near.items() for edge in rule.from_(memory, cosines, now))

    return await ctx.store.read(drawn)


def _neighbours(
    ctx: Context,
    view: ReadView,
    model: str,
    where: Filter,
    wanted: int,
    owner: Scope,
    vector: NDArray[np.float32],
) -> dict[UUID, float]:
    """The cosines of the `wanted` memories nearest to a vector that a memory of `owner` may be linked to."""
    everybody = Reader(Scope(workspace=owner.workspace))
    reader = everybody if owner.agent is None else Reader(owner.narrowed(session=None), Reach.OWN)
    depth = wanted
    while True:
        request = SearchRequest(where=where, depth=depth, model=model)
        found = ctx.index.search(view, reader, request).candidates(vector)
        rows = view.get(everybody, found.ids)
        near = {
            identifier: cosine
            for identifier, cosine in zip(found.ids, found.similarity.tolist(), strict=True)
            if identifier in rows and is_read_with(rows[identifier].scope, owner)
        }
        if len(near) >= wanted or len(found.ids) < depth:
            return near
        depth *= DEEPER


def _near(
    waiting: Sequence[PendingCue],
    vectors: Sequence[NDArray[np.float32]],
    found: Sequence[Mapping[UUID, float]],
    joinable: Collection[UUID],
) -> dict[UUID, dict[UUID, float]]:
    """For each memory of a batch, the cosines of its neighbours, and of earlier memories of the batch.

    `waiting`, `vectors` and `found` have one element for each cue of the batch, in the same order.
    """
    first = {cue.memory_id: place for place, cue in reversed(list(enumerate(waiting)))}
    cosines: dict[UUID, dict[UUID, float]] = {memory: {} for memory in first}
    for place, cue in enumerate(waiting):
        memory, near = cue.memory_id, cosines[cue.memory_id]
        for identifier, cosine in found[place].items():
            if identifier not in first or first[identifier] < first[memory]:
                near[identifier] = max(near.get(identifier, -1.0), cosine)
        for earlier, mate in enumerate(waiting[:place]):
            if first[mate.memory_id] >= first[memory] or mate.memory_id not in joinable:
                continue
            if is_read_with(mate.owner, cue.owner):
                cosine = float(vectors[earlier] @ vectors[place])
                near[mate.memory_id] = max(near.get(mate.memory_id, -1.0), cosine)
    return cosines


async def link(
    ctx: Context, reader: Reader, source: UUID, target: UUID, kind: RelationKind, weight: float
) -> tuple[Relation, bool]:
    """Add a relation. Returns it, and whether it is new.

    An existing one gets the new weight. Raises NotFound for an unknown end, InvalidInput for a memory with itself.
    """
    if source == target:
        raise InvalidInput("target", str(target), "a memory other than the source")
    edge = Relation(source, target, kind, weight, ctx.clock())
    return edge, bool(await ctx.store.relate(reader, [edge]))


async def supersede(ctx: Context, reader: Reader, old: UUID, new: UUID) -> Memory:
    """Supersede `old` by `new`: `old` is kept and no longer recalled. Returns `old`.

    Raises NotFound for an unknown id, Conflict if `old` has another successor or `new` was superseded by `old`.
    """
    if old == new:
        raise InvalidInput("new", str(new), "a memory other than the old one")
    return await ctx.store.supersede(reader, old, new, at=ctx.clock())


async def invalidate(ctx: Context, reader: Reader, memory_id: UUID, replacement: UUID | None) -> Memory:
    """End a memory's validity now, with a successor if `replacement` is given. Raises as `supersede` does."""
    if replacement is not None:
        return await supersede(ctx, reader, memory_id, replacement)
    return await ctx.store.supersede(reader, memory_id, None, at=ctx.clock())
