"""Promotion: sharing learnings that recur in several jobs with the project; with the workspace only after approval."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.effect import Effect
from remembrancer.domain.identity import derived_id
from remembrancer.domain.memory import Memory, MemoryWrite, holds
from remembrancer.domain.query import Filter
from remembrancer.domain.recalled import without_recalled
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import SCOPE_PARTS, Level, Reader, Scope, Visibility, level_of
from remembrancer.domain.strength import Usage
from remembrancer.engine.condense import derived_from
from remembrancer.engine.context import Context, answering, every_memory
from remembrancer.errors import Conflict, InvalidInput, NotFound
from remembrancer.policies.admission.formation import own_cue
from remembrancer.policies.consolidation.condensing import Condensed, SharedAttributes, ids_told, one_of
from remembrancer.policies.learning import promoting
from remembrancer.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LIMIT: Final = 200
MAX_LIMIT: Final = 100_000
BY_ITSELF: Final = "promotion"


@dataclass(frozen=True, slots=True, kw_only=True)
class Promoted:
    """A memory of the project, and the learnings of different jobs from which it was promoted, oldest first."""

    memory_id: UUID
    sources: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PromotionReport:
    """The result of promotion to projects. `promoted`: new memories of a project. `supported`: existing ones that
    further jobs confirm. With `dry_run`: those that would be. `left`: groups that changed meanwhile or exceeded the
    limit. `reason`: why nothing, or not everything, was done.
    """

    promoted: tuple[Promoted, ...] = ()
    supported: tuple[Promoted, ...] = ()
    left: int = 0
    reason: str = ""
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A memory that could be shared with the workspace after approval. `jobs`: the number of jobs it occurred in;
    `similar`: the memories it occurred in.
    """

    memory: Memory
    jobs: int
    similar: tuple[UUID, ...]


async def promote_recurring(
    ctx: Context, scope: Scope, *, limit: int = LIMIT, dry_run: bool = False
) -> PromotionReport:
    """Share with each project the learnings that recurred in enough of its jobs, up to `limit` (1 to 100,000).

    The learnings stay; the new memory has the longest of their texts and `derived_from` relations to them. If the
    project has the learning already, the learnings get `supports` relations to it instead. A memory that a person
    retired is not promoted again. Raises InvalidInput for a limit out of range.
    """
    validation.whole("limit", limit, 1, MAX_LIMIT)
    rule = ctx.preset.promotion
    if rule is None:
        return PromotionReport(reason=f"preset {ctx.preset.name} does not promote learnings", dry_run=dry_run)
    now = ctx.clock()
    learnings = await _learnings(ctx, scope, rule, now)
    recurring = [group for group in await asyncio.to_thread(learnings.recurring) if group[0].scope.project is not None]
    promoted: list[Promoted] = []
    supported: list[Promoted] = []
    lost = left = 0
    for group in recurring:
        known, edges = await _known(ctx, scope, learnings, group, Level.PROJECT)
        effect, one = (
            _promotion(group, Scope(workspace=scope.workspace, project=group[0].scope.project), now)
            if known is None
            else _supported(known, group, edges, now)
        )
        if effect is None:
            continue
        if len(promoted) + len(supported) == limit:
            left += 1
            continue
        if not dry_run:
            try:
                await ctx.store.commit(scope, effect, at=now)
            except Conflict:
                lost += 1
                continue
        (promoted if known is None else supported).append(one)
    return PromotionReport(
        promoted=tuple(promoted),
        supported=tuple(supported),
        left=left + lost,
        reason=_reason(rule, recurring=bool(recurring), done=bool(promoted or supported), lost=lost),
        dry_run=dry_run,
    )


async def candidates(ctx: Context, reader: Reader) -> tuple[Candidate, ...]:
    """The memories that could be shared with the workspace: those promoted to projects, and learnings without a project
    from enough jobs, unless the workspace has them. Those of most jobs first, ties by time. Only memories that the
    reader sees count.

    People approve them with `promote`; nothing is shared with the workspace automatically. Empty if the preset has no
    promotion.
    """
    rule = ctx.preset.promotion
    if rule is None:
        return ()
    now = ctx.clock()
    scope = reader.scope
    learnings = await _learnings(ctx, scope, rule, now, reader)
    found: list[Candidate] = []
    for group in await asyncio.to_thread(learnings.recurring):
        if group[0].scope.project is None:
            known, _ = await _known(ctx, scope, learnings, group, Level.WORKSPACE)
            if known is None:
                found.append(_candidate(promoting.longest(group), group))
    for memory in learnings.of_level(Level.PROJECT):
        if promoting.PROMOTED_FROM not in memory.metadata:
            continue
        known, edges = await _known(ctx, scope, learnings, (memory,), Level.WORKSPACE)
        if known is None:
            sources = [edge.target for edge in edges if edge.source == memory.id and _leads_down(edge)]
            supporters = [edge.source for edge in edges if edge.target == memory.id and _supports(edge)]
            jobs = await ctx.store.get(reader, [*sources, *supporters])
            found.append(_candidate(memory, tuple(jobs.values())))
    return tuple(sorted(found, key=lambda one: (-one.jobs, one.memory.occurred_to, one.memory.id)))


async def promote(ctx: Context, reader: Reader, memory_id: UUID, *, to: Level) -> tuple[Memory, bool]:
    """Copy a memory to a wider level, with a person's approval. Returns the memory at that level, and whether it is
    new. The original stays; a `derived_from` relation leads to it.

    Raises NotFound for a memory that the reader does not see, Conflict if it changes meanwhile, InvalidInput for one
    that is not current, is not visible to the workspace, or is not below the level `to`.
    """
    now, scope = ctx.clock(), reader.scope
    memory = (await ctx.store.get(reader, [memory_id])).get(memory_id)
    if memory is None:
        raise NotFound("memory", memory_id)
    if not holds(memory, now):
        raise InvalidInput("memory_id", str(memory_id), "a memory that is active, neither superseded nor expired")
    if memory.visibility is not Visibility.WORKSPACE:
        raise InvalidInput(
            "memory_id",
            f"{memory_id}, which only its {memory.visibility} sees",
            "a memory with the visibility workspace",
        )
    wider = _widened(memory, to)
    write = _write((memory,), wider, derived_id(memory.id, f"promoted to {to.name.lower()}"), now)
    effect = Effect(
        expected={memory.id: memory.revision},
        inserted=(write,),
        related=derived_from(write.memory.id, (memory,), now),
    )
    try:
        await ctx.store.commit(scope, effect, at=now)
    except Conflict:
        there = (await ctx.store.get(Reader(wider), [write.memory.id])).get(write.memory.id)
        if there is None:
            raise
        return there, False
    return write.memory, True


def _widened(memory: Memory, to: Level) -> Scope:
    """The memory's scope without the parts below that level."""
    wider = {level: memory.scope.narrowed(**dict.fromkeys(SCOPE_PARTS[level:])) for level in Level}
    allowed = [level for level in Level if level < level_of(memory.scope) and level_of(wider[level]) is level]
    if to not in allowed:
        named = ", ".join(level.name.lower() for level in allowed)
        raise InvalidInput("to", to.name.lower(), f"a wider level than its own: {named or 'there is none'}")
    return wider[to]


async def _learnings(
    ctx: Context, scope: Scope, rule: promoting.Promotion, now: datetime, reader: Reader | None = None
) -> promoting.Learnings:
    """The learnings that everybody may see; with a `reader`, those of them that it sees."""
    where = Filter(current_at=now, tiers=frozenset(rule.tiers), visibilities=frozenset({Visibility.WORKSPACE}))
    rows = [row async for row in every_memory(ctx, scope, where) if row.topic_key is None]
    if reader is not None:
        seen = await ctx.store.get(reader, [row.id for row in rows])
        rows = [row for row in rows if row.id in seen]
    everybody = Reader(Scope(workspace=scope.workspace))  # without an agent
    ids = [row.id for row in rows]
    vectors: Mapping[UUID, NDArray[np.float32]] = {}
    model = (await answering(ctx, scope)).model
    if model is not None:
        vectors = await ctx.store.vectors(everybody, model, ids)
    # In another thread: with many memories it takes seconds, and would block the event loop.
    return await asyncio.to_thread(promoting.Learnings, rows, vectors, rule, ctx.preset.pinned_tag)


async def _known(
    ctx: Context, scope: Scope, learnings: promoting.Learnings, group: Sequence[Memory], level: Level
) -> tuple[Memory | None, tuple[Relation, ...]]:
    """The memory of that level with the same content as the group, whatever its status, and the group's relations."""
    reader = Reader(Scope(workspace=scope.workspace))
    edges = await ctx.store.relations(reader, [memory.id for memory in group])
    ids = {memory.id for memory in group}
    above = [edge.source for edge in edges if _leads_down(edge) and edge.target in ids]
    formed = await ctx.store.get(reader, above)
    for identifier in above:
        memory = formed.get(identifier)
        if memory is not None and level_of(memory.scope) is level and promoting.PROMOTED_FROM in memory.metadata:
            return memory, edges
    return learnings.known(group, level), edges


def _leads_down(edge: Relation) -> bool:
    return edge.kind is RelationKind.DERIVED_FROM


def _supports(edge: Relation) -> bool:
    return edge.kind is RelationKind.SUPPORTS


def _promotion(group: Sequence[Memory], scope: Scope, now: datetime) -> tuple[Effect, Promoted]:
    write = _write(group, scope, derived_id(group[0].id, BY_ITSELF), now)
    effect = Effect(
        expected={memory.id: memory.revision for memory in group},
        inserted=(write,),
        related=derived_from(write.memory.id, group, now),
    )
    return effect, Promoted(memory_id=write.memory.id, sources=tuple(memory.id for memory in group))


def _supported(
    known: Memory, group: Sequence[Memory], edges: Sequence[Relation], now: datetime
) -> tuple[Effect | None, Promoted]:
    """Relations from the group's new members to the known memory; no effect if there are none to write."""
    joined = {edge.target for edge in edges if edge.source == known.id and _leads_down(edge)}
    joined |= {edge.source for edge in edges if edge.target == known.id and _supports(edge)}
    new = [memory for memory in group if memory.id not in joined]
    one = Promoted(memory_id=known.id, sources=tuple(memory.id for memory in new))
    if not new or not holds(known, now):
        return None, one
    effect = Effect(
        expected={memory.id: memory.revision for memory in (known, *new)},
        related=tuple(Relation(memory.id, known.id, RelationKind.SUPPORTS, 1.0, now) for memory in new),
    )
    return effect, one


def _write(group: Sequence[Memory], scope: Scope, identifier: UUID, now: datetime) -> MemoryWrite:
    """The promoted memory. Its only cue is its own text, because the learnings stay and have their own cues."""
    longest = promoting.longest(group)
    attributes = SharedAttributes(scope, longest.visibility, longest.valid_from, longest.valid_until, pinned=False)
    memory = one_of(
        [replace(memory, scope=scope) for memory in group],
        Condensed(text=without_recalled(longest.text), title=longest.title, by="longest text"),
        identifier=identifier,
        attributes=attributes,
        tier=longest.tier,
        metadata={promoting.PROMOTED_FROM: ids_told(group[: promoting.NAMED])},
        now=now,
    )
    # It is in no file and belongs to no job, and its usage counts start at 0.
    fresh = replace(
        memory,
        source=None,
        metadata={name: value for name, value in memory.metadata.items() if name not in promoting.OF_A_JOB},
        strength=replace(memory.strength, usage=Usage()),
    )
    return MemoryWrite(fresh, (own_cue(fresh),))


def _candidate(memory: Memory, similar: Sequence[Memory]) -> Candidate:
    jobs = {job for each in similar if (job := promoting.job_of(each)) is not None}
    return Candidate(memory=memory, jobs=len(jobs), similar=tuple(each.id for each in similar))


def _reason(rule: promoting.Promotion, *, recurring: bool, done: bool, lost: int) -> str:
    if lost:
        return f"another process changed a memory meanwhile: {lost}"
    if not recurring:
        return f"no learning of a project occurs in {rule.jobs} different jobs"
    return "" if done else "every recurring learning is promoted already"
