from __future__ import annotations

import math

import pytest
from golden_tables import cells, every_row, number, numbers, table

from remembrancer.domain.recall import Part
from remembrancer.errors import InvalidInput
from remembrancer.policies.ranking.diversity import Mmr, jaccard, same_words, words_of

SAID = "Ana, Wednesday 4 March 2026"


# ── the same words ───────────────────────────────────────────────────────────────────────────────────────────────────


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


# ── likeness ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@every_row(table("jaccard"), cells)
def test_likeness_is_as_worked_out_from_either_side(row: dict[str, str]) -> None:
    one, other = words_of(row["one"]), words_of(row["other"])
    assert jaccard(one, other) == jaccard(other, one) == pytest.approx(number(row["expected"]), rel=1e-12)


# ── marginal relevance ───────────────────────────────────────────────────────────────────────────────────────────────


def words(cell: str) -> list[frozenset[str]]:
    return [frozenset() if one == "0" else frozenset(one) for one in cell.split()]


@every_row(table("mmr"), cells)
def test_picks_and_scores_equal_the_computed_table(row: dict[str, str]) -> None:
    diversity = Mmr(balance=number(row["balance"]))
    picks = diversity.picks(numbers(row["scores"]).tolist(), words(row["words"]), int(row["limit"]))
    assert [candidate for candidate, _ in picks] == [int(one) for one in row["picked"].split()]
    assert [score for _, score in picks] == pytest.approx(numbers(row["expected"]), rel=1e-12)


def test_of_nothing_nothing_is_picked() -> None:
    assert Mmr().picks([], [], 5) == []


def test_a_smaller_limit_picks_the_same_first() -> None:
    scores, texts = [0.9, 0.8, 0.8, 0.7, 0.1], words("ab ab cd cd ef")
    everything = Mmr().picks(scores, texts, 5)
    assert [Mmr().picks(scores, texts, limit) for limit in range(6)] == [everything[:limit] for limit in range(6)]


@pytest.mark.parametrize("balance", [0.0, 0.3, 0.7, 1.0])
def test_an_explanation_adds_its_relevance_and_novelty_up(balance: float) -> None:
    relevance = Part("product", 0.6, 0.6, (Part("a", 0.75, 0.75), Part("b", 0.8, 0.8)))
    explained = Mmr(balance=balance).explain(relevance, 0.5)
    assert (explained.value, explained.contribution) == (0.5, 0.5)
    assert sum(part.contribution for part in explained.parts) == pytest.approx(0.5, abs=1e-15)


def test_an_explanation_has_the_value_of_each_part() -> None:
    explained = Mmr(balance=0.7).explain(Part("product", 0.6, 0.6, (Part("a", 0.6, 0.6),)), 0.48)
    relevance, novelty = explained.parts
    assert (relevance.label, relevance.value, relevance.parts) == ("product", 0.6, (Part("a", 0.6, 0.6),))
    assert relevance.contribution == pytest.approx(0.42)
    assert (novelty.label, novelty.value, novelty.contribution) == (
        "novelty",
        pytest.approx(0.2),
        pytest.approx(0.06),
    )


def test_without_novelty_there_is_no_value() -> None:
    assert Mmr(balance=1.0).explain(Part("a", 0.6, 0.6), 0.6).parts[1] == Part("novelty", None, 0.0)


@pytest.mark.parametrize("balance", [-0.1, 1.1, math.nan])
def test_a_balance_outside_the_unit_interval_is_refused(balance: float) -> None:
    with pytest.raises(InvalidInput, match=r"^balance: "):
        Mmr(balance=balance)
