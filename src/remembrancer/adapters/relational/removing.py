"""Rows that go for good: memories and events with all that belongs to them, and what becomes of their neighbours."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from remembrancer.adapters.relational.connection import Binding, Connection
from remembrancer.adapters.relational.lookup import by_topic, there
from remembrancer.adapters.relational.memories import MICROSECOND, add_cue, next_change
from remembrancer.adapters.relational.overwriting import overwriting
from remembrancer.adapters.relational.quotations import repeated, silence
from remembrancer.adapters.relational.rows import EVENT_COLUMNS, TABLES, Row, Table, encoded, event_of
from remembrancer.adapters.relational.times import micros
from remembrancer.adapters.relational.tracing import GIVEN, hexed
from remembrancer.domain.erasure import Erasure, Removal, Removed, completed
from remembrancer.domain.journal import searchable_text
from remembrancer.domain.memory import MemoryWrite, Status
from remembrancer.domain.relation import RelationKind
from remembrancer.domain.scope import Scope
from remembrancer.errors import Conflict, NotFound
from remembrancer.ports.exchange import Analyse
from remembrancer.ports.receipts import receipt_text

_LISTED: Final = "(SELECT value FROM json_each(?))"
"""Numbers of rows, given as JSON."""

_OF_MEMORIES: Final = {
    "cues": "cues c WHERE c.memory IN",
    "vectors": "embeddings v JOIN cues c ON c.n = v.cue WHERE c.memory IN",
    "word_vectors": "word_vectors v JOIN cues c ON c.n = v.cue WHERE c.memory IN",
    "revisions": "revisions c WHERE c.memory IN",
    "exposures": "exposures c WHERE c.memory IN",
    "reviews": "reviews c WHERE c.memory IN",
    "audit": "audit c WHERE c.memory IN",
}
"""What goes with memories, by kind."""
_OF_TEXTS: Final = ("cues", "vectors", "word_vectors", "revisions")
"""What goes with the text alone, of a memory that is told anew."""


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The rows that go, by number, and those that are told anew."""

    memories: Sequence[int]
    retold: Sequence[int]
    events: Sequence[int]
    archive: Sequence[int]


def erase(connection: Connection, scope: Scope, removal: Removal, receipt: Erasure, analyse: Analyse) -> Removed:
    """As `Store.erase` says. What is raised half way is taken back with the caller's savepoint."""
    # Should the file not be written anew after, for want of room or of a moment without readers, that much is done.
    with overwriting(connection):
        connection.execute("SAVEPOINT erasure")
        removed = _erase(connection, scope, removal, receipt.at, analyse)
        if receipt.dry_run:
            connection.execute("ROLLBACK TO erasure")
        else:
            connection.execute(
                "INSERT INTO erasures (workspace, id, at, receipt) VALUES (?, ?, ?, ?)",
                (scope.workspace, receipt.id.bytes, micros(receipt.at), receipt_text(completed(receipt, removed))),
            )
        connection.execute("RELEASE erasure")
    return removed


def _erase(connection: Connection, scope: Scope, removal: Removal, at: datetime, analyse: Analyse) -> Removed:
    numbers = _numbers(connection, scope, removal)
    _require_whole(connection, removal, numbers)
    told = _told(connection, numbers)
    texts = _texts(connection, numbers, told)
    sessions = _sessions(connection, numbers)
    counts: Counter[str] = Counter()
    _count_rows(connection, numbers, counts)
    _let_go_of_successors(connection, scope, removal, at)
    for write in removal.retold:
        _tell_anew(connection, scope, write)
    for identifier in sorted(removal.restored):
        _restore(connection, scope, identifier)
    _execute(connection, f"DELETE FROM memories WHERE n IN {_LISTED}", json.dumps(numbers.memories))
    connection.execute(
        f"UPDATE memories SET consolidated_at = NULL, change = ? WHERE workspace = ? AND id IN {GIVEN}",
        (next_change(connection), scope.workspace, hexed(removal.redrawn)),
    )
    counts["priority_changes"] = _execute(
        connection,
        f"DELETE FROM priority_changes WHERE workspace = ? AND event IN {GIVEN}",
        scope.workspace,
        hexed(removal.events),
    )
    streams = _streams(connection, numbers)
    _execute(connection, f"DELETE FROM events WHERE n IN {_LISTED}", json.dumps(numbers.events))
    _execute(connection, f"DELETE FROM archive WHERE n IN {_LISTED}", json.dumps(numbers.archive))
    counts["streams"] = _leave_streams(connection, streams)
    counts["exposures"] += _leave_sessions(connection, scope, sessions)
    counts["deferrals"] = _settle(connection, scope, removal)
    counts["replies"] = _execute(
        connection, "UPDATE claims SET body = NULL WHERE workspace = ? AND body IS NOT NULL", scope.workspace
    )
    counts["quotations"] = silence(connection, scope, texts, analyse)
    return Removed(counts=dict(counts), repeated=repeated(connection, scope, told, analyse))


def _numbers(connection: Connection, scope: Scope, removal: Removal) -> _Numbers:
    """Raises Conflict for what is not there, or not at its revision."""
    revisions = {write.memory.id: write.memory.revision - 1 for write in removal.retold}
    for identifier, revision in revisions.items():
        try:
            memory = there(connection, scope, identifier)
        except NotFound as error:
            raise Conflict(f"memory {identifier} is gone already") from error
        if memory.revision != revision:
            raise Conflict(f"memory {identifier} is at revision {memory.revision}, not {revision}")
    found = {
        table: _found(connection, scope, table, ids)
        for table, ids in (("memories", removal.memories), ("events", removal.events), ("archive", removal.events))
    }
    numbers = _Numbers(
        memories=found["memories"],
        retold=_found(connection, scope, "memories", revisions.keys()),
        events=found["events"],
        archive=found["archive"],
    )
    if len(numbers.memories) != len(removal.memories):
        raise Conflict("a memory that was to be erased is gone already")
    if len(numbers.events) + len(numbers.archive) != len(removal.events):
        raise Conflict("an event that was to be erased is gone already")
    return numbers


def _found(connection: Connection, scope: Scope, table: str, ids: Iterable[UUID]) -> list[int]:
    statement = f"SELECT n FROM {table} WHERE workspace = ? AND id IN {GIVEN}"
    return [number for (number,) in connection.execute(statement, (scope.workspace, hexed(ids)))]


def _require_whole(connection: Connection, removal: Removal, numbers: _Numbers) -> None:
    """Raises Conflict for a memory that stays and was formed or derived, meanwhile, from something that goes."""
    known = json.dumps([*numbers.memories, *numbers.retold])
    events = json.dumps(numbers.events)
    stray: int = connection.execute(
        f"SELECT (SELECT count(*) FROM memory_events WHERE event IN {_LISTED} AND memory NOT IN {_LISTED})"
        f" + (SELECT count(*) FROM cues WHERE event IN {_LISTED} AND memory NOT IN {_LISTED})"
        f" + (SELECT count(*) FROM relations WHERE target IN {_LISTED} AND kind = ? AND source NOT IN {_LISTED})",
        (events, known, events, known, known, RelationKind.DERIVED_FROM, known),
    ).get
    if stray:
        raise Conflict("something was formed meanwhile from what was to be erased")
    if any(removal.events.intersection(write.event_ids) for write in removal.retold):
        raise Conflict("an episode was to be told anew of an event that goes")


def _told(connection: Connection, numbers: _Numbers) -> list[str]:
    """What those say that go."""
    memories = connection.execute(f"SELECT text FROM memories WHERE n IN {_LISTED}", (json.dumps(numbers.memories),))
    texts = [text for (text,) in memories]
    texts += [event_of(row).text for table in TABLES for row in _events(connection, table, numbers)]
    return list(dict.fromkeys(texts))


def _texts(connection: Connection, numbers: _Numbers, told: Sequence[str]) -> list[str]:
    """And all beside that: titles and names, what they said before, and what is told anew."""
    memories, retold = json.dumps(numbers.memories), json.dumps(numbers.retold)
    both = json.dumps([*numbers.memories, *numbers.retold])
    rows = [
        *connection.execute(
            f"SELECT ifnull(title, ''), ifnull(topic_key, '') FROM memories WHERE n IN {_LISTED}", (memories,)
        ),
        *connection.execute(f"SELECT ifnull(title, ''), text FROM memories WHERE n IN {_LISTED}", (retold,)),
        *connection.execute(f"SELECT ifnull(title, ''), text FROM revisions WHERE memory IN {_LISTED}", (both,)),
    ]
    texts = [*told, *(text for row in rows for text in row if text)]
    texts += [searchable_text(event_of(row)) for table in TABLES for row in _events(connection, table, numbers)]
    return list(dict.fromkeys(texts))


def _events(connection: Connection, table: Table, numbers: _Numbers) -> list[Row]:
    given = json.dumps(numbers.events if table == "events" else numbers.archive)
    return list(connection.execute(f"SELECT {EVENT_COLUMNS} FROM {table} e WHERE e.n IN {_LISTED}", (given,)))


def _sessions(connection: Connection, numbers: _Numbers) -> set[str]:
    found: set[str] = set()
    for table, rows in (("events", numbers.events), ("archive", numbers.archive), ("memories", numbers.memories)):
        named = connection.execute(
            f"SELECT DISTINCT session FROM {table} WHERE n IN {_LISTED} AND session <> ''", (json.dumps(rows),)
        )
        found.update(session for (session,) in named)
    return found


def _count_rows(connection: Connection, numbers: _Numbers, counts: Counter[str]) -> None:
    memories, retold = json.dumps(numbers.memories), json.dumps(numbers.retold)
    counts["memories"] = len(numbers.memories)
    counts["events"] = len(numbers.events)
    counts["archived"] = len(numbers.archive)
    for kind, rows in _OF_MEMORIES.items():
        counts[kind] = connection.execute(f"SELECT count(*) FROM {rows} {_LISTED}", (memories,)).get
        if kind in _OF_TEXTS:
            counts[kind] += connection.execute(f"SELECT count(*) FROM {rows} {_LISTED}", (retold,)).get
    counts["relations"] = connection.execute(
        f"SELECT count(*) FROM relations WHERE source IN {_LISTED} OR target IN {_LISTED}", (memories, memories)
    ).get


def _let_go_of_successors(connection: Connection, scope: Scope, removal: Removal, at: datetime) -> None:
    """What was superseded by something that goes ended then, and does not come back in its place."""
    rows = connection.execute(
        f"SELECT id FROM memories WHERE workspace = ? AND superseded_by IN {GIVEN} AND id NOT IN {GIVEN}",
        (scope.workspace, hexed(removal.memories), hexed(removal.memories)),
    )
    for (identifier,) in list(rows):
        memory = there(connection, scope, UUID(bytes=identifier))
        ended = memory.superseded_at or at
        if memory.valid_from is not None:  # an interval cannot end before it begins
            ended = max(ended, memory.valid_from + MICROSECOND)
        if memory.valid_until is not None:
            ended = min(ended, memory.valid_until)
        connection.execute(
            "UPDATE memories SET superseded_by = NULL, superseded_at = NULL, valid_until = ?, topic_key = NULL,"
            " change = ? WHERE workspace = ? AND id = ?",
            (micros(ended), next_change(connection), scope.workspace, identifier),
        )


def _tell_anew(connection: Connection, scope: Scope, write: MemoryWrite) -> None:
    """The memory says what the write does, and nothing is kept of what it said."""
    memory = write.memory
    number: int = connection.execute(
        "UPDATE memories SET title = ?, text = ?, metadata = ?, revision = ?, change = ? WHERE workspace = ? AND id = ?"
        " RETURNING n",
        (
            memory.title,
            memory.text,
            encoded(memory.metadata),
            memory.revision,
            next_change(connection),
            scope.workspace,
            memory.id.bytes,
        ),
    ).get
    for table in ("revisions", "cues", "memory_events"):
        connection.execute(f"DELETE FROM {table} WHERE memory = ?", (number,))
    events = {
        UUID(bytes=identifier): event
        for identifier, event in connection.execute(
            f"SELECT id, n FROM events WHERE workspace = ? AND id IN {GIVEN}", (scope.workspace, hexed(write.event_ids))
        )
    }
    if len(events) != len(write.event_ids):
        raise Conflict(f"an event that memory {memory.id} is told anew of is gone")
    connection.executemany(
        "INSERT INTO memory_events (memory, ordinal, event) VALUES (?, ?, ?)",
        [(number, ordinal, events[event]) for ordinal, event in enumerate(write.event_ids)],
    )
    for indexed in write.cues:
        add_cue(connection, scope.workspace, number, indexed, events)


def _restore(connection: Connection, scope: Scope, identifier: UUID) -> None:
    """Back into recall; without its topic where another has it by now."""
    memory = there(connection, scope, identifier)
    held = None if memory.topic_key is None else by_topic(connection, memory.scope, memory.topic_key)
    connection.execute(
        "UPDATE memories SET status = ?, retired_at = NULL, topic_key = ?, change = ? WHERE workspace = ? AND id = ?",
        (
            Status.ACTIVE,
            None if held is not None and held.id != identifier else memory.topic_key,
            next_change(connection),
            scope.workspace,
            identifier.bytes,
        ),
    )


def _streams(connection: Connection, numbers: _Numbers) -> list[Row]:
    """The streams that lose something."""
    found: set[Row] = set()
    for table, rows in (("events", numbers.events), ("archive", numbers.archive)):
        columns = "workspace, project, crew, agent, session"
        found.update(
            connection.execute(f"SELECT DISTINCT {columns} FROM {table} WHERE n IN {_LISTED}", (json.dumps(rows),))
        )
    return sorted(found)


def _leave_streams(connection: Connection, streams: Iterable[Row]) -> int:
    """A stream without anything left goes; of others the note, for it may tell what was said. Returns how many went."""
    one = "workspace = ? AND project = ? AND crew = ? AND agent = ? AND session = ?"
    gone = 0
    for stream in streams:
        left: int = connection.execute(
            f"SELECT EXISTS (SELECT 1 FROM events WHERE {one}) OR EXISTS (SELECT 1 FROM archive WHERE {one})",
            (*stream, *stream),
        ).get
        if left:
            connection.execute(f"UPDATE streams SET note = '{{}}' WHERE {one}", stream)
        else:
            gone += _execute(connection, f"DELETE FROM streams WHERE {one}", *stream)
    return gone


def _leave_sessions(connection: Connection, scope: Scope, sessions: Iterable[str]) -> int:
    """The exposures of sessions that nothing is left of: what was asked in them is a part of them."""
    gone = 0
    for session in sorted(sessions):
        found = " OR ".join(
            f"EXISTS (SELECT 1 FROM {table} WHERE workspace = ? AND session = ?)"
            for table in ("events", "archive", "memories")
        )
        if not connection.execute(f"SELECT {found}", (scope.workspace, session) * 3).get:
            gone += _execute(
                connection,
                "DELETE FROM exposures WHERE session = ? AND session <> ''"
                " AND memory IN (SELECT n FROM memories WHERE workspace = ?)",
                session,
                scope.workspace,
            )
    return gone


def _settle(connection: Connection, scope: Scope, removal: Removal) -> int:
    """Work on what is gone waits no more."""
    items = json.dumps([str(identifier) for identifier in sorted(removal.memories | removal.events)])
    statement = f"DELETE FROM deferrals WHERE workspace = ? AND item IN {_LISTED}"
    return _execute(connection, statement, scope.workspace, items)


def _execute(connection: Connection, statement: str, *bindings: Binding) -> int:
    """Returns how many rows it changed, without those that went with them."""
    connection.execute(statement, bindings)
    return connection.changes()
