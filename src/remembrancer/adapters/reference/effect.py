"""Write an effect: check its conditions, then write its parts in order."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from remembrancer.adapters.reference import memories
from remembrancer.adapters.reference.memories import NewRef, require_same_workspace
from remembrancer.adapters.reference.rows import Rows, StreamProgress
from remembrancer.domain.effect import Effect, Moved
from remembrancer.domain.memory import Memory, Status, holds
from remembrancer.domain.review import Review
from remembrancer.domain.scope import Scope
from remembrancer.domain.stream import Cursor
from remembrancer.errors import Conflict, InvalidInput
from remembrancer.ports.memories import Audited


def commit(rows: Rows, scope: Scope, effect: Effect, at: datetime, new_ref: NewRef) -> None:
    """Write the effect to the rows. If it raises, the rows are half written and the caller must discard them."""
    _require_in_workspace(scope, effect)
    _require(rows, effect, at)
    if effect.cursor is not None:
        rows.streams[effect.cursor.stream] = StreamProgress(effect.cursor.to, effect.cursor.note)
    for write in effect.inserted:
        memories.add(rows, scope, write, new_ref)
    for write in effect.revised:
        memories.revise(rows, scope, write, effect.expected[write.memory.id], at, new_ref)
    # After the revisions: facts were drawn from a memory even if it has a new text.
    for memory_id in effect.consolidated:
        rows.memories[memory_id] = replace(rows.memories[memory_id], consolidated_at=at)
    for moved in effect.moved:
        _move(rows, moved, at)
    for old, new in effect.superseded:
        _supersede(rows, rows.there(old), new, at)
    for edge in effect.related:
        rows.there(edge.source)
        rows.there(edge.target)
        rows.put_relation(edge)
    for memory_id, change in effect.adjusted.items():
        memories.adjust(rows, rows.there(memory_id), change, at)
    for review in effect.reviewed:
        _review(rows, review)


def _require_in_workspace(scope: Scope, effect: Effect) -> None:
    for write in (*effect.inserted, *effect.revised):
        require_same_workspace("memory.scope", scope, write.memory.scope)
    for write in effect.revised:
        if write.memory.id not in effect.expected:
            raise InvalidInput("effect.revised", str(write.memory.id), "a memory that is in effect.expected")
    if effect.cursor is not None:
        require_same_workspace("effect.cursor.stream", scope, effect.cursor.stream)


def _require(rows: Rows, effect: Effect, at: datetime) -> None:
    for memory_id, revision in effect.expected.items():
        memory = rows.there(memory_id)
        if memory.revision != revision:
            raise Conflict(f"memory {memory_id} is at revision {memory.revision}, not {revision}")
        if not holds(memory, at):
            raise Conflict(f"memory {memory_id} holds no more")
    for memory_id in effect.consolidated:
        if rows.there(memory_id).consolidated_at is not None:
            raise Conflict(f"facts were drawn from memory {memory_id} already")
    if effect.cursor is not None:
        _require_cursor(rows, effect.cursor)
    last = {review.memory_id: rows.there(review.memory_id).strength.last_reviewed_at for review in effect.reviewed}
    for review in effect.reviewed:
        if last[review.memory_id] != review.previous:
            raise Conflict(f"memory {review.memory_id} was reviewed last at {last[review.memory_id]}")
        last[review.memory_id] = review.at


def _require_cursor(rows: Rows, cursor: Cursor) -> None:
    stands = rows.progress(cursor.stream).cursor
    if stands != cursor.expected:
        raise Conflict(f"the stream {cursor.stream} was read up to {stands}, not {cursor.expected}")
    last = rows.last_seq(cursor.stream)
    if not stands <= cursor.to <= last:
        raise InvalidInput("effect.cursor.to", cursor.to, f"a place from {stands} to {last}")


def _move(rows: Rows, moved: Moved, at: datetime) -> None:
    if memories.move(rows, rows.there(moved.memory_id), moved.status, at):
        action = "restored" if moved.status is Status.ACTIVE else moved.status.value
        rows.audit.add(Audited(moved.memory_id, action, moved.reason, at))


def _supersede(rows: Rows, memory: Memory, new: UUID | None, at: datetime) -> None:
    if new is None:
        memories.invalidate(rows, memory, at)
    else:
        memories.supersede(rows, memory, rows.there(new), at)


def _review(rows: Rows, review: Review) -> None:
    if (review.memory_id, review.at) in rows.reviews:
        raise Conflict(f"memory {review.memory_id} has a review of {review.at} already")
    rows.reviews[review.memory_id, review.at] = review
    memory = rows.there(review.memory_id)
    strength = replace(
        memory.strength,
        stability=review.stability,
        difficulty=review.difficulty,
        last_reviewed_at=review.at,
    )
    rows.memories[memory.id] = replace(memory, strength=strength)
