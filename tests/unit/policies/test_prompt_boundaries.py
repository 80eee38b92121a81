from __future__ import annotations

from typing import Any

import pytest

from remembrancer.policies.prompts import boundaries
from remembrancer.policies.prompts.boundaries import read
from remembrancer.policies.segmentation.segments import Boundaries, BoundaryQuestion, Segment, StreamTurn
from remembrancer.testing.doubles import NOW

WINDOW = BoundaryQuestion(start=10, end=15, whole=True)
LAST = BoundaryQuestion(start=10, end=15, whole=False, before="deploys")
TITLE = "A title of five words"
TURNS = [StreamTurn(at=NOW, speaker="ana", text=f"turn {place}") for place in range(20)]


def told(first: Any, last: Any, **other: Any) -> dict[str, Any]:
    return {"first": first, "last": last, "title": TITLE, "summary": "A summary.", "surprise": "low"} | other


def test_segments_are_returned_with_the_positions_among_all_turns() -> None:
    said = read({"segments": [told(1, 2), told(3, 5, surprise="extremely_high")]}, WINDOW)
    assert isinstance(said, Boundaries)
    assert [(one.start, one.end, one.surprise) for one in said.segments] == [(10, 12, 0.2), (12, 15, 0.9)]


def test_a_title_and_a_summary_are_put_on_one_line() -> None:
    said = read(
        {"segments": [told(1, 5, title=" A\ntitle of five words ", summary="One.\n\nTwo\x07 < three.")]}, WINDOW
    )
    assert isinstance(said, Boundaries)
    assert (said.segments[0].title, said.segments[0].summary) == (TITLE, "One. Two < three.")


@pytest.mark.parametrize(
    ("segments", "wrong"),
    [
        ([], "segments is not a list of at least one segment"),
        ("none", "segments is not a list of at least one segment"),
        ([1], "segments is not a list of at least one segment"),
        ([told(2, 5)], "segment 1 goes from turn 2 to turn 5: it must begin with turn 1 and end with one of"),
        ([told(1, 2), told(4, 5)], "segment 2 goes from turn 4 to turn 5: it must begin with turn 3"),
        ([told(1, 3), told(3, 5)], "segment 2 goes from turn 3 to turn 5: it must begin with turn 4"),
        ([told(1, 6)], "segment 1 goes from turn 1 to turn 6"),
        ([told(1, 0)], "segment 1 goes from turn 1 to turn 0"),
        ([told(True, 5)], "segment 1 goes from turn None to turn 5"),
        ([told(1, "5")], "segment 1 goes from turn 1 to turn None"),
        ([told(1, 4)], "turns 5 to 5 are in no segment: the last segment must end with turn 5"),
        ([told(1, 5, surprise="some")], "the surprise of segment 1 is not one of low, high, extremely_high"),
        ([told(1, 5, surprise=None)], "the surprise of segment 1 is not one of low, high, extremely_high"),
        ([told(1, 5, title=" ")], "segment 1 lacks a title or a summary"),
        ([told(1, 5, summary=7)], "segment 1 lacks a title or a summary"),
    ],
)  # fmt: skip
def test_a_division_with_a_gap_or_a_missing_field_is_refused_with_the_fault(segments: Any, wrong: str) -> None:
    assert str(read({"segments": segments}, WINDOW)).startswith(wrong)


def test_a_good_division_has_no_problem() -> None:
    assert not isinstance(read({"segments": [told(1, 5)]}, WINDOW), str)


@pytest.mark.parametrize("title", ["Cake", "word " * 16])
def test_a_title_that_is_too_short_or_too_long_is_left_out_and_the_division_kept(title: str) -> None:
    said = read({"segments": [told(1, 2, title=title), told(3, 5)]}, WINDOW)
    assert isinstance(said, Boundaries)
    assert [(one.start, one.end, one.title) for one in said.segments] == [(10, 12, None), (12, 15, TITLE)]


def test_a_turn_that_begins_something_new_is_a_segment_of_its_own() -> None:
    said = read({"begins_something_new": True, "about": ""}, LAST)
    assert isinstance(said, Boundaries)
    assert [(one.start, one.end) for one in said.segments] == [(10, 14), (14, 15)]


def test_a_turn_that_continues_the_topic_leaves_one_segment_with_its_topic() -> None:
    said = read({"begins_something_new": False, "about": "deploys\nand cakes"}, LAST)
    assert said == Boundaries(
        segments=(Segment(start=10, end=15, surprise=0.0, reason="a model's word"),), about="deploys and cakes"
    )


@pytest.mark.parametrize("value", [{}, {"begins_something_new": "yes"}, {"begins_something_new": 1}], ids=str)
def test_a_verdict_that_is_neither_is_reported(value: Any) -> None:
    assert read(value, LAST) == "begins_something_new is neither true nor false"


def test_only_the_asked_turns_are_shown_numbered_from_one() -> None:
    lines = [line for line in boundaries.material(TURNS, WINDOW).splitlines() if line.startswith("[")]
    assert [(line[:3], line[-7:]) for line in lines] == [(f"[{n}]", f"turn {n + 9}") for n in range(1, 6)]


def test_preceding_turns_are_in_a_separate_fence() -> None:
    material = boundaries.material(TURNS, LAST)
    assert (
        material.index("<before>") < material.index("deploys") < material.index("</before>") < material.index("<turns>")
    )


def test_a_long_turn_is_cut() -> None:
    shown = boundaries.material([StreamTurn(at=NOW, speaker="ana", text="x" * 50_000)] * 20, WINDOW)
    assert len(shown) < 5 * 2_100 + 500
