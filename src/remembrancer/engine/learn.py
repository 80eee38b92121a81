"""Learnings become memories: what their headers say of use and standing goes with them."""

from __future__ import annotations

from remembrancer.domain.learning import Learning
from remembrancer.domain.memory import Memory
from remembrancer.domain.scope import Scope
from remembrancer.engine.context import Context
from remembrancer.policies.learning.learnings import memory_of_learning


async def learn(ctx: Context, scope: Scope, learning: Learning, *, source: str, tags: tuple[str, ...]) -> Memory:
    """Keep a learning under its own id, once. `source` names the file it stands in.

    Raises Conflict when that id holds another text, or is another memory's.
    """
    write = memory_of_learning(learning, scope=scope, source=source, tags=tags, now=ctx.clock())
    memory, _ = await ctx.store.insert(scope, write)
    return memory
