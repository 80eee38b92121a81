"""The reference store: each method of the Store protocol, on the rows of one workspace."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import count
from pathlib import Path
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast
from uuid import UUID

from remembrancer.adapters.reference import access, erasing, exchange, journal, memories, retention, vector_spaces, work
from remembrancer.adapters.reference import trail as audit_trail
from remembrancer.adapters.reference.rows import Failure, Rows, StoredVector
from remembrancer.adapters.reference.vector_spaces import is_missing
from remembrancer.adapters.reference.view import ReferenceView, health_inputs
from remembrancer.domain.api_key import ApiKey
from remembrancer.domain.audit import Touched
from remembrancer.domain.erasure import Erasure, Removal, Removed, completed
from remembrancer.domain.event import SPEAKERS, Event
from remembrancer.domain.health import HealthSnapshot
from remembrancer.domain.job import Run
from remembrancer.domain.kept import MAX_KEPT, KeptRecall
from remembrancer.domain.memory import Analyse, Cue, Memory, Revision, Status
from remembrancer.domain.query import Filter
from remembrancer.domain.relation import Relation
from remembrancer.domain.review import Review
from remembrancer.domain.scope import Level, Reader, Scope, Visibility
from remembrancer.domain.selection import can_see, excluded_by
from remembrancer.domain.spending import ModelCall
from remembrancer.domain.stream import CONTEXT_GAP
from remembrancer.domain.strength import Adjustment, Exposed, Exposure, Strength
from remembrancer.domain.vector_space import SpaceRole, VectorSpace
from remembrancer.errors import Conflict, InvalidInput, StoreUnavailable, Unsupported
from remembrancer.language.cues import analysed
from remembrancer.ports.audit import acts_of
from remembrancer.ports.changes import ReadView
from remembrancer.ports.embeddings import MAX_CONTEXT_TURN_CHARS, CueVector, FailedCue, PendingCue, PrecedingTurn
from remembrancer.ports.exchange import row_to_record
from remembrancer.ports.inspection import Finding, IdentifiedRows, Stats
from remembrancer.ports.jobs import MAX_ERROR_CHARS
from remembrancer.ports.memories import Audited
from remembrancer.ports.notifications import Polled
from remembrancer.ports.quantised import rounded
from remembrancer.ports.transfer import BackupReport, ExportRow, OnPages

if TYPE_CHECKING:
    pass

P = ParamSpec("P")
T = TypeVar("T")


def _reads(
    work: Callable[Concatenate[Rows, P], T],
) -> Callable[Concatenate[ReferenceStore, P], CoroutineType[Any, Any, T]]:
    """A store method that calls this function with the rows of the workspace of its first argument."""

    async def method(store: ReferenceStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return work(store.rows_of(args[0]), *args, **kwargs)

    return method


def _writes(
    work: Callable[Concatenate[Rows, P], T],
) -> Callable[Concatenate[ReferenceStore, P], CoroutineType[Any, Any, T]]:
    """Like `_reads`, but the function gets a copy of the rows, which replaces them unless it raises."""

    async def method(store: ReferenceStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        rows = store.rows_of(args[0]).copy()
        done = work(rows, *args, **kwargs)
        store.keep(args[0], rows)
        return done

    return method


def _views(
    read: Callable[Concatenate[ReferenceView, P], T],
) -> Callable[Concatenate[ReferenceStore, P], CoroutineType[Any, Any, T]]:
    """A store method that calls this method of its view."""

    async def method(store: ReferenceStore, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return getattr(store.view(), read.__name__)(*args, **kwargs)

    return method


@audit_trail.recorded
class ReferenceStore:
    """An in-memory Store for comparison, without index or cache: each answer follows from its definition."""

    def __init__(self, analyse: Analyse = analysed) -> None:
        self._empty = partial(Rows, analyse, count(1).__next__)
        self._workspaces: dict[str, Rows] = {}
        self._closed = False

    append = _writes(journal.append)
    events = _reads(journal.events)
    count_events = _reads(journal.count_events)
    events_by_day = _reads(journal.events_by_day)
    recorded = _reads(journal.recorded)
    set_priority = _writes(journal.set_priority)
    priority_changes = _reads(journal.priority_changes)
    tails = _reads(journal.tails)
    tail = _reads(journal.tail)
    stream_events = _reads(journal.stream_events)
    conversations = _reads(journal.conversations)
    archive = _writes(journal.archive)

    insert = _writes(memories.insert)
    insert_many = _writes(memories.insert_many)
    revise = _writes(memories.revise)
    commit = _writes(memories.commit)
    add_credits = _writes(memories.add_credits)
    credits = _reads(memories.credits)
    get = _views(ReferenceView.get)
    cues = _views(ReferenceView.cues)
    memories = _views(ReferenceView.memories)
    relations = _views(ReferenceView.relations)
    states = _views(ReferenceView.states)
    vectors = _views(ReferenceView.vectors)
    health_inputs = _reads(health_inputs)

    spaces = _reads(vector_spaces.spaces)
    space_sizes = _reads(vector_spaces.space_sizes)
    build_space = _writes(vector_spaces.build_space)
    answer_with = _writes(vector_spaces.answer_with)
    drop_space = _writes(vector_spaces.drop_space)
    drop_vectors = _writes(vector_spaces.drop_vectors)

    unreviewed = _reads(work.unreviewed)
    defer = _writes(work.defer)
    deferrals = _reads(work.deferrals)
    spending = _reads(work.spending)

    revoke_key = _writes(access.revoke_key)
    claim = _writes(access.claim)
    answer = _writes(access.answer)
    release = _writes(access.release)

    trail = _reads(audit_trail.trail)
    trail_head = _reads(audit_trail.trail_head)
    trail_names = _reads(audit_trail.trail_names)
    put_rule = _writes(retention.put_rule)
    rules = _reads(retention.rules)
    drop_rule = _writes(retention.drop_rule)
    put_hold = _writes(retention.put_hold)
    holds = _reads(retention.holds)
    release_hold = _writes(retention.release_hold)

    lying_in = _reads(erasing.lying_in)
    traces = _reads(erasing.traces)

    async def read(self, work: Callable[[ReadView], T]) -> T:
        return work(self.view())

    async def by_topic(self, scope: Scope, topic_key: str, topics: Level = Level.AGENT) -> tuple[Memory, ...]:
        return self.rows_of(scope).by_topic(scope, topic_key, topics)

    async def adjust(
        self,
        reader: Reader,
        ids: Sequence[UUID],
        change: Callable[[Strength], Adjustment],
        *,
        at: datetime,
        exposed: Sequence[Exposed] = (),
    ) -> Mapping[UUID, Strength]:
        with self._writing(reader.scope) as rows:
            for one in exposed:
                rows.seen(reader, one.memory_id)
            # All memories are looked up first: an adjustment may make one invisible to the reader.
            found = {memory_id: rows.seen(reader, memory_id) for memory_id in ids}
            adjusted = {memory_id: memories.adjust(rows, memory, change, at) for memory_id, memory in found.items()}
            memories.expose(rows, exposed)
            return adjusted

    async def supersede(self, reader: Reader, old: UUID, new: UUID | None, *, at: datetime) -> Memory:
        with self._writing(reader.scope) as rows:
            memory = rows.seen(reader, old)
            if new is None:
                memories.invalidate(rows, memory, at)
            else:
                memories.supersede(rows, memory, rows.seen(reader, new), at)
            return rows.memories[old]

    async def relate(self, reader: Reader, relations: Sequence[Relation]) -> int:
        with self._writing(reader.scope) as rows:
            for edge in relations:
                rows.seen(reader, edge.source)
                rows.seen(reader, edge.target)
            return sum(rows.put_relation(edge) for edge in relations)

    async def set_status(
        self, reader: Reader, memory_id: UUID, status: Status, *, at: datetime, topics: Level = Level.AGENT
    ) -> Memory:
        with self._writing(reader.scope) as rows:
            memory = rows.seen(reader, memory_id)
            if status is Status.ACTIVE and memory.status is not status and memory.superseded_by is None:
                memories.require_free_topic(rows, memory, topics)
            memories.move(rows, memory, status, at)
            return rows.memories[memory_id]

    async def workspace_memories(
        self, scope: Scope, where: Filter, *, limit: int, after: Memory | None = None, unconsolidated: bool = False
    ) -> tuple[Memory, ...]:
        def place(memory: Memory) -> tuple[datetime, UUID]:
            return memory.occurred_to, memory.id

        kept = [
            memory
            for memory in self.rows_of(scope).memories.values()
            if not excluded_by(memory, where)
            and (after is None or place(memory) > place(after))
            and not (unconsolidated and memory.consolidated_at is not None)
        ]
        return tuple(sorted(kept, key=place)[:limit])

    async def exposed_in(self, stream: Scope, exposure: Exposure) -> tuple[UUID, ...]:
        if stream.session is None:
            return ()
        exposed = self.rows_of(stream).exposures.values()
        return tuple(sorted({one.memory_id for one in exposed if one.is_of(stream) and one.exposure is exposure}))

    async def reviews(self, reader: Reader, memory_id: UUID) -> tuple[Review, ...]:
        rows = self.rows_of(reader.scope)
        if rows.visible(reader, memory_id) is None:
            return ()
        return tuple(review for (owner, _), review in sorted(rows.reviews.items()) if owner == memory_id)

    async def put_run(self, scope: Scope, run: Run) -> None:
        with self._writing(scope) as rows:
            rows.runs[run.job] = run

    async def runs(self, scope: Scope) -> Mapping[str, Run]:
        return dict(sorted(self.rows_of(scope).runs.items()))

    async def settle(self, scope: Scope, job: str, items: Sequence[str]) -> None:
        with self._writing(scope) as rows:
            for item in items:
                rows.deferrals.pop((job, item), None)

    async def log_call(self, scope: Scope, call: ModelCall) -> None:
        with self._writing(scope) as rows:
            rows.calls.append(call)

    async def put_key(self, scope: Scope, key: ApiKey) -> None:
        if key.workspace != scope.workspace:
            raise InvalidInput("key.workspace", key.workspace, repr(scope.workspace))
        if await self.key_of(key.digest) is not None:
            raise Conflict("a key with that digest already exists")
        with self._writing(scope) as rows:
            if key.id in rows.keys:
                raise Conflict(f"key {key.id} already exists")
            rows.keys[key.id] = key

    async def keys(self, scope: Scope) -> tuple[ApiKey, ...]:
        kept = self.rows_of(scope).keys.values()
        return tuple(sorted(kept, key=lambda key: (key.created_at, key.id), reverse=True))

    async def key_of(self, digest: bytes) -> ApiKey | None:
        return next((key for key in self._all_keys() if key.digest == digest), None)

    async def has_keys(self, *, at: datetime) -> bool:
        return any(key.usable_at(at) for key in self._all_keys())

    async def revisions(self, reader: Reader, memory_id: UUID) -> tuple[Revision, ...]:
        rows = self.rows_of(reader.scope)
        if rows.visible(reader, memory_id) is None:
            return ()
        return tuple(revision for (owner, _), revision in sorted(rows.revisions.items()) if owner == memory_id)

    async def hubs(self, reader: Reader, where: Filter, *, limit: int) -> Mapping[UUID, int]:
        rows = self.rows_of(reader.scope)
        kept = {memory.id for memory in rows.visible_memories(reader) if not excluded_by(memory, where)}
        among = [edge for edge in rows.relations.values() if edge.source in kept and edge.target in kept]
        counts = Counter(end for edge in among for end in (edge.source, edge.target))
        return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:limit])

    async def audit(self, reader: Reader, memory_id: UUID) -> tuple[Audited, ...]:
        rows = self.rows_of(reader.scope)
        if rows.visible(reader, memory_id) is None:
            return ()
        lines = [line for line in rows.audit if line.memory_id == memory_id]
        return tuple(sorted(lines, key=lambda line: (line.at, line.action, line.reason)))

    async def provenance(self, reader: Reader, memory_id: UUID) -> tuple[Event, ...]:
        rows = self.rows_of(reader.scope)
        if rows.visible(reader, memory_id) is None:
            return ()
        seen = {event.id: event for event in rows.visible_events(reader)}
        return tuple(seen[event_id] for event_id in rows.provenance[memory_id] if event_id in seen)

    async def pending(
        self, scope: Scope, model: str, *, limit: int, now: datetime, before: int = 0, token_embeddings: bool = False
    ) -> tuple[PendingCue, ...]:
        rows = self.rows_of(scope)
        failed = {ref: failure for (ref, name), failure in rows.failures.items() if name == model}
        due = [
            ref
            for ref in rows.cues
            if is_missing(rows.vectors.get((ref, model)), token_embeddings=token_embeddings)
            and (ref not in failed or failed[ref].retry_at <= now)
        ]
        due.sort(key=lambda ref: (failed[ref].count if ref in failed else 0, ref))
        cues = {ref: rows.cues[ref].cue for ref in due[:limit]}
        return tuple(
            PendingCue(ref, cue.memory_id, *_shown(rows, cue), *_spoken(rows, cue, before)) for ref, cue in cues.items()
        )

    async def pending_of(
        self, scope: Scope, model: str, memory_id: UUID, *, before: int = 0, token_embeddings: bool = False
    ) -> tuple[PendingCue, ...]:
        rows = self.rows_of(scope)
        return tuple(
            PendingCue(ref, memory_id, *_shown(rows, indexed.cue), *_spoken(rows, indexed.cue, before))
            for ref, indexed in rows.cues_of(memory_id)
            if is_missing(rows.vectors.get((ref, model)), token_embeddings=token_embeddings)
        )

    async def embedded(self, scope: Scope, model: str, digests: Collection[bytes]) -> dict[bytes, CueVector]:
        found: dict[bytes, CueVector] = {}
        for (ref, name), stored in sorted(self.rows_of(scope).vectors.items(), key=lambda one: one[0]):
            if name == model and stored.digest is not None and stored.digest in digests:
                vector, tokens = stored.vector.copy(), stored.token_embeddings
                tokens = None if tokens is None else tokens.copy()
                found.setdefault(stored.digest, CueVector(ref, vector, stored.truncated, tokens, stored.digest))
        return found

    async def put_vectors(
        self,
        scope: Scope,
        model: str,
        vectors: Sequence[CueVector],
        *,
        at: datetime,
        relations: Sequence[Relation] = (),
    ) -> int:
        with self._writing(scope) as rows:
            rows.require_dim(model, [given.vector.shape[0] for given in vectors])
            new = 0
            for given in vectors:
                place = (given.ref, model)
                if given.ref in rows.cues and is_missing(
                    rows.vectors.get(place), token_embeddings=given.token_embeddings is not None
                ):
                    vector = rounded(given.vector)
                    token_embeddings = None if given.token_embeddings is None else given.token_embeddings.copy()
                    rows.vectors[place] = StoredVector(vector, given.truncated, at, token_embeddings, given.digest)
                    rows.failures.pop(place, None)
                    new += 1
            if new and rows.answering is None:
                rows.spaces[model] = VectorSpace(model, SpaceRole.ANSWERS, at)
            for edge in relations:
                if edge.source in rows.memories and edge.target in rows.memories:
                    rows.relations.setdefault((edge.source, edge.target, edge.kind), edge)
            return new

    async def put_index_token(self, scope: Scope, model: str | None, token: bytes, *, erasures: int) -> bool:
        with self._writing(scope) as rows:
            if len(rows.erasures) != erasures:
                return False
            rows.index_tokens[model] = token
            return True

    async def defer_vectors(self, scope: Scope, model: str, refs: Sequence[int], *, error: str, now: datetime) -> None:
        with self._writing(scope) as rows:
            for ref in refs:
                if ref in rows.cues:
                    failed = rows.failures.get((ref, model))
                    tries = 1 if failed is None else failed.count + 1
                    rows.failures[ref, model] = Failure(tries, now + work.wait_after(tries), error[:MAX_ERROR_CHARS])

    async def failed_vectors(self, scope: Scope, model: str, *, limit: int) -> tuple[FailedCue, ...]:
        rows = self.rows_of(scope)
        failed = sorted(
            (one.retry_at, ref) for (ref, of), one in rows.failures.items() if of == model and ref in rows.cues
        )
        return tuple(
            FailedCue(cue.memory_id, cue.ordinal, failure.count, failure.retry_at, failure.error)
            for _, ref in failed[:limit]
            for cue, failure in [(rows.cues[ref].cue, rows.failures[ref, model])]
        )

    async def put_snapshot(self, scope: Scope, snapshot: HealthSnapshot) -> None:
        with self._writing(scope) as rows:
            rows.health[snapshot.crew or "", snapshot.day] = snapshot

    async def snapshots(self, scope: Scope, crew: str | None, *, limit: int) -> tuple[HealthSnapshot, ...]:
        kept = [snapshot for snapshot in self.rows_of(scope).health.values() if snapshot.crew == crew]
        return tuple(sorted(kept, key=lambda snapshot: snapshot.day, reverse=True)[:limit])

    async def crews(self, scope: Scope) -> tuple[str, ...]:
        crews = {memory.scope.crew for memory in self.rows_of(scope).memories.values()}
        return tuple(sorted(crew for crew in crews if crew is not None))

    async def keep_recall(self, scope: Scope, kept: KeptRecall) -> None:
        if kept.scope.workspace != scope.workspace:
            raise InvalidInput("kept.scope.workspace", kept.scope.workspace, repr(scope.workspace))
        with self._writing(scope) as rows:
            if kept.id in rows.recalls:
                raise Conflict(f"recall {kept.id} is kept already")
            rows.recalls[kept.id] = kept
            while len(rows.recalls) > MAX_KEPT:
                del rows.recalls[next(iter(rows.recalls))]

    async def kept_recall(self, reader: Reader, recall_id: UUID) -> KeptRecall | None:
        kept = self.rows_of(reader.scope).recalls.get(recall_id)
        return kept if kept is not None and can_see(reader, kept.scope, Visibility.WORKSPACE) else None

    async def drop_recall(self, reader: Reader, recall_id: UUID) -> bool:
        if await self.kept_recall(reader, recall_id) is None:
            return False
        with self._writing(reader.scope) as rows:
            del rows.recalls[recall_id]
        return True

    async def erase(self, scope: Scope, removal: Removal, receipt: Erasure) -> Removed:
        rows = self.rows_of(scope).copy()
        removed = erasing.erase(rows, removal, receipt)
        if not receipt.dry_run:
            rows.erasures.append(completed(receipt, removed))
            self.keep(scope, rows)
        return removed

    async def add_to_trail(self, scope: Scope, acts: Sequence[Touched]) -> None:
        with self._writing(scope) as rows:
            for touched in acts:
                audit_trail.add(rows, scope, acts_of("note", audit_trail.now)(scope, touched))

    async def purge(self, scope: Scope, *, at: datetime) -> str:
        """Record the time of the purge. There is no file to clear."""
        with self._writing(scope) as rows:
            rows.erasures = [one if one.purged_at else replace(one, purged_at=at) for one in rows.erasures]
        return ""

    async def copies(self, scope: Scope) -> tuple[str, ...]:
        self.rows_of(scope)
        return ()

    async def erasures(self, scope: Scope, *, limit: int) -> tuple[Erasure, ...]:
        return tuple(reversed(self.rows_of(scope).erasures))[:limit]

    async def ids_ending(self, reader: Reader, rows: IdentifiedRows, ending: str) -> tuple[UUID, ...]:
        known = self.rows_of(reader.scope)
        ids = {
            "memory": lambda: [one.id for one in known.visible_memories(reader)],
            "event": lambda: [one.id for one in known.visible_events(reader, archived=True)],
            "recall": lambda: [
                one.id for one in known.recalls.values() if can_see(reader, one.scope, Visibility.WORKSPACE)
            ],
        }
        return tuple(sorted(one for one in ids[rows]() if one.hex.endswith(ending)))

    async def stats(self, reader: Reader) -> Stats:
        rows = self.rows_of(reader.scope)
        events = rows.visible_events(reader)
        memories = rows.visible_memories(reader)
        owners = {memory.id for memory in memories}
        refs = {ref for ref, indexed in rows.cues_in_use().items() if indexed.cue.memory_id in owners}
        vectors = {at: stored for at, stored in rows.vectors.items() if at[0] in refs}
        return Stats(
            events=len(events),
            memories=dict(Counter(memory.status.value for memory in memories)),
            cues=len(refs),
            vectors=dict(Counter(model for _, model in vectors)),
            truncated=sum(stored.truncated for stored in vectors.values()),
            relations=len(rows.visible_relations(reader)),
            oldest=min((memory.occurred_from for memory in memories), default=None),
            newest=max((memory.occurred_to for memory in memories), default=None),
            bytes=sum(len(row.text.encode()) for row in (*events, *memories)),
        )

    async def check(self, scope: Scope, model: str | None) -> tuple[Finding, ...]:
        """Check that the rows can be read. There is no derived data to check."""
        rows = self.rows_of(scope)
        return (Finding("rows", True, f"{len(rows.memories)} memories, {len(rows.events)} events"),)

    async def backup(self, path: Path, *, on_pages: OnPages | None = None) -> BackupReport:
        raise Unsupported("the reference store has no backups: it is kept in memory, for tests")

    async def export(self, scope: Scope) -> AsyncIterator[ExportRow]:
        for row in exchange.export(self.rows_of(scope)):
            yield row

    async def import_rows(self, scope: Scope, rows: Iterable[ExportRow], *, dry_run: bool = False) -> int:
        records = [row_to_record(row, scope.workspace) for row in rows]
        held = self.rows_of(scope).copy()
        new = exchange.take_in(held, records)
        vector_spaces.settle(held)
        if not dry_run:
            self.keep(scope, held)
        return new

    def subscribe(self, scope: Scope, wake: Callable[[], None]) -> Polled:
        return Polled()

    async def close(self) -> None:
        self._closed = True

    def rows_of(self, owner: object) -> Rows:
        """The rows of the workspace of a scope or a reader. Raises StoreUnavailable if the store is closed."""
        if self._closed:
            raise StoreUnavailable("the store is closed")
        return self._workspaces.get(_scope(owner).workspace) or self._empty()

    def view(self) -> ReferenceView:
        """The current rows."""
        if self._closed:
            raise StoreUnavailable("the store is closed")
        return ReferenceView(dict(self._workspaces))

    def _all_keys(self) -> list[ApiKey]:
        """The keys to all workspaces."""
        if self._closed:
            raise StoreUnavailable("the store is closed")
        return [key for rows in self._workspaces.values() for key in rows.keys.values()]

    @contextmanager
    def _writing(self, scope: Scope) -> Generator[Rows, None, None]:
        """A copy of the rows to change. It replaces them unless an error is raised."""
        rows = self.rows_of(scope).copy()
        yield rows
        self.keep(scope, rows)

    def keep(self, owner: object, rows: Rows) -> None:
        """Replace the rows of that workspace."""
        rows.number_changes(self.rows_of(owner))
        self._workspaces[_scope(owner).workspace] = rows


def _scope(owner: object) -> Scope:
    return owner.scope if isinstance(owner, Reader) else cast("Scope", owner)


def _shown(rows: Rows, cue: Cue) -> tuple[Scope, str, str]:
    """The owner, text and heading of a cue that is embedded."""
    return rows.memories[cue.memory_id].scope, cue.text, cue.heading


def _spoken(rows: Rows, cue: Cue, before: int) -> tuple[str, tuple[PrecedingTurn, ...]]:
    """The speaker of a turn, and up to `before` preceding turns in order, none from before a gap in time."""
    event = rows.event_of(cue)
    if event is None:
        return "", ()
    said: list[PrecedingTurn] = []
    at = event.occurred_at
    earlier = [other for other in rows.events.values() if other.scope == event.scope and other.seq < event.seq]
    turns = sorted((other for other in earlier if other.role in SPEAKERS), key=lambda other: -other.seq)
    for other in turns[:before]:
        if abs(at - other.occurred_at) > CONTEXT_GAP:
            break
        said.append(PrecedingTurn(other.actor or "", other.text[-MAX_CONTEXT_TURN_CHARS:]))
        at = other.occurred_at
    speaker = event.actor or "" if event.role in SPEAKERS else ""
    return speaker, tuple(reversed(said))
