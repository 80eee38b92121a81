"""What is learned from use: exposures counted, feedback taken."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from remembrancer.domain.scope import Reader
from remembrancer.domain.strength import Exposed, Exposure, Feedback, Strength
from remembrancer.engine.context import Context
from remembrancer.policies.reinforcement import after_exposure, after_feedback


async def feedback(ctx: Context, reader: Reader, memory_id: UUID, said: Feedback) -> Strength:
    """The memory's strength after it; too many bad words retire it, where the preset says so. Raises NotFound."""
    steps = ctx.preset.feedback
    adjusted = await ctx.store.adjust(
        reader, [memory_id], lambda strength: after_feedback(strength, said, steps), at=ctx.clock()
    )
    return adjusted[memory_id]


async def mark(
    ctx: Context, reader: Reader, similarities: Mapping[UUID, float | None], exposure: Exposure
) -> Mapping[UUID, Strength]:
    """Count and log one exposure of each memory, with the similarity it was found with where that is known.

    Raises NotFound when one of them is not there; nothing is counted then.
    """
    now = ctx.clock()
    exposed = [Exposed(memory_id, exposure, now, similarity) for memory_id, similarity in similarities.items()]
    return await ctx.store.adjust(
        reader,
        list(similarities),
        lambda strength: after_exposure(strength, exposure, now),
        at=now,
        exposed=exposed,
    )
