"""Recall in the mode `message`: memories that matter to a turn of a conversation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from remembrancer import InvalidInput, Recall, Remembrancer
from remembrancer.domain.recall import RecallMode, Stage
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import HashEmbedder

MESSAGE = "The deploy of checkout ran out of memory again"


def texts(answer: Recall) -> list[str]:
    return [hit.memory.text for hit in answer]


@pytest.fixture
def filed(rem: Remembrancer) -> Remembrancer:
    rem.remember("checkout ran out of memory in the deploy on Monday")
    rem.remember("The heron flew over the harbour")
    rem.jobs.index_now()
    return rem


def test_a_message_finds_what_matters_to_it(filed: Remembrancer) -> None:
    assert texts(filed.recall(MESSAGE, mode="message")) == ["checkout ran out of memory in the deploy on Monday"]


@pytest.mark.parametrize("said", ["ok thanks!", "Sounds good, see you tomorrow.", "👍", "go on", "yes please"])
def test_small_talk_gets_nothing(filed: Remembrancer, said: str) -> None:
    filed.remember("ok thanks, sounds good, go on, yes please, see you tomorrow 👍")
    assert len(filed.recall(said, mode="message")) == 0


def test_without_a_threshold_small_talk_is_searched_too(filed: Remembrancer) -> None:
    assert len(filed.recall("ok thanks!", mode="message", floor="off")) == 2


def test_the_message_itself_is_not_returned(filed: Remembrancer) -> None:
    turn = filed.observe(MESSAGE)
    filed.jobs.index_now()
    answer = filed.recall(MESSAGE, mode="message")
    assert MESSAGE not in texts(answer)
    assert Stage.MESSAGE in {outcome.stage for outcome in answer.trace.outcomes.values()}
    recorded = next(one.id for one in filed.recent() if one.text == turn.text)
    assert filed.why_not(recorded, MESSAGE, mode="message").stage is Stage.MESSAGE


def test_a_message_gets_a_few_hits(rem: Remembrancer) -> None:
    for number in range(12):
        rem.remember(f"checkout deploy number {number} ran out of memory")
    rem.jobs.index_now()
    assert DEFAULT.messages is not None
    assert len(rem.recall(MESSAGE, mode="message")) == DEFAULT.messages.usual
    assert len(rem.recall(MESSAGE, mode="message", limit=9)) == 9


def test_a_message_is_scored_by_its_own_ranking(filed: Remembrancer) -> None:
    hit = filed.recall(MESSAGE, mode=RecallMode.MESSAGE)[0]
    assert {part.label for part in hit.explanation.score.parts} >= {"similarity", "coverage"}
    assert "nearby" not in {part.label for part in hit.explanation.score.parts}


@pytest.mark.parametrize("mode", ["statement", "", None, 1], ids=str)
def test_an_unknown_mode_is_refused(filed: Remembrancer, mode: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^mode: .*one of question, message"):
        filed.recall(MESSAGE, mode=mode)


def test_a_message_is_not_ranked_by_a_ranking_for_questions(filed: Remembrancer) -> None:
    with pytest.raises(InvalidInput, match=r"^ranking: 'hybrid' .*in the mode message"):
        filed.recall(MESSAGE, mode="message", ranking="hybrid")


def test_a_preset_without_a_ranking_for_messages_says_so() -> None:
    with (
        Remembrancer.open(":memory:", preset="engram", embedder=HashEmbedder()) as rem,
        pytest.raises(InvalidInput, match=r"^mode: .*question: preset engram has no ranking for messages"),
    ):
        rem.recall(MESSAGE, mode="message")


def test_without_an_embedder_a_message_is_searched_by_its_words() -> None:
    with Remembrancer.open(":memory:", embedder="none") as rem:
        rem.remember("checkout ran out of memory in the deploy on Monday")
        assert len(rem.recall(MESSAGE, mode="message")) == 1


STATEMENT = "The deploy of checkout ran out of memory again."


def test_a_statement_that_is_asked_as_a_question_is_ranked_as_a_message(filed: Remembrancer) -> None:
    asked, message = filed.recall(STATEMENT), filed.recall(STATEMENT, mode="message")
    assert asked.trace.kind == "statement"
    assert [(hit.id, hit.score) for hit in asked] == [(hit.id, hit.score) for hit in message]


def test_a_statement_that_is_asked_as_a_question_finds_its_own_text(filed: Remembrancer) -> None:
    filed.observe(STATEMENT)
    filed.jobs.index_now()
    assert STATEMENT in texts(filed.recall(STATEMENT))


def test_a_statement_has_as_many_hits_as_a_question(rem: Remembrancer) -> None:
    for number in range(12):
        rem.remember(f"checkout deploy number {number} ran out of memory")
    rem.jobs.index_now()
    assert len(rem.recall(STATEMENT)) == DEFAULT.limits.usual


def test_small_talk_that_is_asked_as_a_question_is_searched(filed: Remembrancer) -> None:
    filed.remember("ok thanks, sounds good!")
    filed.jobs.index_now()
    assert len(filed.recall("Sounds good.")) == 1


def test_a_statement_is_ranked_by_the_named_ranking() -> None:
    named = replace(DEFAULT, rankings={"questions": DEFAULT.ranking})
    with Remembrancer.open(":memory:", preset=named, embedder=HashEmbedder()) as rem:
        rem.remember(STATEMENT)
        rem.jobs.index_now()
        parts = rem.recall(STATEMENT, ranking="questions")[0].explanation.score.parts
        assert "nearby" in {part.label for part in parts}
