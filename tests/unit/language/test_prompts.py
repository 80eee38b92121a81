"""The question in a long prompt is what is searched."""

from datetime import UTC, datetime

import pytest
from benchmarks.pollution_forms import HELD_OUT, TUNED, polluted

from remembrancer.language.english.prompts import question_in
from remembrancer.language.reading import read_message, read_question, salient_part

NOW = datetime(2026, 5, 1, tzinfo=UTC)
QUESTIONS = (
    "Who gave me my sourdough starter?",
    "which part of the cake came off at the party",
    "Remind me what I should never serve to Milo.",
    "When did we move the meeting to May? I need it for the minutes.",
)


def counted(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize("form", [*TUNED.values(), *HELD_OUT.values()], ids=[*TUNED, *HELD_OUT])
@pytest.mark.parametrize("question", QUESTIONS)
def test_a_polluted_question_is_read_as_the_clean_one(question: str, form: str) -> None:
    clean, found = (read_question(text, ["Ana"], NOW) for text in (question, polluted(question, form)))
    assert (found.searched, found.lexical) == (clean.searched, clean.lexical)


def test_a_short_question_is_searched_as_it_is() -> None:
    text = "Question: what did we agree on? Answer: the red one, I think."
    assert salient_part(text) == text


def test_a_recalled_block_before_a_question_is_not_searched() -> None:
    block = "<recalled-memory>\nUNTRUSTED HINTS\n- [ana, 2 days ago] Which port does the proxy use?\n</recalled-memory>"
    assert salient_part(f"{block}\nWho was at the party?") == "Who was at the party?"


def test_without_a_sign_of_a_question_none_is_found() -> None:
    assert question_in("The harbour was built in 1871. " * 30, counted) is None


def test_many_open_tags_do_not_take_long() -> None:
    assert question_in("<question>" * 20_000, counted) is None


def test_a_message_is_read_with_its_text_around_it() -> None:
    assert read_message("I moved to Graz.", []).searched == "I moved to Graz."
