from __future__ import annotations

import pytest
from golden_tables import cells, every_row, table

from remembrancer.domain.query import QuestionKind
from remembrancer.language.english.answer_types import asked_for
from remembrancer.language.english.frames import core
from remembrancer.language.english.question_kinds import kind_of

ROWS = table("question_cores")


def core_of(text: str) -> str:
    return core(text, kind_of(text, asked_for(text)))


@every_row(ROWS, cells)
def test_the_core_of_a_question_is_what_it_is_about(row: dict[str, str]) -> None:
    assert core_of(row["text"]) == row["core"]


@every_row(ROWS, cells)
def test_a_core_has_no_frame_left(row: dict[str, str]) -> None:
    assert core_of(row["core"]) == row["core"]


@pytest.mark.parametrize("text", ["", " ", "?", "...", "Please.", "Thanks!", "Question:", "a: b: c:", "(", "list"])
def test_a_text_without_a_question_is_its_own_core(text: str) -> None:
    assert {core(text, kind) for kind in QuestionKind} == {text}


def test_a_question_that_stands_alone_is_searched_without_the_sentences_around_it() -> None:
    around = (
        "My sister is here and the kettle is on. Which hotel did Ana book in Lisbon for Easter? She wants to go there."
    )
    assert core(around) == "Which hotel did Ana book in Lisbon for Easter?"


@pytest.mark.parametrize(
    "text",
    ["I bought gochujang. How much of it goes in a stew?", "You gave me a reading list. What was number three?"],
)
def test_a_question_that_needs_the_sentence_before_it_is_searched_with_it(text: str) -> None:
    assert core(text) == text


def test_what_is_said_around_a_request_is_searched() -> None:
    text = "I'm off to Denver with my sister in May. Which museum should we visit on a rainy Sunday morning?"
    assert core(text, QuestionKind.REQUEST) == text


def test_a_letter_that_is_two_in_small_letters_divides_no_word() -> None:
    assert core("Going by our chats, which team did İlker join, in İzmir?") == "which team did İlker join, in İzmir?"
