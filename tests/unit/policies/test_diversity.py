from __future__ import annotations

import pytest

from remembrancer.policies.diversity import same_words


@pytest.mark.parametrize("other", ["The deploy failed", " the  DEPLOY\nfailed\t", "THE DEPLOY FAILED"])
def test_case_and_blanks_make_no_difference(other: str) -> None:
    assert same_words(None, other) == same_words(None, "The deploy failed")


@pytest.mark.parametrize("other", ["Sprint 43", "Sprint 4 2", "Sprint", "Sprint 42.", "42 Sprint"])
def test_any_other_word_makes_another_memory(other: str) -> None:
    assert same_words(None, other) != same_words(None, "Sprint 42")


def test_the_same_text_under_another_title_is_another_memory() -> None:
    assert same_words("Port in staging", "8080") != same_words("Port in production", "8080")


def test_the_same_text_under_the_same_title_is_the_same() -> None:
    assert same_words("Port in staging", "8080") == same_words("port in  staging", " 8080")


def test_a_title_is_not_the_beginning_of_the_text() -> None:
    assert same_words("Port", "in staging") != same_words("Port in", "staging")
