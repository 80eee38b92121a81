from __future__ import annotations

import re
from pathlib import Path

import pytest
from golden_tables import cells, every_row, table

from remembrancer.policies.consolidation.aaak import ABBREVIATIONS, CONNECTIVES, DICTIONARY, compress, expand

PAGE = (Path(__file__).parents[3] / "docs" / "aaak.md").read_text(encoding="utf-8")


@every_row(table("aaak"), cells)
def test_a_text_is_compressed_as_worked_out_from_the_page(row: dict[str, str]) -> None:
    assert compress(row["text"]) == row["expected"]


def test_a_phrase_has_one_code_and_a_code_one_phrase() -> None:
    assert len(set(DICTIONARY.values())) == len(DICTIONARY) == len(CONNECTIVES) + len(ABBREVIATIONS)


def test_no_code_is_longer_than_its_phrase() -> None:
    assert [code for phrase, code in DICTIONARY.items() if len(code) >= len(phrase)] == []


def test_no_code_holds_a_phrase() -> None:
    assert [code for code in DICTIONARY.values() if compress(code) != code] == []


def test_no_negation_and_no_number_is_substituted() -> None:
    words = {word.casefold() for phrase in DICTIONARY for word in phrase.split()}
    assert words.isdisjoint({"not", "no", "never", "none", "nor", "one", "two", "ten"})


@pytest.mark.parametrize(
    "text",
    [
        "we discuss networking and automation",
        "it was completed on May 3",
        "messages from production to the database",
        "the user, the user. (the user)",
    ],
)
def test_texts_that_other_compressions_garble_are_expanded_correctly(text: str) -> None:
    assert expand(compress(text)) == text


def test_the_page_lists_the_dictionary() -> None:
    assert dict(re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|$", PAGE, re.MULTILINE)) == dict(DICTIONARY)
