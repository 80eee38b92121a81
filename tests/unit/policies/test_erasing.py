"""Which rows are erased together, over a graph of memories and entries built in the test."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

import pytest

from remembrancer.domain.erasure import ErasureSelection, ErasureTrace, EventTrace, Traces
from remembrancer.domain.memory import Memory, Status
from remembrancer.policies.erasure.erasing import ErasurePlan, erasure_plan, not_looked_up, says, sentences
from remembrancer.policies.segmentation.episodes import SUMMARY_BY
from remembrancer.policies.segmentation.segmentation import EPISODE
from remembrancer.testing.doubles import NOW, a_memory, an_event


@dataclass
class Graph:
    """Memories and entries by their names, which are their texts too unless another is given."""

    traces: dict[UUID, ErasureTrace] = field(default_factory=dict[UUID, ErasureTrace])
    events: dict[UUID, EventTrace] = field(default_factory=dict[UUID, EventTrace])

    def said(self, text: str) -> UUID:
        """An entry, and the memory that is its own. Returns the memory's id."""
        event = an_event(text)
        self.events[event.id] = EventTrace(event)
        return self.memory(a_memory(text), events=[event.id], turns=[event.id])

    def memory(
        self, memory: Memory, *, sources: Iterable[UUID] = (), events: Iterable[UUID] = (), turns: Iterable[UUID] = ()
    ) -> UUID:
        sources, events = list(sources), list(events)
        self.traces[memory.id] = ErasureTrace(memory, tuple(events), frozenset(turns), frozenset(sources))
        for source in sources:
            known = self.traces[source]
            self.traces[source] = replace(known, derived=known.derived | {memory.id})
        for event in events:
            known_event = self.events[event]
            self.events[event] = replace(known_event, memories=known_event.memories | {memory.id})
        return memory.id

    def episode(self, text: str, *turns: UUID, **others: object) -> UUID:
        told = replace(a_memory(text), kind=EPISODE, metadata={SUMMARY_BY: "extractive"}, **others)  # pyright: ignore[reportArgumentType]
        return self.memory(told, sources=turns, events=[event for turn in turns for event in self.traces[turn].events])

    def plan(self, choice: ErasureSelection, *, empty: frozenset[UUID] = frozenset()) -> ErasurePlan:
        graph = Traces(self.traces, self.events)
        asked = Traces(
            {one: trace for one, trace in self.traces.items() if one in choice.ids},
            {one: trace for one, trace in self.events.items() if one in choice.events},
        )
        return erasure_plan(choice, asked, graph, empty=empty)

    def erased(self, *ids: UUID) -> ErasurePlan:
        return self.plan(ErasureSelection(ids=frozenset(ids)))

    def event(self, memory: UUID) -> UUID:
        return self.traces[memory].events[0]


PEANUTS: Final = "I am allergic to peanuts"


@pytest.fixture
def graph() -> Graph:
    return Graph()


def compacted(memory: Memory) -> Memory:
    return replace(memory, status=Status.COMPACTED, retired_at=NOW)


def test_a_turn_takes_its_entry_with_it(graph: Graph) -> None:
    turn = graph.said(PEANUTS)
    found = graph.erased(turn)
    assert (found.memories, found.events) == ({turn}, {graph.event(turn)})


def test_an_entry_takes_its_memory_with_it(graph: Graph) -> None:
    turn, other = graph.said(PEANUTS), graph.said("We deploy on Fridays")
    found = graph.plan(ErasureSelection(events=frozenset({graph.event(turn)})))
    assert (found.asked, found.memories, found.events) == (frozenset(), {turn}, {graph.event(turn)})
    assert other not in found.memories


def test_an_episode_that_loses_a_turn_is_rewritten(graph: Graph) -> None:
    turn, other = graph.said(PEANUTS), graph.said("We deploy on Fridays")
    episode = graph.episode("Peanuts and Fridays", turn, other)
    found = graph.erased(turn)
    assert (found.memories, found.rebuilt) == ({turn}, {episode})


def test_an_episode_of_which_nothing_is_left_goes(graph: Graph) -> None:
    turn = graph.said(PEANUTS)
    episode = graph.episode("Peanuts", turn)
    assert graph.erased(turn).memories == {turn, episode}


def test_an_episode_without_remaining_turns_is_erased(graph: Graph) -> None:
    turn, forgotten = graph.said(PEANUTS), graph.said("Never mind")
    episode = graph.episode("Peanuts", turn, forgotten)
    found = graph.plan(ErasureSelection(ids=frozenset({turn})), empty=frozenset({episode}))
    assert (found.memories, found.rebuilt) == ({turn, episode}, frozenset())


def test_an_episode_that_is_erased_itself_takes_all_its_turns(graph: Graph) -> None:
    turns = [graph.said(PEANUTS), graph.said("We deploy on Fridays")]
    episode = graph.episode("Peanuts and Fridays", *turns)
    found = graph.erased(episode)
    assert (found.memories, found.events) == ({episode, *turns}, {graph.event(turn) for turn in turns})


def test_an_episode_written_by_a_person_is_erased_with_its_turn(graph: Graph) -> None:
    turn, other = graph.said(PEANUTS), graph.said("We deploy on Fridays")
    told = graph.memory(
        replace(a_memory("What she eats"), kind=EPISODE), events=[graph.event(turn), graph.event(other)]
    )
    assert graph.erased(turn).memories == {turn, told}


def test_memories_derived_from_an_erased_one_are_erased_over_all_steps(graph: Graph) -> None:
    source, other = graph.memory(a_memory(PEANUTS)), graph.memory(a_memory("Tea is served at four"))
    fact = graph.memory(a_memory("She eats no nuts"), sources=[source, other])
    rule = graph.memory(a_memory("When she is there, no nuts"), sources=[fact])
    found = graph.erased(source)
    assert (found.asked, found.memories) == ({source}, {source, fact, rule})


def test_facts_of_a_rewritten_episode_are_erased(graph: Graph) -> None:
    turn, other = graph.said(PEANUTS), graph.said("We deploy on Fridays")
    episode = graph.episode("Peanuts and Fridays", turn, other, consolidated_at=NOW)
    fact = graph.memory(a_memory("Deploys are on Fridays"), sources=[episode])
    found = graph.erased(turn)
    assert (found.memories, found.rebuilt, found.requeued) == ({turn, fact}, {episode}, {episode})


def test_other_sources_of_a_possible_quotation_are_processed_again(graph: Graph) -> None:
    source = graph.memory(a_memory(PEANUTS))
    other = graph.memory(replace(a_memory("Tea is served at four"), consolidated_at=NOW))
    graph.memory(a_memory("She eats no nuts"), sources=[source, other])
    assert graph.erased(source).requeued == {other}


def test_an_erased_fact_is_not_extracted_again(graph: Graph) -> None:
    other = graph.memory(replace(a_memory("Tea is served at four"), consolidated_at=NOW))
    fact = graph.memory(a_memory(PEANUTS), sources=[other])
    found = graph.erased(fact)
    assert (found.memories, found.requeued, found.kept_sources) == ({fact}, frozenset(), {other})


def test_erasing_a_fact_erases_the_turn_that_states_it_and_no_other(graph: Graph) -> None:
    turn, other = graph.said("By the way, I am allergic to peanuts!"), graph.said("We deploy on Fridays")
    episode = graph.episode("Peanuts and Fridays", turn, other)
    events = [graph.event(turn), graph.event(other)]
    fact = graph.memory(a_memory("She is allergic to peanuts"), sources=[episode], events=events)
    found = graph.erased(fact)
    assert (found.memories, found.events, found.rebuilt) == ({fact, turn}, {graph.event(turn)}, {episode})


def test_a_note_that_states_an_erased_fact_is_erased_too(graph: Graph) -> None:
    note, other = graph.memory(a_memory("Peanuts: allergic.")), graph.memory(a_memory("Tea is served at four"))
    fact = graph.memory(a_memory("She is allergic to peanuts"), sources=[note, other])
    found = graph.erased(fact)
    assert (found.memories, found.kept_sources) == ({fact, note}, {other})


def test_memories_that_it_replaced_are_restored(graph: Graph) -> None:
    source, other = (graph.memory(compacted(a_memory(text))) for text in (PEANUTS, "Tea is served at four"))
    summary = graph.memory(a_memory("Food and drink"), sources=[source, other])
    found = graph.erased(source)
    assert (found.memories, found.restored) == ({source, summary}, {other})


def test_a_replaced_memory_with_the_same_text_is_not_restored(graph: Graph) -> None:
    source, twin = (graph.memory(compacted(a_memory(text))) for text in (PEANUTS, "Allergic to peanuts, I am"))
    kept = graph.memory(a_memory("I am allergic to all peanuts"), sources=[source, twin])
    found = graph.erased(source)
    assert (found.memories, found.restored) == ({source, twin, kept}, frozenset())


def test_a_summary_takes_the_memories_that_it_replaces(graph: Graph) -> None:
    sources = [graph.memory(compacted(a_memory(text))) for text in (PEANUTS, "Tea is served at four")]
    summary = graph.memory(a_memory("Food and drink"), sources=sources)
    found = graph.erased(summary)
    assert (found.memories, found.restored) == ({summary, *sources}, frozenset())


def test_a_summary_leaves_memories_that_another_one_replaces_too(graph: Graph) -> None:
    source = graph.memory(compacted(a_memory("Tea is served at four")))
    summary = graph.memory(a_memory("Food and drink"), sources=[source])
    graph.memory(a_memory("What is drunk"), sources=[source])
    found = graph.erased(summary)
    assert (found.memories, found.kept_sources) == ({summary}, {source})


def test_a_memory_that_another_one_replaces_too_is_not_restored(graph: Graph) -> None:
    source, other = (graph.memory(compacted(a_memory(text))) for text in (PEANUTS, "Tea is served at four"))
    graph.memory(a_memory("Food and drink"), sources=[source, other])
    graph.memory(a_memory("What is drunk"), sources=[other])
    assert graph.erased(source).restored == frozenset()


def test_a_scope_takes_nothing_of_others_for_its_words(graph: Graph) -> None:
    mine = graph.memory(compacted(a_memory(PEANUTS)))
    theirs = graph.memory(compacted(a_memory("They are allergic to peanuts too")))
    summary = graph.memory(a_memory("Peanuts"), sources=[mine, theirs])
    asked = Traces({mine: graph.traces[mine]})
    found = erasure_plan(ErasureSelection(agent="ana"), asked, Traces(graph.traces, graph.events))
    assert (found.memories, found.restored) == ({mine, summary}, {theirs})


def test_rows_that_were_not_read_are_named(graph: Graph) -> None:
    turn, other = graph.said(PEANUTS), graph.said("We deploy on Fridays")
    episode = graph.episode("Peanuts and Fridays", turn, other)
    known = Traces({turn: graph.traces[turn]})
    found = erasure_plan(ErasureSelection(ids=frozenset({turn})), known, known)
    assert not_looked_up(found, known) == (frozenset({episode}), frozenset({graph.event(turn)}))


def test_nothing_is_named_when_all_was_looked_up(graph: Graph) -> None:
    turn, other = graph.said(PEANUTS), graph.said("We deploy on Fridays")
    graph.episode("Peanuts and Fridays", turn, other)
    assert not_looked_up(graph.erased(turn), Traces(graph.traces, graph.events)) == (frozenset(), frozenset())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I am allergic to peanuts.", True),
        ("PEANUTS! Allergic!", True),
        ("I like peanuts", False),
        ("", False),
    ],
)
def test_a_text_states_a_sentence_if_it_has_most_of_its_words(text: str, said: bool) -> None:
    assert says(text, sentences([PEANUTS])) is said


def test_a_sentence_of_one_word_is_stated_by_that_word() -> None:
    assert says("so many peanuts", sentences(["Peanuts."]))


def test_a_sentence_without_a_word_is_stated_by_no_text() -> None:
    assert not says("???", sentences(["?! the"]))
