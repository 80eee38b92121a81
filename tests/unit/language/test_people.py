"""Names of those who speak, in a question."""

from __future__ import annotations

import pytest

from remembrancer.language.english.people import people
from remembrancer.language.reading import read_question
from remembrancer.testing.doubles import NOW


def test_a_whole_name_means_nobody_else_who_shares_a_part_of_it() -> None:
    speaking = people(frozenset({"Ana Lima", "Ana Costa"}))
    assert speaking.named_in("What did Ana Lima say?") == {"Ana Lima"}


def test_a_shared_first_name_means_all_who_have_it() -> None:
    speaking = people(frozenset({"Ana Lima", "Ana Costa", "Ben"}))
    assert speaking.named_in("What did Ana say?") == {"Ana Lima", "Ana Costa"}


@pytest.mark.parametrize(
    ("name", "question", "left"),
    [
        ("Ana", "What did Ana's sister open?", "What did sister open?"),
        ("payments", "What failed in payments?", "What failed in payments?"),
        ("Мария", "Что сказала Мария о сервере?", "Что сказала о сервере?"),
        ("李明", "李明 在哪里?", "在哪里?"),
    ],
)
def test_only_proper_names_are_left_out_where_words_are_compared(name: str, question: str, left: str) -> None:
    assert people(frozenset({name})).left_out(question, proper=True) == left


def test_a_name_that_is_also_a_word_is_left_out_of_the_embedded_text_only() -> None:
    planned = read_question("What failed in payments?", {"payments", "Ana"}, NOW)
    assert (planned.embedded, planned.lexical.terms, planned.speakers) == (
        "What failed in ?",
        ("fail", "payment"),
        {"payments"},
    )


def test_a_question_of_names_alone_stays_as_it_is() -> None:
    assert people(frozenset({"Ana"})).left_out("And Ana?") == "And Ana?"


def test_nobody_leaves_a_question_as_it_is() -> None:
    assert people(frozenset[str]()).left_out("What did Ana open?") == "What did Ana open?"


def test_in_a_lower_case_question_lower_case_names_count() -> None:
    speaking = people(frozenset({"Ana Lima", "Ben"}))
    assert speaking.named_in("what glaze did ana order?") == {"Ana Lima"}


def test_a_phone_s_capital_at_the_beginning_is_nobody_s() -> None:
    assert people(frozenset({"Ana", "Ben"})).named_in("What glaze did ana order, and did I?") == {"Ana"}


def test_a_name_in_small_letters_may_be_a_word_and_stays_among_those_that_are_searched() -> None:
    planned = read_question("what did mark order?", {"Mark Reyes", "Ben"}, NOW)
    assert (planned.embedded, planned.lexical.terms, planned.speakers) == (
        "what did order?",
        ("mark", "order"),
        {"Mark Reyes"},
    )


def test_in_small_letters_the_later_parts_of_a_name_do_not_count() -> None:
    assert people(frozenset({"Support Team", "Ben"})).named_in("which team won the match?") == frozenset()


def test_in_a_question_with_capitals_a_lower_case_name_is_a_word() -> None:
    assert people(frozenset({"Grace", "Ben"})).named_in("Did Ben grant the client a grace period?") == {"Ben"}


def test_a_stop_word_names_nobody_in_small_letters_either() -> None:
    assert people(frozenset({"Will", "Ben"})).named_in("what will ben order?") == {"Ben"}
