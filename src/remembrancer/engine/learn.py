"""Learnings become memories: what their headers say of use and standing goes with them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time

from remembrancer.domain.learning import Learning
from remembrancer.domain.memory import Memory, MemoryDraft, MemoryWrite, Status, Tier
from remembrancer.domain.scope import Scope
from remembrancer.domain.strength import Usage
from remembrancer.domain.validation import JsonValue
from remembrancer.engine.context import Context
from remembrancer.policies.formation import memory_of_draft


async def learn(ctx: Context, scope: Scope, learning: Learning, *, source: str, tags: tuple[str, ...]) -> Memory:
    """Keep a learning under its own id, once. `source` names the file it stands in.

    Raises Conflict when that id holds another text, or is another memory's.
    """
    memory, _ = await ctx.store.insert(scope, _memory(scope, learning, source, tags, ctx.clock()))
    return memory


def _memory(scope: Scope, learning: Learning, source: str, tags: tuple[str, ...], now: datetime) -> MemoryWrite:
    said: dict[str, JsonValue] = {
        "domain": learning.domain.value,
        "phase": learning.phase,
        "session_id": learning.session_id,
        "session_task": learning.session_task,
        "promoted_from": learning.promoted_from,
    }
    draft = MemoryDraft(
        text=learning.text,
        kind=learning.type.value,
        tier=Tier.SEMANTIC,
        source=source,
        importance=learning.importance,
        tags=tags,
        metadata={name: value for name, value in said.items() if value is not None},
        occurred_at=None if learning.created_at is None else _noon(learning.created_at),
        key=f"learning:{learning.id}",
    )
    write = memory_of_draft(draft, scope=scope, identifier=learning.id, now=now)
    # Its header counts the retrievals that reinforced it.
    usage = Usage(
        retrieved=learning.reinforcement_count,
        last_retrieved_at=None if learning.last_reinforced is None else _noon(learning.last_reinforced),
    )
    strength = replace(write.memory.strength, usage=usage)
    retired_at = None if learning.status is Status.ACTIVE else now
    memory = replace(write.memory, strength=strength, status=learning.status, retired_at=retired_at)
    return replace(write, memory=memory)


def _noon(day: date) -> datetime:
    """A day without a time is told by its middle: no time zone moves it to another day."""
    return datetime.combine(day, time(12), tzinfo=UTC)
