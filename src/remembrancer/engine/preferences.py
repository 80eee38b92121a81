"""Stated preferences and lasting instructions: which there are, and which a later one has ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from remembrancer.domain.event import is_less_trusted
from remembrancer.domain.listing import MemoryListing, MemoryState
from remembrancer.domain.preference import PREFERENCE, stating
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader
from remembrancer.errors import Conflict, NotFound
from remembrancer.language.english.contradictions import ends, may_end

if TYPE_CHECKING:
    from remembrancer.domain.memory import Memory
    from remembrancer.domain.scope import Scope
    from remembrancer.engine.context import Context

COMPARED: Final = 200
"""The number of earlier preferences with which a new one is compared, the newest."""


async def preferences(ctx: Context, reader: Reader, *, limit: int, ended: bool = False) -> tuple[Memory, ...]:
    """The current preferences and instructions, newest first; with `ended`, also those superseded or expired."""
    now = Filter(current_at=ctx.clock())
    states = (MemoryState.CURRENT, MemoryState.ENDED) if ended else (MemoryState.CURRENT,)
    found = [
        memory
        for where in statements_by_kind(now)
        for state in states
        for memory in await ctx.store.memories(reader, where, limit=limit, listing=MemoryListing(state=state))
    ]
    return tuple(sorted(found, key=lambda memory: (-memory.occurred_to.timestamp(), memory.id))[:limit])


def statements_by_kind(where: Filter) -> Iterator[Filter]:
    """Filters without a memory in common: the statements of each kind, then those known by their tag.

    SQLite uses the index of kinds for one kind at a time, and for several goes through all memories by their time.
    """
    of_kinds, tagged = stating(where)
    yield from (replace(of_kinds, kinds=frozenset({kind})) for kind in of_kinds.kinds or ())
    yield tagged


async def end_contradicted(ctx: Context, scope: Scope, later: Sequence[Memory]) -> None:
    """End the earlier preferences that new turns contradict: of the same speaker, trusted no more, in the same scope,
    of any session.

    One that another writer changes meanwhile is kept.
    """
    for new in later:
        if PREFERENCE not in new.tags or not may_end(new.text):
            continue
        reader = Reader(scope)
        where = Filter(current_at=ctx.clock(), tags=frozenset({PREFERENCE}), until=new.occurred_from)
        for old in await ctx.store.memories(reader, where, limit=COMPARED):
            if old.id == new.id or is_less_trusted(new.origin, old.origin):
                continue
            if _same_speaker(old, new) and ends(new.text, old.text):
                with suppress(Conflict, NotFound):
                    await ctx.store.supersede(reader, old.id, new.id, at=ctx.clock())


def _same_speaker(one: Memory, other: Memory) -> bool:
    if (one.role, one.actor) != (other.role, other.actor):
        return False
    return one.scope.narrowed(session=None) == other.scope.narrowed(session=None)
