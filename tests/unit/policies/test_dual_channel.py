from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from golden_tables import cells, every_row, table

from remembrancer.errors import InvalidInput
from remembrancer.policies.segmentation.dual_channel import DualChannel
from remembrancer.policies.segmentation.segments import Boundaries, BoundaryQuestion, Segment, StreamTurn
from remembrancer.testing.doubles import NOW

PLACES = {
    "a": (1.0, 0.0),
    "b": (0.8, 0.6),
    "c": (0.6, 0.8),
    "d": (0.352, 0.936),
    "e": (0.28, 0.96),
    "f": (0.0, 1.0),
    "g": (-0.6, 0.8),
    "h": (-1.0, 0.0),
}
RULES = DualChannel()
STAYS = Boundaries(segments=(Segment(start=0, end=4, surprise=0.0, reason=""),), about="deploys")
LEAVES = Boundaries(
    segments=(Segment(start=0, end=3, surprise=0.0, reason=""), Segment(start=3, end=4, surprise=0.0, reason=""))
)


def said(cell: str) -> list[StreamTurn]:
    """Turns as the table has them: minutes since the one before, characters, place."""
    turns: list[StreamTurn] = []
    at = NOW
    for word in cell.split():
        count, _, told = word.rpartition("*")
        minutes, characters, place = told.split(":")
        for _ in range(int(count or 1)):
            at += timedelta(minutes=float(minutes))
            vector = np.array(PLACES[place], dtype=np.float32) if place in PLACES else None
            turns.append(StreamTurn(at=at, speaker="ana", text="x" * int(characters), vector=vector))
    return turns


def decided(turns: Sequence[StreamTurn], note: Any, *, ended: bool = False) -> tuple[tuple[Segment, ...], Any]:
    decision = RULES.apply(turns, RULES.plan(turns, note, ended=ended, with_model=False), None)
    return decision.segments, decision.note


@every_row(table("dual_channel"), cells)
def test_it_cuts_where_the_rules_and_channels_do(row: dict[str, str]) -> None:
    turns = said(row["turns"])
    segments, note = decided(turns, {"surprise": float(row["began"])}, ended=row["ended"] == "yes")
    expected = [one.split(":") for one in row["expected"].split("; ") if one]
    assert [(f"{one.start}-{one.end}", one.reason) for one in segments] == [(span, why) for span, why, _ in expected]
    surprises = [one.surprise for one in segments]
    assert surprises == pytest.approx([float(surprise) for *_, surprise in expected], abs=1e-6)
    assert note.get("surprise", 0.0) == pytest.approx(float(row["left"]), abs=1e-6)


@every_row(table("dual_channel"), cells)
def test_boundaries_do_not_depend_on_how_many_turns_come_at_a_time(row: dict[str, str]) -> None:
    turns, note = said(row["turns"]), {"surprise": float(row["began"])}
    at_once, _ = decided(turns, note, ended=row["ended"] == "yes")
    one_by_one: list[Segment] = []
    begun, told = 0, note
    for end in range(1, len(turns) + 1):
        segments, told = decided(turns[begun:end], told, ended=row["ended"] == "yes" and end == len(turns))
        one_by_one += [replace(one, start=one.start + begun, end=one.end + begun) for one in segments]
        begun = one_by_one[-1].end if one_by_one else 0
    assert tuple(one_by_one) == at_once


def test_a_model_is_asked_where_neither_channel_is_sure() -> None:
    plan = RULES.plan(said("3*1:60:a 1:60:d 5*1:60:a"), {"about": "deploys"}, ended=True, with_model=True)
    assert plan.question == BoundaryQuestion(start=0, end=4, whole=False, before="deploys")


def test_boundaries_before_the_question_are_final() -> None:
    plan = RULES.plan(said("3*1:60:a 3*1:60:h 1:60:g"), {}, ended=False, with_model=True)
    assert [(one.start, one.end) for one in plan.settled] == [(0, 3)]
    assert plan.question is None


def test_a_model_that_sees_something_new_ends_the_segment_before_the_turn() -> None:
    turns = said("3*1:60:a 1:60:d")
    decision = RULES.apply(turns, RULES.plan(turns, {}, ended=False, with_model=True), LEAVES)
    assert [(one.start, one.end) for one in decision.segments] == [(0, 3)]
    assert decision.note == {"surprise": pytest.approx(0.648, abs=1e-6)}


def test_a_model_is_not_asked_again_about_turns_that_it_joined() -> None:
    turns = said("3*1:60:a 1:60:d")
    note = RULES.apply(turns, RULES.plan(turns, {}, ended=False, with_model=True), STAYS).note
    assert RULES.plan(turns, note, ended=False, with_model=True).question is None


def test_the_topic_given_by_a_model_is_part_of_the_next_question() -> None:
    turns = said("3*1:60:a 2*1:60:d")
    note = RULES.apply(turns[:4], RULES.plan(turns[:4], {}, ended=False, with_model=True), STAYS).note
    asked = RULES.plan(said("3*1:60:a 1:60:d 1:60:e"), note, ended=False, with_model=True).question
    assert asked == BoundaryQuestion(start=0, end=5, whole=False, before="deploys")


def test_a_useless_answer_leaves_the_cut_to_the_channels() -> None:
    turns = said("3*1:60:a 1:60:d")
    decision = RULES.apply(turns, RULES.plan(turns, {}, ended=False, with_model=True), None)
    assert [(one.end, one.reason) for one in decision.segments] == [(3, "topic")]


def test_without_vectors_a_model_is_asked_and_a_useless_answer_cuts_nothing() -> None:
    turns = said("4*1:60:-")
    plan = RULES.plan(turns, {}, ended=False, with_model=True)
    assert plan.question == BoundaryQuestion(start=0, end=4, whole=False, before="")
    assert RULES.apply(turns, plan, None).segments == ()


@pytest.mark.parametrize("note", [{"surprise": "much"}, {"judged": "four", "about": 3}, {"surprise": None}], ids=str)
def test_a_note_of_another_segmenter_is_no_hindrance(note: Any) -> None:
    assert decided(said("3*1:60:a 1:60:h"), note)[0][0].surprise == 0.0


@pytest.mark.parametrize(
    ("name", "value"),
    [("fewest", 0), ("fewest", 51), ("most", 0), ("gap_minutes", -1.0), ("surprise", 1.5), ("similarity", 2.0),
     ("pace", -0.1), ("shortest", -1), ("fewest_chars", -1)],
)  # fmt: skip
def test_a_rule_out_of_range_is_refused(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        DualChannel(**{name: value})
    assert caught.value.argument == f"dual_channel.{name}"
