"""Streams: their tails, which are in no episode yet, and the events that go into the archive."""

from __future__ import annotations

from datetime import datetime

from remembrancer.adapters.reference.rows import Rows
from remembrancer.domain.event import Event, archived
from remembrancer.domain.scope import Scope
from remembrancer.domain.stream import Tail
from remembrancer.ports.exchange import ArchivedRecord
from remembrancer.ports.journal import Aged


def tails(rows: Rows, *, at_least: int, silent_since: datetime, limit: int, after: Scope | None) -> tuple[Tail, ...]:
    streams = sorted({event.scope for event in rows.events.values()}, key=place_of)
    behind = [stream for stream in streams if after is None or place_of(stream) > place_of(after)]
    found = [told for stream in behind if (told := tail(rows, stream)) is not None]
    due = [told for told in found if told.events >= at_least or told.recorded_at <= silent_since]
    return tuple(due[:limit])


def tail(rows: Rows, stream: Scope) -> Tail | None:
    progress = rows.progress(stream)
    events = events_behind(rows, stream, progress.cursor)
    if not events:
        return None
    return Tail(
        stream=stream,
        cursor=progress.cursor,
        last_seq=events[-1].seq,
        events=len(events),
        first_at=events[0].occurred_at,
        last_at=events[-1].occurred_at,
        recorded_at=events[-1].recorded_at,
        note=progress.note,
    )


def events_behind(rows: Rows, stream: Scope, place: int) -> list[Event]:
    """The stream's events in the journal after a place, in order."""
    mine = [event for event in rows.events.values() if event.scope == stream and event.seq > place]
    return sorted(mine, key=lambda event: event.seq)


def archive(rows: Rows, aged: Aged, *, at: datetime, limit: int) -> int:
    used = {event_id for ids in rows.provenance.values() for event_id in ids}
    used |= {indexed.cue.event_id for indexed in rows.cues.values() if indexed.cue.event_id is not None}
    due = [event for event in rows.events.values() if event.id not in used and _is_aged(event, aged)]
    due.sort(key=lambda event: (event.occurred_at, event.seq, event.id))
    for event in due[:limit]:
        del rows.events[event.id], rows.positions[event.id]
        rows.archive[event.id] = ArchivedRecord(archived(event), at)
    return len(due[:limit])


def _is_aged(event: Event, aged: Aged) -> bool:
    matches = any(
        event.type.startswith(kind.removesuffix("*")) if kind.endswith("*") else event.type == kind
        for kind in aged.types
    )
    return matches and event.priority not in aged.keep and event.occurred_at < aged.before


def place_of(stream: Scope) -> tuple[str, ...]:
    """The sort key of a workspace's streams."""
    return tuple(part or "" for part in (stream.project, stream.crew, stream.agent, stream.session))
