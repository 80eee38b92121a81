"""Custom data sets: accepted input, defaults, and errors with their line."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from remembrancer.errors import InvalidInput
from remembrancer.evaluation.dataset import Dataset
from remembrancer.evaluation.questions import QUESTION_KEYS, TURN_KEYS, load

OWN = Path(__file__).parents[2] / "fixtures" / "questions"
CORPUS, QUESTIONS = OWN / "corpus.jsonl", OWN / "questions.jsonl"
TURN = {"id": "a", "text": "the green canoe"}
QUESTION = {"question": "Which canoe?", "gold": ["a"]}


def written(path: Path, *records: object) -> Path:
    """Write one record per line; a text is written unchanged."""
    lines = (record if isinstance(record, str) else json.dumps(record) for record in records)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def own(tmp_path: Path, turns: list[Any], questions: list[Any]) -> Dataset:
    return load(written(tmp_path / "corpus.jsonl", *turns), written(tmp_path / "questions.jsonl", *questions))


@pytest.fixture
def dataset() -> Dataset:
    return load(CORPUS, QUESTIONS)


def test_conversations_come_in_the_order_of_their_first_turns(dataset: Dataset) -> None:
    assert [(one.id, len(one.transcript.turns), len(one.questions)) for one in dataset.conversations] == [
        ("workshop", 5, 4),
        ("garden", 4, 3),
    ]


def test_a_turn_has_the_values_of_its_line(dataset: Dataset) -> None:
    turn = dataset.conversations[0].transcript.turns[1]
    assert (turn.id, turn.session, turn.actor, turn.role) == ("w2", "monday", "Otto", "assistant")
    assert turn.occurred_at == datetime(2026, 2, 2, 9, 2, tzinfo=UTC)


def test_turns_without_a_time_follow_each_other(tmp_path: Path) -> None:
    timed = {"id": "b", "text": "x", "occurred_at": "2026-01-01T00:00:00+01:00"}
    read = own(tmp_path, [TURN, timed, {"id": "c", "text": "y"}], [QUESTION])
    begun = datetime(2025, 12, 31, 23, 0, tzinfo=UTC)
    assert [turn.occurred_at for turn in read.conversations[0].transcript.turns] == [
        datetime(2000, 1, 1, tzinfo=UTC),
        begun,
        begun + timedelta(seconds=10),
    ]


def test_a_question_without_gold_turns_is_unanswerable(dataset: Dataset) -> None:
    asked = [question for one in dataset.conversations for question in one.questions]
    assert [question.text for question in asked if not question.answerable] == [
        "Which kiln did Ruth buy?",
        "What colour is the greenhouse?",
    ]


def test_categories_are_those_of_the_answerable_questions(dataset: Dataset) -> None:
    assert dataset.categories == ("when", "what", "several", "uncategorised")


def test_a_question_without_an_id_is_named_by_its_line(dataset: Dataset) -> None:
    assert [question.id for question in dataset.conversations[1].questions] == ["line 5", "line 6", "line 7"]


def test_the_same_id_in_two_conversations_names_two_turns(dataset: Dataset) -> None:
    question = dataset.conversations[1].questions[1]
    assert (question.evidence, question.sessions) == (("w1",), ("w1",))


def test_sessions_of_the_evidence_come_once_each(dataset: Dataset) -> None:
    assert dataset.conversations[0].questions[2].sessions == ("monday", "friday")


def test_a_question_is_asked_at_its_given_time_or_a_day_after_the_last_turn(dataset: Dataset) -> None:
    assert dataset.conversations[1].questions[0].asked_at == datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
    assert dataset.conversations[0].questions[0].asked_at == datetime(2026, 2, 7, 16, 1, tzinfo=UTC)


def test_one_conversation_need_not_be_named(tmp_path: Path) -> None:
    assert own(tmp_path, [TURN], [QUESTION]).ids == ("main",)
    named = {**TURN, "conversation": "lake"}
    assert own(tmp_path, [named], [QUESTION]).conversations[0].questions[0].evidence == ("a",)


def test_the_checksum_is_of_both_files(dataset: Dataset) -> None:
    assert dataset.sha256 == hashlib.sha256(CORPUS.read_bytes() + QUESTIONS.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("{", r"corpus\.jsonl:2: 'not a JSON object.*one JSON object on each line"),
        ("[1]", r"corpus\.jsonl:2:.*one JSON object on each line"),
        ({"text": "x"}, r"corpus\.jsonl:2: id: None"),
        ({"id": "", "text": "x"}, r"corpus\.jsonl:2: id: ''"),
        ({"id": 3, "text": "x"}, r"corpus\.jsonl:2: id: 3"),
        ({"id": "a", "text": "again"}, r"corpus\.jsonl:2: id: 'a'.*no other turn of conversation 'main'"),
        ({"id": "b"}, r"corpus\.jsonl:2: text: None"),
        ({"id": "b", "text": "  "}, r"corpus\.jsonl:2: text: '  '.*not blank"),
        ({"id": "b", "text": "x", "role": "judge"}, r"corpus\.jsonl:2: role: 'judge'.*user, assistant"),
        ({"id": "b", "text": "x", "occurred_at": "yesterday"}, r"corpus\.jsonl:2: occurred_at: 'yesterday'.*ISO 8601"),
        ({"id": "b", "text": "x", "occurred_at": "2026-01-01T00:00:00"}, r"corpus\.jsonl:2: occurred_at:.*UTC offset"),
        (
            {"id": "b", "text": "x", "occurred_at": "9999-12-31T00:00:00Z"},
            r"corpus\.jsonl:2: occurred_at:.*before 9999",
        ),
        ({"id": "b", "text": "x", "session": 4}, r"corpus\.jsonl:2: session: 4"),
        ({"id": "b", "text": "x", "actor": "a\u0007b"}, r"corpus\.jsonl:2: actor:.*without control characters"),
        ({"id": "b", "text": "x", "gold": []}, r"corpus\.jsonl:2: key: 'gold'.*keys of a turn: id, text"),
        ('{"id": "b", "text": "\\ud800"}', r"corpus\.jsonl:2: text:.*lone surrogate"),
    ],
)
def test_a_turn_that_is_not_right_is_refused_with_its_line(line: object, named: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=named):
        own(tmp_path, [TURN, line], [QUESTION])


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("nonsense", r"questions\.jsonl:2:.*one JSON object on each line"),
        ({"gold": ["a"]}, r"questions\.jsonl:2: question: None"),
        ({"question": "?"}, r"questions\.jsonl:2: gold: None.*a list of ids of turns, empty where nothing answers"),
        ({"question": "?", "gold": "a"}, r"questions\.jsonl:2: gold: 'a'.*a JSON list"),
        ({"question": "?", "gold": [7]}, r"questions\.jsonl:2: gold: 7"),
        ({"question": "?", "gold": ["z"]}, r"questions\.jsonl:2: gold: 'z'.*a turn of conversation 'main'"),
        (
            {"question": "?", "gold": ["b"]},
            r"questions\.jsonl:2: gold: 'b'.*a turn of conversation 'main' \(b is in other\)",
        ),
        ({"question": "?", "gold": ["a", "a"]}, r"questions\.jsonl:2: gold: 'a'.*each id once"),
        (
            {"question": "?", "gold": ["a"], "conversation": "none"},
            r"questions\.jsonl:2: conversation: 'none'.*main, other",
        ),
        ({"question": "?", "gold": ["a"], "id": "one"}, r"questions\.jsonl:2: id: 'one'.*no other question"),
        ({"question": "?", "gold": ["a"], "category": ["x"]}, r"questions\.jsonl:2: category: \['x'\]"),
        (
            {"question": "?", "gold": ["a"], "asked_at": "1999-01-01T00:00:00Z"},
            r"questions\.jsonl:2: asked_at:.*not before the last turn's \(2000-01-01T00:00:00\+00:00\)",
        ),
        ({"question": "?", "golden": ["a"]}, r"questions\.jsonl:2: key: 'golden'.*keys of a question: question, gold"),
    ],
)
def test_a_question_that_is_not_right_is_refused_with_its_line(
    line: str | dict[str, Any], named: str, tmp_path: Path
) -> None:
    first = {**QUESTION, "conversation": "main", "id": "one"}
    second = line if isinstance(line, str) else {"conversation": "main", **line}
    with pytest.raises(InvalidInput, match=named):
        own(tmp_path, [TURN, {"id": "b", "text": "x", "conversation": "other"}], [first, second])


def test_a_question_must_name_its_conversation_where_there_are_several(tmp_path: Path) -> None:
    turns = [{"id": "a", "text": "x", "conversation": name} for name in ("one", "two")]
    with pytest.raises(InvalidInput, match=r"questions\.jsonl:1: conversation: None.*one of the corpus: one, two"):
        own(tmp_path, turns, [QUESTION])


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_an_empty_corpus_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text(content)
    with pytest.raises(InvalidInput, match=r"corpus:.*at least one turn"):
        load(tmp_path / "corpus.jsonl", written(tmp_path / "questions.jsonl", QUESTION))


def test_more_turns_at_one_moment_than_can_be_looked_through_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remembrancer.evaluation.questions.MAX_AT_ONCE", 1)
    at = "2026-01-01T00:00:00Z"
    turns = [{**TURN, "id": name, "occurred_at": at} for name in "ab"]
    with pytest.raises(InvalidInput, match=r"corpus\.jsonl:2: occurred_at:.*at most 1 turns at one moment"):
        own(tmp_path, turns, [QUESTION])


def test_no_questions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"questions:.*at least one question"):
        own(tmp_path, [TURN], [])


@pytest.mark.parametrize("missing", ["corpus", "questions"])
def test_a_file_that_is_not_there_is_refused_by_its_argument(missing: str, tmp_path: Path) -> None:
    written(tmp_path / "corpus.jsonl", TURN)
    written(tmp_path / "questions.jsonl", QUESTION)
    (tmp_path / f"{missing}.jsonl").unlink()
    with pytest.raises(InvalidInput, match=rf"{missing}:.*there is no file at this path"):
        load(tmp_path / "corpus.jsonl", tmp_path / "questions.jsonl")


def test_the_example_of_the_documentation_is_read(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "evaluation.md").read_text(encoding="utf-8")
    corpus, questions, *_ = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    read = load(written(tmp_path / "corpus.jsonl", corpus), written(tmp_path / "questions.jsonl", questions))
    assert [question.evidence for question in read.conversations[0].questions] == [("w2",), ()]


def test_every_key_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "evaluation.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[^|]*) \|", page, re.MULTILINE)
    documented = {key for row in rows for key in re.findall(r"`([^`]*)`", row)}
    assert {*TURN_KEYS, *QUESTION_KEYS} <= documented
