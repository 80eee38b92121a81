"""Drop events whose memory was forgotten, replaced or expired: nothing must be learned from them again."""

from __future__ import annotations

from collections.abc import Sequence

from remembrancer.domain.event import Event
from remembrancer.domain.memory import is_over
from remembrancer.domain.scope import Reader
from remembrancer.engine.context import Context
from remembrancer.policies.admission.formation import memory_id_of


async def still_said(ctx: Context, reader: Reader, events: Sequence[Event]) -> tuple[Event, ...]:
    """The events, in order, except those whose own memory was forgotten or replaced, or has expired."""
    now = ctx.clock()
    own = await ctx.store.get(reader, [memory_id_of(event.id) for event in events])
    over = {memory.id for memory in own.values() if is_over(memory, now)}
    return tuple(event for event in events if memory_id_of(event.id) not in over)
