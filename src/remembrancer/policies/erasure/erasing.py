"""Deciding what an erasure removes: the selected rows, what depends on them, and parts of episodes.

The decision uses the connections that a store has looked up; `not_looked_up` names the rows to look up next.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final
from uuid import UUID

from remembrancer.domain.erasure import ErasureSelection, ErasureTrace, Traces
from remembrancer.domain.memory import Memory, Status
from remembrancer.language.lexical import analyse
from remembrancer.policies.segmentation.episodes import SUMMARY_BY
from remembrancer.policies.segmentation.segmentation import EPISODE
from remembrancer.values import dataclass

SAYS_FROM: Final = 0.6
"""A text repeats a sentence if it has at least this share of the sentence's distinct terms."""
LEAST_SHARED: Final = 2
"""The least number of shared words, if the sentence has as many."""

_SENTENCE: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？।؟])\s*|\n+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasurePlan:
    """The rows that an erasure removes and changes.

    `memories` and `events` are removed; `asked` are the memories that were selected. `rebuilt`: episodes summarised
    again from their remaining events. `restored` and `requeued`: as in `domain.erasure.Removal`. `kept_sources`:
    sources of selected memories that stay, because their text differs.
    """

    asked: frozenset[UUID]
    memories: frozenset[UUID]
    events: frozenset[UUID]
    rebuilt: frozenset[UUID]
    restored: frozenset[UUID]
    requeued: frozenset[UUID]
    kept_sources: frozenset[UUID]


def sentences(texts: Iterable[str]) -> tuple[frozenset[str], ...]:
    """The distinct terms of each sentence of the texts; sentences without terms are left out."""
    found = (frozenset(analyse(one).terms) for text in texts for one in _SENTENCE.split(text))
    return tuple(dict.fromkeys(terms for terms in found if terms))


def says(text: str, wanted: Collection[frozenset[str]]) -> bool:
    """Whether a text repeats one of the sentences, each given by its terms.

    >>> says("My cat is allergic to milk", sentences(["The cat is allergic to milk."]))
    True
    >>> says("My cat drinks water", sentences(["The cat is allergic to milk."]))
    False
    """
    held = frozenset(analyse(text).terms)
    return any(len(held & terms) >= max(min(LEAST_SHARED, len(terms)), SAYS_FROM * len(terms)) for terms in wanted)


def erasure_plan(
    choice: ErasureSelection, asked: Traces, graph: Traces, *, empty: frozenset[UUID] = frozenset()
) -> ErasurePlan:
    """The rows to remove. `asked`: the selected rows; `graph`: everything looked up so far, including `asked`; `empty`:
    episodes whose remaining events have no text.

    With a memory selected by id, the events it was formed from, its sources with the same content and the memories it
    replaced are removed. Everything derived from a removed row is removed too, because it may quote it; but an episode
    is summarised again from its other turns. A memory that was replaced by a removed one returns to recall, unless it
    repeats the selected text.
    """
    return _Closure(choice, asked, graph, empty).whole()


def not_looked_up(found: ErasurePlan, graph: Traces) -> tuple[frozenset[UUID], frozenset[UUID]]:
    """The memories and events that must be looked up before `found` is complete."""
    reached = [graph.memories[one] for one in found.memories | found.rebuilt if one in graph.memories]
    memories = {other for trace in reached for other in trace.derived | trace.sources}
    memories |= {other for one in found.events if one in graph.events for other in graph.events[one].memories}
    memories |= found.memories | found.rebuilt
    events = {event for trace in reached for event in trace.events} | found.events
    return frozenset(memories - graph.memories.keys()), frozenset(events - graph.events.keys())


def own_memories(found: ErasurePlan, graph: Traces) -> tuple[frozenset[UUID], frozenset[UUID]]:
    """The memories that an erasure would remove or form again, in two parts: those that say nothing but what the
    selected rows say, and the others.

    A memory says nothing else if it was selected, or if everything that it was formed and derived from does not.
    """
    own = set(found.asked)
    others = (found.memories | found.rebuilt) - found.asked
    while True:
        traces = [graph.memories[one] for one in others - own]
        more = {
            one.memory.id for one in traces if found.events.issuperset(one.events) and one.sources <= own and _made(one)
        }
        if not more:
            return frozenset(own), frozenset(others - own)
        own |= more


def _made(trace: ErasureTrace) -> bool:
    """Whether it is known what the memory was made of."""
    return bool(trace.events or trace.sources)


def is_retellable(memory: Memory) -> bool:
    """Whether the memory is an episode formed from a stream. Only such episodes can be summarised again."""
    return memory.kind == EPISODE and SUMMARY_BY in memory.metadata


class _Closure:
    """Adds dependent rows until nothing more depends on the removed ones."""

    def __init__(self, choice: ErasureSelection, asked: Traces, graph: Traces, empty: frozenset[UUID]) -> None:
        self._graph = graph
        self._by_id = bool(choice.ids)
        self._asked = frozenset(asked.memories)
        self._empty = empty
        self._memories = set(asked.memories)
        self._events = set(asked.events)
        self._rebuilt: set[UUID] = set()
        self._named = set(choice.ids & asked.memories.keys())
        """Memories selected by id and their removed sources: all events they were formed from are removed."""
        self._said = sentences(trace.memory.text for trace in asked.memories.values()) if self._by_id else ()
        self._heard: dict[UUID, bool] = {}
        """A cache: whether each row repeats the selected text."""

    def whole(self) -> ErasurePlan:
        while self._down() or self._up() or self._back():
            pass
        restored = self._out_of_recall()
        return ErasurePlan(
            asked=self._asked,
            memories=frozenset(self._memories),
            events=frozenset(self._events),
            rebuilt=frozenset(self._rebuilt),
            restored=frozenset(restored),
            requeued=frozenset(self._requeued()),
            kept_sources=frozenset(self._kept_sources()),
        )

    def _down(self) -> bool:
        """Add the events and sources of selected memories. Returns whether anything was added."""
        before = len(self._memories), len(self._events)
        for trace in self._traces(self._named):
            whole = _made_of(trace)
            for event in trace.events:
                if event in whole or (event not in self._events and self._tells(event)):
                    self._events.add(event)
            for source in self._traces(trace.sources):
                # Of an episode, only the events that repeat the selected text are removed.
                says_it = not is_retellable(source.memory) and self._says(source.memory)
                if says_it or self._stands_in(source):
                    self._named.add(source.memory.id)
        self._memories |= self._named
        return before != (len(self._memories), len(self._events))

    def _up(self) -> bool:
        """Add the rows formed from removed rows. Returns whether anything was added."""
        before = len(self._memories), len(self._rebuilt)
        formed = {one for event in self._events if event in self._graph.events for one in self._formed(event)}
        for trace in self._traces(self._memories | self._rebuilt):
            formed |= trace.derived
        for identifier in formed - self._memories:
            trace = self._graph.memories.get(identifier)
            # `not_looked_up` names the missing rows; nothing is removed before all are looked up.
            if trace is not None and self._can_be_told_anew(trace):
                self._rebuilt.add(identifier)
            else:
                self._memories.add(identifier)
        self._rebuilt = {one for one in self._rebuilt - self._memories if self._is_left(one)}
        return before != (len(self._memories), len(self._rebuilt))

    def _back(self) -> bool:
        """Remove memories that would return to recall but repeat the selected text. Returns whether there were any."""
        if not self._by_id:
            return False
        same = {one for one in self._out_of_recall() if self._says(self._graph.memories[one].memory)}
        self._named |= same
        return bool(same - self._memories)

    def _out_of_recall(self) -> set[UUID]:
        """The memories that were replaced only by removed memories."""
        back: set[UUID] = set()
        for trace in self._traces(self._memories):
            for source in self._traces(trace.sources - self._memories):
                if self._stands_in(source):
                    back.add(source.memory.id)
        return back

    def _stands_in(self, source: ErasureTrace) -> bool:
        """Whether everything that replaced this memory is removed."""
        return source.memory.status is Status.COMPACTED and source.derived <= self._memories

    def _requeued(self) -> set[UUID]:
        """Memories from which facts must be drawn again: their facts were removed, or they were summarised again."""
        went = self._traces(self._memories - self._named)
        named = {source for trace in self._traces(self._named) for source in trace.sources}
        sources = {source for trace in went for source in trace.sources} - named
        return {
            trace.memory.id
            for trace in self._traces((sources | self._rebuilt) - self._memories)
            if trace.memory.consolidated_at is not None
        }

    def _kept_sources(self) -> set[UUID]:
        sources = {source for trace in self._traces(self._named) for source in trace.sources}
        return {trace.memory.id for trace in self._traces(sources - self._memories - self._rebuilt)}

    def _can_be_told_anew(self, trace: ErasureTrace) -> bool:
        return is_retellable(trace.memory) and self._is_left(trace.memory.id)

    def _is_left(self, identifier: UUID) -> bool:
        return identifier not in self._empty and not self._events.issuperset(self._graph.memories[identifier].events)

    def _formed(self, event: UUID) -> frozenset[UUID]:
        return self._graph.events[event].memories

    def _tells(self, event: UUID) -> bool:
        if event not in self._graph.events:
            return False
        if event not in self._heard:
            self._heard[event] = says(self._graph.events[event].event.text, self._said)
        return self._heard[event]

    def _says(self, memory: Memory) -> bool:
        if memory.id not in self._heard:
            told = [memory.text] if memory.title is None else [memory.title, memory.text]
            self._heard[memory.id] = any(says(text, self._said) for text in told)
        return self._heard[memory.id]

    def _traces(self, ids: Iterable[UUID]) -> list[ErasureTrace]:
        return [self._graph.memories[one] for one in ids if one in self._graph.memories]


def _made_of(trace: ErasureTrace) -> frozenset[UUID]:
    """The events of a memory: its one turn, the turns that are its cues, or those of an episode."""
    if len(trace.events) == 1 or trace.memory.kind == EPISODE:
        return frozenset(trace.events)
    return trace.turns
