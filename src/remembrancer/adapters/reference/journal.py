"""The journal: events by filter or position, priority changes, the tails of streams, and the archive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from uuid import UUID

from remembrancer.adapters.reference.memories import add, require_same_workspace
from remembrancer.adapters.reference.retention import is_held
from remembrancer.adapters.reference.rows import Rows
from remembrancer.domain.event import Event, Priority, archived, speaker_of
from remembrancer.domain.instants import micros
from remembrancer.domain.journal import ListingPosition, PriorityChange, Recorded, RecordedPage, searchable_text
from remembrancer.domain.memory import Analyse, Cue, Memory
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.stream import MAX_COUNTED_TURNS, ConversationSummary, Tail
from remembrancer.domain.strength import Strength
from remembrancer.errors import Conflict, InvalidInput, NotFound
from remembrancer.ports.exchange import ArchivedRecord
from remembrancer.ports.journal import Aged, Appended, Entry, EventFilter, FoundEvent


def append(rows: Rows, scope: Scope, entries: Sequence[Entry]) -> tuple[Appended, ...]:
    for entry in entries:  # what is wrong with the arguments comes before what is in the way
        require_same_workspace("event.scope", scope, entry.event.scope)
        if entry.memory is not None:
            require_same_workspace("memory.scope", scope, entry.memory.memory.scope)
    return tuple(_appended(rows, scope, entry) for entry in entries)


def _appended(rows: Rows, scope: Scope, entry: Entry) -> Appended:
    event = entry.event
    known = rows.event_with_key(event.scope, event.key)
    if known is not None:
        # The archive keeps only the beginning of the text.
        if known.text != (archived(event).text if known.id in rows.archive else event.text):
            raise Conflict(f"key {event.key!r} holds another text, in event {known.id}")
        return Appended(known, created=False)
    if event.id in rows.events or event.id in rows.archive:
        raise Conflict(f"event {event.id} is already recorded")
    recorded = replace(event, seq=rows.last_seq(event.scope) + 1)
    rows.record(recorded)
    if entry.memory is not None:
        add(rows, scope, entry.memory)
    return Appended(recorded, created=True)


def events(
    rows: Rows,
    reader: Reader,
    where: EventFilter,
    *,
    limit: int,
    oldest_first: bool = False,
    after: ListingPosition | None = None,
) -> tuple[Event, ...]:
    kept = sorted(_kept(rows, reader, where), key=ListingPosition.of, reverse=not oldest_first)
    if after is not None:
        place = ListingPosition.of
        kept = [event for event in kept if (place(event) > after if oldest_first else place(event) < after)]
    return tuple(kept[:limit])


def count_events(rows: Rows, reader: Reader, where: EventFilter) -> int:
    return len(_kept(rows, reader, where))


def events_by_words(
    rows: Rows, reader: Reader, where: EventFilter, weights: Mapping[str, int], *, limit: int, skip: int = 0
) -> tuple[FoundEvent, ...]:
    found: dict[UUID, Event] = {}
    scores: Counter[UUID] = Counter()
    for word, weight in weights.items():
        for event in _kept(rows, reader, replace(where, words=(*where.words, frozenset({word})))):
            found[event.id] = event
            scores[event.id] += weight
    best = sorted(scores, key=lambda one: (-scores[one], -micros(found[one].occurred_at), one))
    return tuple(FoundEvent(found[one], scores[one]) for one in best[skip : skip + limit])


def events_by_day(rows: Rows, reader: Reader, where: EventFilter) -> dict[date, int]:
    days = Counter(event.occurred_at.astimezone(UTC).date() for event in _kept(rows, reader, where))
    return dict(sorted(days.items()))


def _kept(rows: Rows, reader: Reader, where: EventFilter, *, archived: bool | None = None) -> list[Event]:
    seen = rows.visible_events(reader, archived=where.archived if archived is None else archived)
    formed = {event_id for ids in rows.provenance.values() for event_id in ids} if where.unformed else set[UUID]()
    return [event for event in seen if event.id not in formed and keeps(where, event, rows.analyse)]


def recorded(rows: Rows, reader: Reader, where: EventFilter, *, after: int | None = None, limit: int) -> RecordedPage:
    if after is not None and not 0 <= after <= rows.recorded:
        raise InvalidInput("after", after, f"a position from 0 to {rows.recorded}, the last one assigned")
    kept = _kept(rows, reader, where, archived=False)
    entries = sorted((Recorded(rows.positions[event.id], event) for event in kept), key=lambda one: one.position)
    if after is None:
        return RecordedPage(tuple(entries[max(0, len(entries) - limit) :]), rows.recorded)
    behind = [one for one in entries if one.position > after]
    if len(behind) < limit:
        return RecordedPage(tuple(behind), rows.recorded)
    return RecordedPage(tuple(behind[:limit]), behind[limit - 1].position if limit else after)


def set_priority(
    rows: Rows,
    reader: Reader,
    event_id: UUID,
    priority: Priority,
    *,
    by: str,
    reason: str,
    at: datetime,
    change: Callable[[Memory, Sequence[Event], Sequence[Event]], Strength],
) -> PriorityChange:
    seen = {event.id: event for event in rows.visible_events(reader, archived=True)}
    if event_id not in seen:
        raise NotFound("event", event_id)
    if event_id in rows.archive:
        raise Conflict(f"event {event_id} is archived: its priority can no longer change")
    event = seen[event_id]
    done = PriorityChange(event_id=event_id, previous=event.priority, priority=priority, by=by, reason=reason, at=at)
    if not done.is_change:
        return done
    before = dict(rows.events)
    rows.events[event_id] = replace(event, priority=priority)
    rows.priority_changes.add(done)
    for memory in [memory for memory in rows.memories.values() if event_id in rows.provenance[memory.id]]:
        ids = rows.provenance[memory.id]
        strength = change(memory, [before[one] for one in ids], [rows.events[one] for one in ids])
        rows.change_memory(replace(memory, strength=strength), at)
    return done


def priority_changes(rows: Rows, reader: Reader, event_id: UUID) -> tuple[PriorityChange, ...]:
    if all(event.id != event_id for event in rows.visible_events(reader, archived=True)):
        return ()
    return tuple(one for one in in_order_of_events(rows.priority_changes) if one.event_id == event_id)


def in_order_of_events(changes: Iterable[PriorityChange]) -> list[PriorityChange]:
    """The changes by event, then time, then their other fields."""
    return sorted(changes, key=lambda one: (one.event_id, one.at, one.previous, one.priority, one.by, one.reason))


def keeps(where: EventFilter, event: Event, analyse: Analyse) -> bool:
    return (
        (where.ids is None or event.id in where.ids)
        and (where.project is None or event.scope.project == where.project)
        and (where.crew is None or event.scope.crew == where.crew)
        and (where.agent is None or event.scope.agent == where.agent)
        and (where.session is None or event.scope.session == where.session)
        and (where.crews is None or event.scope.crew in where.crews)
        and (where.agents is None or event.scope.agent in where.agents)
        and (where.types is None or event.type in where.types)
        and event.type not in where.without_types
        and (where.severities is None or event.severity in where.severities)
        and (where.priorities is None or event.priority in where.priorities)
        and (where.roles is None or event.role in where.roles)
        and (where.actor is None or event.actor == where.actor)
        and (where.speaker is None or speaker_of(event) == where.speaker)
        and (where.recorded_after is None or event.recorded_at > where.recorded_after)
        and (where.recorded_by is None or event.recorded_at <= where.recorded_by)
        and (where.since is None or event.occurred_at >= where.since)
        and (where.until is None or event.occurred_at < where.until)
        and (not where.words or _has_words(where, event, analyse))
    )


def _has_words(where: EventFilter, event: Event, analyse: Analyse) -> bool:
    tokens = analyse(Cue(memory_id=event.id, ordinal=0, text=searchable_text(event))).tokens
    return all(not asked.isdisjoint(tokens) for asked in where.words)


def tails(
    rows: Rows, scope: Scope, *, at_least: int, silent_since: datetime, limit: int, after: Scope | None = None
) -> tuple[Tail, ...]:
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


def stream_events(rows: Rows, stream: Scope, *, after: int, limit: int) -> tuple[Event, ...]:
    return tuple(events_behind(rows, stream, after)[:limit])


def conversations(
    rows: Rows,
    reader: Reader,
    *,
    limit: int,
    after: ListingPosition | None = None,
    stream: Scope | None = None,
) -> tuple[ConversationSummary, ...]:
    seen = {event.scope for event in rows.visible_events(reader)}
    found = [_conversation(events_behind(rows, one, 0)) for one in seen if stream is None or one == stream]
    found.sort(key=lambda one: one.last, reverse=True)
    return tuple(one for one in found if after is None or one.last < after)[:limit]


def _conversation(turns: Sequence[Event]) -> ConversationSummary:
    counts = Counter(speaker_of(event) for event in turns[-MAX_COUNTED_TURNS:])
    return ConversationSummary(
        stream=turns[0].scope,
        turns=len(turns),
        first=ListingPosition.of(turns[0]),
        last=ListingPosition.of(turns[-1]),
        speakers=dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))),
    )


def events_behind(rows: Rows, stream: Scope, place: int) -> list[Event]:
    """The stream's journal events after the position `place`, in order."""
    mine = [event for event in rows.events.values() if event.scope == stream and event.seq > place]
    return sorted(mine, key=lambda event: event.seq)


def archive(rows: Rows, scope: Scope, aged: Aged, *, at: datetime, limit: int) -> int:
    used = {event_id for ids in rows.provenance.values() for event_id in ids}
    used |= {indexed.cue.event_id for indexed in rows.cues.values() if indexed.cue.event_id is not None}
    due = [
        event
        for event in rows.events.values()
        if event.id not in used and _is_aged(event, aged) and not is_held(rows, event)
    ]
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
    """The parts of a stream's scope below its workspace, by which streams are sorted."""
    return tuple(part or "" for part in (stream.project, stream.crew, stream.agent, stream.session))
