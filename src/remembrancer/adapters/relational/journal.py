"""Append events, list and count them, and change their priority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import chain
from typing import Final
from uuid import UUID

from remembrancer.adapters.relational.clauses import events_kept_by, owner, seen_by
from remembrancer.adapters.relational.columns import add_row, insert_into
from remembrancer.adapters.relational.connection import Binding, Connection
from remembrancer.adapters.relational.full_text import add_words, tokens_of
from remembrancer.adapters.relational.memories import EventRow, add_memories, adjust_one, check_workspace, next_change
from remembrancer.adapters.relational.rows import CHANGES, EVENTS, MEMORIES, TABLES, EventTable
from remembrancer.domain.event import Event, Priority, archived
from remembrancer.domain.instants import micros
from remembrancer.domain.journal import ListingPosition, PriorityChange, Recorded, RecordedPage
from remembrancer.domain.memory import Analyse, Memory
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.strength import Adjustment, Strength
from remembrancer.errors import Conflict, InvalidInput, NotFound
from remembrancer.ports.journal import Appended, Entry, EventFilter, FoundEvent
from remembrancer.values import copied

_INSERTION: Final = insert_into("events", (*EVENTS.names, "position", "n"))
_EPOCH: Final = date(1970, 1, 1)
_DAY: Final = 86_400_000_000
"""A day in microseconds."""


def append(connection: Connection, scope: Scope, entries: Sequence[Entry], analyse: Analyse) -> tuple[Appended, ...]:
    for entry in entries:
        _check(scope, entry)
    before = _before(connection, entries)
    fresh = [entry for entry, known in zip(entries, before, strict=True) if known is None]
    _require_not_archived(connection, scope, fresh)
    events = _in_order(connection, [entry.event for entry in fresh])
    tokens = [tokens_of(entry.event, analyse) if entry.tokens is None else entry.tokens for entry in fresh]
    numbers = add_events(connection, scope.workspace, events, tokens)
    formed = [entry.memory for entry in fresh if entry.memory is not None]
    rows = {event.id: EventRow(number, event.text) for event, number in zip(events, numbers, strict=True)}
    add_memories(connection, scope.workspace, formed, rows)
    coming = iter(events)
    results: list[Appended] = []
    for known in before:
        if known is None:
            results.append(Appended(next(coming), created=True))
        else:
            results.append(Appended(results[known].event if isinstance(known, int) else known, created=False))
    return tuple(results)


def events(
    connection: Connection,
    reader: Reader,
    where: EventFilter,
    *,
    limit: int,
    oldest_first: bool = False,
    after: ListingPosition | None = None,
) -> tuple[Event, ...]:
    order, behind = ("ASC", ">") if oldest_first else ("DESC", "<")
    found: list[str] = []
    bindings: list[Binding] = []
    for table in _tables(where):
        conditions = events_kept_by(connection.dialect, where, seen_by(reader, "e", visibility=False), table)
        if after is not None:
            place = (micros(after.occurred_at), after.seq, after.id.bytes)
            conditions.add(f"(e.occurred_at, e.seq, e.id) {behind} (?, ?, ?)", *place)
        found.append(f"SELECT {EVENTS.select} FROM {table} e WHERE {conditions.sql}")
        bindings += conditions.bindings
    # Result columns by number: occurred_at, seq, id.
    rows = connection.execute(
        f"{' UNION ALL '.join(found)} ORDER BY 8 {order}, 7 {order}, 1 {order} LIMIT ?", (*bindings, limit)
    )
    return tuple(map(EVENTS.value_of, rows))


def count_events(connection: Connection, reader: Reader, where: EventFilter) -> int:
    count = 0
    for table in _tables(where):
        conditions = events_kept_by(connection.dialect, where, seen_by(reader, "e", visibility=False), table)
        count += connection.execute(f"SELECT count(*) FROM {table} e WHERE {conditions.sql}", conditions.bindings).get
    return count


def events_by_words(
    connection: Connection,
    reader: Reader,
    where: EventFilter,
    weights: Mapping[str, int],
    *,
    limit: int,
    skip: int = 0,
) -> tuple[FoundEvent, ...]:
    if not weights:
        return ()
    found: list[FoundEvent] = []
    for table in _tables(where):
        having = f"SELECT f.n, ? AS weight FROM {connection.dialect.matches(table)} f"
        words = [(weight, connection.dialect.all_of((frozenset({word}),))) for word, weight in weights.items()]
        conditions = events_kept_by(connection.dialect, where, seen_by(reader, "e", visibility=False), table)
        # Only the best are read whole: what is sorted stays small.
        rows = connection.execute(
            f"SELECT {EVENTS.select}, b.score FROM (SELECT e.n, w.score FROM (SELECT n, sum(weight) AS score"
            f" FROM ({' UNION ALL '.join([having] * len(words))}) x GROUP BY n) w JOIN {table} e ON e.n = w.n"
            f" WHERE {conditions.sql} ORDER BY w.score DESC, e.occurred_at DESC, e.id LIMIT ?) b"
            f" JOIN {table} e ON e.n = b.n",
            (*chain.from_iterable(words), *conditions.bindings, skip + limit),
        )
        found += (FoundEvent(EVENTS.value_of(row[:-1]), row[-1]) for row in rows)
    found.sort(key=lambda one: (-one.score, -micros(one.event.occurred_at), one.event.id))
    return tuple(found[skip : skip + limit])


def events_by_day(connection: Connection, reader: Reader, where: EventFilter) -> dict[date, int]:
    counts: Counter[int] = Counter()
    for table in _tables(where):
        conditions = events_kept_by(connection.dialect, where, seen_by(reader, "e", visibility=False), table)
        # Division rounds towards zero; days before 1970 must be rounded down too.
        day = f"(e.occurred_at - ((e.occurred_at % {_DAY}) + {_DAY}) % {_DAY}) / {_DAY}"
        counts.update(
            dict(
                connection.execute(
                    f"SELECT {day}, count(*) FROM {table} e WHERE {conditions.sql} GROUP BY 1", conditions.bindings
                )
            )
        )
    return {_EPOCH + timedelta(days=day): count for day, count in sorted(counts.items())}


def recorded(
    connection: Connection, reader: Reader, where: EventFilter, *, after: int | None = None, limit: int
) -> RecordedPage:
    last: int = connection.execute("SELECT last FROM positions WHERE workspace = ?", (reader.scope.workspace,)).get or 0
    if after is not None and not 0 <= after <= last:
        raise InvalidInput("after", after, f"a position from 0 to {last}, the last one assigned")
    conditions = events_kept_by(connection.dialect, where, seen_by(reader, "e", visibility=False), "events")
    conditions.add("e.position > ?", after or 0)
    rows = connection.execute(
        f"SELECT {EVENTS.select}, e.position FROM events e WHERE {conditions.sql}"
        f" ORDER BY e.position {'DESC' if after is None else 'ASC'} LIMIT ?",
        (*conditions.bindings, limit),
    )
    entries = [Recorded(row[-1], EVENTS.value_of(row[:-1])) for row in rows]
    if after is None:
        return RecordedPage(tuple(reversed(entries)), last)
    if len(entries) < limit:
        return RecordedPage(tuple(entries), last)
    return RecordedPage(tuple(entries), entries[-1].position if entries else after)


def _tables(where: EventFilter) -> tuple[EventTable, ...]:
    return ("events", "archive") if where.archived else ("events",)


def provenance(connection: Connection, reader: Reader, memory_id: UUID) -> tuple[Event, ...]:
    memories, events = seen_by(reader, "m", visibility=True), seen_by(reader, "e", visibility=False)
    return EVENTS.all(
        connection,
        f"memories m JOIN memory_events l ON l.memory = m.n JOIN events e ON e.n = l.event"
        f" WHERE {memories.sql} AND {events.sql} AND m.id = ? ORDER BY l.ordinal",
        (*memories.bindings, *events.bindings, memory_id.bytes),
    )


def add_events(
    connection: Connection, workspace: str, events: Sequence[Event], tokens: Iterable[Iterable[str]]
) -> Sequence[int]:
    """Insert events at the next positions of their workspace, and index the tokens of each. Returns their numbers."""
    if not events:
        return ()
    last: int = connection.execute(
        "INSERT INTO positions (workspace, last) VALUES (?, ?)"
        " ON CONFLICT (workspace) DO UPDATE SET last = positions.last + excluded.last RETURNING last",
        (workspace, len(events)),
    ).get
    numbers = connection.dialect.new_numbers(connection, {"events": len(events)})["events"]
    first = last - len(events) + 1
    rows = [
        (*EVENTS.bindings(event), first + place, number)
        for place, (event, number) in enumerate(zip(events, numbers, strict=True))
    ]
    connection.executemany(_INSERTION, rows)
    add_words(connection, "events", zip(numbers, tokens, strict=True))
    return numbers


def _check(scope: Scope, entry: Entry) -> None:
    if entry.event.scope.workspace != scope.workspace:
        raise InvalidInput("event.scope.workspace", entry.event.scope.workspace, repr(scope.workspace))
    if entry.memory is not None:
        check_workspace(scope, entry.memory.memory)


def _before(connection: Connection, entries: Sequence[Entry]) -> list[Event | int | None]:
    """For each entry the event that is recorded under its key, or the place of the first of the entries with this key;
    None: it is to be recorded.
    """
    first: dict[tuple[str, ...], int] = {}
    found: list[Event | int | None] = []
    for place, event in enumerate(entry.event for entry in entries):
        under = None if event.key is None else (*owner(event.scope), event.key)
        if under is not None and event.key is not None and under in first:
            _with_text(entries[first[under]].event, event.key, event.text)
            found.append(first[under])
            continue
        found.append(recorded_under_key(connection, event))
        if under is not None and found[-1] is None:
            first[under] = place
    return found


def _require_not_archived(connection: Connection, scope: Scope, entries: Sequence[Entry]) -> None:
    dialect = connection.dialect
    ids = [entry.event.id for entry in entries]
    condition, bindings = (
        dialect.in_few_ids("id", ids) if len(ids) == 1 else (dialect.in_ids("id"), (dialect.ids(ids),))
    )
    for (identifier,) in connection.execute(
        f"SELECT id FROM archive WHERE workspace = ? AND {condition}", (scope.workspace, *bindings)
    ):
        raise Conflict(f"event {UUID(bytes=identifier)} is recorded already, and in the archive")


def _in_order(connection: Connection, events: Sequence[Event]) -> list[Event]:
    """The events with the next places in their streams."""
    counts = Counter(event.scope for event in events)
    last = {scope: next_seq(connection, scope, count) - count for scope, count in counts.items()}
    placed: list[Event] = []
    for event in events:
        last[event.scope] += 1
        placed.append(copied(event, Event, seq=last[event.scope]))
    return placed


def recorded_under_key(connection: Connection, event: Event) -> Event | None:
    """The event with the same key, if it exists. Raises Conflict if its text differs.

    Of an archived event only the beginning of the text can be compared.
    """
    if event.key is None:
        return None
    for table, text in (("events", event.text), ("archive", archived(event).text)):
        known = EVENTS.first(
            connection,
            f"{table} e WHERE e.workspace = ? AND e.project = ? AND e.crew = ? AND e.agent = ? AND e.key = ?",
            (*owner(event.scope), event.key),
        )
        if known is not None:
            return _with_text(known, event.key, text)
    return None


def _with_text(known: Event, key: str, text: str) -> Event:
    """The known event of this key. Raises Conflict if it has another text."""
    if known.text != text:
        raise Conflict(f"key {key!r}: already recorded with another text ({known.id})")
    return known


def next_seq(connection: Connection, scope: Scope, count: int = 1) -> int:
    """Take the next places in the stream of a scope. Returns the last of them."""
    return connection.execute(
        "INSERT INTO streams (workspace, project, crew, agent, session, last_seq) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (workspace, project, crew, agent, session)"
        " DO UPDATE SET last_seq = streams.last_seq + excluded.last_seq RETURNING last_seq",
        (*owner(scope), scope.session or "", count),
    ).get


StrengthChange = Callable[[Memory, Sequence[Event], Sequence[Event]], Strength]


def set_priority(
    connection: Connection,
    reader: Reader,
    event_id: UUID,
    priority: Priority,
    *,
    by: str,
    reason: str,
    at: datetime,
    change: StrengthChange,
) -> PriorityChange:
    event = _seen(connection, reader, "events", event_id)
    if event is None:
        if _seen(connection, reader, "archive", event_id) is not None:
            raise Conflict(f"event {event_id} is archived: its priority can no longer change")
        raise NotFound("event", event_id)
    done = PriorityChange(event_id=event_id, previous=event.priority, priority=priority, by=by, reason=reason, at=at)
    if not done.is_change:
        return done
    scope = reader.scope
    formed = [(memory, _sources(connection, number)) for number, memory in _formed_from(connection, scope, event.id)]
    connection.execute(
        "UPDATE events SET priority = ? WHERE workspace = ? AND id = ?",
        (priority, scope.workspace, event.id.bytes),
    )
    add_row(connection, "priority_changes", ("workspace", *CHANGES.names), (scope.workspace, *CHANGES.bindings(done)))
    number = next_change(connection, scope.workspace)
    for memory, before in formed:
        after = [replace(one, priority=priority) if one.id == event.id else one for one in before]
        strength = change(memory, before, after)
        adjust_one(connection, scope, memory, lambda _, strength=strength: Adjustment(strength), at, number)
    return done


def priority_changes(connection: Connection, reader: Reader, event_id: UUID) -> tuple[PriorityChange, ...]:
    if all(_seen(connection, reader, table, event_id) is None for table in TABLES):
        return ()
    return CHANGES.all(
        connection,
        "priority_changes p WHERE workspace = ? AND event = ? ORDER BY at, previous, priority, changed_by, reason",
        (reader.scope.workspace, event_id.bytes),
    )


def _seen(connection: Connection, reader: Reader, table: EventTable, event_id: UUID) -> Event | None:
    conditions = seen_by(reader, "e", visibility=False)
    return EVENTS.first(
        connection, f"{table} e WHERE {conditions.sql} AND e.id = ?", (*conditions.bindings, event_id.bytes)
    )


def _formed_from(connection: Connection, scope: Scope, event_id: UUID) -> list[tuple[int, Memory]]:
    rows = connection.execute(
        f"SELECT {MEMORIES.select}, m.n FROM events e JOIN memory_events l ON l.event = e.n"
        " JOIN memories m ON m.n = l.memory WHERE e.workspace = ? AND e.id = ? ORDER BY m.n",
        (scope.workspace, event_id.bytes),
    )
    return [(row[-1], MEMORIES.value_of(row)) for row in rows]


def _sources(connection: Connection, memory: int) -> tuple[Event, ...]:
    return EVENTS.all(
        connection, "memory_events l JOIN events e ON e.n = l.event WHERE l.memory = ? ORDER BY l.ordinal", (memory,)
    )
