"""Stated preferences: recorded with a tag, listed, brought back for requests, and ended by a contradiction."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from remembrancer import Remembrancer
from remembrancer.errors import InvalidInput

LETTERS = "Always write letters in formal English."
REQUEST = "Help me draft something to the landlord."
MORNING = datetime(2026, 3, 4, 9, tzinfo=UTC)


@pytest.fixture
def rem() -> Iterator[Remembrancer]:
    with Remembrancer.open(":memory:", embedder="none") as rem:
        yield rem


def said(rem: Remembrancer, *texts: str, **given: str) -> None:
    rem.observe_many([{"text": text, "role": "user", **given} for text in texts])


def listed(rem: Remembrancer, **given: bool) -> list[str]:
    return [memory.text for memory in rem.preferences(**given)]


def test_a_users_turn_that_states_a_preference_has_its_tags(rem: Remembrancer) -> None:
    said(rem, LETTERS, "I'm vegetarian.", "Answer in French.")
    assert {memory.text: memory.tags for memory in rem.recent()} == {
        LETTERS: ("preference", "instruction"),
        "I'm vegetarian.": ("preference",),
        "Answer in French.": ("preference", "instruction", "always"),
    }


def test_an_assistants_turn_states_none(rem: Remembrancer) -> None:
    rem.observe("I prefer short answers.", role="assistant")
    assert rem.preferences() == ()


def test_preferences_are_listed_newest_first(rem: Remembrancer) -> None:
    said(rem, "I prefer aisle seats.", "The deploy failed.", LETTERS)
    assert listed(rem) == [LETTERS, "I prefer aisle seats."]
    assert [memory.text for memory in rem.preferences(1)] == [LETTERS]


def test_memories_of_their_kinds_and_with_the_tag_are_preferences(rem: Remembrancer) -> None:
    rem.remember("Ana prefers tea", kind="preference", tags=["preference"])
    rem.remember("Write dates in words", kind="rule")
    rem.remember("Ben likes trains", tags=["preference"])
    rem.remember("The office is in Bern")
    assert listed(rem) == ["Ben likes trains", "Write dates in words", "Ana prefers tea"]


def test_a_turn_without_the_tag_is_no_preference_any_more(rem: Remembrancer) -> None:
    said(rem, "I prefer aisle seats.")
    rem.update(rem.recent()[0].id, tags=[])
    assert rem.preferences() == ()


def test_preferences_of_another_project_are_not_listed(rem: Remembrancer) -> None:
    said(rem.scoped(project="web"), LETTERS)
    assert rem.scoped(project="mobile").preferences() == ()


def test_a_limit_below_one_is_refused(rem: Remembrancer) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        rem.preferences(0)


def test_an_instruction_about_every_answer_is_found_by_a_request_without_its_words(rem: Remembrancer) -> None:
    said(rem, "Keep your answers short.", "The landlord painted the hall.")
    assert "Keep your answers short." in [hit.memory.text for hit in rem.recall(REQUEST)]


def test_a_question_that_requests_nothing_finds_no_instruction(rem: Remembrancer) -> None:
    said(rem, "Keep your answers short.", session="monday")
    said(rem, "The landlord painted the hall.", session="friday")
    assert [hit.memory.text for hit in rem.recall("What did the landlord paint?")] == ["The landlord painted the hall."]


def test_a_message_that_requests_something_brings_instructions_back(rem: Remembrancer) -> None:
    said(rem, "Keep your answers short.", session="monday")
    assert [hit.memory.text for hit in rem.recall(REQUEST, mode="message")] == ["Keep your answers short."]
    assert not rem.recall("I met the landlord in the hall.", mode="message")


def test_a_request_is_not_flooded_by_instructions(rem: Remembrancer) -> None:
    said(rem, *(f"Always mention the number {number} when you write recipes." for number in range(40)))
    said(rem, "The landlord painted the hall.")
    assert [hit.memory.text for hit in rem.recall(REQUEST, limit=10)] == ["The landlord painted the hall."]


def test_the_explanation_names_the_preference(rem: Remembrancer) -> None:
    said(rem, "Keep your answers short.")
    [hit] = rem.recall(REQUEST)
    assert hit.explanation.signals["preference"] == 1.0


class TestAContradiction:
    def test_ends_the_earlier_preference(self, rem: Remembrancer) -> None:
        said(rem, "Use British spelling.", session="monday")
        said(rem, "Use American spelling from now on.", session="friday")
        assert listed(rem) == ["Use American spelling from now on."]
        assert listed(rem, ended=True) == ["Use American spelling from now on.", "Use British spelling."]

    def test_names_the_later_one_as_its_successor(self, rem: Remembrancer) -> None:
        said(rem, "I'm vegetarian.", "I'm no longer vegetarian.")
        later, earlier = rem.preferences(ended=True)
        assert (earlier.superseded_by, later.superseded_by) == (later.id, None)

    def test_of_another_speaker_ends_nothing(self, rem: Remembrancer) -> None:
        said(rem, "I'm vegetarian.", actor="Ana")
        said(rem, "I'm no longer vegetarian.", actor="Ben")
        assert len(rem.preferences()) == 2

    def test_of_another_agent_ends_nothing(self, rem: Remembrancer) -> None:
        said(rem.scoped(agent="ana"), "Use British spelling.")
        said(rem.scoped(agent="ben"), "Use American spelling from now on.")
        assert len(rem.preferences()) == 2

    def test_that_happened_earlier_ends_nothing(self, rem: Remembrancer) -> None:
        rem.observe("Use British spelling.", role="user", occurred_at=MORNING)
        earlier = MORNING - timedelta(days=1)
        rem.observe("Use American spelling from now on.", role="user", occurred_at=earlier)
        assert len(rem.preferences()) == 2

    def test_recorded_again_by_its_key_ends_nothing_new(self, rem: Remembrancer) -> None:
        rem.observe("Use American spelling from now on.", role="user", key="a")
        said(rem, "Use British spelling.")
        rem.observe("Use American spelling from now on.", role="user", key="a")
        assert listed(rem) == ["Use British spelling."]
