"""Erasure: find dependent rows, and remove rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from remembrancer.adapters.reference import retention
from remembrancer.adapters.reference.rows import Held, Rows, StreamProgress
from remembrancer.domain import erasure
from remembrancer.domain.event import Event
from remembrancer.domain.instants import MICROSECOND
from remembrancer.domain.journal import searchable_text
from remembrancer.domain.kept import KeptRecall
from remembrancer.domain.memory import Analyse, Cue, Memory, MemoryWrite, Revision, Status
from remembrancer.domain.memory import searchable_text as text_of_cue
from remembrancer.domain.outcome import Credit
from remembrancer.domain.relation import RelationKind
from remembrancer.domain.reply import Reply, ReplyNotStored
from remembrancer.domain.scope import Scope
from remembrancer.domain.strength import Exposed
from remembrancer.errors import Conflict, NotFound

K = TypeVar("K")
V = TypeVar("V")


def lying_in(
    rows: Rows, scope: Scope, choice: erasure.ErasureSelection, *, unheld: bool = False
) -> tuple[frozenset[UUID], frozenset[UUID]]:
    events = {event.id: event for event in rows.all_events()}
    for kind, named, there in (("memory", choice.ids, rows.memories), ("event", choice.events, events)):
        for missing in sorted(named - there.keys()):
            raise NotFound(kind, missing)
    if not choice.parts:
        return choice.ids, choice.events

    def is_chosen(row: Event | Memory, at: datetime) -> bool:
        early = choice.before is None or at < choice.before
        return choice.matches(row) and early and not (unheld and retention.is_held(rows, row))

    return (
        frozenset(one.id for one in rows.memories.values() if is_chosen(one, one.occurred_to)),
        frozenset(one.id for one in events.values() if is_chosen(one, one.occurred_at)),
    )


def traces(rows: Rows, scope: Scope, *, memories: Collection[UUID], events: Collection[UUID]) -> erasure.Traces:
    found = {event.id: event for event in rows.all_events()}
    return erasure.Traces(
        {one: _trace(rows, rows.memories[one]) for one in memories if one in rows.memories},
        {one: erasure.EventTrace(found[one], _formed(rows, one)) for one in events if one in found},
    )


def erase(rows: Rows, removal: erasure.Removal, receipt: erasure.Erasure) -> erasure.Removed:
    """Carry out a removal on `rows`, a copy that the caller keeps or discards."""
    _require(rows, removal)
    analyse = rows.analyse
    counts: Counter[str] = Counter()
    told = [rows.memories[memory].text for memory in removal.memories]
    told += [event.text for event in _going_events(rows, removal)]
    texts = _texts(rows, removal)
    sessions = {
        one.scope.session
        for one in (*_going_events(rows, removal), *(rows.memories[memory] for memory in removal.memories))
        if one.scope.session is not None
    }
    texts += _drop_past(rows, removal, receipt.asked, counts)
    for memory in rows.memories.values():
        if memory.superseded_by in removal.memories and memory.id not in removal.memories:
            _let_go_of_successor(rows, memory, receipt.at)
    for write in removal.rebuilt:
        _replace_text(rows, write, counts)
    for identifier in sorted(removal.restored):
        _restore(rows, rows.memories[identifier])
    for identifier in removal.memories:
        _remove_memory(rows, identifier, counts)
    for identifier in removal.requeued:
        rows.memories[identifier] = replace(rows.memories[identifier], consolidated_at=None)
    _remove_events(rows, removal, counts)
    left = {one.scope.session for one in (*rows.all_events(), *rows.memories.values())}
    _drop(rows.exposures, lambda one: one.session in sessions - left, counts, "exposures")
    named = {str(identifier) for identifier in removal.memories | removal.events}
    _drop(rows.deferrals, lambda one: one.item in named, counts, "deferrals")
    for key, held in rows.claims.items():
        if held.answered is not None:
            counts["replies"] += isinstance(held.answered, Reply)
            rows.claims[key] = Held(held.claim, ReplyNotStored(held.answered.status, erased=True))
    choice = receipt.asked

    def was_asked_in(one: KeptRecall | Credit | Exposed) -> bool:
        parts, asked_by = choice.parts, one if isinstance(one, Exposed) else one.scope
        within = bool(parts) and all(getattr(asked_by, part, None) == value for part, value in parts.items())
        return within and (choice.before is None or one.at < choice.before)

    _drop(rows.recalls, was_asked_in, counts, "kept_recalls")
    _drop(rows.credits, was_asked_in, counts, "credits")
    _drop(rows.exposures, was_asked_in, counts, "exposures")
    words = {token for text in texts for token in _words(text, analyse)} - _remaining_words(rows, analyse)
    counts["quotations"] += _redact(rows, erasure.quoter(texts, words.__contains__, lambda line: _words(line, analyse)))
    kinds = ("memories", "events", "archived", "cues", "vectors", "word_vectors", "revisions", "relations", "exposures")
    kinds += (
        "past_states",
        "kept_recalls",
        "reviews",
        "credits",
        "audit",
        "priority_changes",
        "streams",
        "deferrals",
        "replies",
        "quotations",
    )
    found = _repeated(rows, told, analyse)
    return erasure.Removed({kind: counts[kind] for kind in kinds}, found, requests=len(rows.claims))


def _trace(rows: Rows, memory: Memory) -> erasure.ErasureTrace:
    drawn = [edge for edge in rows.relations.values() if edge.kind is RelationKind.DERIVED_FROM]
    cues = [indexed.cue for _, indexed in rows.cues_of(memory.id)]
    return erasure.ErasureTrace(
        memory=memory,
        events=tuple(event for event in rows.provenance[memory.id] if event in rows.events),
        turns=frozenset(cue.event_id for cue in cues if cue.event_id is not None),
        sources=frozenset(edge.target for edge in drawn if edge.source == memory.id),
        derived=frozenset(edge.source for edge in drawn if edge.target == memory.id),
    )


def _formed(rows: Rows, event: UUID) -> frozenset[UUID]:
    formed = {memory for memory, events in rows.provenance.items() if event in events}
    return frozenset(formed | {one.cue.memory_id for one in rows.cues.values() if one.cue.event_id == event})


def _require(rows: Rows, removal: erasure.Removal) -> None:
    for write in removal.rebuilt:
        known = rows.memories.get(write.memory.id)
        if known is None or known.revision != write.memory.revision - 1:
            raise Conflict(f"memory {write.memory.id} is no longer at revision {write.memory.revision - 1}")
        if not set(write.event_ids) <= rows.events.keys() - removal.events:
            raise Conflict(f"an event that memory {write.memory.id} is to be formed from no longer exists")
    if removal.memories - rows.memories.keys():
        raise Conflict("a memory to be erased no longer exists")
    if removal.events - {event.id for event in rows.all_events()}:
        raise Conflict("an event to be erased no longer exists")
    known_of = removal.memories.union(write.memory.id for write in removal.rebuilt)
    formed = {one for event in removal.events for one in _formed(rows, event)}
    formed |= {one for memory in known_of for one in _trace(rows, rows.memories[memory]).derived}
    if formed - known_of:
        raise Conflict("a memory was meanwhile formed from a row to be erased")
    retention.require_unheld(rows, [*(rows.memories[one] for one in known_of), *_going_events(rows, removal)])


def _going_events(rows: Rows, removal: erasure.Removal) -> list[Event]:
    return [event for event in rows.all_events() if event.id in removal.events]


def _texts(rows: Rows, removal: erasure.Removal) -> list[str]:
    """All texts, previous ones included, of the rows that are removed or formed again."""
    rebuilt = {write.memory.id for write in removal.rebuilt}
    texts: list[str | None] = []
    for identifier in (*removal.memories, *rebuilt):
        memory = rows.memories[identifier]
        texts += [memory.title, memory.text]
        texts += [memory.topic_key if identifier in removal.memories else None]
    for (owner, _), revision in rows.revisions.items():
        if owner in removal.memories or owner in rebuilt:
            texts += [revision.title, revision.text]
    for event in _going_events(rows, removal):
        texts += [event.text, searchable_text(event)]
    return [text for text in dict.fromkeys(texts) if text]


def _drop_past(
    rows: Rows, removal: erasure.Removal, choice: erasure.ErasureSelection, counts: Counter[str]
) -> list[str]:
    """Drop all earlier revisions of memories that stay, if one of these revisions has the session, actor, kind or
    origin that is erased. Returns their texts.
    """
    if not choice.parts.keys() & set(erasure.REVISED_PARTS):
        return []
    gone = removal.memories.union(write.memory.id for write in removal.rebuilt)

    def was_there(one: Revision) -> bool:
        if one.kind is None or one.origin is None:
            return False
        memory = rows.memories[one.memory_id]
        scope = memory.scope.narrowed(session=one.session)
        then = replace(memory, scope=scope, actor=one.actor, kind=one.kind, origin=one.origin)
        early = choice.before is None or (one.occurred_to is not None and one.occurred_to < choice.before)
        return choice.matches(then) and early

    staying = {one.memory_id for one in rows.revisions.values() if was_there(one)} - gone
    retention.require_unheld(rows, [rows.memories[one] for one in staying])
    said = [one for one in rows.revisions.values() if one.memory_id in staying]
    _drop(rows.revisions, lambda one: one.memory_id in staying, counts, "revisions")
    refs = {
        ref
        for ref, indexed in rows.cues.items()
        if indexed.cue.memory_id in staying and rows.spans[ref].last is not None
    }
    vectors = [stored for at, stored in rows.vectors.items() if at[0] in refs]
    counts["cues"] += len(refs)
    counts["vectors"] += len(vectors)
    counts["word_vectors"] += sum(stored.token_embeddings is not None for stored in vectors)
    rows.drop_cues(refs)
    return [text for one in said for text in (one.title, one.text) if text]


def _let_go_of_successor(rows: Rows, memory: Memory, at: datetime) -> None:
    ended = rows.memories[memory.id] = _ended(memory, at)
    gone = {"superseded_by": None, "superseded_at": None, "valid_until": ended.valid_until}
    for key, state in rows.past_states.items():
        if key[0] == memory.id and state.superseded_by is not None:
            rows.past_states[key] = replace(state, **gone)


def _ended(memory: Memory, at: datetime) -> Memory:
    """A memory whose successor is removed: it stays ended at its supersession and does not become valid again."""
    ended = memory.superseded_at or at
    if memory.valid_from is not None:
        ended = max(ended, memory.valid_from + MICROSECOND)
    if memory.valid_until is not None:
        ended = min(ended, memory.valid_until)
    return replace(memory, superseded_by=None, superseded_at=None, valid_until=ended, topic_key=None)


def _replace_text(rows: Rows, write: MemoryWrite, counts: Counter[str]) -> None:
    identifier = write.memory.id
    _remove_texts(rows, identifier, counts)
    told = write.memory
    rows.memories[identifier] = replace(
        rows.memories[identifier], title=told.title, text=told.text, metadata=told.metadata, revision=told.revision
    )
    rows.provenance[identifier] = write.event_ids
    for indexed in write.cues:
        rows.add_cue(indexed, told.revision)


def _restore(rows: Rows, memory: Memory) -> None:
    """Make the memory active again, without its topic if another memory has it."""
    held = rows.by_topic(memory.scope, memory.topic_key)
    topic = memory.topic_key if all(one.id == memory.id for one in held) else None
    rows.memories[memory.id] = replace(memory, status=Status.ACTIVE, retired_at=None, topic_key=topic)


def _remove_texts(rows: Rows, identifier: UUID, counts: Counter[str]) -> None:
    """Remove the memory's cues, their vectors, and its revisions."""
    refs = {ref for ref, indexed in rows.cues.items() if indexed.cue.memory_id == identifier}
    vectors = [stored for at, stored in rows.vectors.items() if at[0] in refs]
    counts["cues"] += len(refs)
    counts["vectors"] += len(vectors)
    counts["word_vectors"] += sum(stored.token_embeddings is not None for stored in vectors)
    rows.remove_cues(identifier)
    before = len(rows.revisions)
    rows.revisions = {at: revision for at, revision in rows.revisions.items() if at[0] != identifier}
    counts["revisions"] += before - len(rows.revisions)


def _remove_memory(rows: Rows, identifier: UUID, counts: Counter[str]) -> None:
    _remove_texts(rows, identifier, counts)
    _drop(rows.relations, lambda edge: identifier in {edge.source, edge.target}, counts, "relations")
    _drop(rows.exposures, lambda one: one.memory_id == identifier, counts, "exposures")
    _drop(rows.past_states, lambda one: one.memory_id == identifier, counts, "past_states")
    _drop(rows.reviews, lambda one: one.memory_id == identifier, counts, "reviews")
    _drop(rows.credits, lambda one: one.memory_id == identifier, counts, "credits")
    lines = {line for line in rows.audit if line.memory_id == identifier}
    rows.audit -= lines
    counts["audit"] += len(lines)
    counts["memories"] += 1
    del rows.memories[identifier], rows.provenance[identifier], rows.changed_at[identifier]


def _remove_events(rows: Rows, removal: erasure.Removal, counts: Counter[str]) -> None:
    streams = {event.scope: rows.last_seq(event.scope) for event in _going_events(rows, removal)}
    for identifier in removal.events:
        if identifier in rows.events:
            del rows.events[identifier], rows.positions[identifier]
            counts["events"] += 1
        else:
            del rows.archive[identifier]
            counts["archived"] += 1
    changes = {change for change in rows.priority_changes if change.event_id in removal.events}
    rows.priority_changes -= changes
    counts["priority_changes"] += len(changes)
    for stream, last in streams.items():
        rows.ends.pop(stream, None)
        progress = rows.streams.pop(stream, StreamProgress())
        if any(event.scope == stream for event in rows.all_events()):
            rows.ends[stream] = last
            if progress.cursor:
                rows.streams[stream] = StreamProgress(progress.cursor)
        else:
            counts["streams"] += 1


def _drop(rows: dict[K, V], goes: Callable[[V], bool], counts: Counter[str], kind: str) -> None:
    gone = [key for key, value in rows.items() if goes(value)]
    for key in gone:
        del rows[key]
    counts[kind] += len(gone)


def _words(text: str, analyse: Analyse) -> tuple[str, ...]:
    return analyse(Cue(memory_id=UUID(int=0), ordinal=0, text=text)).tokens


def _remaining_words(rows: Rows, analyse: Analyse) -> set[str]:
    """All words of the remaining rows."""
    told = [text_of_cue(indexed.cue) for indexed in rows.cues.values()]
    told += [searchable_text(event) for event in rows.all_events()]
    return {token for text in told for token in _words(text, analyse)}


def _redact(rows: Rows, quotes: Callable[[str], bool]) -> int:
    redacted = 0

    def redacted_text(line: str) -> str:
        nonlocal redacted
        if not quotes(line):
            return line
        redacted += 1
        return erasure.ERASED

    rows.exposures = {at: replace(one, query=redacted_text(one.query)) for at, one in rows.exposures.items()}
    rows.credits = {
        at: replace(one, task=redacted_text(one.task), note=redacted_text(one.note)) for at, one in rows.credits.items()
    }
    rows.audit = {replace(line, reason=redacted_text(line.reason)) for line in rows.audit}
    rows.priority_changes = {replace(change, reason=redacted_text(change.reason)) for change in rows.priority_changes}
    rows.deferrals = {at: replace(one, error=redacted_text(one.error)) for at, one in rows.deferrals.items()}
    rows.runs = {
        job: replace(run, reason=redacted_text(run.reason), error=redacted_text(run.error))
        for job, run in rows.runs.items()
    }
    rows.calls = [replace(call, error=redacted_text(call.error)) for call in rows.calls]
    quoting = [one for one, kept in rows.recalls.items() if quotes(kept.query)]
    for one in quoting:
        del rows.recalls[one]
    return redacted + len(quoting)


def _repeated(rows: Rows, texts: Iterable[str], analyse: Analyse) -> tuple[UUID, ...]:
    """The ids of remaining rows that contain one of the texts, word for word."""
    told = {erasure.plain(text) for text in texts if _words(text, analyse)}
    wanted = [text for text in told if len(text) >= erasure.LEAST_QUOTED_CHARS]
    held = [(event.id, event.text) for event in rows.all_events()]
    for memory in rows.memories.values():
        said = [memory.title or "", memory.text]
        cues = [indexed.cue for indexed in rows.cues.values() if indexed.cue.memory_id == memory.id]
        held += [(memory.id, " ".join((*said, cue.text))) for cue in cues]
    return tuple(sorted({one for one, text in held if any(each in erasure.plain(text) for each in wanted)}))
