"""The cursors of streams, and their tails: the events in no episode yet."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from remembrancer.adapters.relational.clauses import Where, seen_by, stream_of
from remembrancer.adapters.relational.columns import Row, as_written, decoded, encoded, scope_of
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.dialect import Dialect
from remembrancer.adapters.relational.rows import EVENTS
from remembrancer.domain.event import Event
from remembrancer.domain.instants import micros, moment
from remembrancer.domain.journal import ListingPosition
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.stream import MAX_COUNTED_TURNS, ConversationSummary, Cursor, Tail, digest_of
from remembrancer.errors import Conflict, InvalidInput

_IN_TAIL: Final = (
    "FROM events e WHERE e.workspace = s.workspace AND e.project = s.project AND e.crew = s.crew AND e.agent = s.agent"
    " AND e.session = s.session AND e.seq > s.segmented"
)
"""A query for the events after a stream's (`s`) cursor that are in the journal; the others may be in the archive."""


def tails(
    connection: Connection,
    scope: Scope,
    *,
    at_least: int,
    silent_since: datetime,
    limit: int,
    after: Scope | None = None,
) -> tuple[Tail, ...]:
    where = Where()
    where.add("s.workspace = ?", scope.workspace)
    where.add("s.last_seq > s.segmented")
    if after is not None:
        where.add("(s.project, s.crew, s.agent, s.session) > (?, ?, ?, ?)", *stream_of(after)[1:])
    # The difference of the positions needs no reading, and is the most events there can be.
    where.add(
        f"l.recorded_at <= ? OR (s.last_seq - s.segmented >= ? AND (SELECT count(*) {_IN_TAIL}) >= ?)",
        micros(silent_since),
        at_least,
        at_least,
    )
    rows = connection.execute(
        f"{_with_tails(connection.dialect)} WHERE {where.sql} ORDER BY s.project, s.crew, s.agent, s.session LIMIT ?",
        (*where.bindings, limit),
    )
    return tuple(_tail(row) for row in rows)


def _with_tails(dialect: Dialect) -> str:
    """Selects each stream (`s`) with the last (`l`) and the first (`f`) event of its tail, both found by index."""
    return (
        "SELECT s.workspace, s.project, s.crew, s.agent, s.session, s.segmented, l.seq,"
        f" (SELECT count(*) {_IN_TAIL}), f.occurred_at, l.occurred_at, l.recorded_at, s.note"
        f" FROM streams s {dialect.then_join} events l ON l.n = (SELECT e.n {_IN_TAIL} ORDER BY e.seq DESC LIMIT 1)"
        f" {dialect.then_join} events f ON f.n = (SELECT e.n {_IN_TAIL} ORDER BY e.seq LIMIT 1)"
    )


def tail(connection: Connection, stream: Scope) -> Tail | None:
    row = connection.execute(
        f"{_with_tails(connection.dialect)} WHERE s.workspace = ? AND s.project = ? AND s.crew = ? AND s.agent = ?"
        " AND s.session = ?",
        stream_of(stream),
    ).fetchone()
    return None if row is None else _tail(row)


def stream_events(connection: Connection, stream: Scope, *, after: int, limit: int) -> tuple[Event, ...]:
    return EVENTS.all(
        connection,
        "events e WHERE e.workspace = ? AND e.project = ? AND e.crew = ? AND e.agent = ?"
        " AND e.session = ? AND e.seq > ? ORDER BY e.seq LIMIT ?",
        (*stream_of(stream), after, limit),
    )


_IN_STREAM: Final = (
    "FROM events e WHERE e.workspace = s.workspace AND e.project = s.project AND e.crew = s.crew AND e.agent = s.agent"
    " AND e.session = s.session"
)
"""A query for the events of a stream (`s`) that are in the journal."""


def conversations(
    connection: Connection,
    reader: Reader,
    *,
    limit: int,
    after: ListingPosition | None = None,
    stream: Scope | None = None,
) -> tuple[ConversationSummary, ...]:
    where = seen_by(reader, "s", visibility=False)
    if stream is not None:
        where.add(
            "s.workspace = ? AND s.project = ? AND s.crew = ? AND s.agent = ? AND s.session = ?", *stream_of(stream)
        )
    if after is not None:
        where.add("(l.occurred_at, l.seq, l.id) < (?, ?, ?)", micros(after.occurred_at), after.seq, after.id.bytes)
    join = connection.dialect.then_join
    # The turns are counted only for the streams that are returned.
    rows = connection.execute(
        "SELECT s.workspace, s.project, s.crew, s.agent, s.session, f.occurred_at, f.seq, f.id, s.at, s.seq, s.id,"
        f" (SELECT count(*) {_IN_STREAM})"
        " FROM (SELECT s.workspace, s.project, s.crew, s.agent, s.session, l.occurred_at AS at, l.seq, l.id"
        f" FROM streams s {join} events l ON l.n = (SELECT e.n {_IN_STREAM} ORDER BY e.seq DESC LIMIT 1)"
        f" WHERE {where.sql} ORDER BY l.occurred_at DESC, l.seq DESC, l.id DESC LIMIT ?) s"
        f" {join} events f ON f.n = (SELECT e.n {_IN_STREAM} ORDER BY e.seq LIMIT 1)"
        " ORDER BY s.at DESC, s.seq DESC, s.id DESC",
        (*where.bindings, limit),
    )
    with as_written():
        return tuple(_conversation(connection, row) for row in list(rows))


def _conversation(connection: Connection, row: Row) -> ConversationSummary:
    speakers = connection.execute(
        "SELECT said.speaker, count(*) FROM (SELECT coalesce(e.actor, e.role) AS speaker FROM events e"
        " WHERE e.workspace = ? AND e.project = ? AND e.crew = ? AND e.agent = ? AND e.session = ?"
        " ORDER BY e.seq DESC LIMIT ?) said GROUP BY said.speaker ORDER BY 2 DESC, 1",
        (*row[:5], MAX_COUNTED_TURNS),
    )
    return ConversationSummary(
        stream=scope_of(*row[:5]),
        turns=row[11],
        first=_position(*row[5:8]),
        last=_position(*row[8:11]),
        speakers=dict(speakers),
    )


def _position(at: int, seq: int, identifier: bytes) -> ListingPosition:
    return ListingPosition(moment(at), seq, UUID(bytes=identifier))


def require_at(connection: Connection, cursor: Cursor) -> None:
    """Raises Conflict if the stream's cursor is not as expected, InvalidInput if it cannot move to `to`."""
    stands, last, _ = place(connection, cursor.stream)
    if stands != cursor.expected:
        raise Conflict(f"the stream {cursor.stream} was processed up to {stands}, not {cursor.expected}")
    if not stands <= cursor.to <= last:
        raise InvalidInput("effect.cursor.to", cursor.to, f"a place from {stands} to {last}")


def advance(connection: Connection, cursor: Cursor) -> None:
    """Set the stream's cursor and note. Creates the stream's row if it has no event yet."""
    connection.execute(
        "INSERT INTO streams (workspace, project, crew, agent, session, last_seq, segmented, note)"
        " VALUES (?, ?, ?, ?, ?, 0, ?, ?)"
        " ON CONFLICT (workspace, project, crew, agent, session)"
        " DO UPDATE SET segmented = excluded.segmented, note = excluded.note",
        (*stream_of(cursor.stream), cursor.to, encoded(cursor.note)),
    )


def place(connection: Connection, stream: Scope) -> tuple[int, int, str]:
    """The stream's cursor, its last position and its note as JSON; 0, 0 and "{}" if it does not exist."""
    row: tuple[int, int, str] | None = connection.execute(
        "SELECT segmented, last_seq, note FROM streams WHERE workspace = ? AND project = ? AND crew = ? AND agent = ?"
        " AND session = ?",
        stream_of(stream),
    ).get
    return (0, 0, "{}") if row is None else row


def digest_until(connection: Connection, stream: Scope, place: int) -> str:
    """The digest of the ids of the stream's events up to a position, in the journal and the archive."""
    found = "SELECT seq, id FROM {} WHERE workspace = ? AND project = ? AND crew = ? AND agent = ? AND session = ?"
    rows = connection.execute(
        f"{found.format('events')} AND seq <= ? UNION ALL {found.format('archive')} AND seq <= ? ORDER BY seq",
        (*stream_of(stream), place) * 2,
    )
    return digest_of(UUID(bytes=identifier) for _, identifier in rows)


def _tail(row: Row) -> Tail:
    with as_written():
        return Tail(
            stream=scope_of(*row[:5]),
            cursor=row[5],
            last_seq=row[6],
            events=row[7],
            first_at=moment(row[8]),
            last_at=moment(row[9]),
            recorded_at=moment(row[10]),
            note=decoded(row[11]),
        )
