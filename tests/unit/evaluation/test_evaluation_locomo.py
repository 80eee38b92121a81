"""Reading the data set: corrected, excluded and refused records."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from remembrancer.errors import InvalidInput
from remembrancer.evaluation.dataset import Conversation
from remembrancer.evaluation.locomo import load

TINY = Path(__file__).parents[2] / "fixtures" / "locomo" / "tiny.json"


@pytest.fixture
def first() -> Conversation:
    return load(TINY).conversations[0]


def test_turns_are_in_order_with_speaker_and_session(first: Conversation) -> None:
    assert [(turn.id, turn.session, turn.actor) for turn in first.transcript.turns] == [
        ("D1:1", "session_1", "Ines"),
        ("D1:2", "session_1", "Tomas"),
        ("D1:3", "session_1", "Ines"),
        ("D2:1", "session_2", "Tomas"),
        ("D2:2", "session_2", "Ines"),
    ]


def test_sessions_are_in_order_of_their_number_not_of_their_spelling() -> None:
    assert [turn.id for turn in load(TINY).conversations[1].transcript.turns] == ["D2:1", "D10:1"]


def test_a_shared_image_is_represented_by_its_caption(first: Conversation) -> None:
    assert first.transcript.turns[1].text == (
        "Good. I finally sold the green canoe. [shares an image: a canoe on a trailer]"
    )
    assert first.transcript.turns[2].text == "[shares an image: a frame full of honey]"


def test_turns_follow_each_other_from_the_sessions_time(first: Conversation) -> None:
    midnight = datetime(2024, 3, 3, 0, 5, tzinfo=UTC)
    assert [turn.occurred_at for turn in first.transcript.turns] == [
        midnight,
        midnight + timedelta(seconds=10),
        midnight + timedelta(seconds=20),
        datetime(2024, 3, 9, 13, 30, tzinfo=UTC),
        datetime(2024, 3, 9, 13, 30, 10, tzinfo=UTC),
    ]


def test_noon_is_twelve_pm() -> None:
    turns = load(TINY).conversations[1].transcript.turns
    assert turns[0].occurred_at == datetime(2024, 2, 29, 11, 59, tzinfo=UTC)
    assert turns[1].occurred_at == datetime(2024, 12, 31, 12, 0, tzinfo=UTC)


def test_evidence_is_mended(first: Conversation) -> None:
    assert [question.evidence for question in first.questions] == [
        ("D1:1",),
        ("D1:1", "D2:1", "D2:2"),
        ("D2:1",),
        ("D1:2",),
        ("D1:2",),
    ]


def test_sessions_of_the_evidence_come_once_each(first: Conversation) -> None:
    assert first.questions[1].sessions == ("session_1", "session_2")


def test_question_without_usable_evidence_is_left_out_and_counted() -> None:
    assert [(len(one.questions), one.excluded) for one in load(TINY).conversations] == [(5, 1), (1, 1)]


def test_categories_have_the_papers_names(first: Conversation) -> None:
    assert [question.category for question in first.questions] == [
        "single-hop",
        "multi-hop",
        "temporal",
        "open-domain",
        "adversarial",
    ]


def test_categories_with_an_answer_are_described_in_one_order() -> None:
    assert load(TINY).categories == ("single-hop", "multi-hop", "temporal", "open-domain")


def test_adversarial_questions_are_unanswerable_and_keep_the_turns_they_hint_at(first: Conversation) -> None:
    assert [question.answerable for question in first.questions] == [True, True, True, True, False]
    assert first.questions[-1].evidence == ("D1:2",)


def test_an_adversarial_question_needs_no_evidence(tmp_path: Path) -> None:
    document: Document = json.loads(TINY.read_text(encoding="utf-8"))
    document[0]["qa"][-1]["evidence"] = []
    path = tmp_path / "without.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    conversation = load(path).conversations[0]
    assert (conversation.questions[-1].evidence, conversation.excluded) == ((), 1)


def test_the_first_speaker_is_the_user(first: Conversation) -> None:
    assert {(turn.actor, turn.role) for turn in first.transcript.turns} == {("Ines", "user"), ("Tomas", "assistant")}


def test_questions_are_asked_a_day_after_the_last_turn(first: Conversation) -> None:
    assert {question.asked_at for question in first.questions} == {datetime(2024, 3, 10, 13, 30, 10, tzinfo=UTC)}


def test_questions_go_by_their_place_in_the_file(first: Conversation) -> None:
    assert [question.id for question in first.questions] == ["qa[0]", "qa[1]", "qa[2]", "qa[3]", "qa[5]"]


def test_gzip_reads_the_same(tmp_path: Path) -> None:
    packed = tmp_path / "tiny.json"  # by what it holds, not by its name
    packed.write_bytes(gzip.compress(TINY.read_bytes()))
    assert load(packed) == load(TINY)


Document = list[dict[str, Any]]


def without_conversation(document: Document) -> None:
    del document[1]["conversation"]


def without_time(document: Document) -> None:
    del document[0]["conversation"]["session_2_date_time"]


def without_sessions(document: Document) -> None:
    del document[1]["conversation"]["session_2"]
    del document[1]["conversation"]["session_10"]


def same_sample(document: Document) -> None:
    document[1]["sample_id"] = "tiny-1"


def same_turn(document: Document) -> None:
    document[0]["conversation"]["session_2"][0]["dia_id"] = "D1:1"


def set_turn(**values: object) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        document[0]["conversation"]["session_1"][0].update(values)

    return change


def set_question(**values: object) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        document[0]["qa"][2].update(values)

    return change


def set_time(value: object) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        document[0]["conversation"]["session_1_date_time"] = value

    return change


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (without_conversation, r"\[1\].*an object with conversation"),
        (without_time, r"\[0\]\.conversation:.*session_2_date_time"),
        (without_sessions, r"\[1\]\.conversation:.*at least one session"),
        (same_sample, r"sample_id:.*a different one for each"),
        (same_turn, r"\[0\]\.conversation\.dia_id: 'D1:1'"),
        (set_turn(dia_id="1"), r"session_1\[0\]\.dia_id: '1'"),
        (set_turn(speaker="Nobody"), r"session_1\[0\]\.speaker: 'Nobody'.*Ines or Tomas"),
        (set_turn(text=" "), r"session_1\[0\]\.text:.*an image with a caption"),
        (set_turn(text=None), r"session_1\[0\]:.*strings"),
        (set_turn(blip_caption=3), r"session_1\[0\]:.*strings"),
        (set_question(category=6), r"\[0\]\.qa\[2\]\.category: 6"),
        (set_question(category="4"), r"\[0\]\.qa\[2\]\.category: '4'"),
        (set_question(question=""), r"\[0\]\.qa\[2\]\.question"),
        (set_question(evidence="D1:1"), r"\[0\]\.qa\[2\]\.evidence:.*a JSON list"),
        (set_question(evidence=[7]), r"\[0\]\.qa\[2\]\.evidence\[0\]: 7"),
        (set_time("2024-03-03 00:05"), "session_1_date_time: '2024-03-03 00:05'"),
        (set_time("1:56 pm on 31 June, 2024"), "session_1_date_time"),
        (set_time("13:56 pm on 8 May, 2024"), "session_1_date_time"),
        (set_time("1:56 pm on 8 Mai, 2024"), "session_1_date_time"),
    ],
)
def test_damage_is_named(damage: Callable[[Document], None], named: str, tmp_path: Path) -> None:
    document: Document = copy.deepcopy(json.loads(TINY.read_text(encoding="utf-8")))
    damage(document)
    path = tmp_path / "damaged.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InvalidInput, match=named):
        load(path)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", "a JSON file"),
        (b"{", "a JSON file"),
        (b"\xff\xfe\x00", "a JSON file"),
        (b"{}", "a JSON list"),
        (b"[]", "at least one conversation"),
        (b"[3]", r"\[0\]: 3 is not allowed; expected a JSON object"),
        (b'[{"a": 1}]', r"\[0\]: \['a'\]"),
        (gzip.compress(b"[]" * 500, mtime=0)[:20], "a LoCoMo file"),
        (b"\x1f\x8bnot gzip at all", "a LoCoMo file"),
    ],
)
def test_another_file_is_refused(content: bytes, named: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(InvalidInput, match=named):
        load(path)


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no-such"):
        load(tmp_path / "no-such.json")
