"""Changes of memories: add, revise, move, supersede, invalidate, adjust, and whole effects."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from remembrancer.adapters.reference.rows import Rows, StreamProgress
from remembrancer.domain.effect import Effect, StatusChange
from remembrancer.domain.instants import MICROSECOND
from remembrancer.domain.memory import Memory, MemoryWrite, Status, holds, topic_level
from remembrancer.domain.outcome import Credit
from remembrancer.domain.past import revision_of
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.review import Review
from remembrancer.domain.scope import Level, Reader, Scope, Visibility
from remembrancer.domain.selection import can_see
from remembrancer.domain.stream import Cursor
from remembrancer.domain.strength import Adjustment, Exposed, Strength
from remembrancer.errors import Conflict, InvalidInput, NotFound
from remembrancer.ports.memories import Audited
from remembrancer.ports.outcomes import Judge


def require_same_workspace(argument: str, scope: Scope, owner: Scope) -> None:
    if owner.workspace != scope.workspace:
        raise InvalidInput(argument, owner.workspace, f"a scope in workspace {scope.workspace!r}")


def insert(
    rows: Rows, scope: Scope, write: MemoryWrite, *, topics: Level = Level.AGENT, once: bool = False
) -> tuple[Memory, bool]:
    memory = write.memory
    require_same_workspace("memory.scope", scope, memory.scope)
    known = rows.memory_with_key(memory.scope, memory.key)
    if known is None and once:
        for equal in rows.with_content_of(memory):
            return equal, False
    if known is None:
        require_free_topic(rows, memory, topics)
        return add(rows, scope, write), True
    # A revised memory's text differs from its first one, so only the keys are compared.
    if known.text != memory.text and known.revision == 1:
        raise Conflict(f"key {memory.key!r} holds another text, in memory {known.id}")
    return known, False


def insert_many(
    rows: Rows,
    scope: Scope,
    writes: Sequence[MemoryWrite],
    *,
    topics: Level = Level.AGENT,
    once: Collection[UUID] = frozenset(),
) -> tuple[tuple[Memory, bool], ...]:
    return tuple(insert(rows, scope, write, topics=topics, once=write.memory.id in once) for write in writes)


def require_free_topic(rows: Rows, memory: Memory, topics: Level) -> None:
    """Raises Conflict if an active memory has the topic key of this one."""
    for holder in rows.by_topic(memory.scope, memory.topic_key, topic_level(memory.visibility, topics)):
        raise Conflict(f"topic {memory.topic_key!r} belongs to active memory {holder.id}")


def add(rows: Rows, scope: Scope, write: MemoryWrite) -> Memory:
    require_same_workspace("memory.scope", scope, write.memory.scope)
    if write.memory.id in rows.memories:
        raise Conflict(f"memory {write.memory.id} already exists")
    _put(rows, write)
    return write.memory


def revise(rows: Rows, scope: Scope, write: MemoryWrite, *, expected_revision: int, at: datetime) -> Memory:
    require_same_workspace("memory.scope", scope, write.memory.scope)
    before = rows.there(write.memory.id)
    if before.superseded_by is not None:
        raise Conflict(f"memory {before.id} is superseded by {before.superseded_by}")
    if before.revision != expected_revision:
        raise Conflict(f"memory {before.id} is at revision {before.revision}, not {expected_revision}")
    after = replace(
        write.memory,
        revision=expected_revision + 1,
        status=before.status,
        retired_at=before.retired_at,
        superseded_by=None,
        superseded_at=None,
        strength=replace(
            write.memory.strength,
            usage=before.strength.usage,
            confidence=before.strength.confidence,
            stability=before.strength.stability,
            difficulty=before.strength.difficulty,
            last_reviewed_at=before.strength.last_reviewed_at,
        ),
    )
    rows.revisions[before.id, before.revision] = revision_of(before, at)
    rows.change_memory(after, at)
    _put_texts(rows, replace(write, memory=after))
    return after


def move(rows: Rows, memory: Memory, status: Status, at: datetime) -> bool:
    """Set the memory's status. Returns whether it changed."""
    if memory.status is status:
        return False
    rows.change_memory(replace(memory, status=status, retired_at=None if status is Status.ACTIVE else at), at)
    return True


def supersede(rows: Rows, memory: Memory, successor: Memory, at: datetime) -> None:
    if memory.superseded_by == successor.id:
        return
    if memory.superseded_by is not None:
        raise Conflict(f"memory {memory.id} is superseded by {memory.superseded_by}")
    if not holds(successor, at):
        raise Conflict(f"memory {successor.id} is not valid")
    if memory.id in _successors(rows, successor.id):
        raise Conflict(f"memory {successor.id} is superseded by {memory.id}, directly or indirectly")
    rows.change_memory(replace(memory, superseded_by=successor.id, superseded_at=at), at)
    edge = Relation(successor.id, memory.id, RelationKind.SUPERSEDES, 1.0, at)
    rows.relations.setdefault((edge.source, edge.target, edge.kind), edge)
    rows.audit.add(Audited(memory.id, "superseded", f"by {successor.id}", at))


def invalidate(rows: Rows, memory: Memory, at: datetime) -> None:
    ended = memory.valid_until is not None and memory.valid_until <= at
    if ended or memory.superseded_by is not None:
        return
    # A memory that becomes valid later ends just after it begins: an interval cannot end before its beginning.
    until = at if memory.valid_from is None else max(at, memory.valid_from + MICROSECOND)
    rows.change_memory(replace(memory, valid_until=until), at)
    rows.audit.add(Audited(memory.id, "invalidated", "", at))


def adjust(rows: Rows, memory: Memory, change: Callable[[Strength], Adjustment], at: datetime) -> Strength:
    adjustment = change(memory.strength)
    after = replace(memory, strength=adjustment.strength)
    if adjustment.retire and memory.status is Status.ACTIVE:
        after = replace(after, status=Status.RETIRED, retired_at=at)
        rows.audit.add(Audited(memory.id, "retired", adjustment.retire, at))
    if after != memory:
        rows.change_memory(after, at)
    return adjustment.strength


def add_credits(
    rows: Rows, reader: Reader, outcome: UUID, ids: Sequence[UUID], judge: Judge, *, at: datetime
) -> tuple[tuple[Credit, ...], bool]:
    known = [credit for (_, of), credit in sorted(rows.credits.items()) if of == outcome]
    if known:
        return tuple(known), False
    for memory in [rows.seen(reader, memory_id) for memory_id in sorted(set(ids))]:
        judged = judge(memory)
        adjustment = Adjustment(judged.strength)
        adjust(rows, memory, lambda _, made=adjustment: made, at)
        rows.credits[memory.id, outcome] = judged.credit
        expose(rows, [] if judged.exposed is None else [judged.exposed])
        known.append(judged.credit)
    return tuple(known), True


def credits(rows: Rows, reader: Reader, memory_id: UUID) -> tuple[Credit, ...]:  # noqa: A001  as the port names it
    if rows.visible(reader, memory_id) is None:
        return ()
    mine = [one for (owner, _), one in rows.credits.items() if owner == memory_id]
    told = [one for one in mine if can_see(reader, one.scope, Visibility.WORKSPACE)]
    return tuple(sorted(told, key=lambda one: (one.at, one.outcome_id)))


def expose(rows: Rows, exposed: Sequence[Exposed]) -> None:
    for one in exposed:
        rows.exposures.setdefault((one.memory_id, one.exposure, one.at), one)


def _put(rows: Rows, write: MemoryWrite) -> None:
    rows.put_memory(write.memory)
    rows.changed_at[write.memory.id] = write.memory.recorded_at
    _put_texts(rows, write)


def _put_texts(rows: Rows, write: MemoryWrite) -> None:
    memory_id = write.memory.id
    turns = [indexed.cue.event_id for indexed in write.cues if indexed.cue.event_id is not None]
    for event_id in (*write.event_ids, *turns):
        if event_id not in rows.events:
            raise NotFound("event", event_id)
    # Sources of an earlier revision stay: revising adds to the provenance.
    rows.provenance[memory_id] = tuple(dict.fromkeys((*rows.provenance.get(memory_id, ()), *write.event_ids)))
    rows.replace_cues(memory_id, write.memory.revision, write.cues)


def _successors(rows: Rows, memory_id: UUID) -> list[UUID]:
    """The memory and, in order, its chain of successors."""
    chain: list[UUID] = []
    following: UUID | None = memory_id
    while following is not None and following not in chain:
        chain.append(following)
        following = rows.memories[following].superseded_by if following in rows.memories else None
    return chain


def commit(rows: Rows, scope: Scope, effect: Effect, *, at: datetime) -> None:
    """Write the effect to the rows. If it raises, some changes are made and the caller must discard the rows."""
    _require_in_workspace(scope, effect)
    _require(rows, effect, at)
    if effect.cursor is not None:
        rows.streams[effect.cursor.stream] = StreamProgress(effect.cursor.to, effect.cursor.note)
    for write in effect.inserted:
        add(rows, scope, write)
    for write in effect.revised:
        revise(rows, scope, write, expected_revision=effect.expected[write.memory.id], at=at)
    # After the revisions: facts were drawn from a memory even if its text is new.
    for memory_id in effect.consolidated:
        rows.memories[memory_id] = replace(rows.memories[memory_id], consolidated_at=at)
    for change in effect.status_changes:
        _change_status(rows, change, at)
    for old, new in effect.superseded:
        _supersede(rows, rows.there(old), new, at)
    for edge in effect.related:
        rows.there(edge.source)
        rows.there(edge.target)
        rows.put_relation(edge)
    for memory_id, change in effect.adjusted.items():
        adjust(rows, rows.there(memory_id), change, at)
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
            raise Conflict(f"memory {memory_id} is inactive, superseded or expired")
    for memory_id in effect.consolidated:
        if rows.there(memory_id).consolidated_at is not None:
            raise Conflict(f"memory {memory_id} is already consolidated")
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
        raise Conflict(f"the stream {cursor.stream} was processed up to {stands}, not {cursor.expected}")
    last = rows.last_seq(cursor.stream)
    if not stands <= cursor.to <= last:
        raise InvalidInput("effect.cursor.to", cursor.to, f"a place from {stands} to {last}")


def _change_status(rows: Rows, change: StatusChange, at: datetime) -> None:
    if move(rows, rows.there(change.memory_id), change.status, at):
        action = "restored" if change.status is Status.ACTIVE else change.status.value
        rows.audit.add(Audited(change.memory_id, action, change.reason, at))


def _supersede(rows: Rows, memory: Memory, new: UUID | None, at: datetime) -> None:
    if new is None:
        invalidate(rows, memory, at)
    else:
        supersede(rows, memory, rows.there(new), at)


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
    rows.change_memory(replace(memory, strength=strength), review.at)
