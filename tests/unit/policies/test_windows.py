from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from golden_tables import cells, every_row, table

from remembrancer.errors import InvalidInput
from remembrancer.policies.segmentation.segments import Boundaries, BoundaryQuestion, Decision, Segment, StreamTurn
from remembrancer.policies.segmentation.windows import Windows
from remembrancer.testing.doubles import NOW, a_vector

LEVELS = {"low": 0.2, "high": 0.6, "extremely_high": 0.9}
WINDOWS = Windows()


def said(cell: str) -> list[StreamTurn]:
    """Turns by the minutes since the one before, without vectors, so that the surprise is the model's."""
    at, turns = NOW, list[StreamTurn]()
    for word in cell.split():
        count, _, minutes = word.rpartition("*")
        for _ in range(int(count or 1)):
            at += timedelta(minutes=float(minutes))
            turns.append(StreamTurn(at=at, speaker="ana", text="x" * 60))
    return turns


def answer(told: str) -> Boundaries:
    """A model's answer from the table: sizes and surprises."""
    words, segments, start = told.split(), list[Segment](), 0
    for size, level in zip(words[::2], words[1::2], strict=True):
        end = start + int(size)
        segments.append(
            Segment(start=start, end=end, surprise=LEVELS[level], reason="m", title="T", summary=f"to turn {end}")
        )
        start = end
    return Boundaries(segments=tuple(segments))


def worked(
    turns: Sequence[StreamTurn], answers: Iterator[str], note: Any, *, ended: bool
) -> tuple[list[str], list[str], Any]:
    """Ask and apply until no window is left. Returns the positions asked about, the segments and the note."""
    asked, told, begun = list[str](), list[str](), 0
    while True:
        plan = WINDOWS.plan(turns[begun:], note, ended=ended, with_model=True)
        if plan.question is None:
            return asked, told, plan.note
        asked.append(f"{begun}-{begun + plan.question.end}")
        decision = WINDOWS.apply(turns[begun:], plan, answer(next(answers)))
        told += [f"{begun + one.start}-{begun + one.end}:{one.surprise:g}" for one in decision.segments]
        begun += decision.segments[-1].end if decision.segments else 0
        note = decision.note


@every_row(table("windows"), cells)
def test_windows_are_asked_about_and_closed_as_worked_out(row: dict[str, str]) -> None:
    answers = iter(row["answers"].split(";"))
    asked, told, note = worked(said(row["turns"]), answers, {}, ended=row["ended"] == "yes")
    left = ["doubled"] if note.get("doubled") else []
    left += [f"{note['surprise']:g}"] if "surprise" in note else []
    assert (asked, told, left) == (row["asked"].split(), row["expected"].split(), row["left"].split())


@every_row(table("windows"), cells)
def test_the_calls_do_not_depend_on_how_many_turns_come_at_a_time(row: dict[str, str]) -> None:
    turns, answers = said(row["turns"]), iter(row["answers"].split(";"))
    asked, told, begun, note = list[str](), list[str](), 0, {}
    for end in range(1, len(turns) + 1):
        last = row["ended"] == "yes" and end == len(turns)
        more, closed, note = worked(turns[begun:end], answers, note, ended=last)
        asked += [shifted(one, begun) for one in more]
        told += [shifted(one, begun) for one in closed]
        begun = int(told[-1].partition(":")[0].partition("-")[2]) if told else 0
    # A stream that ends just when its window is full has been asked about as one that goes on: the answer is another.
    if row["ended"] == "no":
        assert (asked, told) == (row["asked"].split(), row["expected"].split())


def shifted(place: str, by: int) -> str:
    span, colon, rest = place.partition(":")
    start, _, end = span.partition("-")
    return f"{int(start) + by}-{int(end) + by}{colon}{rest}"


def applied(turns: Sequence[StreamTurn], note: Any, said_so: Boundaries | None, *, ended: bool = False) -> Decision:
    return WINDOWS.apply(turns, WINDOWS.plan(turns, note, ended=ended, with_model=True), said_so)


def test_the_summary_of_the_last_closed_segment_is_part_of_the_next_call() -> None:
    note = applied(said("20*1"), {}, answer("4 low 6 high 10 low")).note
    asked = WINDOWS.plan(said("20*1"), note, ended=False, with_model=True).question
    assert asked == BoundaryQuestion(start=0, end=20, whole=True, before="to turn 10")


def turning(*vectors: tuple[float, float]) -> list[StreamTurn]:
    """Turns a minute apart with these vectors."""
    return [
        StreamTurn(
            at=NOW + timedelta(minutes=place), speaker="ana", text="x" * 60, vector=np.array(vector, dtype=np.float32)
        )
        for place, vector in enumerate(vectors)
    ]


EAST, NORTH, WEST = (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0)


@pytest.mark.parametrize(
    ("before", "turn", "surprise"),
    [
        ([EAST] * 3, EAST, 0.0),
        ([EAST] * 3, (0.6, 0.8), 0.4),
        ([EAST] * 3, NORTH, 1.0),
        ([EAST] * 3, WEST, 1.0),
        ([EAST, NORTH], EAST, 1 - 0.5**0.5),
    ],
    ids=["the same", "an angle", "another", "the opposite", "a mean of two"],
)
@pytest.mark.parametrize("word", LEVELS)
def test_surprise_is_one_less_the_cosine_with_the_previous_segment_and_not_the_models_rating(
    before: list[tuple[float, float]], turn: tuple[float, float], surprise: float, word: str
) -> None:
    turns = turning(*before, turn, EAST)
    segments = applied(turns, {}, answer(f"{len(before)} {word} 2 {word}"), ended=True).segments
    assert [one.surprise for one in segments] == [0.0, pytest.approx(surprise, abs=1e-6)]


def test_a_segment_that_stays_open_keeps_its_surprise_until_it_is_complete() -> None:
    turns = turning(*[EAST] * 15, *[(0.6, 0.8)] * 15)
    note = applied(turns[:20], {}, answer("15 low 5 low")).note
    assert note["surprise"] == pytest.approx(0.4, abs=1e-6)
    [segment] = applied(turns[15:], note, answer("15 extremely_high"), ended=True).segments
    assert segment.surprise == pytest.approx(0.4, abs=1e-6)


def test_a_turn_without_a_vector_has_the_models_surprise() -> None:
    turns = [*said("3*1"), *turning(EAST, NORTH)]
    assert [one.surprise for one in applied(turns, {}, answer("3 high 2 high"), ended=True).segments] == [0.6, 0.6]


def test_a_models_titles_and_summaries_come_with_its_segments() -> None:
    [segment] = applied(said("20*1"), {}, answer("4 low 16 high")).segments
    assert (segment.title, segment.summary) == ("T", "to turn 4")


def test_the_end_of_a_stream_is_the_reason_its_last_segment_ends() -> None:
    segments = applied(said("6*1"), {}, answer("4 low 2 high"), ended=True).segments
    assert [one.reason for one in segments] == ["m", "end of the stream"]


def test_a_window_with_an_invalid_answer_is_decided_without() -> None:
    turns = [
        *said("10*1"),
        *[StreamTurn(at=NOW + timedelta(hours=1), speaker="b", text="y" * 60, vector=a_vector(0, 1))] * 10,
    ]
    segments = applied(turns, {}, None).segments
    assert [(one.start, one.end, one.reason) for one in segments] == [(0, 10, "time gap")]


def test_a_full_window_of_one_thing_with_an_invalid_answer_waits_for_more() -> None:
    decision = applied(said("20*1"), {}, None)
    assert (decision.segments, decision.note) == ((), {"doubled": True})


def test_a_doubled_window_with_an_invalid_answer_is_closed() -> None:
    assert [(one.start, one.end) for one in applied(said("40*1"), {"doubled": True}, None).segments] == [(0, 40)]


def test_without_a_model_another_segmenter_decides() -> None:
    turns = [*said("4*1"), StreamTurn(at=NOW + timedelta(hours=1), speaker="b", text="y" * 60, vector=a_vector(0, 1))]
    plan = WINDOWS.plan(turns, {}, ended=False, with_model=False)
    assert plan.question is None
    assert [(one.start, one.end, one.reason) for one in plan.settled] == [(0, 4, "time gap")]


@pytest.mark.parametrize(
    ("name", "value"), [("size", 1), ("size", 201), ("fewest", 0), ("fewest", 21), ("hours", -1.0)]
)
def test_a_window_out_of_range_is_refused(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        Windows(**{name: value})
    assert caught.value.argument == f"windows.{name}"
