"""Shared by the jobs that combine memories: reading sources, asking for a summary, replacing sources."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import Enum
from typing import Final, TypeVar
from uuid import UUID

from remembrancer.domain.effect import Effect, StatusChange
from remembrancer.domain.job import Deferral
from remembrancer.domain.memory import Cue, Memory, MemoryWrite, Status
from remembrancer.domain.recalled import without_recalled
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Reader, Scope
from remembrancer.engine.ask import ask_for
from remembrancer.engine.context import Context
from remembrancer.errors import Conflict, ModelUnavailable
from remembrancer.policies.consolidation.condensing import id_of
from remembrancer.policies.prompts import condense
from remembrancer.policies.prompts.condense import HeadedMemory, Summary
from remembrancer.values import dataclass

Done = TypeVar("Done")
MemoryGroup = tuple[Memory, ...]

TRIES: Final = 5
"""After this many failed summaries of a group, the extract without a model is used."""
MAX_READ_CHARS: Final = 60_000
"""A longer text is not given to a model: a summary would be expensive and leave most of it out."""
SILENT: Final = 2
"""After this many unanswered requests in a row, the model is not asked again in this run."""


class Instead(Enum):
    """The fallback if a model gave no summary: use the extract without a model, or retry in a later run."""

    STAND_IN = "stand-in"
    LATER = "later"


@dataclass(frozen=True, slots=True)
class OrderedMemories:
    """Memories in time order (ties by their events' positions), their cues in that order, and the events they were
    formed from.
    """

    sources: tuple[Memory, ...]
    cues: tuple[Cue, ...]
    event_ids: tuple[UUID, ...]


async def not_undone(ctx: Context, groups: Iterable[MemoryGroup], purpose: str) -> tuple[MemoryGroup, ...]:
    """The groups for which no memory was made before with this purpose.

    If one was made, its unchanged sources were restored by hand; replacing them again would undo that.
    """
    made = {id_of(group, purpose): group for group in groups}
    by_scope: dict[Scope, list[UUID]] = {}
    for identifier, group in made.items():
        by_scope.setdefault(group[0].scope, []).append(identifier)
    for scope, ids in by_scope.items():
        for identifier in await ctx.store.get(Reader(scope), ids):
            del made[identifier]
    return tuple(made.values())


async def found_by(ctx: Context, sources: Sequence[Memory]) -> OrderedMemories:
    """The cues and events of memories that have the same `SharedAttributes`, so that a reader of the first of them may
    see all.
    """
    reader = Reader(sources[0].scope)
    cues = await ctx.store.cues(reader, [source.id for source in sources])
    events = {source.id: await ctx.store.provenance(reader, source.id) for source in sources}

    def happened(source: Memory) -> tuple[datetime, int]:
        return source.occurred_to, min((event.seq for event in events[source.id]), default=0)

    ordered = tuple(sorted(sources, key=happened))
    return OrderedMemories(
        sources=ordered,
        cues=tuple(cue for source in ordered for cue in cues.get(source.id, ())),
        event_ids=tuple(dict.fromkeys(event.id for source in ordered for event in events[source.id])),
    )


def headed(found: OrderedMemories) -> tuple[HeadedMemory, ...]:
    """The memories for the prompt, without text that a recall inserted."""
    headings: dict[UUID, str] = {}
    for cue in found.cues:
        headings.setdefault(cue.memory_id, cue.heading)
    texts = ((headings.get(source.id, ""), without_recalled(source.text)) for source in found.sources)
    return tuple(HeadedMemory(heading, text) for heading, text in texts if text.strip())


def in_place_of(sources: Sequence[Memory], write: MemoryWrite | None, reason: str, now: datetime) -> Effect:
    """The effect that inserts the new memory with relations to its sources, and takes the sources out of recall."""
    return Effect(
        expected={source.id: source.revision for source in sources},
        inserted=() if write is None else (write,),
        status_changes=tuple(StatusChange(source.id, Status.COMPACTED, reason) for source in sources),
        related=() if write is None else derived_from(write.memory.id, sources, now),
    )


def derived_from(memory_id: UUID, sources: Iterable[Memory], now: datetime) -> tuple[Relation, ...]:
    return tuple(Relation(memory_id, source.id, RelationKind.DERIVED_FROM, 1.0, now) for source in sources)


@dataclass(frozen=True, slots=True, kw_only=True)
class CondenseReport:
    """The result of a run that combines memories. `failed`: groups whose summary failed. `left`: groups that wait,
    changed meanwhile, or exceeded the limit. `reason`: why nothing, or not everything, was done. `stand_in`: why no
    model was asked; "" if one was.
    """

    failed: int = 0
    left: int = 0
    reason: str = ""
    stand_in: str = ""
    dry_run: bool = False


class Summaries:
    """Asks for summaries during one run of a job, and defers groups whose summary fails.

    After `TRIES` failures, or with more than `MAX_READ_CHARS` characters, a group gets the extract. After `SILENT`
    unanswered requests in a row, the model is not asked again in this run; the remaining groups do not count as failed.
    """

    def __init__(self, ctx: Context, scope: Scope, job: str, waiting: Iterable[Deferral]) -> None:
        self._ctx = ctx
        self._scope = scope
        self._job = job
        self._waiting: Mapping[str, Deferral] = {deferral.item: deferral for deferral in waiting}
        self._unanswered = 0
        self.model = "" if ctx.llm is None else ctx.llm.model_id
        self.failed = 0
        self.reason = ""

    async def of(
        self, item: str, instructions: str, several: Sequence[HeadedMemory], *, max_chars: int
    ) -> Summary | Instead:
        """The summary of some memories. `item`: their name among the deferred items. Raises only StoreUnavailable."""
        instead = self._instead(self._waiting.get(item))
        if instead is not None:
            return instead
        if sum(len(one.text) for one in several) > MAX_READ_CHARS:
            return Instead.STAND_IN

        try:
            said = await ask_for(
                self._ctx,
                self._scope,
                lambda value: condense.read(value, several, max_chars=max_chars),
                purpose=self._job,
                instructions=condense.asked(instructions, max_chars=max_chars),
                material=condense.material(several),
                schema=condense.SCHEMA,
            )
        except ModelUnavailable as error:
            self._unanswered += 1
            return await self._failed(item, str(error))
        self._unanswered = 0
        return await self._failed(item, said) if isinstance(said, str) else said

    async def done(self, item: str) -> None:
        """Remove the item from the deferred ones."""
        if item in self._waiting:
            await self._ctx.store.settle(self._scope, self._job, [item])

    async def gone(self, items: Iterable[str]) -> None:
        """Remove deferred items that no longer exist. `items`: all existing ones."""
        stale = sorted(set(self._waiting).difference(items))
        if stale:
            await self._ctx.store.settle(self._scope, self._job, stale)

    def _instead(self, waiting: Deferral | None) -> Instead | None:
        """The fallback without asking the model; None: ask it."""
        if self._ctx.llm is None or (waiting is not None and waiting.attempts >= TRIES):
            return Instead.STAND_IN
        if waiting is not None and waiting.retry_at > self._ctx.clock():
            self.reason = self.reason or f"waits until {waiting.retry_at.isoformat()}: {waiting.error}"
            return Instead.LATER
        return Instead.LATER if self._unanswered >= SILENT else None

    async def _failed(self, item: str, error: str) -> Instead:
        await self._ctx.store.defer(self._scope, self._job, item, error=error, now=self._ctx.clock())
        self.failed += 1
        self.reason = error
        return Instead.LATER


async def sweep(
    ctx: Context,
    scope: Scope,
    job: str,
    groups: Sequence[MemoryGroup],
    *,
    limit: int | None,
    idle: str,
    planned: Callable[[MemoryGroup], Done] | None,
    replaced: Callable[[MemoryGroup, Summaries], Awaitable[tuple[Effect, Done, datetime] | None]],
) -> tuple[tuple[Done, ...], CondenseReport]:
    """Process up to `limit` groups for which no memory was made before, each in one transaction.

    `idle`: the `reason` if there is no group. `planned`: given for a dry run, which asks no model and writes nothing.
    `replaced`: returns a group's effect, its report, and the time of both; None: retry later.
    """
    groups = await not_undone(ctx, groups, job)
    report = CondenseReport(
        reason="" if groups else idle, stand_in=ctx.without_llm if ctx.llm is None else "", dry_run=planned is not None
    )
    taken = groups[:limit]
    if planned is not None:
        return tuple(map(planned, taken)), replace(report, left=len(groups) - len(taken))
    asking = Summaries(ctx, scope, job, await ctx.store.deferrals(scope, job))
    done: list[Done] = []
    lost = 0
    for group in taken:
        made = await replaced(group, asking)
        if made is None:
            continue
        effect, one, at = made
        try:
            await ctx.store.commit(scope, effect, at=at)
        except Conflict:
            lost += 1
            continue
        await asking.done(item(group))
        done.append(one)
    await asking.gone(map(item, groups))
    reason = report.reason or asking.reason or (f"another process changed a memory meanwhile: {lost}" if lost else "")
    left = len(groups) - len(done) - asking.failed
    return tuple(done), replace(report, failed=asking.failed, left=left, reason=reason)


def item(group: MemoryGroup) -> str:
    """The group's name among the deferred items, by its first memory: later ones may join the group."""
    return str(group[0].id)
