"""The graph: who takes part in which conversation, what is mentioned, and how memories are related.

It is derived when it is read, from the events, memories and relations in the store (docs/decisions/0035). Relations
are stored; everything else follows from the newest events, so nothing has to be kept up to date.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from remembrancer.domain.event import SPEAKERS, Event, speaker_of
from remembrancer.domain.memory import Memory
from remembrancer.domain.query import Filter
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Reader, Scope
from remembrancer.engine.context import Context
from remembrancer.engine.conversations import TitledConversation, episodes, of_event, titled
from remembrancer.engine.inspect import get
from remembrancer.language.lexical import every_word
from remembrancer.language.names import names_in
from remembrancer.policies.admission.formation import memory_id_of
from remembrancer.policies.segmentation.segmentation import EPISODE
from remembrancer.ports.journal import EventFilter
from remembrancer.values import dataclass

HUBS: Final = 8
"""The number of most connected memories from which the overview starts."""
STEPS: Final = 2
"""The greatest number of relations between a memory and the start."""
WINDOW: Final = 300
"""The newest turns from which an overview, or the neighbourhood of a speaker, name or conversation, is derived."""
READ_CHARS: Final = 400
"""The characters of each turn in which names are looked for; of a memory in the middle: NOTE_CHARS."""
NOTE_CHARS: Final = 4_000
NOTES: Final = 60
"""The newest memories among which those that are no turns are looked for."""


class NodeKind(StrEnum):
    """The kinds of nodes. A NAME is mentioned in texts: that of a person who does not speak, of a place or a thing, or
    an identifier.
    """

    SPEAKER = "speaker"
    NAME = "name"
    CONVERSATION = "conversation"
    EPISODE = "episode"
    MEMORY = "memory"


class LinkKind(StrEnum):
    """The kinds of links between nodes; the last five are the stored relations."""

    SAID_BY = "said_by"
    TAKES_PART_IN = "takes_part_in"
    PART_OF = "part_of"
    MENTIONS = "mentions"
    SIMILAR = RelationKind.SIMILAR.value
    SUPPORTS = RelationKind.SUPPORTS.value
    CONTRADICTS = RelationKind.CONTRADICTS.value
    DERIVED_FROM = RelationKind.DERIVED_FROM.value
    SUPERSEDES = RelationKind.SUPERSEDES.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node. `key`: what `graph` takes to put it in the middle: the speaker, the name, the id of the conversation's
    first event, or the memory's id. `memory`: of an episode or memory.
    """

    kind: NodeKind
    key: str
    label: str
    memory: Memory | None = None

    @property
    def id(self) -> str:
        return f"{self.kind} {self.key}"


@dataclass(frozen=True, slots=True)
class Link:
    """A link between two nodes, by their ids. `turns`: the number of turns that it stands for, at least 1; 1 for a
    relation. `weight`: that of a relation, in [0, 1]; 1 for other links.
    """

    source: str
    target: str
    kind: LinkKind
    turns: int = 1
    weight: float = 1.0

    @property
    def is_relation(self) -> bool:
        """Whether the link is a stored relation of two memories."""
        return self.kind.value in set(RelationKind)


@dataclass(frozen=True, slots=True)
class SpeakerActivity:
    """The activity of a speaker. `turns`: the number of turns; `first_at`, `last_at`: when the first and the last of
    them happened.
    """

    turns: int
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Nodes and the links among them. `nodes`: at most as many as asked for. `focus`: the node in the middle, which is
    the first one; None: an overview. `links`: in the order of their sources among the nodes. `left_out`: for each kind,
    the number of nodes that were found, but had no room. `turns`: the number of turns that were read; at WINDOW turns,
    there may be older ones. `activity`: of a speaker in the middle with any turn.
    """

    focus: Node | None
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    left_out: Mapping[NodeKind, int]
    turns: int
    activity: SpeakerActivity | None = None


class _Drawing:
    """Collects nodes, up to a limit, and links. A link counts if both of its ends are nodes in the end."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._nodes: dict[str, Node] = {}
        self._links: dict[tuple[str, str, LinkKind], Link] = {}
        self._beyond: dict[str, Node] = {}
        self._uncounted = Counter[NodeKind]()

    def room(self, share: float) -> int:
        """This share of the limit, as a number of nodes, at least one."""
        return max(1, round(self._limit * share))

    def add(self, nodes: Iterable[Node], room: int) -> None:
        """Add up to `room` nodes that are not there yet. The others are counted as left out."""
        for node in nodes:
            if node.id in self._nodes:
                continue
            if room and len(self._nodes) < self._limit:
                self._nodes[node.id] = node
                room -= 1
            else:
                self._beyond[node.id] = node

    def leave_out(self, kind: NodeKind, count: int) -> None:
        """Count nodes as left out that were not even made."""
        self._uncounted[kind] += count

    def link(self, source: Node, target: Node, kind: LinkKind, *, turns: int = 1, weight: float = 1.0) -> None:
        """Add a link, or these turns to a link that is known."""
        ends = source.id, target.id, kind
        known = self._links[ends].turns if ends in self._links else 0
        if source.id != target.id:
            self._links[ends] = Link(*ends, known + turns, weight)

    def has_link(self, source: Node, target: Node, kind: LinkKind) -> bool:
        return (source.id, target.id, kind) in self._links

    def memories(self) -> dict[UUID, Node]:
        return {node.memory.id: node for node in self._nodes.values() if node.memory is not None}

    def drawn(self, focus: Node | None, turns: int) -> Graph:
        links = [one for one in self._links.values() if {one.source, one.target} <= self._nodes.keys()]
        order = {identifier: place for place, identifier in enumerate(self._nodes)}
        links.sort(key=lambda one: (order[one.source], one.kind, -one.turns, -one.weight, order[one.target]))
        beyond = Counter(node.kind for node in self._beyond.values() if node.id not in self._nodes)
        return Graph(
            focus=focus,
            nodes=tuple(self._nodes.values()),
            links=tuple(links),
            left_out={kind: count for kind, count in (beyond + self._uncounted).items() if count},
            turns=turns,
        )


class _Turns:
    """Turns, newest first, with the names that each mentions; those of `notes` are in `noted`."""

    def __init__(self, events: Sequence[Event], notes: Sequence[Memory]) -> None:
        self.events = events
        read = names_in([*(one.text[:READ_CHARS] for one in events), *(one.text[:NOTE_CHARS] for one in notes)])
        self.names, self.noted = read[: len(events)], read[len(events) :]
        self.speakers = Counter(speaker_of(event) for event in events if event.role in SPEAKERS)
        self.streams = Counter(event.scope for event in events)
        self._known = set(self.speakers)

    def know(self, speakers: Iterable[str]) -> None:
        """Take these names for speakers too, if turns mention them."""
        self._known.update(speakers)

    def mentioned(self, name: str) -> Node:
        """The node of a name: the speaker with that full name, or that first name if no other has it."""
        if name in self._known:
            return spoken(name)
        whole = [speaker for speaker in self._known if speaker.split()[:1] == [name]]
        return spoken(whole[0]) if len(whole) == 1 else named(name)

    def mentions(self, streams: Collection[Scope] | None = None) -> list[Node]:
        """The names and speakers that are mentioned, those in most turns first, then those in the newest. `streams`: in
        turns of these conversations only.
        """
        read = zip(self.events, self.names, strict=True)
        found = [names for event, names in read if streams is None or event.scope in streams]
        counts = Counter(name for names in (*found, *self.noted) for name in names)
        return [self.mentioned(name) for name, _ in counts.most_common()]


def spoken(speaker: str) -> Node:
    return Node(kind=NodeKind.SPEAKER, key=speaker, label=speaker)


def named(name: str) -> Node:
    return Node(kind=NodeKind.NAME, key=name, label=name)


def remembered(memory: Memory) -> Node:
    kind = NodeKind.EPISODE if memory.kind == EPISODE else NodeKind.MEMORY
    return Node(kind=kind, key=str(memory.id), label=memory.title or memory.text[:NOTE_CHARS], memory=memory)


def held(conversation: TitledConversation) -> Node:
    return Node(kind=NodeKind.CONVERSATION, key=str(conversation.summary.first.id), label=conversation.name)


async def graph(
    ctx: Context,
    reader: Reader,
    *,
    limit: int,
    memory: UUID | None = None,
    speaker: str | None = None,
    name: str | None = None,
    conversation: UUID | None = None,
) -> Graph:
    """The neighbourhood of a memory, a speaker, a name, or the conversation of an event; of none of them, an overview.

    At most `limit` nodes. Raises NotFound for a memory or an event that the reader may not see.
    """
    if memory is not None:
        return await _of_memory(ctx, reader, await get(ctx, reader, memory), limit)
    if conversation is not None:
        return await _of_conversation(ctx, reader, conversation, limit)
    if speaker is not None:
        return await _of_speaker(ctx, reader, speaker, limit)
    if name is not None:
        return await _of_name(ctx, reader, name, limit)
    return await _overview(ctx, reader, limit)


async def _overview(ctx: Context, reader: Reader, limit: int) -> Graph:
    """The conversations, speakers and names of the newest turns, the most connected memories, and the newest notes."""
    drawing, events = _Drawing(limit), await _newest(ctx, reader, _SPOKEN)
    notes = await _notes(ctx, reader, events)
    turns = await _read(events, notes)
    conversations = _by_stream(await _conversations(ctx, reader, turns, drawing, drawing.room(0.25)))
    drawing.add(map(spoken, turns.speakers), drawing.room(0.2))
    hubs = await ctx.store.hubs(reader, Filter(current_at=ctx.clock()), limit=HUBS)
    connected = await ctx.store.get(reader, list(hubs))
    drawing.add((remembered(connected[one]) for one in hubs if one in connected), drawing.room(0.15))
    drawing.add(map(remembered, notes), drawing.room(0.15))
    await _related(ctx, reader, drawing, drawing.room(0.15))
    drawing.add(turns.mentions(conversations), drawing.room(0.3))
    _take_part(drawing, turns, conversations)
    for event, names in zip(turns.events, turns.names, strict=True):
        for one in names if event.scope in conversations else ():
            drawing.link(conversations[event.scope], turns.mentioned(one), LinkKind.MENTIONS)
    _mention(drawing, turns, notes)
    return drawing.drawn(None, len(turns.events))


async def _of_speaker(ctx: Context, reader: Reader, speaker: str, limit: int) -> Graph:
    """The newest conversations of a speaker, who else takes part in them, and what the speaker mentions and said."""
    drawing, focus = _Drawing(limit), spoken(speaker)
    drawing.add([focus], 1)
    turns = await _read(await _newest(ctx, reader, EventFilter(speaker=speaker)), ())
    others = Counter[str]()
    for one in await _conversations(ctx, reader, turns, drawing, drawing.room(0.3)):
        others.update(one.summary.speakers)
        for other, count in one.summary.speakers.items():
            drawing.link(spoken(other), held(one), LinkKind.TAKES_PART_IN, turns=count)
    drawing.add((spoken(other) for other, _ in others.most_common()), drawing.room(0.2))
    await _said(ctx, reader, drawing, turns, drawing.room(0.2))
    drawing.add(turns.mentions(), limit)
    for names in turns.names:
        for one in names:
            drawing.link(focus, turns.mentioned(one), LinkKind.MENTIONS)
    drawn = drawing.drawn(focus, len(turns.events))
    if not turns.events:
        return drawn
    count = await ctx.store.count_events(reader, EventFilter(speaker=speaker))
    [first] = await ctx.store.events(reader, EventFilter(speaker=speaker), limit=1, oldest_first=True)
    return replace(drawn, activity=SpeakerActivity(count, first.occurred_at, turns.events[0].occurred_at))


async def _of_name(ctx: Context, reader: Reader, name: str, limit: int) -> Graph:
    """The newest conversations and memories that mention a name, who mentions it, and what is mentioned beside it."""
    drawing, focus = _Drawing(limit), named(name)
    drawing.add([focus], 1)
    words = every_word(name)
    found = await _newest(ctx, reader, EventFilter(roles=_SPOKEN.roles, words=words)) if words else ()
    sought = name.casefold()
    notes = [one for one in await _notes(ctx, reader, found) if sought in f"{one.title or ''} {one.text}".casefold()]
    turns = await _read([one for one in found if sought in one.text.casefold()], notes)
    conversations = _by_stream(await _conversations(ctx, reader, turns, drawing, drawing.room(0.25)))
    drawing.add(map(spoken, turns.speakers), drawing.room(0.2))
    drawing.add(map(remembered, notes), drawing.room(0.15))
    await _said(ctx, reader, drawing, turns, drawing.room(0.2))
    drawing.add(turns.mentions(), limit)
    for event in turns.events:
        drawing.link(spoken(speaker_of(event)), focus, LinkKind.MENTIONS)
        if event.scope in conversations:
            drawing.link(conversations[event.scope], focus, LinkKind.MENTIONS)
    _take_part(drawing, turns, conversations)
    _mention(drawing, turns, notes)
    for node in drawing.memories().values():
        if not drawing.has_link(node, focus, LinkKind.MENTIONS):  # in small letters, it is no name by itself
            drawing.link(node, focus, LinkKind.MENTIONS)
    return drawing.drawn(focus, len(turns.events))


async def _of_conversation(ctx: Context, reader: Reader, event_id: UUID, limit: int) -> Graph:
    """Who takes part in a conversation, what they mention, and its episodes, or before there are any, its turns."""
    told = await of_event(ctx, reader, event_id)
    drawing, focus, stream = _Drawing(limit), held(told), told.summary.stream
    drawing.add([focus], 1)
    events = await ctx.store.stream_events(stream, after=max(told.summary.last.seq - WINDOW, 0), limit=WINDOW)
    turns = await _read(events[::-1], ())
    turns.know(told.summary.speakers)
    drawing.add(map(spoken, told.summary.speakers), drawing.room(0.3))
    parts = await episodes(ctx, reader, stream, limit=WINDOW)
    drawing.add(map(remembered, parts), drawing.room(0.3))
    if not parts:
        await _said(ctx, reader, drawing, turns, drawing.room(0.3))
    drawing.add(turns.mentions(), limit)
    for node in drawing.memories().values():
        drawing.link(node, focus, LinkKind.PART_OF)
    _take_part(drawing, turns, {stream: focus})
    for event, names in zip(turns.events, turns.names, strict=True):
        for one in names:
            drawing.link(spoken(speaker_of(event)), turns.mentioned(one), LinkKind.MENTIONS)
    return drawing.drawn(focus, len(turns.events))


async def _of_memory(ctx: Context, reader: Reader, memory: Memory, limit: int) -> Graph:
    """The sources of a memory, who said it and where, what it mentions, and what is related to it."""
    drawing, focus = _Drawing(limit), remembered(memory)
    drawing.add([focus], 1)
    await _related(ctx, reader, drawing, drawing.room(0.5))
    sources = await ctx.store.provenance(reader, memory.id)
    turns = await _read(sources[:WINDOW][::-1], [memory])
    conversations = _by_stream(await _conversations(ctx, reader, turns, drawing, drawing.room(0.1)))
    for scope, node in conversations.items():
        drawing.link(focus, node, LinkKind.PART_OF)
        if focus.kind is NodeKind.MEMORY:
            around = [one for one in await episodes(ctx, reader, scope, limit=WINDOW) if _covers(one, memory)]
            drawing.add(map(remembered, around), drawing.room(0.1))
            for one in around:
                drawing.link(focus, remembered(one), LinkKind.PART_OF)
    if focus.kind is NodeKind.MEMORY:
        drawing.add(map(spoken, map(speaker_of, sources)), drawing.room(0.1))
        for event in sources:
            drawing.link(focus, spoken(speaker_of(event)), LinkKind.SAID_BY)
    else:
        drawing.add(map(spoken, turns.speakers), drawing.room(0.2))
        _take_part(drawing, turns, dict.fromkeys(conversations, focus))
        for one in await _said(ctx, reader, drawing, turns, drawing.room(0.25)):
            drawing.link(one, focus, LinkKind.PART_OF)
    drawing.add(turns.mentions(), limit)
    for names in (*turns.names, *turns.noted):
        for one in names:
            drawing.link(focus, turns.mentioned(one), LinkKind.MENTIONS)
    return drawing.drawn(focus, len(turns.events))


_SPOKEN: Final = EventFilter(roles=frozenset(SPEAKERS))


async def _newest(ctx: Context, reader: Reader, where: EventFilter) -> tuple[Event, ...]:
    return await ctx.store.events(reader, where, limit=WINDOW)


async def _read(events: Sequence[Event], notes: Sequence[Memory]) -> _Turns:
    return await asyncio.to_thread(_Turns, events, notes)


async def _notes(ctx: Context, reader: Reader, turns: Sequence[Event]) -> list[Memory]:
    """The newest memories that are neither turns nor episodes. `turns`: newest first; if there are WINDOW, only
    memories as new as the last of them are looked at.
    """
    kinds = frozenset({EPISODE, *(event.type for event in turns)})
    since = turns[-1].occurred_at if len(turns) == WINDOW else None
    where = Filter(current_at=ctx.clock(), without_kinds=kinds, since=since)
    found = await ctx.store.memories(reader, where, limit=NOTES)
    return [memory for memory in found if memory.role is None]


async def _conversations(
    ctx: Context, reader: Reader, turns: _Turns, drawing: _Drawing, room: int
) -> list[TitledConversation]:
    """Add the conversations of the turns, as many as there is room for."""
    known: list[TitledConversation] = []
    for scope in list(turns.streams)[:room]:
        for summary in await ctx.store.conversations(reader, limit=1, stream=scope):
            known.append(await titled(ctx, reader, summary))
            turns.know(summary.speakers)
    drawing.add(map(held, known), room)
    drawing.leave_out(NodeKind.CONVERSATION, len(turns.streams) - len(known))
    return known


def _by_stream(conversations: Iterable[TitledConversation]) -> dict[Scope, Node]:
    return {one.summary.stream: held(one) for one in conversations}


async def _said(ctx: Context, reader: Reader, drawing: _Drawing, turns: _Turns, room: int) -> list[Node]:
    """Add the memories of the newest turns, as many as there is room for, with their speakers and what they mention.
    Returns them.
    """
    read = list(zip(turns.events, turns.names, strict=True))[:room]
    formed = await ctx.store.get(reader, [memory_id_of(event.id) for event, _ in read])
    nodes: list[Node] = []
    for event, names in read:
        if (memory := formed.get(memory_id_of(event.id))) is not None:
            nodes.append(remembered(memory))
            drawing.link(nodes[-1], spoken(speaker_of(event)), LinkKind.SAID_BY)
            for one in names:
                drawing.link(nodes[-1], turns.mentioned(one), LinkKind.MENTIONS)
    drawing.add(nodes, room)
    drawing.leave_out(NodeKind.MEMORY, len(turns.events) - len(read))
    return nodes


def _take_part(drawing: _Drawing, turns: _Turns, conversations: Mapping[Scope, Node]) -> None:
    for event in turns.events:
        if event.scope in conversations:
            drawing.link(spoken(speaker_of(event)), conversations[event.scope], LinkKind.TAKES_PART_IN)


def _mention(drawing: _Drawing, turns: _Turns, notes: Sequence[Memory]) -> None:
    for note, names in zip(notes, turns.noted, strict=True):
        for one in names:
            drawing.link(remembered(note), turns.mentioned(one), LinkKind.MENTIONS)


async def _related(ctx: Context, reader: Reader, drawing: _Drawing, room: int) -> None:
    """Add the memories within STEPS relations of those that are drawn, those of the heaviest relations first."""
    newest = list(drawing.memories())
    for _ in range(STEPS):
        near = await ctx.store.relations(reader, newest) if newest else ()
        beyond = _ends_beyond(near, drawing.memories())
        found = await ctx.store.get(reader, beyond)
        drawing.add((remembered(found[one]) for one in beyond if one in found), room)
        newest = [one for one in beyond if one in drawing.memories()]
        room -= len(newest)
    drawn = drawing.memories()
    for edge in await ctx.store.relations(reader, list(drawn)) if drawn else ():
        if edge.source in drawn and edge.target in drawn:
            drawing.link(drawn[edge.source], drawn[edge.target], LinkKind(edge.kind.value), weight=edge.weight)


def _covers(episode: Memory, memory: Memory) -> bool:
    return episode.occurred_from <= memory.occurred_to and memory.occurred_from <= episode.occurred_to


def _ends_beyond(near: Sequence[Relation], known: Collection[UUID]) -> list[UUID]:
    """The ends of relations that are not known yet: greatest weight first, ties by id."""
    weights: dict[UUID, float] = {}
    for edge in near:
        for end in (edge.source, edge.target):
            weights[end] = max(weights.get(end, 0.0), edge.weight)
    return sorted(weights.keys() - set(known), key=lambda end: (-weights[end], end))
