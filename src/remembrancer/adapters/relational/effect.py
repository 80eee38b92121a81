"""Write an effect in the caller's transaction: check its conditions, then write its parts in order."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from remembrancer.adapters.relational import memories, streams
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.lookup import there
from remembrancer.adapters.relational.memories import check_workspace, next_change
from remembrancer.adapters.relational.reviews import add_review
from remembrancer.domain.effect import Effect, StatusChange
from remembrancer.domain.instants import micros
from remembrancer.domain.memory import Status, holds
from remembrancer.domain.relation import Relation
from remembrancer.domain.scope import Scope
from remembrancer.errors import Conflict, InvalidInput


def commit(connection: Connection, scope: Scope, effect: Effect, *, at: datetime) -> None:
    """See `Memories.commit`. If it raises, the caller's savepoint undoes its writes."""
    _require_in_workspace(scope, effect)
    _require(connection, scope, effect, at)
    if effect.cursor is not None:
        streams.advance(connection, effect.cursor)
    memories.add_memories(connection, scope.workspace, effect.inserted, {})
    for write in effect.revised:
        memories.revise(connection, scope, write, expected_revision=effect.expected[write.memory.id], at=at)
    # After the revisions, which also write this column.
    connection.executemany(
        "UPDATE memories SET consolidated_at = ?, change = ? WHERE workspace = ? AND id = ?",
        [
            (micros(at), next_change(connection, scope.workspace), scope.workspace, identifier.bytes)
            for identifier in effect.consolidated
        ],
    )
    for change in effect.status_changes:
        _change_status(connection, scope, change, at)
    for old, new in effect.superseded:
        _supersede(connection, scope, old, new, at)
    for edge in effect.related:
        _relate(connection, scope, edge)
    for identifier, change in effect.adjusted.items():
        memory = there(connection, scope, identifier)
        memories.adjust_one(connection, scope, memory, change, at, next_change(connection, scope.workspace))
    for review in effect.reviewed:
        add_review(connection, scope, review)


def _require_in_workspace(scope: Scope, effect: Effect) -> None:
    for write in (*effect.inserted, *effect.revised):
        check_workspace(scope, write.memory)
    for write in effect.revised:
        if write.memory.id not in effect.expected:
            raise InvalidInput("effect.revised", str(write.memory.id), "a memory that is in effect.expected")
    if effect.cursor is not None and effect.cursor.stream.workspace != scope.workspace:
        raise InvalidInput("effect.cursor.stream.workspace", effect.cursor.stream.workspace, repr(scope.workspace))


def _require(connection: Connection, scope: Scope, effect: Effect, at: datetime) -> None:
    """Raises Conflict if the state is not the one that the effect expects, NotFound if a memory does not exist."""
    for identifier, revision in effect.expected.items():
        memory = there(connection, scope, identifier)
        if memory.revision != revision:
            raise Conflict(f"memory {identifier} is at revision {memory.revision}, not {revision}")
        if not holds(memory, at):
            raise Conflict(f"memory {identifier} is inactive, superseded or expired")
    for identifier in effect.consolidated:
        if there(connection, scope, identifier).consolidated_at is not None:
            raise Conflict(f"memory {identifier} is already consolidated")
    if effect.cursor is not None:
        streams.require_at(connection, effect.cursor)
    reviewed = {one.memory_id: there(connection, scope, one.memory_id) for one in effect.reviewed}
    last = {identifier: memory.strength.last_reviewed_at for identifier, memory in reviewed.items()}
    for review in effect.reviewed:
        if last[review.memory_id] != review.previous:
            raise Conflict(f"memory {review.memory_id} was reviewed last at {last[review.memory_id]}")
        last[review.memory_id] = review.at


def _change_status(connection: Connection, scope: Scope, change: StatusChange, at: datetime) -> None:
    memory = there(connection, scope, change.memory_id)
    if memories.move(connection, scope, memory, change.status, at):
        action = "restored" if change.status is Status.ACTIVE else change.status.value
        memories.note(connection, scope, change.memory_id, action, change.reason, at)


def _supersede(connection: Connection, scope: Scope, old: UUID, new: UUID | None, at: datetime) -> None:
    memory = there(connection, scope, old)
    if new is None:
        memories.invalidate(connection, scope, memory, at)
    else:
        memories.supersede_by(connection, scope, memory, there(connection, scope, new), at)


def _relate(connection: Connection, scope: Scope, edge: Relation) -> None:
    for end in (edge.source, edge.target):
        there(connection, scope, end)
    memories.add_relation(connection, scope, edge, replace_weight=True)
