"""Statements of a value, and questions about an earlier one."""

from __future__ import annotations

import pytest

from remembrancer.language.english.values import BRIEF_CHARS, asks_for_the_past, asks_only, stated_value
from remembrancer.policies.ranking.near_equals import is_newer_value


def updates(older: str, newer: str) -> bool:
    one, other = stated_value(older), stated_value(newer)
    return one is not None and other is not None and is_newer_value(one, other)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The battery of the garden sensor is at 98 %.", "Garden sensor battery: 41 %"),
        ("Rent for the flat is 940 euros a month", "The rent of the flat is now 985 euros"),
        ("The wifi password is larch-2041", "New wifi password: larch-7730"),
        ("Meeting with Anna at 10:30 in room 4", "Anna's meeting is at 11:15 in room 4"),
        ("disk /data is 71% full on db1", "disk /data is 88% full on db1"),
        ("The API's rate limit is 100 requests per minute", "API rate limit: 250 requests per minute"),
    ],
)
def test_another_value_of_one_thing_is_newer(older: str, newer: str) -> None:
    assert updates(older, newer)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The battery of the garden sensor is at 98 %", "The battery of the door lock is at 41 %."),
        ("disk /data is 71% full on db1", "disk /data is 88% full on db2"),
        ("Order 4411 was shipped to Leeds", "Order 4592 was shipped to Leeds"),
        ("Meeting with Anna at 10:30", "Meeting with Boris at 11:00"),
        ("Coverage of the payments module is 71 %", "Coverage of the parser module is 83 %"),
        ("Room 12 has two beds", "Room 14 has two beds"),
        ("The standup is at 9:30", "The standup is at 9:30."),
        ("Is the standup at 9:30?", "The standup is at 10:00"),
        ("The battery of the garden sensor is at 98 %", "The battery of the garden sensor is low"),
        ("It was 12", "It was 15"),
    ],
)
def test_values_of_different_things_are_none_of_them_newer(one: str, other: str) -> None:
    assert not updates(one, other)
    assert not updates(other, one)


def test_a_long_text_is_no_statement_of_a_value() -> None:
    assert stated_value("The battery is at 41 %. " + "x" * BRIEF_CHARS) is None


@pytest.mark.parametrize("text", ["What was the old password?", "What did it weigh at first?", "my former address"])
def test_a_question_may_ask_for_an_earlier_value(text: str) -> None:
    assert asks_for_the_past(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is the code?", True),
        ("What is the code? Does anyone know?", True),
        ("I lost the note. What is the code?", False),
        ("The code is 12.", False),
        ("What is the code?" + " Is it this one?" * 30, False),
    ],
)
def test_a_turn_asks_only_if_all_its_sentences_are_questions(text: str, expected: bool) -> None:
    assert asks_only(text) is expected
