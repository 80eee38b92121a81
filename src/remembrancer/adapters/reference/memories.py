"""Changes of one memory: add, revise, move, supersede, invalidate, adjust. The caller has looked up the memories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from remembrancer.adapters.reference.rows import Rows
from remembrancer.domain.memory import Memory, MemoryWrite, Revision, Status, holds
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Scope
from remembrancer.domain.strength import Adjustment, Exposed, Strength
from remembrancer.errors import Conflict, InvalidInput, NotFound
from remembrancer.policies.forgetting.dynamics import MICROSECOND
from remembrancer.ports.memories import Audited

NewRef = Callable[[], int]
"""Returns the number of the next cue."""


def require_same_workspace(argument: str, scope: Scope, owner: Scope) -> None:
    if owner.workspace != scope.workspace:
        raise InvalidInput(argument, owner.workspace, f"a scope in workspace {scope.workspace!r}")


def add(rows: Rows, scope: Scope, write: MemoryWrite, new_ref: NewRef) -> Memory:
    require_same_workspace("memory.scope", scope, write.memory.scope)
    if write.memory.id in rows.memories:
        raise Conflict(f"memory {write.memory.id} is already there")
    _put(rows, write, new_ref)
    return write.memory


def revise(
    rows: Rows, scope: Scope, write: MemoryWrite, expected_revision: int, at: datetime, new_ref: NewRef
) -> Memory:
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
    rows.revisions[before.id, before.revision] = Revision(
        memory_id=before.id,
        number=before.revision,
        title=before.title,
        text=before.text,
        replaced_at=at,
    )
    _put(rows, replace(write, memory=after), new_ref)
    return after


def move(rows: Rows, memory: Memory, status: Status, at: datetime) -> bool:
    """Set the memory's status. Returns whether it had another one before."""
    if memory.status is status:
        return False
    rows.put_memory(replace(memory, status=status, retired_at=None if status is Status.ACTIVE else at))
    return True


def supersede(rows: Rows, memory: Memory, successor: Memory, at: datetime) -> None:
    if memory.superseded_by == successor.id:
        return
    if memory.superseded_by is not None:
        raise Conflict(f"memory {memory.id} is superseded by {memory.superseded_by}")
    if not holds(successor, at):
        raise Conflict(f"memory {successor.id} holds no more itself")
    if memory.id in _successors(rows, successor.id):
        raise Conflict(f"memory {successor.id} is, in the end, superseded by {memory.id}")
    rows.memories[memory.id] = replace(memory, superseded_by=successor.id, superseded_at=at)
    edge = Relation(successor.id, memory.id, RelationKind.SUPERSEDES, 1.0, at)
    rows.relations.setdefault((edge.source, edge.target, edge.kind), edge)
    rows.audit.add(Audited(memory.id, "superseded", f"by {successor.id}", at))


def invalidate(rows: Rows, memory: Memory, at: datetime) -> None:
    ended = memory.valid_until is not None and memory.valid_until <= at
    if ended or memory.superseded_by is not None:
        return
    # A memory that becomes valid later ends just after that, for an interval cannot end before it begins.
    until = at if memory.valid_from is None else max(at, memory.valid_from + MICROSECOND)
    rows.memories[memory.id] = replace(memory, valid_until=until)
    rows.audit.add(Audited(memory.id, "invalidated", "", at))


def adjust(rows: Rows, memory: Memory, change: Callable[[Strength], Adjustment], at: datetime) -> Strength:
    adjustment = change(memory.strength)
    rows.memories[memory.id] = replace(memory, strength=adjustment.strength)
    if adjustment.retire and memory.status is Status.ACTIVE:
        rows.memories[memory.id] = replace(rows.memories[memory.id], status=Status.RETIRED, retired_at=at)
        rows.audit.add(Audited(memory.id, "retired", adjustment.retire, at))
    return adjustment.strength


def expose(rows: Rows, exposed: Sequence[Exposed]) -> None:
    for one in exposed:
        rows.exposures.setdefault((one.memory_id, one.exposure, one.at), one)


def _put(rows: Rows, write: MemoryWrite, new_ref: NewRef) -> None:
    memory_id = write.memory.id
    rows.put_memory(write.memory)
    turns = [indexed.cue.event_id for indexed in write.cues if indexed.cue.event_id is not None]
    for event_id in (*write.event_ids, *turns):
        if event_id not in rows.events:
            raise NotFound("event", event_id)
    # Sources of an earlier revision stay: revising adds to the provenance.
    rows.provenance[memory_id] = tuple(dict.fromkeys((*rows.provenance.get(memory_id, ()), *write.event_ids)))
    rows.remove_cues(memory_id)
    for indexed in write.cues:
        rows.cues[new_ref()] = indexed


def _successors(rows: Rows, memory_id: UUID) -> list[UUID]:
    """The memory and, in order, the memories that supersede it."""
    chain: list[UUID] = []
    following: UUID | None = memory_id
    while following is not None and following not in chain:
        chain.append(following)
        following = rows.memories[following].superseded_by if following in rows.memories else None
    return chain
