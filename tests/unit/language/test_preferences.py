"""Stated preferences and standing instructions, and what ends them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from remembrancer.language.english.contradictions import ends, may_end
from remembrancer.language.english.preferences import tags_of
from remembrancer.language.english.sentences import LONG_CHARS

GOLDEN = Path(__file__).parents[2] / "golden"


def table(name: str) -> list[tuple[str, ...]]:
    with (GOLDEN / name).open(encoding="utf-8", newline="") as file:
        return [tuple(row.values()) for row in csv.DictReader(file)]


def test_the_tags_of_a_turn_are_those_of_the_table() -> None:
    given = [(tags, text.replace("\\n", "\n")) for tags, text in table("preferences.csv")]
    assert [(" ".join(tags_of(text)), text) for _, text in given] == given


def test_a_typographic_apostrophe_is_one() -> None:
    assert tags_of("I’m vegetarian, and I can’t stand cilantro.") == ("preference",)


@pytest.mark.parametrize("place", [0, 1])
def test_of_a_long_text_the_ends_are_read(place: int) -> None:
    pasted = "The quarterly figures follow. " * (LONG_CHARS // 10)
    texts = ["I prefer aisle seats. ", pasted] if place else [pasted, "I prefer aisle seats."]
    assert tags_of("".join(texts)) == ("preference",)
    assert tags_of(f"{pasted}I prefer aisle seats. {pasted}") == ()


def test_the_words_of_one_sentence_do_not_make_another_an_instruction() -> None:
    assert tags_of("Only if the engine is damaged. We sailed without it.") == ()


def test_a_text_ends_what_the_table_says_it_ends() -> None:
    given = table("contradictions.csv")
    assert [(str(int(ends(later, earlier))), earlier, later) for _, earlier, later in given] == given


def test_a_quick_look_misses_no_text_that_ends_another() -> None:
    ending = [later for is_ended, _, later in table("contradictions.csv") if is_ended == "1"]
    assert [later for later in ending if not may_end(later)] == []


def test_an_ordinary_preference_needs_no_comparison() -> None:
    assert not may_end("I love hiking in the mountains.")
