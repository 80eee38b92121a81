from __future__ import annotations

import pytest

from remembrancer.policies.diversity import same_words

SAID = "Ana, Wednesday 4 March 2026"


@pytest.mark.parametrize("other", ["The deploy failed", " the  DEPLOY\nfailed\t", "THE DEPLOY FAILED"])
def test_case_and_blanks_make_no_difference(other: str) -> None:
    assert same_words(SAID, None, other) == same_words(SAID, None, "The deploy failed")


@pytest.mark.parametrize("other", ["Sprint 43", "Sprint 4 2", "Sprint", "Sprint 42.", "42 Sprint"])
def test_any_other_word_makes_another_memory(other: str) -> None:
    assert same_words(SAID, None, other) != same_words(SAID, None, "Sprint 42")


def test_the_same_text_under_another_title_is_another_memory() -> None:
    assert same_words(SAID, "Port in staging", "8080") != same_words(SAID, "Port in production", "8080")


def test_the_same_text_under_the_same_title_is_the_same() -> None:
    assert same_words(SAID, "Port in staging", "8080") == same_words(SAID, "port in  staging", " 8080")


def test_a_title_is_not_the_beginning_of_the_text() -> None:
    assert same_words(SAID, "Port", "in staging") != same_words(SAID, "Port in", "staging")


def test_the_same_words_of_another_person_or_day_are_another_memory() -> None:
    assert same_words(SAID, None, "Agreed.") != same_words("Ben, Wednesday 4 March 2026", None, "Agreed.")
    assert same_words(SAID, None, "Agreed.") != same_words("Ana, Thursday 5 March 2026", None, "Agreed.")
