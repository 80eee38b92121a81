"""Write memories with their cues: insert, revise, adjust, supersede, relate, retire."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar
from uuid import UUID

from remembrancer.adapters.relational.clauses import owner
from remembrancer.adapters.relational.columns import Columns, add_row, assigned, insert_into
from remembrancer.adapters.relational.lookup import by_content, by_topic, get, of_memory, with_value
from remembrancer.adapters.relational.past import STAMPED, keep_state
from remembrancer.adapters.relational.rows import AUDIT, CUES, EXPOSURES, MEMORIES, REVISIONS, STRENGTH, WHOLE_TURN
from remembrancer.domain.instants import micros
from remembrancer.domain.memory import Analyse, Cue, IndexedCue, Memory, MemoryWrite, Status, holds, topic_level
from remembrancer.domain.outcome import Credit
from remembrancer.domain.past import revision_of, same_state
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Level, Visibility
from remembrancer.domain.strength import Adjustment, Exposed, Strength
from remembrancer.errors import Conflict, InvalidInput, NotFound
from remembrancer.ports.changes import packed_terms
from remembrancer.ports.memories import Audited
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.adapters.relational.connection import Binding, Connection
    from remembrancer.domain.scope import Reader, Scope

L = TypeVar("L", Exposed, Audited, Credit)
_INSERTION: Final = insert_into("memories", (*MEMORIES.names, "change", "changed_at", "n"))
_PROVENANCE: Final = insert_into("memory_events", ("memory", "ordinal", "event"))
_CUE: Final = insert_into(
    "cues", "workspace memory revision last ordinal event heading text start terms length marks n".split()
)
MICROSECOND: Final = timedelta(microseconds=1)


def next_change(connection: Connection, workspace: str, count: int = 1) -> int:
    """Take the next numbers of the workspace's change sequence. Returns the last of them. Indexes read memories with
    new numbers again.
    """
    return connection.execute(
        "INSERT INTO changes (workspace, last) VALUES (?, ?)"
        " ON CONFLICT (workspace) DO UPDATE SET last = changes.last + excluded.last RETURNING last",
        (workspace, count),
    ).get


class EventRow(NamedTuple):
    """The number and the text of an event."""

    number: int
    text: str


def add_memories(
    connection: Connection, workspace: str, writes: Sequence[MemoryWrite], event_rows: Mapping[UUID, EventRow]
) -> None:
    """Insert memories, their provenance, their cues and the full-text rows of these. Each memory takes a change number,
    in their order. `event_rows`: those of events just inserted.
    """
    if not writes:
        return
    cues = sum(len(write.cues) for write in writes)
    numbers = connection.dialect.new_numbers(connection, {"memories": len(writes), "cues": cues})
    change = next_change(connection, workspace, len(writes)) - len(writes)
    events = _events_of(connection, workspace, writes, event_rows)
    rows: list[Sequence[Binding]] = []
    provenance: list[Sequence[Binding]] = []
    added: list[NewCue] = []
    for number, write in zip(numbers["memories"], writes, strict=True):
        change += 1
        memory = write.memory
        rows.append((*MEMORIES.bindings(memory), change, micros(memory.recorded_at), number))
        sources = enumerate(dict.fromkeys(write.event_ids))
        provenance += ((number, ordinal, events[event].number) for ordinal, event in sources)
        added += (NewCue(number, indexed, memory.revision) for indexed in write.cues)
    connection.executemany(_INSERTION, rows)
    connection.executemany(_PROVENANCE, provenance)
    _insert_cues(connection, workspace, numbers["cues"], added, events)


def set_columns(connection: Connection, scope: Scope, memory_id: UUID, **columns: Binding) -> None:
    """Set columns of a memory, and assign it the next change number. What was there is not kept."""
    connection.execute(
        f"UPDATE memories SET {assigned(*columns, 'change')} WHERE workspace = ? AND id = ?",
        (*columns.values(), next_change(connection, scope.workspace), scope.workspace, memory_id.bytes),
    )


def change_state(
    connection: Connection, scope: Scope, memory_id: UUID, at: datetime, change_number: int, **columns: Binding
) -> None:
    """Set columns of a memory's state, which differ from those it has; the state before is kept as a past state."""
    keep_state(connection, scope, memory_id, at)
    connection.execute(
        f"UPDATE memories SET {assigned(*columns, 'change')}, {STAMPED} WHERE workspace = ? AND id = ?",
        (*columns.values(), change_number, micros(at), micros(at), scope.workspace, memory_id.bytes),
    )


def insert_row(connection: Connection, memory: Memory, changed_at: datetime) -> int:
    """Insert the memory's own row only. Returns its number."""
    change = next_change(connection, memory.scope.workspace)
    [number] = connection.dialect.new_numbers(connection, {"memories": 1})["memories"]
    connection.executemany(_INSERTION, [(*MEMORIES.bindings(memory), change, micros(changed_at), number)])
    return number


def add_cues_of_revisions(connection: Connection, analyse: Analyse) -> None:
    """Give each revision of a database without such cues one of its title and text."""
    rows = connection.execute(
        "SELECT m.workspace, m.n, m.id, r.number, r.title, r.text FROM revisions r JOIN memories m ON m.n = r.memory"
    )
    for workspace, number, identifier, revision, title, text in list(rows):
        words = text if title is None else f"{title}\n{text}"
        indexed = analyse(Cue(memory_id=UUID(bytes=identifier), ordinal=0, text=words))
        add_cues(connection, workspace, [NewCue(number, indexed, revision, revision)], {}, at_once=True)


@dataclass(frozen=True, slots=True)
class NewCue:
    """A cue to insert. It belongs to the revisions of the memory with this row number from `revision` to `last`; None:
    also to the present one.
    """

    memory: int
    indexed: IndexedCue
    revision: int
    last: int | None = None


def add_cues(
    connection: Connection,
    workspace: str,
    added: Sequence[NewCue],
    event_rows: Mapping[UUID, EventRow],
    *,
    at_once: bool = False,
) -> None:
    """Insert cues and index their words. `event_rows`: their events. `at_once`: see `Dialect.add_words`."""
    if added:
        numbers = connection.dialect.new_numbers(connection, {"cues": len(added)})
        _insert_cues(connection, workspace, numbers["cues"], added, event_rows, at_once=at_once)


def _insert_cues(
    connection: Connection,
    workspace: str,
    numbers: Sequence[int],
    added: Sequence[NewCue],
    event_rows: Mapping[UUID, EventRow],
    *,
    at_once: bool = False,
) -> None:
    rows: list[Sequence[Binding]] = []
    for number, one in zip(numbers, added, strict=True):
        cue, terms, flags = one.indexed.cue, one.indexed.terms, one.indexed.flags
        event, text, start = None, cue.text, cue.start
        if cue.event_id is not None:
            event, said = event_rows[cue.event_id]
            if start is None and text == said:
                text, start = "", WHOLE_TURN
        told = (cue.heading, text, start, packed_terms(terms), len(terms), int(flags))
        rows.append((workspace, one.memory, one.revision, one.last, cue.ordinal, event, *told, number))
    connection.executemany(_CUE, rows)
    words = [(number, one.indexed.tokens) for number, one in zip(numbers, added, strict=True)]
    connection.dialect.add_words(connection, "cues", words, at_once=at_once)


def insert(
    connection: Connection,
    scope: Scope,
    write: MemoryWrite,
    *,
    topics: Level = Level.AGENT,
    once: bool = False,
) -> tuple[Memory, bool]:
    known = frozenset((write.memory.id,) if once else ())
    [inserted] = insert_many(connection, scope, [write], topics=topics, once=known)
    return inserted


def insert_many(
    connection: Connection,
    scope: Scope,
    writes: Sequence[MemoryWrite],
    *,
    topics: Level = Level.AGENT,
    once: Collection[UUID] = frozenset(),
) -> tuple[tuple[Memory, bool], ...]:
    results: list[tuple[Memory, bool]] = []
    fresh: list[MemoryWrite] = []
    batch: dict[object, Memory] = {}  # the new memories by key and by content
    for write in writes:
        memory = write.memory
        check_workspace(scope, memory)
        known = _with_key(connection, memory, batch)
        if known is None and memory.id in once:
            known = batch.get(_content(memory)) or by_content(connection, memory)
        if known is None:
            if memory.topic_key is not None:
                add_memories(connection, scope.workspace, fresh, {})  # one of them may have the topic
                fresh = []
            for holder in _of_topic(connection, memory, topics):
                raise Conflict(f"topic key {memory.topic_key!r}: memory {holder.id} is at revision {holder.revision}")
            fresh.append(write)
            if memory.key is not None:
                batch[owner(memory.scope), memory.key] = memory
            if holds(memory, memory.recorded_at):
                batch.setdefault(_content(memory), memory)
        results.append((memory, True) if known is None else (known, False))
    add_memories(connection, scope.workspace, fresh, {})
    return tuple(results)


def _with_key(connection: Connection, memory: Memory, batch: Mapping[object, Memory]) -> Memory | None:
    """The memory that has the key of this one, in the batch or stored. Raises Conflict if its text differs."""
    if memory.key is None:
        return None
    known = batch.get((owner(memory.scope), memory.key)) or with_value(connection, memory.scope, "key", memory.key)
    if known is not None and known.text != memory.text and known.revision == 1:
        raise Conflict(f"key {memory.key!r}: already remembered with another text ({known.id})")
    return known


def _content(memory: Memory) -> object:
    """The key that memories with the same content share. See `Memories.insert`."""
    session = memory.scope.session if memory.visibility is Visibility.SESSION else None
    return owner(memory.scope), session, memory.visibility, memory.title or "", memory.text


def _of_topic(connection: Connection, memory: Memory, topics: Level) -> tuple[Memory, ...]:
    """The active memories that have the topic key of this one."""
    if memory.topic_key is None:
        return ()
    return by_topic(connection, memory.scope, memory.topic_key, topic_level(memory.visibility, topics))


def revise(connection: Connection, scope: Scope, write: MemoryWrite, *, expected_revision: int, at: datetime) -> Memory:
    memory = write.memory
    check_workspace(scope, memory)
    row = connection.execute(
        f"SELECT {MEMORIES.select}, m.n FROM memories m WHERE m.workspace = ? AND m.id = ?",
        (scope.workspace, memory.id.bytes),
    ).fetchone()
    if row is None:
        raise NotFound("memory", memory.id)
    before, number = MEMORIES.value_of(row), row[-1]
    if before.superseded_by is not None:
        raise Conflict(f"memory {memory.id} is superseded by {before.superseded_by}: it cannot be revised")
    if before.revision != expected_revision:
        raise Conflict(f"memory {memory.id} is at revision {before.revision}, not {expected_revision}")
    # Use and forgetting may have changed the memory since the writer read it: their columns keep their values.
    after = replace(
        memory,
        revision=expected_revision + 1,
        status=before.status,
        retired_at=before.retired_at,
        superseded_by=None,
        superseded_at=None,
        strength=replace(
            memory.strength,
            usage=before.strength.usage,
            confidence=before.strength.confidence,
            stability=before.strength.stability,
            difficulty=before.strength.difficulty,
            last_reviewed_at=before.strength.last_reviewed_at,
        ),
    )
    add_row(
        connection, "revisions", ("memory", *REVISIONS.names), (number, *REVISIONS.bindings(revision_of(before, at)))
    )
    if not same_state(before, after):
        keep_state(connection, scope, memory.id, at)
    connection.execute(
        f"UPDATE memories SET {assigned(*MEMORIES.names, 'change')}, {STAMPED} WHERE n = ?",
        (*MEMORIES.bindings(after), next_change(connection, scope.workspace), micros(at), micros(at), number),
    )
    events = _events_of(connection, scope.workspace, [write], {})
    add_provenance(connection, number, [events[event].number for event in write.event_ids])
    _replace_cues(connection, write, number, after.revision, events)
    return after


def _replace_cues(
    connection: Connection, write: MemoryWrite, number: int, revision: int, event_rows: Mapping[UUID, EventRow]
) -> None:
    """Give a memory the cues of its new revision. The same cues of the one before stay, with their vectors."""
    rows = connection.execute(
        f"SELECT {CUES.select}, c.terms, c.marks, c.n FROM cues c JOIN memories m ON m.n = c.memory"
        " LEFT JOIN events e ON e.n = c.event WHERE c.memory = ? AND c.last IS NULL",
        (number,),
    )
    known = {(CUES.value_of(row), *row[-3:-1]): row[-1] for row in rows}
    new = [
        indexed
        for indexed in write.cues
        if known.pop((indexed.cue, packed_terms(indexed.terms), int(indexed.flags)), None) is None
    ]
    connection.executemany("UPDATE cues SET last = ? WHERE n = ?", [(revision - 1, cue) for cue in known.values()])
    added = [NewCue(number, indexed, revision) for indexed in new]
    add_cues(connection, write.memory.scope.workspace, added, event_rows)


def adjust(
    connection: Connection,
    reader: Reader,
    ids: Sequence[UUID],
    change: Callable[[Strength], Adjustment],
    *,
    at: datetime,
    exposed: Sequence[Exposed] = (),
) -> dict[UUID, Strength]:
    found = seen(connection, reader, [*ids, *(one.memory_id for one in exposed)])
    number = next_change(connection, reader.scope.workspace)
    adjusted = {
        identifier: adjust_one(connection, reader.scope, found[identifier], change, at, number)
        for identifier in dict.fromkeys(ids)
    }
    log(connection, reader.scope, "exposures", EXPOSURES, exposed)
    return adjusted


def seen(connection: Connection, reader: Reader, ids: Sequence[UUID]) -> dict[UUID, Memory]:
    """The memories with these ids. Raises NotFound for one that the reader cannot see."""
    found = get(connection, reader, ids)
    for identifier in ids:
        if identifier not in found:
            raise NotFound("memory", identifier)
    return found


def adjust_one(
    connection: Connection,
    scope: Scope,
    memory: Memory,
    change: Callable[[Strength], Adjustment],
    at: datetime,
    change_number: int,
) -> Strength:
    adjustment = change(memory.strength)
    status, retired_at = memory.status, memory.retired_at
    if adjustment.retire and status is Status.ACTIVE:
        status, retired_at = Status.RETIRED, at
        note(connection, scope, memory.id, "retired", adjustment.retire, at)
    if (adjustment.strength, status) != (memory.strength, memory.status):
        strength = dict(zip(STRENGTH.names, STRENGTH.bindings(adjustment.strength), strict=True))
        state = {"status": status, "retired_at": micros(retired_at)}
        change_state(connection, scope, memory.id, at, change_number, **strength, **state)
    return adjustment.strength


def note(connection: Connection, scope: Scope, memory_id: UUID, action: str, reason: str, at: datetime) -> None:
    """Write an action on a memory, and its reason, to the audit log."""
    log(connection, scope, "audit", AUDIT, [Audited(memory_id, action, reason, at)])


def log(connection: Connection, scope: Scope, table: str, columns: Columns[L], lines: Iterable[L]) -> None:
    """Add lines about memories to a log; skips existing ones."""
    names, flags = ", ".join(columns.names), ", ".join("?" * len(columns.names))
    connection.executemany(
        f"INSERT INTO {table} (memory, {names}) SELECT n, {flags} FROM memories WHERE workspace = ? AND id = ?"
        " ON CONFLICT DO NOTHING",
        [(*columns.bindings(line), scope.workspace, line.memory_id.bytes) for line in lines],
    )


def audit(connection: Connection, reader: Reader, memory_id: UUID) -> tuple[Audited, ...]:
    return of_memory(connection, reader, memory_id, AUDIT, "audit", "a.at, a.action, a.reason")


def supersede(connection: Connection, reader: Reader, old: UUID, new: UUID | None, *, at: datetime) -> Memory:
    found = seen(connection, reader, [old] if new is None else [old, new])
    if new is None:
        invalidate(connection, reader.scope, found[old], at)
    else:
        supersede_by(connection, reader.scope, found[old], found[new], at)
    return get(connection, reader, [old])[old]


def supersede_by(connection: Connection, scope: Scope, memory: Memory, successor: Memory, at: datetime) -> None:
    """See `Memories.supersede`, for memories already looked up."""
    old, new = memory.id, successor.id
    if memory.superseded_by == new:
        return
    if memory.superseded_by is not None:
        raise Conflict(f"memory {old} is superseded by {memory.superseded_by} already")
    if not holds(successor, at):
        raise Conflict(f"memory {new} is not valid: no valid memory would be left")
    if old in _successors(connection, scope, new):
        raise Conflict(f"memory {new} is superseded by {old}, directly or indirectly: no valid memory would be left")
    number = next_change(connection, scope.workspace)
    change_state(connection, scope, old, at, number, superseded_by=new.bytes, superseded_at=micros(at))
    add_relation(connection, scope, Relation(new, old, RelationKind.SUPERSEDES, 1.0, at), replace_weight=False)
    note(connection, scope, old, "superseded", f"by {new}", at)


def invalidate(connection: Connection, scope: Scope, memory: Memory, at: datetime) -> None:
    """End the memory's validity at a time, without a successor."""
    if memory.superseded_by is not None or (memory.valid_until is not None and memory.valid_until <= at):
        return
    # A memory that becomes valid later ends just after it begins: an interval cannot end before its beginning.
    until = at if memory.valid_from is None else max(at, memory.valid_from + MICROSECOND)
    change_state(connection, scope, memory.id, at, next_change(connection, scope.workspace), valid_until=micros(until))
    note(connection, scope, memory.id, "invalidated", "", at)


def _successors(connection: Connection, scope: Scope, memory_id: UUID) -> list[UUID]:
    """The memory and, in order, its chain of successors."""
    rows = connection.execute(
        "WITH RECURSIVE later (id) AS (SELECT id FROM memories WHERE workspace = ? AND id = ?"
        " UNION SELECT m.superseded_by FROM memories m JOIN later l ON m.id = l.id"
        " WHERE m.workspace = ? AND m.superseded_by IS NOT NULL) SELECT id FROM later",
        (scope.workspace, memory_id.bytes, scope.workspace),
    )
    return [UUID(bytes=identifier) for (identifier,) in rows]


def relate(connection: Connection, reader: Reader, relations: Sequence[Relation]) -> int:
    seen(connection, reader, [end for edge in relations for end in (edge.source, edge.target)])
    return sum(add_relation(connection, reader.scope, edge, replace_weight=True) for edge in relations)


def add_relation(connection: Connection, scope: Scope, edge: Relation, *, replace_weight: bool) -> bool:
    """Insert a relation if both its ends exist. Returns whether it is new."""
    ends = (scope.workspace, edge.source.bytes, scope.workspace, edge.target.bytes)
    known: bool = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM relations r JOIN memories s ON s.n = r.source JOIN memories t ON t.n = r.target"
        " WHERE s.workspace = ? AND s.id = ? AND t.workspace = ? AND t.id = ? AND r.kind = ?)",
        (*ends, edge.kind),
    ).get
    then = "UPDATE SET weight = excluded.weight" if replace_weight else "NOTHING"
    written = connection.count(
        "INSERT INTO relations (workspace, source, target, kind, weight, created_at)"
        " SELECT ?, s.n, t.n, ?, ?, ? FROM memories s, memories t"
        " WHERE s.workspace = ? AND s.id = ? AND t.workspace = ? AND t.id = ?"
        f" ON CONFLICT ({connection.dialect.unique('source', 'target', 'kind')}) DO {then}",
        (scope.workspace, edge.kind, edge.weight, micros(edge.created_at), *ends),
    )
    return not known and written > 0


def set_status(
    connection: Connection,
    reader: Reader,
    memory_id: UUID,
    status: Status,
    *,
    at: datetime,
    topics: Level = Level.AGENT,
) -> Memory:
    move(connection, reader.scope, seen(connection, reader, [memory_id])[memory_id], status, at, topics)
    return get(connection, reader, [memory_id])[memory_id]


def move(
    connection: Connection, scope: Scope, memory: Memory, status: Status, at: datetime, topics: Level = Level.AGENT
) -> bool:
    """Set the memory's status. Returns whether it changed.

    Raises Conflict if it becomes active and another active memory has its topic.
    """
    if memory.status is status:
        return False
    if status is Status.ACTIVE and memory.superseded_by is None:
        for current in _of_topic(connection, memory, topics):
            raise Conflict(f"topic key {memory.topic_key!r}: memory {current.id} has it now")
    retired_at = None if status is Status.ACTIVE else micros(at)
    number = next_change(connection, scope.workspace)
    change_state(connection, scope, memory.id, at, number, status=status, retired_at=retired_at)
    return True


def _events_of(
    connection: Connection, workspace: str, writes: Sequence[MemoryWrite], known: Mapping[UUID, EventRow]
) -> Mapping[UUID, EventRow]:
    """The events that the memories and their cues refer to. Raises NotFound for an unknown event."""
    named = [event for write in writes for event in write.event_ids]
    named += [event for write in writes for one in write.cues if (event := one.cue.event_id) is not None]
    missing = list(dict.fromkeys(event for event in named if event not in known))
    if not missing:
        return known
    found = {**known, **rows_of_events(connection, workspace, missing)}
    for event in missing:
        if event not in found:
            raise NotFound("event", event)
    return found


def rows_of_events(connection: Connection, workspace: str, ids: Sequence[UUID]) -> dict[UUID, EventRow]:
    """Those of these events that are in the journal."""
    rows = connection.execute(
        f"SELECT id, n, text FROM events WHERE workspace = ? AND {connection.dialect.in_ids('id')}",
        (workspace, connection.dialect.ids(ids)),
    )
    return {UUID(bytes=identifier): EventRow(*row) for identifier, *row in rows}


def add_provenance(connection: Connection, memory_number: int, event_numbers: Sequence[int]) -> None:
    """Add events that are not yet among the memory's sources. Sources of an earlier revision stay."""
    if not event_numbers:
        return
    known = [
        event for (event,) in connection.execute("SELECT event FROM memory_events WHERE memory = ?", (memory_number,))
    ]
    fresh = [event for event in dict.fromkeys(event_numbers) if event not in known]
    connection.executemany(
        _PROVENANCE,
        [(memory_number, ordinal, event) for ordinal, event in enumerate(fresh, start=len(known))],
    )


def check_workspace(scope: Scope, memory: Memory) -> None:
    if memory.scope.workspace != scope.workspace:
        raise InvalidInput("memory.scope.workspace", memory.scope.workspace, repr(scope.workspace))
