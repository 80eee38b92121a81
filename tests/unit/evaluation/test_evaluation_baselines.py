"""The baselines: the order of each, and that all turns are returned."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from remembrancer.evaluation.baselines import Bm25Baseline, Dense, Grep, RandomOrder, Recency, WithHeadings
from remembrancer.evaluation.dataset import DatasetTurn, Transcript
from remembrancer.evaluation.system import MeasuredBlock, System, SystemAnswer, TurnOutcome
from remembrancer.testing.doubles import HashEmbedder

BEGUN = datetime(2024, 5, 1, tzinfo=UTC)


def transcript(*texts: str) -> Transcript:
    """Turns t1, t2, … an hour apart."""
    turns = tuple(
        DatasetTurn(
            id=f"t{number}", session="session_1", actor="Ines", text=text, occurred_at=BEGUN + timedelta(hours=number)
        )
        for number, text in enumerate(texts, start=1)
    )
    return Transcript(id="c", turns=turns)


def answered(system: System, told: Transcript, question: str, limit: int = 100) -> SystemAnswer:
    async def ask() -> SystemAnswer:
        async with system.prepared(told) as ranker:
            return await ranker.answer(question, asked_at=BEGUN, limit=limit)

    return asyncio.run(ask())


def ranked(system: System, told: Transcript, question: str, limit: int = 100) -> list[str]:
    return list(answered(system, told, question, limit).ranked)


SYSTEMS: list[System] = [RandomOrder(seed=1), Recency(), Grep(), Bm25Baseline(), Dense(HashEmbedder())]


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_every_turn_is_ranked_once(system: System) -> None:
    told = transcript("an apple", "a pear", "an apple pie", "nothing")
    assert sorted(ranked(system, told, "Where is the apple?")) == ["t1", "t2", "t3", "t4"]


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_limit_cuts_the_same_list(system: System) -> None:
    told = transcript("an apple", "a pear", "an apple pie", "nothing")
    assert ranked(system, told, "apple", 2) == ranked(system, told, "apple")[:2]


@pytest.mark.parametrize("system", [Grep(), Bm25Baseline()], ids=lambda system: system.name)
@pytest.mark.parametrize("question", ["", "???", "unheard words"])
def test_without_a_word_in_common_the_newest_come_first(system: System, question: str) -> None:
    assert ranked(system, transcript("an apple", "a pear", "a plum"), question) == ["t3", "t2", "t1"]


def test_random_order_is_the_same_for_the_same_question_and_seed() -> None:
    told = transcript(*"abcdefghij")
    assert ranked(RandomOrder(seed=1), told, "one") == ranked(RandomOrder(seed=1), told, "one")
    assert ranked(RandomOrder(seed=1), told, "one") != ranked(RandomOrder(seed=1), told, "two")
    assert ranked(RandomOrder(seed=1), told, "one") != ranked(RandomOrder(seed=2), told, "one")


def test_recency_returns_the_newest_for_every_question() -> None:
    assert ranked(Recency(), transcript("an apple", "a pear", "a plum"), "apple") == ["t3", "t2", "t1"]


def test_of_turns_at_one_moment_the_later_in_the_file_is_newer() -> None:
    at_once = tuple(
        DatasetTurn(id=name, session="session_1", actor="Ines", text="x", occurred_at=BEGUN)
        for name in ("first", "second")
    )
    told = Transcript(id="c", turns=at_once)
    assert ranked(Recency(), told, "x") == ["second", "first"]


def test_grep_counts_distinct_words_of_four_letters_or_more_as_substrings() -> None:
    told = transcript("APPLES apples", "pineapple and grapefruit", "the and for was", "grapes")
    assert ranked(Grep(), told, "the apple and the grape, the apple") == ["t2", "t4", "t1", "t3"]


def test_bm25_prefers_the_rare_word() -> None:
    told = transcript("tea and canoe", "tea and milk", "tea and sugar")
    assert ranked(Bm25Baseline(), told, "tea, milk")[0] == "t2"


def test_bm25_prefers_the_shorter_text() -> None:
    told = transcript("canoe", "the canoe that we had on the lake last year")
    assert ranked(Bm25Baseline(), told, "canoe") == ["t1", "t2"]


def test_bm25_values_a_repeated_word_less_each_time() -> None:
    # By hand, all texts of length 4 (K = 1.2): canoe 4 times weighs 2.2 * 4 / 5.2 = 1.69; canoe and lake once each
    # weigh 1 + 1, under idfs that are equal because each word stands in 2 of 3 texts.
    told = transcript("canoe canoe canoe canoe", "canoe lake one two", "lake lake three four")
    assert ranked(Bm25Baseline(), told, "canoe lake") == ["t2", "t1", "t3"]


def test_bm25_knows_no_stems() -> None:
    assert ranked(Bm25Baseline(), transcript("a canoe", "many canoes", "none"), "canoe") == ["t1", "t3", "t2"]


def test_dense_puts_the_same_words_first() -> None:
    told = transcript("we sold the green canoe", "bees in winter", "a new bakery")
    assert ranked(Dense(HashEmbedder()), told, "the green canoe")[0] == "t1"


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_a_block_holds_the_texts_in_their_order(system: System) -> None:
    told = transcript("an apple", "a pear", "a plum")
    answer = answered(system, told, "Where is the apple?")
    lengths = {turn.id: len(turn.text) + 3 for turn in told.turns}
    first, second = answer.ranked[:2]
    room = lengths[first] + lengths[second]
    assert answer.block(room) == MeasuredBlock((first, second), room)


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_a_turn_that_is_not_returned_ranks_beyond_the_depth(system: System) -> None:
    answer = answered(system, transcript("an apple", "a pear", "a plum"), "the pear", limit=2)
    (left,) = {"t1", "t2", "t3"}.difference(answer.ranked)
    assert asyncio.run(answer.outcome(left)) is TurnOutcome.LIMIT


@pytest.mark.parametrize("system", [Grep(), Bm25Baseline(), Dense(HashEmbedder())], ids=lambda system: system.name)
def test_scores_are_returned_with_the_turns_and_descend(system: System) -> None:
    answer = answered(system, transcript("an apple", "a pear", "an apple pie"), "Where is the apple?")
    assert len(answer.scores) == len(answer.ranked)
    assert list(answer.scores) == sorted(answer.scores, reverse=True)


def test_grep_scores_by_the_words_it_found() -> None:
    assert answered(Grep(), transcript("green apple", "an apple"), "the green apple").scores == (2.0, 1.0)


@pytest.mark.parametrize("system", [RandomOrder(seed=1), Recency()], ids=lambda system: system.name)
def test_a_baseline_that_ignores_the_question_has_no_scores(system: System) -> None:
    assert answered(system, transcript("an apple", "a pear"), "the apple").scores == ()


@pytest.mark.parametrize("question", ["Ines", "What was said in May?"])
def test_with_headings_speaker_and_month_are_found(question: str) -> None:
    told = transcript("a pear")
    assert answered(Bm25Baseline(), told, question).scores == (0.0,)
    assert answered(WithHeadings(Bm25Baseline()), told, question).scores[0] > 0


def test_a_system_with_headings_is_distinguished_by_its_name() -> None:
    assert WithHeadings(Bm25Baseline()).name == "bm25+heading"
