"""Statements of names of people, and the names that speakers have after several of them."""

from __future__ import annotations

import csv
from pathlib import Path
from time import process_time
from uuid import UUID

import pytest

from remembrancer.domain.event import Role
from remembrancer.language.english.other_names import Naming, listed, namings
from remembrancer.language.english.sentences import LONG_CHARS
from remembrancer.language.learned_names import Said, learned_names

GOLDEN = Path(__file__).parents[2] / "golden" / "names.csv"
PEOPLE = frozenset({"Katharina Weber", "ben", "Ragnheiður"})
ROW = UUID(int=7)


def spelled(naming: Naming) -> str:
    kind = "ends " if naming.ends else "maybe " if naming.needs_likeness else ""
    return kind + " = ".join(naming.names)


def said(text: str, actor: str | None = "Katharina Weber", role: Role | None = Role.USER) -> Said:
    return Said(text, role, actor, ROW)


def learned(*texts: Said) -> list[tuple[str, str | None]]:
    words = frozenset(word for text in texts for word in text.text.lower().strip(".").split())
    return [(one.name, one.speaker or one.role) for one in learned_names(texts, PEOPLE, words)]


def test_a_text_states_the_names_of_the_table() -> None:
    with GOLDEN.open(encoding="utf-8", newline="") as file:
        given = [(row["names"], row["text"]) for row in csv.DictReader(file)]
    assert [("; ".join(map(spelled, namings(text))), text) for _, text in given] == given


@pytest.mark.parametrize("place", [0, 1])
def test_of_a_long_text_the_ends_are_read(place: int) -> None:
    pasted = "The quarterly figures follow. " * (LONG_CHARS // 10)
    texts = ["Call me Kat. ", pasted] if place else [pasted, "Call me Kat."]
    assert [naming.names for naming in namings("".join(texts))] == [("Kat",)]
    assert namings(f"{pasted}Call me Kat. {pasted}") == ()


def test_the_words_of_one_sentence_do_not_make_another_state_a_name() -> None:
    assert namings("They call later. Katharina uses Slack.") == ()


@pytest.mark.parametrize(
    "words", ["my friends and ", "Aa Bb, ", '"Aa" ', "everyone at the ", "Call me Kat or ", "hi, "]
)
def test_reading_a_repetitive_text_takes_little_time(words: str) -> None:
    begun = process_time()
    namings(words * (2 * LONG_CHARS // len(words)))
    assert process_time() - begun < 0.5


def test_a_speaker_has_the_names_that_the_speaker_says() -> None:
    assert learned(said("Call me Moss."), said("I go by Big Al.", actor="ben")) == [
        ("Moss", "Katharina Weber"),
        ("Big Al", "ben"),
    ]


def test_a_speaker_without_a_name_is_known_by_the_role() -> None:
    assert learned(said("Call me Moss.", actor=None)) == [("Moss", Role.USER)]


def test_the_given_name_of_a_full_name_is_a_name_too() -> None:
    assert learned(said("My name is Robert Tables.", actor=None)) == [
        ("Robert Tables", Role.USER),
        ("Robert", Role.USER),
    ]


def test_only_those_who_take_part_have_names() -> None:
    assert learned(said("Call me Moss.", actor="Oskar")) == []


def test_a_name_told_of_somebody_else_counts_if_one_of_the_two_is_a_participants() -> None:
    others = ("Katharina, whom everybody calls Moss, left.", "Ben goes by Bear.", "Oskar goes by Oz.")
    assert learned(*(said(text, actor="Ragnheiður") for text in others)) == [
        ("Moss", "Katharina Weber"),
        ("Bear", "ben"),
    ]


def test_a_name_told_of_somebody_else_counts_for_a_name_learned_before() -> None:
    texts = (said("My name is Johanna.", actor=None), said("Jojo is short for Johanna.", None, Role.ASSISTANT))
    assert learned(*texts) == [("Johanna", Role.USER), ("Jojo", Role.USER)]


def test_texts_without_the_words_that_are_asked_for_are_not_read() -> None:
    texts = (
        said("My name is Johanna.", actor=None),
        said("Jojo is short for Johanna.", None, Role.ASSISTANT),
        said("Call me Moss."),
    )
    assert [one.name for one in learned_names(texts, PEOPLE, {"jojo"})] == ["Johanna", "Jojo"]
    assert learned_names(texts, PEOPLE, {"bug"}) == ()


def test_a_name_that_its_bearer_ends_is_taken_up_by_the_bearer_alone() -> None:
    ended = (said("Call me Moss."), said("Please don't call me Moss."))
    told = said("Katharina, whom everybody calls Moss, left.", actor="ben")
    assert (learned(*ended), learned(*ended, told)) == ([], [])
    assert learned(*ended, said("Call me Moss.")) == [("Moss", "Katharina Weber")]


@pytest.mark.parametrize(
    ("text", "names"),
    [("It's Paris, by the way.", []), ("It's Tobi, by the way.", ["Tobi"]), ("It's Kath, by the way.", ["Kath"])],
)
def test_what_may_be_anything_is_a_name_if_it_is_common_or_begins_the_speakers(text: str, names: list[str]) -> None:
    assert [name for name, _ in learned(said(text))] == names


@pytest.mark.parametrize("text", ["Moss is Katharina Weber.", "Katharina Weber: Moss", "Katharina is called Moss."])
def test_a_note_lists_names(text: str) -> None:
    assert learned(said(text, None, None)) == [("Moss", "Katharina Weber")]


def test_a_turn_lists_none() -> None:
    assert learned(said("Moss is Katharina Weber.")) == []


def test_nobody_says_a_note() -> None:
    assert learned(said("Call me Moss.", None, None)) == []


def test_a_list_of_names_ends_with_the_sentence() -> None:
    assert [naming.names[1] for naming in listed("Ben: Bear, Benny Boy and Bo. He moved.")] == [
        "Bear",
        "Benny Boy",
        "Bo",
    ]
