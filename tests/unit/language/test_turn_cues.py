"""Detection of questions, closing phrases and words that refer back."""

from __future__ import annotations

import pytest

from remembrancer.language.english.turn_cues import asks, closes, refers_back


@pytest.mark.parametrize(
    "text", ["Which day?", 'He said "why?"', "何時ですか？", "متى؟", "Really?! ", "At nine or at ten ? "]
)
def test_a_question_wants_its_answer(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize("text", ["", "On Monday.", "Why? Because.", "Booked. Anything else?", "Thank you, shall we?"])
def test_a_statement_or_a_closing_offer_expects_no_answer(text: str) -> None:
    assert not asks(text)


@pytest.mark.parametrize(
    "text", ["Thanks!", "You’re welcome.", "GOODBYE", "Is there anything else?", "have a nice day"]
)
def test_a_matter_is_closed(text: str) -> None:
    assert closes(text)


@pytest.mark.parametrize("text", ["The belt came.", "Thankless work", "", "Danke schön"])
def test_a_turn_with_content_is_no_closing(text: str) -> None:
    assert not closes(text)


@pytest.mark.parametrize(
    ("text", "expected"), [("It's worn", True), ("is THAT so", True), ("The item", False), ("", False)]
)
def test_words_that_refer_back(text: str, expected: bool) -> None:
    assert refers_back(text) is expected
