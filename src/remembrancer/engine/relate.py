"""Relations between memories: `similar` ones, made when memories are embedded, and those that callers add."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from remembrancer.domain.candidates import Candidates
from remembrancer.domain.memory import Memory
from remembrancer.domain.query import Filter
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Reader, Scope
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


async def links(
    ctx: Context,
    model: str,
    scope: Scope,
    waiting: Sequence[PendingCue],
    vectors: Sequence[NDArray[np.float32]],
    now: datetime,
) -> tuple[Relation, ...]:
    """The `similar` relations from newly embedded memories to earlier ones, by the preset's rule. Reads only.

    `vectors`: unit length, one for each of `waiting`. Within a batch, earlier memories are earlier. Only memories
    visible to the whole workspace are linked: otherwise private neighbours would displace public ones, and the result
    would depend on which caller's sweep indexed them.
    """
    rule = ctx.preset.links
    if rule is None:
        return ()
    reader = Reader(Scope(workspace=scope.workspace))
    request = SearchRequest(where=Filter(current_at=now), depth=rule.at_most + SPARE, model=model)

    def drawn(view: ReadView) -> tuple[Relation, ...]:
        found = [ctx.index.search(view, reader, request).candidates(vector) for vector in vectors]
        mates = view.get(reader, [cue.memory_id for cue in waiting])
        joinable = {identifier for identifier, mate in mates.items() if not excluded_by(mate, request.where)}
        near = _near([cue.memory_id for cue in waiting], vectors, found, joinable)
        return tuple(edge for memory, cosines in near.items() for edge in rule.from_(memory, cosines, now))

    return await ctx.store.read(drawn)


def _near(
    memories: Sequence[UUID],
    vectors: Sequence[NDArray[np.float32]],
    found: Sequence[Candidates],
    joinable: Collection[UUID],
) -> dict[UUID, dict[UUID, float]]:
    """For each memory of a batch, the cosines of its neighbours, and of earlier memories of the batch.

    `memories`, `vectors` and `found` have one element for each cue of the batch, in the same order.
    """
    first = {memory: place for place, memory in reversed(list(enumerate(memories)))}
    cosines: dict[UUID, dict[UUID, float]] = {memory: {} for memory in first}
    for place, memory in enumerate(memories):
        near = cosines[memory]
        for identifier, cosine in zip(found[place].ids, found[place].similarity.tolist(), strict=True):
            if identifier not in first or first[identifier] < first[memory]:
                near[identifier] = max(near.get(identifier, -1.0), cosine)
        for earlier, mate in enumerate(memories[:place]):
            if mate in joinable and first[mate] < first[memory]:
                near[mate] = max(near.get(mate, -1.0), float(vectors[earlier] @ vectors[place]))
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
