"""What is learned from use: exposures counted, feedback taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from remembrancer.domain.scope import Reader
from remembrancer.domain.strength import Exposure, Feedback, Strength
from remembrancer.engine.context import Context
from remembrancer.policies.reinforcement import after_exposure, after_feedback


async def feedback(ctx: Context, reader: Reader, memory_id: UUID, said: Feedback) -> Strength:
    """The memory's strength after it. Raises NotFound."""
    steps = ctx.preset.feedback
    adjusted = await ctx.store.adjust(reader, [memory_id], lambda strength: after_feedback(strength, said, steps))
    return adjusted[memory_id]


async def mark(ctx: Context, reader: Reader, ids: Sequence[UUID], exposure: Exposure) -> Mapping[UUID, Strength]:
    """Count one exposure of each memory. Raises NotFound when one of them is not there; nothing is counted then."""
    now = ctx.clock()
    return await ctx.store.adjust(reader, ids, lambda strength: after_exposure(strength, exposure, now))
