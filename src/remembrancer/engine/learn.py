"""Storing learnings as memories, with the usage and status in their headers."""

from __future__ import annotations

from dataclasses import replace

from remembrancer.domain.learning import Learning
from remembrancer.domain.memory import Memory
from remembrancer.domain.scope import Scope
from remembrancer.engine.context import Context
from remembrancer.engine.record import own_text
from remembrancer.policies.learning.learnings import memory_of_learning


async def learn(ctx: Context, scope: Scope, learning: Learning, *, source: str, tags: tuple[str, ...]) -> Memory:
    """Store a learning once, under its own id. `source`: the file it is from.

    Raises Conflict if that id has another text, or belongs to another memory; InvalidInput if the text only repeats
    recalled memories.
    """
    learning = replace(learning, text=own_text(learning.text))
    write = memory_of_learning(learning, scope=scope, source=source, tags=tags, now=ctx.clock())
    memory, _ = await ctx.store.insert(scope, write, topics=ctx.preset.formation.topics)
    return memory
