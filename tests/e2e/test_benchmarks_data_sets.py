"""The data sets in benchmarks/: every file loads, and the evidence of each question says what it is taken for."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from remembrancer.evaluation import questions
from remembrancer.evaluation.dataset import Dataset

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SETS = sorted(path.parent.name for path in BENCHMARKS.glob("*/questions.jsonl"))
QUOTED = sorted(path.parent.name for path in BENCHMARKS.glob("*/evidence.jsonl"))
WITHOUT_ANSWER = {"unanswerable", "foreign"}


def load(name: str) -> Dataset:
    """Loading refuses duplicate ids, and gold turns that do not exist."""
    return questions.load(BENCHMARKS / name / "corpus.jsonl", BENCHMARKS / name / "questions.jsonl")


def quotes(name: str) -> dict[tuple[str, str], dict[str, str]]:
    """By conversation and id of a question: by gold turn, the words of it that answer."""
    lines = (BENCHMARKS / name / "evidence.jsonl").read_text(encoding="utf-8").splitlines()
    records: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return {(one["conversation"], one["id"]): one["quotes"] for one in records}


@pytest.mark.parametrize("name", SETS)
def test_no_question_is_asked_twice(name: str) -> None:
    asked = Counter((one.id, question.text) for one in load(name).conversations for question in one.questions)
    assert not [question for question, times in asked.items() if times > 1]


@pytest.mark.parametrize("name", SETS)
def test_turns_are_in_order_of_time(name: str) -> None:
    for conversation in load(name).conversations:
        times = [turn.occurred_at for turn in conversation.transcript.turns]
        assert times == sorted(times)


@pytest.mark.parametrize("name", SETS)
def test_questions_have_evidence_unless_their_category_says_that_they_have_none(name: str) -> None:
    for conversation in load(name).conversations:
        for question in conversation.questions:
            assert question.answerable == (question.category not in WITHOUT_ANSWER), question.id


@pytest.mark.parametrize("name", QUOTED)
def test_every_gold_turn_contains_the_words_that_answer(name: str) -> None:
    quoted = quotes(name)
    for conversation in load(name).conversations:
        text = {turn.id: turn.text.casefold() for turn in conversation.transcript.turns}
        for question in conversation.questions:
            words = quoted[conversation.id, question.id]
            assert set(words) == set(question.evidence)
            assert not [turn for turn, said in words.items() if said.casefold() not in text[turn]], question.id
