"""Episode boundaries without a model: by topic, pause and length; and the state kept between two runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from remembrancer.errors import InvalidInput
from remembrancer.policies.segmentation.segments import ENDED, Note, Segment, StreamTurn
from remembrancer.policies.segmentation.topic_shift import LENGTH, TIME_GAP, TOPIC, TopicShift

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
SECONDS = timedelta(seconds=20)

LATHE = (
    "The lathe makes a terrible noise since this morning.",
    "Is the belt of the lathe worn?",
    "Yes, the belt is worn and the lathe slips.",
    "Then order a new belt for the lathe today.",
    "Thanks, the belt for the lathe is ordered.",
)
ORCHARD = (
    "Which trees should we plant behind the orchard?",
    "Pear trees would suit the orchard, and perhaps a quince.",
    "How many pear trees fit into the orchard?",
    "Four pear trees and one quince fit behind the orchard.",
    "Great, then the orchard gets its pear trees in autumn.",
    "Pear trees behind the orchard want a fence.",
    "A fence of the orchard keeps the deer from the pear trees.",
    "So be it, a fence for the orchard.",
)


def said(
    texts: Sequence[str], *, every: timedelta = SECONDS, begin: datetime = NOON, vectors: Sequence[int] | None = None
) -> list[StreamTurn]:
    """`vectors`: the axis along which each turn's vector mostly lies."""
    rows = [None] * len(texts) if vectors is None else [along(axis, at) for at, axis in enumerate(vectors)]
    return [
        StreamTurn(at=begin + every * place, speaker="AB"[place % 2], text=text, vector=vector)
        for place, (text, vector) in enumerate(zip(texts, rows, strict=True))
    ]


def along(axis: int, place: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    vector = 0.1 * np.abs(np.sin(np.arange(1, 9) * (place + 1)))
    vector[axis] += 1
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def segments(
    turns: Sequence[StreamTurn], note: Note | None = None, *, ended: bool = True, **rules: float
) -> list[Segment]:
    segmenter = TopicShift(**rules)  # type: ignore[arg-type]
    plan = segmenter.plan(turns, note or {}, ended=ended, with_model=True)
    assert plan.question is None
    decision = segmenter.apply(turns, plan, None)
    assert decision.note == plan.note
    return list(decision.segments)


def spans(found: Sequence[Segment]) -> list[tuple[int, int, str]]:
    return [(one.start, one.end, one.reason) for one in found]


def test_an_episode_ends_where_the_words_change() -> None:
    assert spans(segments(said([*LATHE, *ORCHARD]))) == [(0, 5, TOPIC), (5, 13, ENDED)]


def test_an_episode_ends_where_the_vectors_change() -> None:
    turns = said(["A turn of some words"] * 16, vectors=[0] * 8 + [1] * 8)
    told = [
        turn if at != 8 else StreamTurn(at=turn.at, speaker="A", text="Quite other words", vector=turn.vector)
        for at, turn in enumerate(turns)
    ]
    assert spans(segments(told)) == [(0, 8, TOPIC), (8, 16, ENDED)]


def test_where_nothing_changes_there_is_one_episode() -> None:
    assert spans(segments(said(ORCHARD))) == [(0, 8, ENDED)]


def test_a_question_keeps_its_answer() -> None:
    asked = [*LATHE[:4], "Which trees should we plant?", *ORCHARD[1:]]
    boundaries = [one.start for one in segments(said(asked))]
    assert 5 not in boundaries


def test_a_long_pause_ends_an_episode_with_any_text() -> None:
    turns = [*said(ORCHARD[:1]), *said(ORCHARD[1:], begin=NOON + timedelta(hours=3))]
    assert spans(segments(turns)) == [(0, 1, TIME_GAP), (1, 8, ENDED)]


def test_a_silence_that_is_usual_ends_nothing() -> None:
    slow = said([*ORCHARD, *ORCHARD], every=timedelta(minutes=14))
    late = [*slow, *said(ORCHARD[:4], begin=slow[-1].at + timedelta(hours=1))]
    assert TIME_GAP not in [one.reason for one in segments(late)]


def test_a_stream_of_a_turn_a_day_becomes_its_own_pace() -> None:
    found = segments(said([ORCHARD[place % 8] for place in range(60)], every=timedelta(days=1)))
    assert found[0].reason == TIME_GAP
    assert TIME_GAP not in [one.reason for one in found if one.start >= 30]


def test_a_short_silence_ends_nothing() -> None:
    turns = [*said(ORCHARD[:4]), *said(ORCHARD[4:], begin=NOON + timedelta(minutes=10))]
    assert spans(segments(turns)) == [(0, 8, ENDED)]


def test_no_episode_is_longer_than_the_most() -> None:
    found = segments(said([ORCHARD[place % 8] for place in range(130)]), most=50)
    assert max(one.end - one.start for one in found) <= 50
    assert found[0].reason == LENGTH
    assert found[0].end >= 25


def test_no_episode_of_a_topic_is_shorter_than_the_fewest() -> None:
    texts = [text for pair in zip(LATHE, ORCHARD, strict=False) for text in pair]
    found = segments(said([*texts, *texts]), fewest=4, eagerness=100.0)
    assert min(one.end - one.start for one in found) >= 4


def test_more_eagerness_makes_more_episodes() -> None:
    turns = said([*LATHE, *ORCHARD, *LATHE])
    counts = [len(segments(turns, eagerness=eagerness)) for eagerness in (-100.0, 0.0, 100.0)]
    assert counts == sorted(set(counts))
    assert counts[0] == 1


def test_the_open_episode_stays_in_the_tail() -> None:
    turns = said([*LATHE, *ORCHARD])
    assert spans(segments(turns, ended=False)) == [(0, 5, TOPIC)]
    assert segments(turns[:11], ended=False) == []


def test_a_boundary_waits_for_the_configured_number_of_turns() -> None:
    ahead = TopicShift().ahead
    assert ahead <= 8
    turns = said([*LATHE, *ORCHARD])
    assert segments(turns[: 5 + ahead - 1], ended=False) == []
    assert len(segments(turns[: 5 + ahead], ended=False)) == 1


def test_surprise_is_how_far_a_turn_lies_from_the_episode_before() -> None:
    turns = said([*LATHE, *ORCHARD], vectors=[0] * 5 + [1] * 8)
    first, second = segments(turns)
    mean = np.mean([turn.vector for turn in turns[:5] if turn.vector is not None], axis=0)
    assert turns[5].vector is not None
    expected = 1 - float(turns[5].vector @ mean / np.linalg.norm(mean))
    assert first.surprise == 0
    assert second.surprise == pytest.approx(expected, abs=1e-6)
    assert second.surprise > 0.5


def test_surprise_reaches_the_next_time_in_the_note() -> None:
    segmenter = TopicShift()
    turns = said([*LATHE, *ORCHARD], vectors=[0] * 5 + [1] * 8)
    plan = segmenter.plan(turns, {}, ended=False, with_model=False)
    later = segmenter.plan(turns[5:], plan.note, ended=True, with_model=False)
    assert later.settled[0].surprise == segments(turns)[1].surprise


def test_nothing_is_surprising_without_vectors() -> None:
    assert [one.surprise for one in segments(said([*LATHE, *ORCHARD]))] == [0, 0]


def test_a_turn_without_a_vector_is_compared_by_its_words() -> None:
    turns = said([*LATHE, *ORCHARD], vectors=[0] * 5 + [1] * 8)
    bare = [
        StreamTurn(at=turn.at, speaker=turn.speaker, text=turn.text, vector=None if at % 3 else turn.vector)
        for at, turn in enumerate(turns)
    ]
    assert [one.end for one in segments(bare)] == [5, 13]


def test_no_turns_change_nothing() -> None:
    plan = TopicShift().plan([], {"kept": 1}, ended=True, with_model=False)
    assert (plan.settled, plan.note) == ((), {"kept": 1})


def test_the_note_is_small_json_however_long_the_stream() -> None:
    turns = said([ORCHARD[place % 8] for place in range(300)])
    note = TopicShift().plan(turns, {}, ended=False, with_model=False).note
    assert len(json.dumps(dict(note))) < 400


@pytest.mark.parametrize(
    "note", [{"pace": "x"}, {"pace": [0, 1.0]}, {"vectors": [1]}, {"surprise": "much"}, {"about": "a"}]
)
def test_a_note_of_another_segmenter_is_no_hindrance(note: Note) -> None:
    turns = said([*LATHE, *ORCHARD])
    assert segments(turns, note) == segments(turns)


@pytest.mark.parametrize(
    ("rule", "value"),
    [("most", 1), ("fewest", 0), ("fewest", 26), ("gap_minutes", -1.0), ("gap_factor", 0.5), ("eagerness", 101.0)],
)
def test_rules_that_cannot_be_are_refused(rule: str, value: float) -> None:
    with pytest.raises(InvalidInput, match=f"topic_shift.{rule}"):
        TopicShift(**{rule: value})  # type: ignore[arg-type]
