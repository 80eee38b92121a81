"""What a preset shows: which memories are searched, listed, and pinned to every answer."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from remembrancer.domain.memory import Memory
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader
from remembrancer.engine.context import Context
from remembrancer.policies.ranking.ranking import MAX_PINNED
from remembrancer.ports.changes import ReadView


def searched(ctx: Context, where: Filter) -> Filter:
    """The filter that a question is searched with.

    Pinned memories are in every answer and compete with no hit: they are left out. So are the kinds that this preset
    hides, unless the question asks for a kind.
    """
    tag = ctx.preset.standing_tag
    return shown(ctx, where if tag is None else replace(where, without_tags=where.without_tags | {tag}))


def shown(ctx: Context, where: Filter) -> Filter:
    """The filter without the kinds that this preset hides, unless it asks for a kind."""
    hidden = ctx.preset.hidden_kinds
    return replace(where, without_kinds=where.without_kinds | hidden) if hidden and where.kinds is None else where


def pinned(ctx: Context, view: ReadView, reader: Reader, at: datetime) -> tuple[Memory, ...]:
    """The memories that are in every answer, newest first."""
    tag = ctx.preset.standing_tag
    if tag is None:
        return ()
    return view.memories(reader, Filter(current_at=at, tags=frozenset({tag})), limit=MAX_PINNED)
