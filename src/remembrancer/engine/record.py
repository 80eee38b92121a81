"""Recording events and memories, and editing memories."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final
from uuid import UUID

from remembrancer import engine
from remembrancer.domain import validation
from remembrancer.domain.effect import Effect
from remembrancer.domain.event import Event, EventDraft, Origin, Role, is_less_trusted
from remembrancer.domain.journal import searchable_text
from remembrancer.domain.memory import Memory, MemoryDraft, MemoryWrite, holds, topic_level
from remembrancer.domain.recalled import without_recalled
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Reader, Scope, Visibility
from remembrancer.domain.strength import Exposure
from remembrancer.engine import inspect, reinforce
from remembrancer.engine.context import Context
from remembrancer.errors import Conflict, InvalidInput, NotFound, Unsupported
from remembrancer.language.lexical import analyse
from remembrancer.policies.admission.flagging import with_flag
from remembrancer.policies.admission.formation import (
    episode,
    memory_of_draft,
    memory_of_event,
    origin_of,
    revised,
    says_anything,
    says_the_same,
)
from remembrancer.policies.admission.updating import Changes, updated, write_of
from remembrancer.ports.journal import Appended, Entry, EventFilter
from remembrancer.values import copied, dataclass, replace

MAX_BATCH: Final = 10_000
BRIEF_CHARS: Final = 4_000
"""Events of up to this many characters in total, payloads included, are analysed in the event loop; more would block
it. A thousand characters take about a millisecond.
"""
TOPIC_ATTEMPTS: Final = 32
"""The maximum number of tries of a write to a topic if other writers change the topic at the same time."""


async def observe(ctx: Context, scope: Scope, drafts: Sequence[EventDraft]) -> tuple[Appended, ...]:
    """Append events in order, each admitted one with its memory, in one transaction. Preferences and instructions that
    they contradict end then, each in a transaction of its own.

    A draft whose key is already recorded with the same text returns the recorded event. Raises Conflict if the text
    differs, InvalidInput for more than 10,000 drafts, or a text longer than `max_event_mb`; nothing is written then.
    """
    if len(drafts) > MAX_BATCH:
        raise InvalidInput("events", f"{len(drafts):,} events", f"at most {MAX_BATCH:,} at once")
    if not drafts:
        return ()
    bound = ctx.max_event_mb << 20
    for draft in drafts:
        if 4 * len(draft.text) > bound:
            validation.text("text", draft.text, max_bytes=bound)
    now = ctx.clock()
    # Events without a time happened now, one after the other: a listing by time keeps their order.
    times = [now - timedelta(microseconds=later) for later in reversed(range(len(drafts)))]
    events = [(event_of(ctx, scope, draft, now, at=at), draft) for draft, at in zip(drafts, times, strict=True)]
    entries = await _entries(ctx, events)
    appended = await ctx.store.append(scope, entries)
    stated = [
        entry.memory.memory
        for entry, one in zip(entries, appended, strict=True)
        if one.created and entry.memory is not None and entry.memory.memory.tags
    ]
    if stated:
        await engine.preferences.end_contradicted(ctx, scope, stated)
    return appended


async def log(ctx: Context, scope: Scope, draft: EventDraft) -> Event:
    """Append an event about the memory system itself. It forms no memory, even if the preset would admit it."""
    event = event_of(ctx, scope, draft, ctx.clock())
    [appended] = await ctx.store.append(scope, [Entry(event, None, analyse(searchable_text(event)).tokens)])
    return appended.event


async def remember(
    ctx: Context,
    scope: Scope,
    draft: MemoryDraft,
    turns: Sequence[UUID] = (),
    *,
    left_out: Collection[str] = (),
    reader: Reader | None = None,
) -> tuple[Memory, bool]:
    """Store a memory. Returns it, and whether anything was written. `turns`: ids of the events of an episode; `reader`:
    who must see them, None: the scope with the reach `workspace`.

    If an active memory has the same topic key, within the level that the preset's topics belong to, that memory gets
    the new text and keeps the old one as a revision; the same text again changes nothing. A text that is trusted less
    than that memory is stored beside it, under the topic key and its origin (`topic_of_origin`). If several memories
    have the topic key, because they were written under another preset, this one supersedes the others.

    If the preset counts repeats, a text without a key that a memory of this scope has is not stored again: it counts as
    an exposure of that memory.

    `left_out`: names of fields that the caller did not give; a memory that exists keeps them.
    """
    draft = _of_its_own(draft)
    events = await _turns(ctx, reader or Reader(scope), draft, turns)
    if draft.topic_key is not None:
        return await _on_topic(ctx, scope, draft, draft.topic_key, events, left_out)
    repeats = ctx.preset.formation.repeats
    if repeats is not None and draft.key is None and not events:
        return await _once(ctx, scope, draft, repeats, left_out)
    return await ctx.store.insert(scope, _with_turns(_new(ctx, scope, draft), events))


@dataclass(frozen=True, slots=True)
class NewMemory:
    """The arguments of `remember` for one memory."""

    draft: MemoryDraft
    turns: Sequence[UUID] = ()
    left_out: Collection[str] = ()


async def remember_many(
    ctx: Context, scope: Scope, notes: Sequence[NewMemory], *, reader: Reader | None = None
) -> tuple[Memory, ...]:
    """Store memories without topic keys in order, in one transaction. A memory whose key or, if the preset counts
    repeats, whose text is stored is treated as in `remember`. `reader` as there.

    Raises InvalidInput for more than 10,000 memories or one with a topic key, NotFound for an unknown turn, and
    Conflict if the memory of a key has another text; nothing is written then.
    """
    if len(notes) > MAX_BATCH:
        raise InvalidInput("memories", f"{len(notes):,} memories", f"at most {MAX_BATCH:,} at once")
    for place, note in enumerate(notes):
        if note.draft.topic_key is not None:
            allowed = "None: `remember` takes topics, because each replaces the text of the memory before"
            raise InvalidInput(f"memories[{place}].topic_key", note.draft.topic_key, allowed)
    if not notes:
        return ()
    notes = [replace(note, draft=_of_its_own(note.draft)) for note in notes]
    events = [await _turns(ctx, reader or Reader(scope), note.draft, note.turns) for note in notes]
    now = ctx.clock()

    def formed() -> list[MemoryWrite]:
        # Like events of one batch: a listing by time keeps their order.
        times = [now - timedelta(microseconds=later) for later in reversed(range(len(notes)))]
        return [
            _with_turns(_new(ctx, scope, note.draft, now, at=at), turns)
            for note, turns, at in zip(notes, events, times, strict=True)
        ]

    writes = formed() if len(notes) == 1 else await asyncio.to_thread(formed)
    repeats, repeated = ctx.preset.formation.repeats, frozenset[UUID]()
    if repeats is not None:
        repeated = frozenset(write.memory.id for write in writes if write.memory.key is None and not write.event_ids)
    stored = list(await ctx.store.insert_many(scope, writes, once=repeated))
    for place, (_, created) in enumerate(stored):
        if repeats is not None and not created and writes[place].memory.id in repeated:
            stored[place] = await _once(ctx, scope, notes[place].draft, repeats, notes[place].left_out)
    return tuple(memory for memory, _ in stored)


def _of_its_own(draft: MemoryDraft) -> MemoryDraft:
    """The draft without what a recall inserted into its text. Raises InvalidInput if it has nothing else."""
    text = own_text(draft.text)
    return draft if text == draft.text else replace(draft, text=text)


def own_text(text: str) -> str:
    """The text without what a recall inserted. Raises InvalidInput if it has nothing else."""
    own = without_recalled(text)
    if text and not own:
        raise InvalidInput("text", text, "a text of its own: this one only repeats recalled memories")
    return own


async def on_topic(ctx: Context, scope: Scope, topic_key: str) -> Memory:
    """The memory that `remember` with this topic key would revise. Raises NotFound if there is none."""
    topics = topic_level(Visibility.WORKSPACE, ctx.preset.formation.topics)
    found = await ctx.store.by_topic(scope, topic_key, topics)
    if not found:
        raise NotFound("memory on topic", repr(topic_key))
    return found[0]


async def _on_topic(
    ctx: Context,
    scope: Scope,
    draft: MemoryDraft,
    topic_key: str,
    events: Sequence[Event],
    left_out: Collection[str],
) -> tuple[Memory, bool]:
    """Store a memory with a topic key, or revise the memory that has it."""
    topics = topic_level(draft.visibility, ctx.preset.formation.topics)
    for _ in range(TOPIC_ATTEMPTS):
        known, *others = await ctx.store.by_topic(scope, topic_key, topics) or (None,)
        try:
            if known is None:
                return await ctx.store.insert(scope, _with_turns(_new(ctx, scope, draft), events), topics=topics)
            if draft.key is not None and draft.key == known.key:
                return known, False
            if is_less_trusted(draft.origin, known.origin):
                return await _beside(ctx, scope, draft, topic_key, known, events, left_out)
            now = ctx.clock()
            write = _with_turns(revised(known, draft, scope=scope, now=now, left_out=left_out), events)
            if (
                says_the_same(write.memory, known)
                and not _outdated(known, known, others, now)
                and await _holds(ctx, scope, known, events)
            ):
                return known, False
            outdated = _outdated(write.memory, known, others, now)
            if not outdated:
                return await ctx.store.revise(scope, write, expected_revision=known.revision, at=now), True
            alone = Effect(
                expected={one.id: one.revision for one in (known, *outdated)},
                revised=(write,),
                superseded=tuple((one.id, known.id) for one in outdated),
            )
            await ctx.store.commit(scope, alone, at=now)
            return await inspect.get(ctx, Reader(scope), known.id), True
        except Conflict:
            if known is None and not await ctx.store.by_topic(scope, topic_key, topics):
                raise  # not a conflict of the topic: its key has another text
    raise Conflict(f"topic key {topic_key!r}: {TOPIC_ATTEMPTS} other writers updated it meanwhile; try again")


async def _beside(
    ctx: Context,
    scope: Scope,
    draft: MemoryDraft,
    topic_key: str,
    known: Memory,
    events: Sequence[Event],
    left_out: Collection[str],
) -> tuple[Memory, bool]:
    """Store what a less trusted origin says on a topic beside the memory that has it, as a topic of that origin, with a
    `contradicts` relation. A text that the memory has already changes nothing.
    """
    if (draft.text, draft.title) == (known.text, known.title):
        return known, False
    own = topic_of_origin(topic_key, draft.origin)
    memory, written = await _on_topic(ctx, scope, replace(draft, topic_key=own), own, events, left_out)
    if written:
        with suppress(NotFound):  # one of them was erased meanwhile
            await ctx.store.relate(
                Reader(scope), [Relation(memory.id, known.id, RelationKind.CONTRADICTS, 1.0, ctx.clock())]
            )
    return memory, written


def topic_of_origin(topic_key: str, origin: Origin) -> str:
    """The topic of what an origin says about a topic whose memory is trusted more.

    >>> topic_of_origin("refund period", Origin.WEB)
    'refund period (web)'
    """
    ending = f" ({origin})"
    return topic_key[: validation.MAX_NAME_CHARS - len(ending)] + ending


async def _once(
    ctx: Context, scope: Scope, draft: MemoryDraft, counted: Exposure, left_out: Collection[str]
) -> tuple[Memory, bool]:
    """Store a memory, or count that its text was remembered again."""
    for _ in range(TOPIC_ATTEMPTS):
        known, created = await ctx.store.insert(scope, _new(ctx, scope, draft), once=True)
        if created:
            return known, True
        now = ctx.clock()
        write = revised(known, draft, scope=scope, now=now, left_out=left_out)
        try:
            if not (is_less_trusted(draft.origin, known.origin) or says_the_same(write.memory, known)):
                await ctx.store.revise(scope, write, expected_revision=known.revision, at=now)
        except Conflict:
            continue
        reader = Reader(scope)
        await reinforce.mark(ctx, reader, {known.id: None}, counted)
        return await inspect.get(ctx, reader, known.id), True
    raise Conflict(f"{TOPIC_ATTEMPTS} other writers changed the memory of this text meanwhile; try again")


def _outdated(later: Memory, known: Memory, others: Sequence[Memory], now: datetime) -> list[Memory]:
    """The other memories of a topic that a revision of `known` supersedes: those trusted no more than it; none while
    `known` is private or not valid now.
    """
    begun = later.valid_from is None or later.valid_from <= now
    if later.visibility is not Visibility.WORKSPACE or not (begun and holds(known, now) and holds(later, now)):
        return []
    return [one for one in others if holds(one, now) and not is_less_trusted(later.origin, one.origin)]


async def _turns(ctx: Context, reader: Reader, draft: MemoryDraft, ids: Sequence[UUID]) -> tuple[Event, ...]:
    """The events of an episode, in time order. Raises NotFound."""
    if not ids:
        return ()
    if draft.occurred_at is not None:
        raise InvalidInput("occurred_at", draft.occurred_at.isoformat(), "nothing: an episode spans its events")
    where = EventFilter(ids=frozenset(ids))
    events = await ctx.store.events(reader, where, limit=len(ids), oldest_first=True)
    found = {event.id for event in events}
    for identifier in ids:
        if identifier not in found:
            raise NotFound("event", identifier)
    return events


async def _holds(ctx: Context, scope: Scope, known: Memory, events: Sequence[Event]) -> bool:
    """Whether the memory was already formed from these events."""
    if not events:
        return True
    before = {event.id for event in await ctx.store.provenance(Reader(scope), known.id)}
    return before.issuperset(event.id for event in events)


def _with_turns(write: MemoryWrite, events: Sequence[Event]) -> MemoryWrite:
    return episode(write.memory, events) if events else write


def _new(
    ctx: Context, scope: Scope, draft: MemoryDraft, now: datetime | None = None, *, at: datetime | None = None
) -> MemoryWrite:
    recorded = now or ctx.clock()
    return memory_of_draft(draft, scope=scope, identifier=ctx.new_id(recorded), now=recorded, at=at)


def event_of(
    ctx: Context,
    scope: Scope,
    draft: EventDraft,
    now: datetime,
    *,
    identifier: UUID | None = None,
    at: datetime | None = None,
) -> Event:
    """The event, recorded at `now`, with the given id or a new one. `at`: when it happened if the draft has no time;
    None: now.
    """
    role = Role(draft.role)
    return copied(
        draft,
        Event,
        id=identifier or ctx.new_id(now),
        scope=scope if draft.session is None else _in_session(scope, draft.session),
        seq=0,  # the store assigns the position in the stream
        occurred_at=draft.occurred_at or at or now,
        recorded_at=now,
        role=role,
        origin=origin_of(role),
    )


@lru_cache(maxsize=256)
def _in_session(scope: Scope, session: str) -> Scope:
    """Cached, because turns of one session follow one another."""
    return scope.narrowed(session=session)


async def _entries(ctx: Context, events: Sequence[tuple[Event, EventDraft]]) -> list[Entry]:
    def read() -> list[Entry]:
        return [_entry(ctx, event, draft) for event, draft in events]

    return read() if _is_brief(event for event, _ in events) else await asyncio.to_thread(read)


def _is_brief(events: Iterable[Event]) -> bool:
    chars = 0
    for event in events:
        chars += len(event.text) + (len(str(event.payload)) if event.payload else 0)
        if chars > BRIEF_CHARS:
            return False
    return True


def _entry(ctx: Context, event: Event, draft: EventDraft) -> Entry:
    formed = ctx.preset.admission.admits(draft) and says_anything(event)
    memory = memory_of_event(event, ctx.preset.formation) if formed else None
    return Entry(event, memory, _tokens(event, memory))


def _tokens(event: Event, memory: MemoryWrite | None) -> tuple[str, ...]:
    """The tokens of the event. If the only cue of its memory has the event's whole text, they are those of the cue
    after its heading.
    """
    indexed = memory.cues[0] if memory is not None and len(memory.cues) == 1 else None
    if indexed is not None and not event.payload and indexed.cue.text == event.text:
        return indexed.tokens[len(analyse(indexed.cue.heading).tokens) :]
    return analyse(searchable_text(event)).tokens


ATTEMPTS: Final = 8
"""The maximum number of tries of an edit if others change the memory meanwhile."""


async def update(
    ctx: Context, reader: Reader, memory_id: UUID, changes: Changes, *, expected_revision: int | None
) -> Memory:
    """Edit a memory. An edit that changes nothing creates no revision.

    `expected_revision`: the revision it must have. Raises NotFound, InvalidInput, and Conflict if it has another
    revision, is superseded, or others keep changing it meanwhile.
    """
    for attempt in range(1, ATTEMPTS + 1):
        known = await inspect.get(ctx, reader, memory_id)
        if expected_revision is not None and known.revision != expected_revision:
            raise Conflict(f"memory {memory_id} is at revision {known.revision}, not {expected_revision}")
        later = updated(known, changes, ctx.preset.formation)
        if known.superseded_by is not None:
            raise Conflict(f"memory {memory_id} is superseded by {known.superseded_by}")
        if later == known:
            return known
        cues = (await ctx.store.cues(reader, [memory_id])).get(memory_id, ())
        write = write_of(replace(later, revision=known.revision + 1), known, cues)
        try:
            return await ctx.store.revise(reader.scope, write, expected_revision=known.revision, at=ctx.clock())
        except Conflict:
            if expected_revision is not None or attempt == ATTEMPTS:
                raise
    raise AssertionError  # not reached: the last attempt returns or raises


async def release(ctx: Context, reader: Reader, memory_id: UUID) -> Memory:
    """Remove the flag of an instruction-like memory, which somebody has read and found harmless. A memory without it
    stays unchanged; one whose text changes later is judged again.

    Raises NotFound, and Conflict as `update` does.
    """
    for attempt in range(1, ATTEMPTS + 1):
        known = await inspect.get(ctx, reader, memory_id)
        if not known.flagged:
            return known
        if known.superseded_by is not None:
            raise Conflict(f"memory {memory_id} is superseded by {known.superseded_by}")
        cues = (await ctx.store.cues(reader, [memory_id])).get(memory_id, ())
        later = replace(with_flag(known, flagged=False), revision=known.revision + 1)
        try:
            write = write_of(later, known, cues)
            return await ctx.store.revise(reader.scope, write, expected_revision=known.revision, at=ctx.clock())
        except Conflict:
            if attempt == ATTEMPTS:
                raise
    raise AssertionError  # not reached: the last attempt returns or raises


async def pin(ctx: Context, reader: Reader, memory_id: UUID, *, pinned: bool) -> Memory:
    """Give a memory the preset's tag of pinned memories, or remove it. A memory that is as wanted stays unchanged.

    Raises NotFound, Unsupported if the preset has no pinned memories, and Conflict as `update` does.
    """
    tag = ctx.preset.pinned_tag
    if tag is None:
        raise Unsupported(f"preset {ctx.preset.name} has no pinned memories: its `pinned_tag` is not set")
    for attempt in range(1, ATTEMPTS + 1):
        known = await inspect.get(ctx, reader, memory_id)
        if (tag in known.tags) is pinned:
            return known
        others = [one for one in known.tags if one != tag]
        changes: Changes = {"tags": [*others, tag] if pinned else others}
        try:
            return await update(ctx, reader, memory_id, changes, expected_revision=known.revision)
        except Conflict:
            if known.superseded_by is not None or attempt == ATTEMPTS:
                raise
    raise AssertionError  # not reached: the last attempt returns or raises
