"""Forgetting: retire a memory, or restore it. A retired memory is kept and not recalled."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from remembrancer.domain.effect import Effect, StatusChange
from remembrancer.domain.event import Event
from remembrancer.domain.instants import MICROSECOND
from remembrancer.domain.memory import Memory, MemoryWrite, Status
from remembrancer.domain.query import Filter
from remembrancer.domain.recalled import without_recalled
from remembrancer.domain.scope import Reader
from remembrancer.engine.context import Context
from remembrancer.engine.journal import still_said
from remembrancer.errors import Conflict, NotFound
from remembrancer.policies.admission.formation import memory_id_of
from remembrancer.policies.consolidation.extractive import AttributedText
from remembrancer.policies.segmentation.episodes import SUMMARY_BY, TURNS, told_without
from remembrancer.policies.segmentation.segmentation import EPISODE

ATTEMPTS: Final = 8
"""The maximum number of tries if an episode changed meanwhile."""
MOST: Final = 1_000
"""The most episodes of one time that are searched for a turn."""
FORGOTTEN: Final = "forgotten"
"""The reason in the audit, for the memory and for episodes without other turns."""


async def forget(ctx: Context, reader: Reader, memory_id: UUID) -> Memory:
    """Retire a memory. Episodes that contain its turn are summarised again without it and lose that cue; an episode
    without other turns is retired too. All changes are one transaction.

    Other memories derived from it (facts, rules, summaries) and the journal stay. Raises NotFound, and Conflict if
    concurrent writers keep changing the episodes.
    """
    for attempt in range(1, ATTEMPTS + 1):
        memory = (await ctx.store.get(reader, [memory_id])).get(memory_id)
        if memory is None:
            raise NotFound("memory", memory_id)
        now = ctx.clock()
        effect = await _without(ctx, memory, now)
        if effect is None:
            break
        try:
            await ctx.store.commit(reader.scope, effect, at=now)
        except Conflict:
            if attempt == ATTEMPTS:
                raise
        else:
            break
    return await ctx.store.set_status(reader, memory_id, Status.RETIRED, at=ctx.clock())


async def restore(ctx: Context, reader: Reader, memory_id: UUID) -> Memory:
    """Make a retired memory active again. Episodes are not changed.

    Raises NotFound, and Conflict if another memory has its topic key now.
    """
    topics = ctx.preset.formation.topics
    return await ctx.store.set_status(reader, memory_id, Status.ACTIVE, at=ctx.clock(), topics=topics)


async def _without(ctx: Context, memory: Memory, now: datetime) -> Effect | None:
    """The effect that retires the memory and removes its turn from episodes; None if no episode contains the turn."""
    turn = next(
        (event for event in await _events(ctx, memory) if memory_id_of(event.id) == memory.id),
        None,
    )
    told = [] if turn is None else await _telling(ctx, turn, now)
    revised = [write for episode, left in told if (write := await _anew(ctx, episode, left)) is not None]
    ended = [episode for episode, left in told if not left]
    if not revised and not ended:
        return None
    changed = [write.memory.id for write in revised] + [episode.id for episode in ended]
    revisions = {episode.id: episode.revision for episode, _ in told}
    return Effect(
        expected={identifier: revisions[identifier] for identifier in changed},
        revised=tuple(revised),
        status_changes=tuple(StatusChange(one.id, Status.RETIRED, FORGOTTEN) for one in (memory, *ended)),
    )


async def _telling(ctx: Context, turn: Event, now: datetime) -> list[tuple[Memory, tuple[Event, ...]]]:
    """The current episodes formed from a stream that contain this turn, with their other turns, in order."""
    where = Filter(
        current_at=now,
        kinds=frozenset({EPISODE}),
        since=turn.occurred_at,
        until=turn.occurred_at + MICROSECOND,
    )
    found: list[tuple[Memory, tuple[Event, ...]]] = []
    for episode in await ctx.store.workspace_memories(turn.scope, where, limit=MOST):
        if episode.scope == turn.scope and SUMMARY_BY in episode.metadata:
            events = await _events(ctx, episode)
            if turn.id in {event.id for event in events}:
                left = await still_said(ctx, Reader(episode.scope), [event for event in events if event.id != turn.id])
                found.append((episode, left))
    return found


async def _anew(ctx: Context, episode: Memory, left: Sequence[Event]) -> MemoryWrite | None:
    """The episode without the forgotten turns; None if no turn is left, or it already is without them."""
    if not left or episode.metadata.get(TURNS) == len(left):
        return None
    cues = (await ctx.store.cues(Reader(episode.scope), [episode.id])).get(episode.id, ())
    turns = [AttributedText(event.actor or event.role.value, without_recalled(event.beginning)) for event in left]
    return told_without(episode, left, turns, searched=any(cue.event_id is not None for cue in cues))


async def _events(ctx: Context, memory: Memory) -> list[Event]:
    """The events a memory was formed from, in the order of the stream."""
    return sorted(await ctx.store.provenance(Reader(memory.scope), memory.id), key=lambda event: event.seq)
