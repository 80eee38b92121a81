"""Erase memories and events with everything that belongs to them, and update rows that refer to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from remembrancer.adapters.relational.clauses import Where
from remembrancer.adapters.relational.columns import Row, encoded
from remembrancer.adapters.relational.connection import Connection, DatabaseCursor
from remembrancer.adapters.relational.lookup import by_topic, there
from remembrancer.adapters.relational.memories import (
    MICROSECOND,
    NewCue,
    add_cues,
    next_change,
    rows_of_events,
    set_columns,
)
from remembrancer.adapters.relational.quotations import redact, repeated
from remembrancer.adapters.relational.recalls import erase_asked_in
from remembrancer.adapters.relational.retention import require_unheld
from remembrancer.adapters.relational.rows import EVENTS
from remembrancer.domain.erasure import REVISED_PARTS, Erasure, ErasureSelection, Removal, Removed, completed
from remembrancer.domain.event import Event
from remembrancer.domain.instants import micros
from remembrancer.domain.journal import searchable_text
from remembrancer.domain.memory import Analyse, MemoryWrite, Status
from remembrancer.domain.relation import RelationKind
from remembrancer.domain.scope import Scope
from remembrancer.errors import Conflict, NotFound
from remembrancer.ports.receipts import receipt_text
from remembrancer.values import dataclass

_OF_MEMORIES: Final = {
    "cues": "cues c",
    "vectors": "embeddings v JOIN cues c ON c.n = v.cue",
    "word_vectors": "word_vectors v JOIN cues c ON c.n = v.cue",
    "revisions": "revisions c",
    "past_states": "past_states c",
    "exposures": "exposures c",
    "reviews": "reviews c",
    "credits": "credits c",
    "audit": "audit c",
}
"""Rows deleted with a memory (`c.memory`), by kind."""
_OF_TEXTS: Final = ("cues", "vectors", "word_vectors", "revisions")
"""Rows deleted with the text of a memory that gets a new one."""


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Row numbers of the rows to delete, and of memories that get a new text (`rebuilt`)."""

    memories: Sequence[int]
    rebuilt: Sequence[int]
    events: Sequence[int]
    archive: Sequence[int]


def erase(connection: Connection, scope: Scope, removal: Removal, receipt: Erasure, analyse: Analyse) -> Removed:
    """See `Erasure.erase`. If it raises, the caller's savepoint undoes its writes."""
    # The later purge may fail (no disk space, or a reader): deleted rows are overwritten at least here.
    with connection.dialect.overwriting(connection):
        connection.execute("SAVEPOINT erasure")
        removed = _erase(connection, scope, removal, receipt, analyse)
        if receipt.dry_run:
            connection.execute("ROLLBACK TO SAVEPOINT erasure")
        else:
            connection.execute(
                "INSERT INTO erasures (workspace, id, at, receipt) VALUES (?, ?, ?, ?)",
                (scope.workspace, receipt.id.bytes, micros(receipt.at), receipt_text(completed(receipt, removed))),
            )
        connection.execute("RELEASE SAVEPOINT erasure")
    return removed


def _erase(connection: Connection, scope: Scope, removal: Removal, receipt: Erasure, analyse: Analyse) -> Removed:
    numbers = _numbers(connection, scope, removal)
    _require_whole(connection, removal, numbers)
    for table, rows in (
        ("memories", [*numbers.memories, *numbers.rebuilt]),
        ("events", numbers.events),
        ("archive", numbers.archive),
    ):
        require_unheld(connection, table, rows)
    main_texts = _main_texts(connection, numbers)
    texts = _texts(connection, numbers, main_texts)
    sessions = _sessions(connection, numbers)
    counts: Counter[str] = Counter()
    _count_rows(connection, numbers, counts)
    texts += _drop_past(connection, scope, receipt.asked, numbers, counts)
    _end_superseded(connection, scope, removal, receipt.at)
    for write in removal.rebuilt:
        _replace_text(connection, scope, write)
    for identifier in sorted(removal.restored):
        _restore(connection, scope, identifier)
    _delete(connection, "memories", numbers.memories)
    dialect = connection.dialect
    connection.execute(
        f"UPDATE memories SET consolidated_at = NULL, change = ? WHERE workspace = ? AND {dialect.in_ids('id')}",
        (next_change(connection, scope.workspace), scope.workspace, dialect.ids(removal.requeued)),
    )
    counts["priority_changes"] = connection.count(
        f"DELETE FROM priority_changes WHERE workspace = ? AND {dialect.in_ids('event')}",
        (scope.workspace, dialect.ids(removal.events)),
    )
    streams = _streams(connection, numbers)
    _delete(connection, "events", numbers.events)
    _delete(connection, "archive", numbers.archive)
    counts["streams"] = _clean_streams(connection, streams)
    counts["exposures"] += _clean_sessions(connection, scope, sessions)
    counts["deferrals"] = _drop_deferrals(connection, scope, removal)
    counts["replies"] = connection.execute(
        "SELECT count(*) FROM claims WHERE workspace = ? AND body IS NOT NULL", (scope.workspace,)
    ).get
    connection.execute(
        "UPDATE claims SET body = NULL, media_type = NULL WHERE workspace = ? AND status IS NOT NULL",
        (scope.workspace,),
    )
    counts["kept_recalls"] = erase_asked_in(connection, "kept_recalls", scope, receipt.asked)
    for table in ("credits", "exposures"):
        counts[table] += erase_asked_in(connection, table, scope, receipt.asked)
    counts["quotations"] = redact(connection, scope, texts, analyse)
    requests = connection.execute("SELECT count(*) FROM claims WHERE workspace = ?", (scope.workspace,)).get
    found = repeated(connection, scope, main_texts, analyse)
    return Removed(counts=dict(counts), repeated=found, requests=requests)


def _numbers(connection: Connection, scope: Scope, removal: Removal) -> _Numbers:
    """Raises Conflict if a row does not exist, or a memory is not at the expected revision."""
    revisions = {write.memory.id: write.memory.revision - 1 for write in removal.rebuilt}
    for identifier, revision in revisions.items():
        try:
            memory = there(connection, scope, identifier)
        except NotFound as error:
            raise Conflict(f"memory {identifier} no longer exists") from error
        if memory.revision != revision:
            raise Conflict(f"memory {identifier} is at revision {memory.revision}, not {revision}")
    found = {
        table: _found(connection, scope, table, ids)
        for table, ids in (("memories", removal.memories), ("events", removal.events), ("archive", removal.events))
    }
    numbers = _Numbers(
        memories=found["memories"],
        rebuilt=_found(connection, scope, "memories", revisions.keys()),
        events=found["events"],
        archive=found["archive"],
    )
    if len(numbers.memories) != len(removal.memories):
        raise Conflict("a memory to be erased no longer exists")
    if len(numbers.events) + len(numbers.archive) != len(removal.events):
        raise Conflict("an event to be erased no longer exists")
    return numbers


def _found(connection: Connection, scope: Scope, table: str, ids: Iterable[UUID]) -> list[int]:
    statement = f"SELECT n FROM {table} WHERE workspace = ? AND {connection.dialect.in_ids('id')}"
    return [number for (number,) in connection.execute(statement, (scope.workspace, connection.dialect.ids(ids)))]


def _where_in(connection: Connection, rows: str, column: str, numbers: Sequence[int]) -> DatabaseCursor:
    """Execute `rows`, a SELECT or DELETE without a condition, for rows whose column is one of the numbers."""
    dialect = connection.dialect
    return connection.execute(f"{rows} WHERE {dialect.in_list(column)}", (dialect.listed(numbers),))


def _delete(connection: Connection, table: str, numbers: Sequence[int]) -> None:
    _where_in(connection, f"DELETE FROM {table}", "n", numbers)


def _require_whole(connection: Connection, removal: Removal, numbers: _Numbers) -> None:
    """Raises Conflict if a memory outside the removal was meanwhile formed or derived from a row to be erased."""
    dialect, in_list = connection.dialect, connection.dialect.in_list
    known = dialect.listed([*numbers.memories, *numbers.rebuilt])
    events = dialect.listed(numbers.events)
    formed = f"{in_list('event')} AND NOT {in_list('memory')}"
    stray: int = connection.execute(
        f"SELECT (SELECT count(*) FROM memory_events WHERE {formed}) + (SELECT count(*) FROM cues WHERE {formed})"
        f" + (SELECT count(*) FROM relations WHERE {in_list('target')} AND kind = ? AND NOT {in_list('source')})",
        (events, known, events, known, known, RelationKind.DERIVED_FROM, known),
    ).get
    if stray:
        raise Conflict("a memory was meanwhile formed from a row to be erased")
    if any(removal.events.intersection(write.event_ids) for write in removal.rebuilt):
        raise Conflict("an episode was to be formed again from an event to be erased")


def _main_texts(connection: Connection, numbers: _Numbers) -> list[str]:
    """The main texts of the rows to delete."""
    memories = _where_in(connection, "SELECT text FROM memories", "n", numbers.memories)
    texts = [text for (text,) in memories]
    texts += [event.text for event in _events(connection, numbers)]
    return list(dict.fromkeys(texts))


def _texts(connection: Connection, numbers: _Numbers, main_texts: Sequence[str]) -> list[str]:
    """These texts, and all others of the same rows: titles, topic keys, revisions, and the old texts of memories that
    get a new one.
    """
    both = [*numbers.memories, *numbers.rebuilt]
    named = "SELECT coalesce(title, ''), coalesce(topic_key, '') FROM memories"
    rows = [
        *_where_in(connection, named, "n", numbers.memories),
        *_where_in(connection, "SELECT coalesce(title, ''), text FROM memories", "n", numbers.rebuilt),
        *_where_in(connection, "SELECT coalesce(title, ''), text FROM revisions", "memory", both),
    ]
    texts = [*main_texts, *(text for row in rows for text in row if text)]
    texts += map(searchable_text, _events(connection, numbers))
    return list(dict.fromkeys(texts))


def _events(connection: Connection, numbers: _Numbers) -> list[Event]:
    return [
        EVENTS.value_of(row)
        for table, rows in (("events", numbers.events), ("archive", numbers.archive))
        for row in _where_in(connection, f"SELECT {EVENTS.select} FROM {table} e", "e.n", rows)
    ]


def _sessions(connection: Connection, numbers: _Numbers) -> set[str]:
    found: set[str] = set()
    for table, rows in (("events", numbers.events), ("archive", numbers.archive), ("memories", numbers.memories)):
        found.update(
            session for (session,) in _where_in(connection, f"SELECT DISTINCT session FROM {table}", "n", rows)
        )
    return found - {""}


def _drop_past(
    connection: Connection, scope: Scope, choice: ErasureSelection, numbers: _Numbers, counts: Counter[str]
) -> list[str]:
    """Drop all earlier revisions of memories that stay, if one of these revisions has the session, actor, kind or
    origin that is erased. Returns their texts.
    """
    if not choice.parts.keys() & set(REVISED_PARTS):
        return []
    where = Where()
    where.add("m.workspace = ?", scope.workspace)
    for part, value in choice.parts.items():
        where.add(f"{'r' if part in REVISED_PARTS else 'm'}.{part} = ?", value)
    if choice.before is not None:
        where.add("r.occurred_to < ?", micros(choice.before))
    rows = connection.execute(
        f"SELECT DISTINCT m.n FROM revisions r JOIN memories m ON m.n = r.memory WHERE {where.sql}", where.bindings
    )
    gone = {*numbers.memories, *numbers.rebuilt}
    staying = [number for (number,) in rows if number not in gone]
    require_unheld(connection, "memories", staying)
    said = list(_where_in(connection, "SELECT coalesce(title, ''), text FROM revisions", "memory", staying))
    in_list, listed = connection.dialect.in_list("c.memory"), connection.dialect.listed(staying)
    for kind in _OF_TEXTS:
        past = "" if kind == "revisions" else " AND c.last IS NOT NULL"
        counts[kind] += connection.execute(
            f"SELECT count(*) FROM {_OF_MEMORIES[kind]} WHERE {in_list}{past}", (listed,)
        ).get
    _where_in(connection, "DELETE FROM revisions", "memory", staying)
    in_cues = connection.dialect.in_list("memory")
    connection.execute(f"DELETE FROM cues WHERE {in_cues} AND last IS NOT NULL", (listed,))
    for number in staying:  # so that indexes read them again
        connection.execute(
            "UPDATE memories SET change = ? WHERE n = ?", (next_change(connection, scope.workspace), number)
        )
    return [text for row in said for text in row if text]


def _count_rows(connection: Connection, numbers: _Numbers, counts: Counter[str]) -> None:
    counts["memories"] = len(numbers.memories)
    counts["events"] = len(numbers.events)
    counts["archived"] = len(numbers.archive)
    for kind, rows in _OF_MEMORIES.items():
        of = [*numbers.memories, *numbers.rebuilt] if kind in _OF_TEXTS else numbers.memories
        counts[kind] = _where_in(connection, f"SELECT count(*) FROM {rows}", "c.memory", of).get
    dialect = connection.dialect
    counts["relations"] = connection.execute(
        f"SELECT count(*) FROM relations WHERE {dialect.in_list('source')} OR {dialect.in_list('target')}",
        (dialect.listed(numbers.memories),) * 2,
    ).get


def _end_superseded(connection: Connection, scope: Scope, removal: Removal, at: datetime) -> None:
    """End memories whose successor is erased, at the time of their supersession: they do not become valid again."""
    dialect = connection.dialect
    rows = connection.execute(
        f"SELECT id FROM memories WHERE workspace = ? AND {dialect.in_ids('superseded_by')}"
        f" AND NOT {dialect.in_ids('id')}",
        (scope.workspace, *(dialect.ids(removal.memories),) * 2),
    )
    for (identifier,) in list(rows):
        memory = there(connection, scope, UUID(bytes=identifier))
        ended = memory.superseded_at or at
        if memory.valid_from is not None:  # an interval cannot end before it begins
            ended = max(ended, memory.valid_from + MICROSECOND)
        if memory.valid_until is not None:
            ended = min(ended, memory.valid_until)
        gone = {"superseded_by": None, "superseded_at": None, "topic_key": None}
        set_columns(connection, scope, memory.id, **gone, valid_until=micros(ended))
        connection.execute(
            "UPDATE past_states SET superseded_by = NULL, superseded_at = NULL, valid_until = ?"
            " WHERE memory = (SELECT n FROM memories WHERE workspace = ? AND id = ?) AND superseded_by IS NOT NULL",
            (micros(ended), scope.workspace, memory.id.bytes),
        )


def _replace_text(connection: Connection, scope: Scope, write: MemoryWrite) -> None:
    """Replace the memory's text, cues and events by those of `write`, and delete the old ones and the revisions."""
    memory = write.memory
    set_columns(
        connection,
        scope,
        memory.id,
        title=memory.title,
        text=memory.text,
        metadata=encoded(memory.metadata),
        revision=memory.revision,
    )
    [number] = _found(connection, scope, "memories", [memory.id])
    for table in ("revisions", "cues", "memory_events"):
        connection.execute(f"DELETE FROM {table} WHERE memory = ?", (number,))
    events = rows_of_events(connection, scope.workspace, write.event_ids)
    if len(events) != len(write.event_ids):
        raise Conflict(f"an event that memory {memory.id} is to be formed from no longer exists")
    connection.executemany(
        "INSERT INTO memory_events (memory, ordinal, event) VALUES (?, ?, ?)",
        [(number, ordinal, events[event].number) for ordinal, event in enumerate(write.event_ids)],
    )
    added = [NewCue(number, indexed, memory.revision) for indexed in write.cues]
    add_cues(connection, scope.workspace, added, events)


def _restore(connection: Connection, scope: Scope, identifier: UUID) -> None:
    """Make the memory active again, without its topic if another active memory has it."""
    memory = there(connection, scope, identifier)
    held = () if memory.topic_key is None else by_topic(connection, memory.scope, memory.topic_key)
    topic = memory.topic_key if all(one.id == identifier for one in held) else None
    set_columns(connection, scope, identifier, status=Status.ACTIVE, retired_at=None, topic_key=topic)


def _streams(connection: Connection, numbers: _Numbers) -> list[Row]:
    """The streams that lose an event."""
    found: set[Row] = set()
    for table, rows in (("events", numbers.events), ("archive", numbers.archive)):
        streams = f"SELECT DISTINCT workspace, project, crew, agent, session FROM {table}"
        found.update(_where_in(connection, streams, "n", rows))
    return sorted(found)


def _clean_streams(connection: Connection, streams: Iterable[Row]) -> int:
    """Delete empty streams, and the notes of the others, which may quote an erased event. Returns the number of streams
    deleted.
    """
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
            gone += connection.count(f"DELETE FROM streams WHERE {one}", stream)
    return gone


def _clean_sessions(connection: Connection, scope: Scope, sessions: Iterable[str]) -> int:
    """Delete the exposures of sessions without remaining rows, because their questions belong to the session. Returns
    the number of exposures deleted.
    """
    gone = 0
    for session in sorted(sessions):
        found = " OR ".join(
            f"EXISTS (SELECT 1 FROM {table} WHERE workspace = ? AND session = ?)"
            for table in ("events", "archive", "memories")
        )
        if not connection.execute(f"SELECT {found}", (scope.workspace, session) * 3).get:
            gone += connection.count(
                "DELETE FROM exposures WHERE session = ? AND session <> ''"
                " AND memory IN (SELECT n FROM memories WHERE workspace = ?)",
                (session, scope.workspace),
            )
    return gone


def _drop_deferrals(connection: Connection, scope: Scope, removal: Removal) -> int:
    """Delete the deferrals of work on erased rows. Returns their number."""
    dialect = connection.dialect
    return connection.count(
        f"DELETE FROM deferrals WHERE workspace = ? AND {dialect.in_list('item')}",
        (scope.workspace, dialect.listed(map(str, removal.memories | removal.events))),
    )
