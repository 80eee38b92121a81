"""Feedback and exposures: how use changes the strength of memories."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.strength import Adjustment, Exposed, Exposure, Feedback, Strength
from remembrancer.engine.context import Context
from remembrancer.policies.forgetting.reinforcement import after_exposure, after_feedback

MAX_QUERY_CHARS: Final = 500
"""The characters of a question in the exposure log, which stores it with each memory that it found."""


async def feedback(ctx: Context, reader: Reader, memory_id: UUID, verdict: Feedback) -> Strength:
    """Apply feedback. Returns the new strength. The preset may retire the memory after bad feedback.
    Raises NotFound.
    """
    steps = ctx.preset.feedback
    adjusted = await ctx.store.adjust(
        reader, [memory_id], lambda strength: after_feedback(strength, verdict, steps), at=ctx.clock()
    )
    return adjusted[memory_id]


async def mark(
    ctx: Context,
    reader: Reader,
    similarities: Mapping[UUID, float | None],
    exposure: Exposure,
    *,
    query: str = "",
) -> Mapping[UUID, Strength]:
    """Count and log one exposure of each memory, with the similarity it was found with, if known.

    `query`: the question, if known. The reader's session, if it has one, asked: a review judges the exposure by what is
    said in it afterwards, and a preset that counts per session counts it when the session has ended. Raises NotFound if
    a memory is missing; nothing is written then.
    """
    now = ctx.clock()
    at_once = ctx.preset.dynamics.counts_at_once(exposure, reader.scope.session)
    exposed = [
        exposed_by(reader.scope, memory_id, exposure, now, query, similarity)
        for memory_id, similarity in similarities.items()
    ]
    return await ctx.store.adjust(
        reader,
        list(similarities),
        lambda strength: after_exposure(strength, exposure, now) if at_once else Adjustment(strength),
        at=now,
        exposed=exposed,
    )


def exposed_by(
    scope: Scope, memory_id: UUID, exposure: Exposure, at: datetime, query: str, similarity: float | None = None
) -> Exposed:
    """The entry of the exposure log for a use by this scope."""
    return Exposed(
        memory_id,
        exposure,
        at,
        similarity,
        query[:MAX_QUERY_CHARS],
        session=scope.session,
        project=scope.project,
        crew=scope.crew,
        agent=scope.agent,
    )
