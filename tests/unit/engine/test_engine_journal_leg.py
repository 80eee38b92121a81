"""Lexical search over the journal: entries that formed no memory are found by their text and payload."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta

import pytest

from remembrancer import NotFound, Recall, Remembrancer, Settings
from remembrancer.presets.catalogue import PRESETS
from remembrancer.testing.doubles import FixedClock, HashEmbedder

DAY = timedelta(days=1)
OUTPUT = "ran a command"
SAID = {"stderr": "OOMKilled in checkout-7"}


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


Opener = Callable[..., Remembrancer]


@pytest.fixture
def open_memory(clock: FixedClock) -> Iterator[Opener]:
    with ExitStack() as stack:

        def opened(**arguments: object) -> Remembrancer:
            given = {"preset": "crewship", "embedder": "none", "clock": clock} | arguments
            quiet = Settings(db=":memory:", workspace="acme", crew="platform", agent="ana", background_index=False)
            return stack.enter_context(Remembrancer.open(settings=quiet, **given))  # type: ignore[arg-type]

        yield opened


@pytest.fixture
def rem(open_memory: Opener) -> Remembrancer:
    return open_memory()


def hybrid(rem: Remembrancer, text: str, **arguments: object) -> Recall:
    return rem.recall(text, ranking="hybrid", **arguments)  # type: ignore[arg-type]


def texts(found: Recall) -> list[str]:
    return [hit.memory.text for hit in found]


@pytest.mark.parametrize("type_", ["exec.command", "exec.output_chunk", "network.egress"])
def test_an_entry_that_was_never_admitted_is_found_by_a_word_of_its_payload(rem: Remembrancer, type_: str) -> None:
    rem.observe(OUTPUT, type=type_, payload=SAID)
    assert texts(hybrid(rem, "OOMKilled")) == [OUTPUT]


def test_a_memory_is_found_by_a_word_of_its_entry_s_payload(rem: Remembrancer) -> None:
    rem.observe("the deploy was denied", type="approval.denied", payload={"policy": "quarterly-freeze"})
    (hit,) = hybrid(rem, "freeze")
    assert (hit.memory.text, hit.journal_only) == ("the deploy was denied", False)
    assert rem.show(hit.id).memory.kind == "approval.denied"


def test_a_hit_of_the_journal_names_its_entry(rem: Remembrancer) -> None:
    event = rem.observe(OUTPUT, type="exec.command", payload=SAID)
    (hit,) = hybrid(rem, "OOMKilled")
    assert (hit.journal_only, hit.cue.event_id, hit.memory.kind) == (True, event.id, "exec.command")
    with pytest.raises(NotFound):
        rem.show(hit.id)


def test_it_is_shown_without_being_counted(rem: Remembrancer) -> None:
    rem.observe(OUTPUT, type="exec.command", payload=SAID)
    denied = rem.remember("OOMKilled before")
    found = hybrid(rem, "OOMKilled")
    rem.mark(found.block().hits, "shown")
    assert OUTPUT in found.render()
    assert rem.show(denied.id).memory.strength.usage.shown == 1


def test_other_rankings_find_memories_only(rem: Remembrancer) -> None:
    rem.observe(OUTPUT, type="exec.command", payload=SAID)
    assert texts(rem.recall("OOMKilled")) == []


def test_a_preset_without_the_setting_finds_memories_only(open_memory: Opener) -> None:
    crewship = PRESETS["crewship"]
    memories_only = {"hybrid": replace(crewship.rankings["hybrid"], journal=False)}
    rem = open_memory(preset=replace(crewship, name="memories-only", rankings=memories_only))
    rem.observe(OUTPUT, type="exec.command", payload=SAID)
    assert texts(hybrid(rem, "OOMKilled")) == []


def test_more_of_the_question_comes_first_then_the_newer(rem: Remembrancer, clock: FixedClock) -> None:
    for text in ("OOMKilled once", "OOMKilled in checkout", "OOMKilled again"):
        clock.advance(DAY)
        rem.observe(text, type="exec.command")
    clock.advance(DAY)
    rem.remember("checkout is a service")
    assert texts(hybrid(rem, "OOMKilled checkout"))[0] == "OOMKilled in checkout"
    assert texts(hybrid(rem, "OOMKilled")) == ["OOMKilled again", "OOMKilled in checkout", "OOMKilled once"]


def test_notes_and_entries_are_in_one_order(rem: Remembrancer, clock: FixedClock) -> None:
    rem.observe("checkout was OOMKilled", type="exec.command")
    clock.advance(DAY)
    rem.remember("checkout is a service")
    clock.advance(DAY)
    rem.observe("checkout was restarted", type="exec.command")
    found = hybrid(rem, "checkout OOMKilled")
    assert texts(found) == ["checkout was OOMKilled", "checkout was restarted", "checkout is a service"]
    assert [hit.explanation.ranks["lexical"] for hit in found] == [1, 2, 2]


def test_both_searches_are_fused(open_memory: Opener) -> None:
    rem = open_memory(embedder=HashEmbedder())
    rem.observe("the deploy was denied", type="approval.denied")
    rem.observe("deploy log", type="exec.command")
    rem.jobs.index_now()
    found = {hit.memory.text: hit for hit in hybrid(rem, "deploy denied")}
    assert found["the deploy was denied"].explanation.ranks == {"dense": 1, "lexical": 1}
    assert found["deploy log"].explanation.ranks == {"lexical": 2}


def test_a_forgotten_memory_does_not_come_back_as_its_entry(rem: Remembrancer) -> None:
    rem.observe("the deploy was denied", type="approval.denied", payload=SAID)
    (hit,) = hybrid(rem, "OOMKilled")
    rem.forget(hit.id)
    assert texts(hybrid(rem, "OOMKilled")) == []


def test_a_revised_memory_is_not_found_by_the_text_of_its_entry(rem: Remembrancer) -> None:
    rem.observe("the deploy was denied", type="approval.denied", payload=SAID)
    (hit,) = hybrid(rem, "OOMKilled")
    rem.update(hit.id, text="the deploy was allowed")
    assert texts(hybrid(rem, "OOMKilled")) == []


def test_an_agent_finds_its_own_entries_and_a_lead_those_of_its_crew_that_matter(rem: Remembrancer) -> None:
    ben = rem.scoped(agent="ben")
    ben.observe("deploy by ben", type="exec.command")
    ben.observe("deploy by ben, marked", type="exec.command", priority="high")
    rem.observe("deploy by ana", type="exec.command")
    rem.scoped(crew="sales", agent="cleo").observe("deploy by cleo", type="exec.command", priority="high")
    assert texts(hybrid(rem, "deploy")) == ["deploy by ana"]
    assert set(texts(hybrid(rem.scoped(role="LEAD"), "deploy"))) == {"deploy by ana", "deploy by ben, marked"}


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ({"kinds": ["exec.command"]}, True),
        ({"kinds": ["note"]}, False),
        ({"tiers": ["episodic"]}, True),
        ({"tiers": ["semantic"]}, False),
        ({"visibilities": ["workspace"]}, True),
        ({"visibilities": ["own"]}, False),
        ({"tags": ["x"]}, False),
        ({"source": "x"}, False),
        ({"metadata": {"a": 1}}, False),
        ({"session": "monday"}, True),
        ({"session": "tuesday"}, False),
    ],
)
def test_filters_hold_for_entries(rem: Remembrancer, where: dict[str, object], kept: bool) -> None:
    rem.scoped(session="monday").observe(OUTPUT, type="exec.command", payload=SAID)
    assert texts(hybrid(rem, "OOMKilled", **where)) == ([OUTPUT] if kept else [])


def test_times_hold_for_entries(rem: Remembrancer, clock: FixedClock) -> None:
    before = clock()
    clock.advance(DAY)
    rem.observe(OUTPUT, type="exec.command", payload=SAID)
    clock.advance(DAY)
    assert texts(hybrid(rem, "OOMKilled", as_of=before)) == []
    assert texts(hybrid(rem, "OOMKilled", as_of=before + DAY)) == [OUTPUT]
    assert texts(hybrid(rem, "OOMKilled", since=before + 2 * DAY)) == []
    assert texts(hybrid(rem, "OOMKilled", until=before + 2 * DAY)) == [OUTPUT]


def test_of_a_long_entry_the_passage_is_shown_that_holds_the_question_s_words(rem: Remembrancer) -> None:
    said = "\n".join([*("batch went through" for _ in range(4_000)), "the barometer fell", "end"])
    event = rem.observe(said, type="exec.output_chunk")
    (hit,) = hybrid(rem, "when did the barometer fall?")
    assert "the barometer fell" in hit.cue.text
    assert event.text[hit.cue.start : hit.cue.end] == hit.cue.text
