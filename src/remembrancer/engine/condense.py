"""What the sweeps that make one memory of several share: what they read, and how a model is asked for a summary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Final
from uuid import UUID

from remembrancer.domain.effect import Effect, Moved
from remembrancer.domain.job import Deferral
from remembrancer.domain.memory import Cue, Memory, MemoryWrite, Status
from remembrancer.domain.query import Filter
from remembrancer.domain.recalled import without_recalled
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Reader, Scope
from remembrancer.engine.ask import ask_for
from remembrancer.engine.context import Context
from remembrancer.errors import ModelUnavailable
from remembrancer.policies.consolidation.condensing import id_of
from remembrancer.policies.prompts import condense
from remembrancer.policies.prompts.condense import HeadedMemory, Summary
from remembrancer.values import dataclass

PAGE: Final = 500
TRIES: Final = 5
"""After so many failed tries to have a model sum something up, the stand-in does."""
MAX_READ_CHARS: Final = 60_000
"""Of so much text no model is asked for a summary: it would cost much, and leave out most of it."""
SILENT: Final = 2
"""After so many unanswered questions in a row the model is left alone until the next run."""


class Instead(Enum):
    """What is done where a model gave no summary."""

    STAND_IN = "stand-in"
    LATER = "later"


@dataclass(frozen=True, slots=True)
class OrderedMemories:
    """Memories in the order they happened, those of one moment as their events stand in the stream; the cues they are
    found by, in that order; and the events they were formed from.
    """

    sources: tuple[Memory, ...]
    cues: tuple[Cue, ...]
    event_ids: tuple[UUID, ...]


async def current(ctx: Context, scope: Scope, where: Filter) -> list[Memory]:
    """All memories of the workspace that the filter keeps, in the order of time, whoever may see them."""
    found: list[Memory] = []
    while True:
        page = await ctx.store.workspace_memories(scope, where, limit=PAGE, after=found[-1] if found else None)
        found += page
        if len(page) < PAGE:
            return found


async def not_undone(
    ctx: Context, groups: Iterable[tuple[Memory, ...]], purpose: str
) -> tuple[tuple[Memory, ...], ...]:
    """The groups, each of one home, of which no memory was made before for that purpose.

    Of the others somebody has brought back the sources, just as they were: to make them one again would undo that.
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
    """Of memories of one home, so that whoever may see the first may see them all."""
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


def told(found: OrderedMemories) -> tuple[HeadedMemory, ...]:
    """The memories as a model is told them, without what a recall put into them."""
    headings: dict[UUID, str] = {}
    for cue in found.cues:
        headings.setdefault(cue.memory_id, cue.heading)
    texts = ((headings.get(source.id, ""), without_recalled(source.text)) for source in found.sources)
    return tuple(HeadedMemory(heading, text) for heading, text in texts if text.strip())


def in_place_of(sources: Sequence[Memory], write: MemoryWrite | None, reason: str, now: datetime) -> Effect:
    """The new memory comes, with an edge to each of its sources, and they leave recall; all or nothing."""
    return Effect(
        expected={source.id: source.revision for source in sources},
        inserted=() if write is None else (write,),
        moved=tuple(Moved(source.id, Status.COMPACTED, reason) for source in sources),
        related=() if write is None else derived_from(write.memory.id, sources, now),
    )


def derived_from(memory_id: UUID, sources: Iterable[Memory], now: datetime) -> tuple[Relation, ...]:
    return tuple(Relation(memory_id, source.id, RelationKind.DERIVED_FROM, 1.0, now) for source in sources)


class Summaries:
    """Asks for summaries in one run of a job, and notes which pieces of work failed and wait.

    A piece that fails waits before it is tried again; after `TRIES` failures it is summed up without a model, as is one
    of more than `MAX_READ_CHARS`. Where the model leaves `SILENT` questions in a row unanswered it is asked nothing
    more in this run, and what is left is not held to have failed.
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
        """`item`: what the piece of work is called. Raises StoreUnavailable alone."""
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
        """The piece of work waits no longer."""
        if item in self._waiting:
            await self._ctx.store.settle(self._scope, self._job, [item])

    async def gone(self, items: Iterable[str]) -> None:
        """`items` are all the pieces of work there are: what else waits is no longer there to be done."""
        stale = sorted(set(self._waiting).difference(items))
        if stale:
            await self._ctx.store.settle(self._scope, self._job, stale)

    def _instead(self, waiting: Deferral | None) -> Instead | None:
        """What is done without asking; None: ask."""
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


async def summaries(ctx: Context, scope: Scope, job: str) -> Summaries:
    return Summaries(ctx, scope, job, await ctx.store.deferrals(scope, job))
