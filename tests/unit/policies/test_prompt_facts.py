from __future__ import annotations

from dataclasses import replace

import pytest

from remembrancer.domain.validation import JsonValue
from remembrancer.policies.consolidation.facts import Action, Category
from remembrancer.policies.prompts.facts import INSTRUCTIONS, MAX_FACTS, SCHEMA, FactEntry, material, read
from remembrancer.policies.segmentation.segments import StreamTurn
from remembrancer.testing.doubles import NOW, a_memory

EPISODE = replace(a_memory("They ordered"), title="Lunch")


def entry(**others: JsonValue) -> dict[str, JsonValue]:
    episodes: list[JsonValue] = ["e1"]
    usual: dict[str, JsonValue] = {
        "action": "new",
        "fact": "",
        "category": "goal",
        "text": "Ana learns Greek",
        "episodes": episodes,
    }
    return usual | others


def answered(*entries: JsonValue) -> tuple[FactEntry, ...] | str:
    return read({"facts": list(entries)}, ["e1", "e2"])


def turns(*texts: str) -> list[StreamTurn]:
    return [StreamTurn(at=NOW, speaker="ana", text=text) for text in texts]


def test_an_entry_is_read_as_it_is() -> None:
    assert answered(entry(action="update", fact="f3", episodes=["e2", "e1", "e2"])) == (
        FactEntry(Action.UPDATE, "f3", Category.GOAL, "Ana learns Greek", ("e2", "e1")),
    )


def test_a_text_is_kept_as_one_line_without_invisible_characters() -> None:
    [said] = answered(entry(text=" a < b\n\u200band c "))
    assert isinstance(said, FactEntry)
    assert said.text == "a < b and c"


@pytest.mark.parametrize("action", ["reinforce", "invalidate"])
def test_a_known_fact_needs_no_text(action: str) -> None:
    assert not isinstance(answered(entry(action=action, text="")), str)


def test_an_empty_list_is_an_answer() -> None:
    assert answered() == ()


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        (["tea"], "facts: a list of objects"),
        ([entry()] * (MAX_FACTS + 1), f"facts: {MAX_FACTS + 1} of them"),
        ([entry(), entry(episodes="e1")], "facts[1].episodes"),
        ([entry(episodes=[["e1"]])], "facts[0].episodes"),
        ([entry(text=None)], "facts[0].text"),
        ([entry(category=None)], "facts[0].category"),
    ],
)
def test_faults_of_an_answer_are_reported_with_their_position(entries: list[JsonValue], problem: str) -> None:
    said = answered(*entries)
    assert isinstance(said, str)
    assert said.startswith(problem)


def test_an_answer_without_a_list_is_reported() -> None:
    assert isinstance(read({}, ["e1"]), str)


@pytest.mark.parametrize("category", Category)
def test_every_category_is_explained_and_allowed(category: Category) -> None:
    assert f"{category}: " in INSTRUCTIONS
    assert f"'{category}'" in repr(SCHEMA)


@pytest.mark.parametrize("action", Action)
def test_every_action_is_explained_and_allowed(action: Action) -> None:
    assert f"- {action}: " in INSTRUCTIONS
    assert f"'{action}'" in repr(SCHEMA)


def test_an_episode_is_shown_with_its_time_title_and_turns() -> None:
    told = material({"e1": (EPISODE, turns("Tea, please"))}, {}, chars=1_000)
    expected = "e1 (2026-03-04 09:00 UTC): Lunch. They ordered\n[1] 2026-03-04 09:00 UTC, ana: Tea, please\n"
    assert expected in told


@pytest.mark.parametrize(("chars", "shown"), [(1_000, 2), (60, 1), (40, 0)])
def test_of_the_turns_as_many_are_shown_as_there_is_room_for(chars: int, shown: int) -> None:
    told = material({"e1": (EPISODE, turns("Tea, please", "With milk, please"))}, {}, chars=chars)
    assert told.count("please") == shown


def test_known_facts_are_listed_with_their_labels() -> None:
    fact = replace(a_memory("Ana drinks tea"), kind="preference")
    assert "f1 [preference] Ana drinks tea\n" in material({}, {"f1": fact}, chars=0)
