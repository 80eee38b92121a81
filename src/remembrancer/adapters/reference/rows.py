"""The rows of one workspace, in lists and dicts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from dataclasses import field, fields, replace
from datetime import date, datetime
from itertools import count
from typing import TYPE_CHECKING
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.api_key import ApiKey
from remembrancer.domain.audit import AuditName, ChainedEntry
from remembrancer.domain.erasure import Erasure
from remembrancer.domain.event import Event
from remembrancer.domain.health import HealthSnapshot
from remembrancer.domain.job import Deferral, Run
from remembrancer.domain.journal import PriorityChange
from remembrancer.domain.kept import KeptRecall
from remembrancer.domain.memory import Analyse, Cue, IndexedCue, Memory, Revision, Status, holds, topic_order
from remembrancer.domain.outcome import Credit
from remembrancer.domain.past import PastState, as_it_was, same_state, state_of
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.reply import IdempotencyClaim, Reply, ReplyNotStored
from remembrancer.domain.retention import LegalHold, RetentionRule
from remembrancer.domain.review import Review
from remembrancer.domain.scope import Level, Reader, Scope, Visibility
from remembrancer.domain.selection import can_see
from remembrancer.domain.spending import ModelCall
from remembrancer.domain.strength import Exposed, Exposure
from remembrancer.domain.validation import JsonValue
from remembrancer.domain.vector_space import SpaceRole, VectorSpace
from remembrancer.errors import Conflict, EmbedderMismatch, NotFound
from remembrancer.language.cues import analysed
from remembrancer.ports.exchange import ArchivedRecord
from remembrancer.ports.memories import Audited
from remembrancer.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class StoredVector:
    vector: NDArray[np.float32]
    truncated: bool
    indexed_at: datetime | None
    token_embeddings: NDArray[np.uint8] | None = None
    digest: bytes | None = None


@dataclass(frozen=True, slots=True)
class CueSpan:
    """The first and last revision of a memory that has a cue. `last` None: the present revision has the cue too."""

    first: int
    last: int | None = None

    def holds(self, revision: int) -> bool:
        return self.first <= revision and (self.last is None or revision <= self.last)


@dataclass(frozen=True, slots=True)
class Failure:
    count: int
    retry_at: datetime
    error: str


@dataclass(frozen=True, slots=True)
class StreamProgress:
    """The position up to which a stream was formed into episodes, and the segmenter's note for its next run."""

    cursor: int = 0
    note: Mapping[str, JsonValue] = field(default_factory=validation.no_json)


@dataclass(frozen=True, slots=True)
class Held:
    """An idempotency claim, and the reply stored for it, if there is one."""

    claim: IdempotencyClaim
    answered: Reply | ReplyNotStored | None = None


@dataclass(slots=True)
class Rows:
    """The rows of one workspace; a function with these rows cannot reach another workspace.

    `analyse` adds search terms to a cue. `new_ref` returns the next cue number, unique in the store.
    """

    analyse: Analyse = analysed
    new_ref: Callable[[], int] = field(default_factory=lambda: count(1).__next__)

    events: dict[UUID, Event] = field(default_factory=dict[UUID, Event])
    memories: dict[UUID, Memory] = field(default_factory=dict[UUID, Memory])
    provenance: dict[UUID, tuple[UUID, ...]] = field(default_factory=dict[UUID, tuple[UUID, ...]])
    cues: dict[int, IndexedCue] = field(default_factory=dict[int, IndexedCue])
    """The cues by number (`ref`), also those of earlier revisions."""
    spans: dict[int, CueSpan] = field(default_factory=dict[int, CueSpan])
    """The revisions that a cue belongs to, by cue number."""
    vectors: dict[tuple[int, str], StoredVector] = field(default_factory=dict[tuple[int, str], StoredVector])
    """The vectors by cue number and model; failures likewise."""
    failures: dict[tuple[int, str], Failure] = field(default_factory=dict[tuple[int, str], Failure])
    spaces: dict[str, VectorSpace] = field(default_factory=dict[str, VectorSpace])
    """The vector spaces by model."""
    revisions: dict[tuple[UUID, int], Revision] = field(default_factory=dict[tuple[UUID, int], Revision])
    past_states: dict[tuple[UUID, datetime], PastState] = field(default_factory=dict[tuple[UUID, datetime], PastState])
    """The past states by memory and end."""
    changed_at: dict[UUID, datetime] = field(default_factory=dict[UUID, datetime])
    """The time of each memory's last write."""
    relations: dict[tuple[UUID, UUID, RelationKind], Relation] = field(
        default_factory=dict[tuple[UUID, UUID, RelationKind], Relation]
    )
    exposures: dict[tuple[UUID, Exposure, datetime], Exposed] = field(
        default_factory=dict[tuple[UUID, Exposure, datetime], Exposed]
    )
    """Two exposures of one memory and kind at the same microsecond count once."""
    audit: set[Audited] = field(default_factory=set[Audited])
    health: dict[tuple[str, date], HealthSnapshot] = field(default_factory=dict[tuple[str, date], HealthSnapshot])
    """The snapshots by crew ("" for the whole workspace) and day."""
    streams: dict[Scope, StreamProgress] = field(default_factory=dict[Scope, StreamProgress])
    """The streams that have a cursor."""
    ends: dict[Scope, int] = field(default_factory=dict[Scope, int])
    """The last position of each stream that lost events by erasure, which is not reused."""
    recalls: dict[UUID, KeptRecall] = field(default_factory=dict[UUID, KeptRecall])
    """By id, in the order in which they were kept."""
    erasures: list[Erasure] = field(default_factory=list[Erasure])
    trail: list[ChainedEntry] = field(default_factory=list[ChainedEntry])
    audit_names: dict[str, AuditName] = field(default_factory=dict[str, AuditName])
    """The names that entries of the audit trail refer to, by name."""
    rules: dict[UUID, RetentionRule] = field(default_factory=dict[UUID, RetentionRule])
    holds: dict[UUID, LegalHold] = field(default_factory=dict[UUID, LegalHold])
    index_tokens: dict[str | None, bytes] = field(default_factory=dict[str | None, bytes])
    """By model."""
    archive: dict[UUID, ArchivedRecord] = field(default_factory=dict[UUID, ArchivedRecord])
    reviews: dict[tuple[UUID, datetime], Review] = field(default_factory=dict[tuple[UUID, datetime], Review])
    credits: dict[tuple[UUID, UUID], Credit] = field(default_factory=dict[tuple[UUID, UUID], Credit])
    """By memory and outcome."""
    runs: dict[str, Run] = field(default_factory=dict[str, Run])
    deferrals: dict[tuple[str, str], Deferral] = field(default_factory=dict[tuple[str, str], Deferral])
    """The deferrals by job name and item."""
    calls: list[ModelCall] = field(default_factory=list[ModelCall])
    positions: dict[UUID, int] = field(default_factory=dict[UUID, int])
    """The position of each event in the journal. `recorded` is the last assigned position."""
    recorded: int = 0
    priority_changes: set[PriorityChange] = field(default_factory=set[PriorityChange])
    keys: dict[UUID, ApiKey] = field(default_factory=dict[UUID, ApiKey])
    claims: dict[str, Held] = field(default_factory=dict[str, Held])
    """The claims by idempotency key."""
    change: int = 0
    changes: dict[UUID, int] = field(default_factory=dict[UUID, int])
    """The last change number of each memory. `change` is the last assigned number."""

    def copy(self) -> Rows:
        """A copy that can be changed without changing these rows. The values themselves are frozen."""
        return Rows(**{each.name: copy(getattr(self, each.name)) for each in fields(self)})

    def number_changes(self, before: Rows) -> None:
        """Assign the next number to each memory that differs from `before`, or whose cues or vectors do."""
        changed = {one for one, memory in self.memories.items() if before.memories.get(one) is not memory}
        changed |= {one.cue.memory_id for ref, one in self.cues.items() if before.cues.get(ref) is not one}
        changed |= {
            self.cues[ref].cue.memory_id
            for (ref, model), vector in self.vectors.items()
            if before.vectors.get((ref, model)) is not vector
        }
        self.change += bool(changed)
        self.changes |= dict.fromkeys(changed, self.change)
        self.changes = {one: change for one, change in self.changes.items() if one in self.memories}

    def record(self, event: Event) -> None:
        """Append the event to the journal at the next position."""
        self.recorded += 1
        self.events[event.id] = event
        self.positions[event.id] = self.recorded

    def visible_memories(self, reader: Reader) -> list[Memory]:
        return [memory for memory in self.memories.values() if _is_seen(reader, memory)]

    def visible_events(self, reader: Reader, *, archived: bool = False) -> list[Event]:
        """The events within the reader's reach. Events have no visibility or importance."""
        events = self.all_events() if archived else list(self.events.values())
        return [event for event in events if can_see(reader, event.scope, Visibility.WORKSPACE)]

    def all_events(self) -> list[Event]:
        """The events of the journal and of the archive."""
        return [*self.events.values(), *(one.event for one in self.archive.values())]

    def visible_relations(self, reader: Reader) -> list[Relation]:
        seen = {memory.id for memory in self.visible_memories(reader)}
        return [edge for edge in self.relations.values() if edge.source in seen and edge.target in seen]

    def event_of(self, cue: Cue) -> Event | None:
        """The event that is the cue's turn."""
        return None if cue.event_id is None else self.events[cue.event_id]

    def visible(self, reader: Reader, memory_id: UUID) -> Memory | None:
        memory = self.memories.get(memory_id)
        return memory if memory is not None and _is_seen(reader, memory) else None

    def seen(self, reader: Reader, memory_id: UUID) -> Memory:
        """The memory. Raises NotFound if the reader cannot see it."""
        memory = self.visible(reader, memory_id)
        if memory is None:
            raise NotFound("memory", memory_id)
        return memory

    def there(self, memory_id: UUID) -> Memory:
        """The memory, whatever its visibility. Raises NotFound."""
        if memory_id not in self.memories:
            raise NotFound("memory", memory_id)
        return self.memories[memory_id]

    def cues_in_use(self) -> dict[int, IndexedCue]:
        """The cues of the memories' present revisions, by cue number."""
        return {
            ref: indexed
            for ref, indexed in self.cues.items()
            if (memory := self.memories.get(indexed.cue.memory_id)) and self.spans[ref].holds(memory.revision)
        }

    def cues_by_memory(self) -> dict[UUID, list[tuple[int, IndexedCue]]]:
        """Refs and cues of each memory, by ordinal."""
        by_memory: dict[UUID, list[tuple[int, IndexedCue]]] = {}
        for ref, indexed in sorted(self.cues_in_use().items(), key=lambda pair: pair[1].cue.ordinal):
            by_memory.setdefault(indexed.cue.memory_id, []).append((ref, indexed))
        return by_memory

    def cues_of(self, memory_id: UUID) -> list[tuple[int, IndexedCue]]:
        memory = self.memories.get(memory_id)
        if memory is None:
            return []
        mine = [(ref, indexed) for ref, indexed in self.cues.items() if indexed.cue.memory_id == memory_id]
        in_use = [(ref, indexed) for ref, indexed in mine if self.spans[ref].holds(memory.revision)]
        return sorted(in_use, key=lambda pair: pair[1].cue.ordinal)

    def last_seq(self, stream: Scope) -> int:
        """The position of the stream's last event, even if archived or erased; 0 if there was none."""
        there = (event.seq for event in self.all_events() if event.scope == stream)
        return max(self.ends.get(stream, 0), max(there, default=0))

    def progress(self, stream: Scope) -> StreamProgress:
        return self.streams.get(stream, StreamProgress())

    def event_with_key(self, scope: Scope, key: str | None) -> Event | None:
        if key is None:
            return None
        owner = scope.narrowed(session=None)
        for event in self.all_events():
            if event.key == key and event.scope.narrowed(session=None) == owner:
                return event
        return None

    def memory_with_key(self, scope: Scope, key: str | None) -> Memory | None:
        if key is None:
            return None
        owner = scope.narrowed(session=None)
        for memory in self.memories.values():
            if memory.key == key and memory.scope.narrowed(session=None) == owner:
                return memory
        return None

    def by_topic(self, scope: Scope, topic_key: str | None, topics: Level = Level.AGENT) -> tuple[Memory, ...]:
        if topic_key is None:
            return ()
        parts = ("project", "crew", "agent")

        def belongs(memory: Memory) -> bool:
            same = [getattr(memory.scope, part) == getattr(scope, part) for part in parts]
            return all(same) or (all(same[:topics]) and memory.visibility is Visibility.WORKSPACE)

        found = [one for one in self.memories.values() if one.topic_key == topic_key and _holds_its_topic(one)]
        return tuple(sorted(filter(belongs, found), key=topic_order))

    def with_content_of(self, memory: Memory) -> list[Memory]:
        """The memories with the same content as this one, by when they were recorded. See `Memories.insert`."""

        def content(one: Memory) -> tuple[object, ...]:
            keeps_session = one.visibility is Visibility.SESSION
            scope = one.scope if keeps_session else one.scope.narrowed(session=None)
            return scope, one.title, one.text, one.visibility

        same = [one for one in self.memories.values() if content(one) == content(memory)]
        current = [one for one in same if holds(one, memory.recorded_at)]
        return sorted(current, key=lambda one: (one.recorded_at, one.id))

    def has_all_vectors(self, memory_id: UUID, model: str | None) -> bool:
        """Whether the memory has cues, and each has a vector of the model."""
        refs = [ref for ref, _ in self.cues_of(memory_id)]
        return model is not None and bool(refs) and all((ref, model) in self.vectors for ref in refs)

    def put_relation(self, relation: Relation) -> bool:
        """Add a relation, or update the weight of an existing one. Returns whether it is new."""
        at = (relation.source, relation.target, relation.kind)
        known = self.relations.get(at)
        self.relations[at] = relation if known is None else replace(known, weight=relation.weight)
        return known is None

    def put_memory(self, memory: Memory) -> None:
        """Add or replace a memory. Raises Conflict if another one has its key or its active topic."""
        holder = self.memory_with_key(memory.scope, memory.key)
        if holder is not None and holder.id != memory.id:
            raise Conflict(f"key {memory.key!r} belongs to memory {holder.id}")
        for holder in self.by_topic(memory.scope, memory.topic_key):
            if holder.id != memory.id and _holds_its_topic(memory):
                raise Conflict(f"topic {memory.topic_key!r} belongs to active memory {holder.id}")
        self.memories[memory.id] = memory

    def change_memory(self, memory: Memory, at: datetime) -> None:
        """Replace a memory. Another state that it had before is kept as a past state."""
        before = self.memories[memory.id]
        ended = max(at, self.changed_at[memory.id])
        if not same_state(before, memory):
            self.past_states.setdefault((memory.id, ended), state_of(before, ended))
        self.put_memory(memory)
        self.changed_at[memory.id] = ended

    def add_cue(self, indexed: IndexedCue, first: int, last: int | None = None) -> None:
        """Add a cue of these revisions of its memory."""
        ref = self.new_ref()
        self.cues[ref], self.spans[ref] = indexed, CueSpan(first, last)

    def replace_cues(self, memory_id: UUID, revision: int, cues: Iterable[IndexedCue]) -> None:
        """Give a memory the cues of a revision. The same cues of the one before stay, with their vectors."""
        known = {
            indexed: ref
            for ref, indexed in self.cues.items()
            if indexed.cue.memory_id == memory_id and self.spans[ref].holds(revision - 1)
        }
        for indexed in cues:
            if known.pop(indexed, None) is None:
                self.add_cue(indexed, revision)
        for ref in known.values():
            self.spans[ref] = replace(self.spans[ref], last=revision - 1)

    def as_of(self, at: datetime) -> Rows:
        """The rows as they were at a time, as far as that is recorded. Not to be changed."""
        then = self.copy()
        then.memories = {
            memory.id: as_it_was(memory, at, self._revision(memory, at), self._state(memory, at))
            for memory in self.memories.values()
            if memory.recorded_at <= at
        }
        then.relations = {key: edge for key, edge in self.relations.items() if edge.created_at <= at}
        return then

    def _revision(self, memory: Memory, at: datetime) -> Revision | None:
        later = [one for (owner, _), one in self.revisions.items() if owner == memory.id and one.replaced_at > at]
        return min(later, key=lambda one: one.number, default=None)

    def _state(self, memory: Memory, at: datetime) -> PastState | None:
        later = [one for (owner, until), one in self.past_states.items() if owner == memory.id and until > at]
        return min(later, key=lambda one: one.until, default=None)

    def remove_cues(self, memory_id: UUID) -> None:
        """Remove a memory's cues of all revisions, their vectors and their failures."""
        self.drop_cues({ref for ref, indexed in self.cues.items() if indexed.cue.memory_id == memory_id})

    def drop_cues(self, gone: Collection[int]) -> None:
        """Remove cues with their vectors and failures."""
        self.cues = {ref: cue for ref, cue in self.cues.items() if ref not in gone}
        self.spans = {ref: span for ref, span in self.spans.items() if ref not in gone}
        self.vectors = {at: vector for at, vector in self.vectors.items() if at[0] not in gone}
        self.failures = {at: failure for at, failure in self.failures.items() if at[0] not in gone}

    @property
    def answering(self) -> str | None:
        """The model whose vectors answer."""
        return next((model for model, space in self.spaces.items() if space.role is SpaceRole.ANSWERS), None)

    def require_dim(self, model: str, dims: Iterable[int]) -> None:
        """Raises EmbedderMismatch unless all these dimensions equal that of the model's vectors."""
        known = {stored.vector.shape[0] for (_, name), stored in self.vectors.items() if name == model}
        if len(known.union(dims)) > 1:
            raise EmbedderMismatch(
                f"model {model!r} has vectors of {sorted(known)} components, not {sorted(set(dims))}"
            )


def _is_seen(reader: Reader, memory: Memory) -> bool:
    return can_see(reader, memory.scope, memory.visibility, memory.strength.importance)


def _holds_its_topic(memory: Memory) -> bool:
    """Whether the memory holds its topic key. Retired and superseded memories release it."""
    return memory.status is Status.ACTIVE and memory.superseded_by is None
