from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from remembrancer.domain.memory import Memory
from remembrancer.domain.review import Evidence, Rating
from remembrancer.errors import InvalidInput
from remembrancer.policies.forgetting.reviewing import Reviewing
from remembrancer.testing.doubles import NOW, a_memory

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
POLICY = Reviewing()


def seen(*after: timedelta) -> Evidence:
    return Evidence(memory_id=a_memory().id, at=tuple(NOW + one for one in after), queries=("why?",) * len(after))


def reviewed(at: datetime) -> Memory:
    return replace(a_memory(), strength=replace(a_memory().strength, last_reviewed_at=at))


@pytest.mark.parametrize(
    ("memory", "evidence", "expected"),
    [
        pytest.param(a_memory(), seen(2 * DAY), NOW + 2 * DAY, id="at the exposure"),
        pytest.param(a_memory(), seen(2 * DAY, 5 * DAY), NOW + 5 * DAY, id="at the last exposure"),
        pytest.param(a_memory(), seen(HOUR), NOW + DAY, id="a day after it happened"),
        pytest.param(a_memory(), seen(DAY), NOW + DAY, id="a day later exactly"),
        pytest.param(reviewed(NOW + 2 * DAY), seen(2 * DAY + HOUR), NOW + 3 * DAY, id="a day after the review before"),
        pytest.param(reviewed(NOW - DAY), seen(HOUR), NOW + DAY, id="told later than it was reviewed"),
    ],
)
def test_a_review_takes_place_at_the_last_use_or_when_the_day_is_over(
    memory: Memory, evidence: Evidence, expected: datetime
) -> None:
    assert POLICY.at(memory, evidence) == expected


@pytest.mark.parametrize(("after", "waited"), [(2 * HOUR - timedelta(seconds=1), False), (2 * HOUR, True)])
def test_a_conversation_is_given_time_to_continue(after: timedelta, waited: bool) -> None:
    assert POLICY.waited(seen(DAY, 2 * DAY), now=NOW + 2 * DAY + after) is waited


def test_reviews_record_the_earlier_values_and_the_reviewer() -> None:
    memory = reviewed(NOW + DAY)
    [review] = POLICY.reviews([memory], [seen(3 * DAY)], [Rating.EASY], by="a model")
    assert (review.previous, review.at, review.evidence_until, review.by) == (
        NOW + DAY,
        NOW + 3 * DAY,
        NOW + 3 * DAY,
        "a model",
    )
    assert (review.stability_before, review.difficulty_before) == (
        memory.strength.stability,
        memory.strength.difficulty,
    )
    assert review.stability > review.stability_before


def test_each_memory_is_reviewed_by_its_own_evidence_and_rating() -> None:
    memories = [a_memory("one"), a_memory("two")]
    together = POLICY.reviews(memories, [seen(2 * DAY), seen(9 * DAY)], [Rating.GOOD, Rating.AGAIN], by="a model")
    alone = [
        *POLICY.reviews(memories[:1], [seen(2 * DAY)], [Rating.GOOD], by="a model"),
        *POLICY.reviews(memories[1:], [seen(9 * DAY)], [Rating.AGAIN], by="a model"),
    ]
    assert list(together) == alone


@pytest.mark.parametrize(
    ("field", "value"),
    [("min_days", 0.0), ("min_days", 366.0), ("silent_hours", -1.0), ("at_once", 0), ("turns", 0), ("chars", 99)],
)
def test_values_out_of_range_are_refused_by_name(field: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=rf"^review\.{field}: "):
        replace(POLICY, **{field: value})
