"""The relevance threshold as the caller sets it: `floor`, and what the threshold holds back."""

from __future__ import annotations

from typing import Any

import pytest

from remembrancer import InvalidInput, Remembrancer

ASKED = "quarterly finance statement numbers"


@pytest.fixture
def lunch(rem: Remembrancer) -> Remembrancer:
    rem.remember("Lunch with penguins in the deploy room of the old zoo")
    rem.remember("The heron flew over the harbour")
    rem.jobs.index_now()
    return rem


def test_without_a_threshold_the_best_candidates_are_returned(lunch: Remembrancer) -> None:
    assert (len(lunch.recall(ASKED)), len(lunch.recall(ASKED, floor="off"))) == (0, 2)


def test_a_floor_of_zero_returns_as_much_as_no_threshold(lunch: Remembrancer) -> None:
    assert [hit.id for hit in lunch.recall(ASKED, floor=0)] == [hit.id for hit in lunch.recall(ASKED, floor="off")]


def test_a_floor_without_probabilities_is_reported_and_the_threshold_applies(lunch: Remembrancer) -> None:
    answer = lunch.recall(ASKED, floor=0.3)
    assert (len(answer), answer.degraded["floor"]) == (
        0,
        "the scores of this question have no calibrated probability, so the preset's relevance threshold applies",
    )


def test_a_minimum_score_counts_beside_the_floor(lunch: Remembrancer) -> None:
    assert len(lunch.recall(ASKED, floor="off", min_score=1.0)) == 0


def test_an_answer_says_what_the_threshold_held_back(lunch: Remembrancer) -> None:
    held = lunch.recall(ASKED).below_threshold
    shown = lunch.recall(ASKED, floor="off")
    assert [(one.memory_id, one.score) for one in held] == [(hit.id, hit.score) for hit in shown]


def test_an_answer_without_a_threshold_holds_nothing_back(lunch: Remembrancer) -> None:
    assert lunch.recall(ASKED, floor="off").below_threshold == ()


def test_no_more_is_held_back_than_the_answer_would_have(lunch: Remembrancer) -> None:
    assert len(lunch.recall(ASKED, limit=1).below_threshold) == 1


def test_why_not_names_the_way_around_the_threshold(lunch: Remembrancer) -> None:
    held = lunch.recall(ASKED).below_threshold[0]
    assert "floor=off" in lunch.why_not(held.memory_id, ASKED).advice
    assert lunch.why_not(held.memory_id, ASKED, floor="off").returned


@pytest.mark.parametrize("floor", [1.5, -0.1, float("nan"), "none", "", True, [0.3]], ids=str)
def test_a_floor_is_a_probability_or_off(lunch: Remembrancer, floor: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^floor: .*a number from 0 to 1, or off"):
        lunch.recall(ASKED, floor=floor)
