"""Reading a message: what of it is searched, and whether it says anything."""

from __future__ import annotations

import pytest

from remembrancer.domain.event import Role
from remembrancer.language.reading import LONG_QUESTION_WORDS, MESSAGE_TERMS, read_message

PAGE = "The build log says nothing useful about this step. " * 60


@pytest.mark.parametrize(
    "text", ["ok thanks!", "Great, that works. Thank you so much!", "hi there", "...", "👍👍", "fix it"]
)
def test_small_talk_is_recognised(text: str) -> None:
    assert read_message(text, ()).small_talk


@pytest.mark.parametrize(
    "text", ["Great, the oven works.", "ok, deploy it", "Thanks! And the passport?", "Danke schön", "Berlin", PAGE]
)
def test_a_message_with_a_subject_is_no_small_talk(text: str) -> None:
    assert not read_message(text, ()).small_talk


def test_a_short_message_is_searched_whole() -> None:
    assert read_message(" My knee hurts. Ana says: rest! ", {"Ana"}).embedded == "My knee hurts. Ana says: rest!"


def test_of_a_long_message_the_first_and_last_sentences_are_embedded() -> None:
    read = read_message(f"Please read this report. {PAGE} Why does my passport expire?", ())
    assert read.embedded.startswith("Please read this report.")
    assert read.embedded.endswith("Why does my passport expire?")
    assert len(read.embedded.split()) <= LONG_QUESTION_WORDS


def test_code_is_not_embedded() -> None:
    read = read_message(f"This fails:\n```python\n{'x = call(y)' * 200}\n```\nWhat did I change on Monday?", ())
    assert read.embedded == "This fails: What did I change on Monday?"


def test_a_long_message_is_also_searched_for_its_longest_words() -> None:
    read = read_message(f"Look. {PAGE} The kubernetes-ingress refuses. {PAGE} Any idea?", ())
    assert "kubernetes-ingress" in read.lexical.terms
    assert len(read.lexical.terms) <= MESSAGE_TERMS


def test_a_message_of_one_long_line_is_searched_by_its_end() -> None:
    assert read_message(f"{'word ' * 500}passport", ()).embedded.endswith("passport")


@pytest.mark.parametrize(
    ("participants", "roles"), [((), {Role.USER}), (("Ana",), {Role.USER}), (("Ana", "Ben"), set[Role]())]
)
def test_in_a_chat_with_an_assistant_the_user_s_words_are_expected(
    participants: tuple[str, ...], roles: set[Role]
) -> None:
    assert read_message("My knee hurts", participants).roles == roles
