"""Forgetting that can be undone: a retired memory is kept and not recalled."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from remembrancer.domain.effect import Effect, Moved
from remembrancer.domain.event import Event
from remembrancer.domain.memory import Memory, MemoryWrite, Status
from remembrancer.domain.query import Filter
from remembrancer.domain.recalled import without_recalled
from remembrancer.domain.scope import Reader
from remembrancer.engine.context import Context
from remembrancer.engine.still_said import still_said
from remembrancer.errors import Conflict, NotFound
from remembrancer.policies.admission.formation import memory_id_of
from remembrancer.policies.consolidation.extractive import AttributedText
from remembrancer.policies.forgetting.dynamics import MICROSECOND
from remembrancer.policies.segmentation.episodes import SUMMARY_BY, TURNS, told_without
from remembrancer.policies.segmentation.segmentation import EPISODE

ATTEMPTS: Final = 8
"""How often an episode may change between being read and being told anew."""
MOST: Final = 1_000
"""Episodes of a workspace at one moment, among which that of a turn is looked for."""
FORGOTTEN: Final = "forgotten"
"""What the audit says of it, and of an episode of nothing else."""


async def forget(ctx: Context, reader: Reader, memory_id: UUID) -> Memory:
    """Retire a memory. Episodes that were formed of its turn are told anew, in the words of their other turns, and are
    not found by it any more; one that has no other turn is retired with it. All of that is done, or nothing.

    What else was formed with it, such as facts, rules and summaries, stays, and so does the journal. Raises NotFound,
    and Conflict where others keep changing those episodes meanwhile.
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
    """Make a retired memory active again: it is found by itself then; episodes stay as they are.

    Raises NotFound, Conflict when another took its topic key since.
    """
    return await ctx.store.set_status(reader, memory_id, Status.ACTIVE, at=ctx.clock())


async def _without(ctx: Context, memory: Memory, now: datetime) -> Effect | None:
    """The memory is retired, and no episode tells its turn; None: none does."""
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
        moved=tuple(Moved(one.id, Status.RETIRED, FORGOTTEN) for one in (memory, *ended)),
    )


async def _telling(ctx: Context, turn: Event, now: datetime) -> list[tuple[Memory, tuple[Event, ...]]]:
    """The current episodes that were formed of a stream and of this turn, with their other turns, in order."""
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
    """None: there is nothing to tell, or it is told without the others already."""
    if not left or episode.metadata.get(TURNS) == len(left):
        return None
    cues = (await ctx.store.cues(Reader(episode.scope), [episode.id])).get(episode.id, ())
    turns = [AttributedText(event.actor or event.role.value, without_recalled(event.text)) for event in left]
    return told_without(episode, left, turns, searched=any(cue.event_id is not None for cue in cues))


async def _events(ctx: Context, memory: Memory) -> list[Event]:
    """What a memory was formed from, in the order of the stream."""
    return sorted(await ctx.store.provenance(Reader(memory.scope), memory.id), key=lambda event: event.seq)
