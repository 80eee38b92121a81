"""Forgetting that can be undone: a retired memory is kept and not recalled."""

from __future__ import annotations

from uuid import UUID

from remembrancer.domain.memory import Memory, Status
from remembrancer.domain.scope import Reader
from remembrancer.engine.context import Context


async def forget(ctx: Context, reader: Reader, memory_id: UUID) -> Memory:
    """Retire a memory. Raises NotFound."""
    return await ctx.store.set_status(reader, memory_id, Status.RETIRED, at=ctx.clock())


async def restore(ctx: Context, reader: Reader, memory_id: UUID) -> Memory:
    """Make a retired memory active again. Raises NotFound, Conflict when another took its topic key since."""
    return await ctx.store.set_status(reader, memory_id, Status.ACTIVE, at=ctx.clock())
