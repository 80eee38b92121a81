"""What is learned from use: exposures counted, feedback taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from remembrancer.domain.scope import Reader
from remembrancer.domain.strength import Adjustment, Exposed, Exposure, Feedback, Strength
from remembrancer.engine.context import Context
from remembrancer.policies.forgetting.reinforcement import after_exposure, after_feedback

MAX_QUERY_CHARS: Final = 500
"""Of a question no more is logged, for it stands beside each memory that it found."""


async def feedback(ctx: Context, reader: Reader, memory_id: UUID, said: Feedback) -> Strength:
    """The memory's strength after it; too many bad words retire it, where the preset says so. Raises NotFound."""
    steps = ctx.preset.feedback
    adjusted = await ctx.store.adjust(
        reader, [memory_id], lambda strength: after_feedback(strength, said, steps), at=ctx.clock()
    )
    return adjusted[memory_id]


async def mark(
    ctx: Context,
    reader: Reader,
    similarities: Mapping[UUID, float | None],
    exposure: Exposure,
    *,
    query: str = "",
    session: str | None = None,
) -> Mapping[UUID, Strength]:
    """Count and log one exposure of each memory, with the similarity it was found with where that is known.

    `query`: what was asked, where that is known. `session`: the one it was asked in; a review of the exposure is judged
    by what is said there afterwards, and where the preset counts once a session, it is counted when that has ended.
    Raises NotFound when one of them is not there; nothing is counted or logged then.
    """
    now = ctx.clock()
    at_once = ctx.preset.dynamics.counts_at_once(exposure, session)
    exposed = [
        Exposed(memory_id, exposure, now, similarity, query[:MAX_QUERY_CHARS], session)
        for memory_id, similarity in similarities.items()
    ]
    return await ctx.store.adjust(
        reader,
        list(similarities),
        lambda strength: after_exposure(strength, exposure, now) if at_once else Adjustment(strength),
        at=now,
        exposed=exposed,
    )
