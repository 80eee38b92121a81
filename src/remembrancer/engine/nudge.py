"""Reminding an agent, once a session, to write down what it learned."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from remembrancer.domain.event import Event, EventDraft, Role
from remembrancer.domain.identity import derived_id
from remembrancer.domain.scope import Reach, Reader, Scope
from remembrancer.engine.context import Context
from remembrancer.engine.record import event_of
from remembrancer.errors import InvalidInput
from remembrancer.policies.learning.nudge import NUDGED, UNCOUNTED, UPDATED, reminder
from remembrancer.ports.journal import Entry, EventFilter

SAID: Final = "The agent was reminded to update its memory."
"""The text of the event that records a reminder. It is not the reminder's text, so that the reminder is
never recalled.
"""
_SESSIONS: Final = UUID("8c0f3f0e-52b3-4f0a-9d59-6a2d1d6f0c11")


async def nudge(ctx: Context, scope: Scope) -> str | None:
    """The reminder, if the agent has enough events since its last `memory.updated`; otherwise None.

    Returned once a session, even if two processes ask at the same time: an event of type `memory.nudged`, which forms
    no memory, records it. Raises InvalidInput without an agent and a session.
    """
    missing = [part for part in ("agent", "session") if getattr(scope, part) is None]
    if missing:
        raise InvalidInput(" and ".join(missing), None, "the agent and the session to remind, set in the scope")
    reader = Reader(scope, Reach.OWN)
    given = EventFilter(agent=scope.agent, session=scope.session, types=frozenset({NUDGED}))
    if await ctx.store.events(reader, given, limit=1):
        return None
    updated_at = await _last_update(ctx, reader)
    since = EventFilter(agent=scope.agent, without_types=UNCOUNTED, recorded_after=updated_at)
    entries = await ctx.store.count_events(reader, since)
    if entries < ctx.preset.nudge_after:
        return None
    [appended] = await ctx.store.append(scope, [Entry(_given(ctx, scope, entries))])
    return reminder(entries, ever_updated=updated_at is not None) if appended.created else None


async def _last_update(ctx: Context, reader: Reader) -> datetime | None:
    """The time at which the agent's last `memory.updated` was recorded. Later recorded ones may have
    happened earlier.
    """
    last: datetime | None = None
    while True:
        where = EventFilter(agent=reader.scope.agent, types=frozenset({UPDATED}), recorded_after=last)
        found = await ctx.store.events(reader, where, limit=1)
        if not found:
            return last
        last = found[0].recorded_at


def _given(ctx: Context, scope: Scope, entries: int) -> Event:
    draft = EventDraft(
        text=SAID,
        role=Role.SYSTEM,
        type=NUDGED,
        payload={"entries": entries},
        # The event's id names the session, because a session's name may be too long for part of a key.
        key=f"{NUDGED}:{derived_id(_SESSIONS, scope.session or '')}",
    )
    return event_of(ctx, scope, draft, ctx.clock())
