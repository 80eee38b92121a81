from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np
import pytest

from remembrancer.domain.instants import microseconds
from remembrancer.errors import InvalidInput
from remembrancer.language.times.spans import TimeSpan
from remembrancer.policies.ranking.nearness import nearness

if TYPE_CHECKING:
    from numpy.typing import NDArray

START = datetime(2023, 7, 12, tzinfo=UTC)


def span(days: float, start: datetime = START) -> TimeSpan:
    return TimeSpan(start, start + timedelta(days=days), "", 0, 0)


def at(*days: float) -> NDArray[np.int64]:
    """Moments so many days after the beginning of the span."""
    return np.array([microseconds(START + timedelta(days=each)) for each in days], dtype=np.int64)


@pytest.mark.parametrize(
    ("length", "moment", "expected"),
    [
        (1, 0.5, 1.0),
        (1, 0, 1.0),
        (1, 1, 1.0),
        (1, -1, 0.5),  # a day before a day
        (1, -2, 0.25),
        (1, 4, 0.5),  # three days after it
        (1, 7, 0.25),
        (4, -2, 0.5),  # sqrt(4 days * 1 day)
        (4, 10, 0.5),
        (9, -3, 0.5),
        (9, 18, 0.5),
        (1 / 4, -0.5, 0.5),
        (1 / 4, 1.75, 0.5),
        (361, -19, 0.5),
        (361, 361 + 57, 0.5),
        (361, 361 + 114, 0.25),
        (361, -1.9, 2**-0.1),
    ],
)
def test_half_is_left_at_the_mean_of_the_span_and_a_day(length: float, moment: float, expected: float) -> None:
    assert nearness([span(length)], at(moment), at(moment)) == pytest.approx([expected], abs=1e-12)


def test_a_memory_that_overlaps_a_span_is_inside() -> None:
    assert nearness([span(1)], at(-5, 0.9, -5), at(0.1, 5, 5)).tolist() == [1.0, 1.0, 1.0]


def test_a_long_memory_is_as_near_as_its_nearer_end() -> None:
    assert nearness([span(1)], at(-9, 4), at(-1, 9)).tolist() == [0.5, 0.5]


def test_of_several_spans_the_nearest_counts() -> None:
    several = [span(1), span(1, START + timedelta(days=10))]
    assert nearness(several, at(0, 9, 10), at(0, 9, 10)).tolist() == [1.0, 0.5, 1.0]


def test_without_spans_nothing_is_known() -> None:
    assert np.isnan(nearness([], at(0, 1), at(0, 1))).tolist() == [True, True]


def test_no_memories_have_no_nearness() -> None:
    assert nearness([span(1)], at(), at()).shape == (0,)


def test_beginnings_and_ends_of_unlike_number_are_refused() -> None:
    with pytest.raises(InvalidInput, match="occurred_to"):
        nearness([span(1)], at(0, 1), at(0))
