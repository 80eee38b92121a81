"""The similarity of turns, and its running mean and variance."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from statistics import fmean, pvariance

import numpy as np
import pytest

from remembrancer.policies.segmentation.likeness import FARTHEST, Likeness, Measure, Pace, Usual
from remembrancer.policies.segmentation.segments import StreamTurn

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
_UNEVEN = np.abs(np.sin(np.arange(1, 17, dtype=np.float64) ** 2)).reshape(4, 4)
ROWS = _UNEVEN / np.linalg.norm(_UNEVEN, axis=1, keepdims=True)


def turns(*texts: str, bare: frozenset[int] = frozenset()) -> list[StreamTurn]:
    return [
        StreamTurn(at=NOON, speaker="A", text=text, vector=None if at in bare else ROWS[at].astype(np.float32))
        for at, text in enumerate(texts)
    ]


def test_blocks_are_compared_by_the_sums_of_their_vectors() -> None:
    one, other = ROWS[:2].sum(axis=0), ROWS[2:].sum(axis=0)
    expected = one @ other / (np.linalg.norm(one) * np.linalg.norm(other))
    assert Likeness(turns("a", "b", "c", "d")).blocks(0, 2, 4, Measure.VECTORS) == pytest.approx(expected, abs=1e-6)


def test_words_are_compared_by_the_cosine_of_damped_counts() -> None:
    found = Likeness(turns("lathe lathe belt", "belt quince")).pair(0, 1, Measure.WORDS)
    assert found == pytest.approx(1 / (math.hypot(1 + math.log(2), 1) * math.sqrt(2)))


def test_turns_without_words_are_like_nothing() -> None:
    likeness = Likeness(turns("?", "!", "belt"))
    assert likeness.pair(0, 1, Measure.WORDS) == likeness.blocks(0, 2, 3, Measure.WORDS) == 0


def test_one_turn_without_a_vector_makes_it_words() -> None:
    likeness = Likeness(turns("a", "b", "c", "d", bare=frozenset({2})))
    assert [likeness.measure(0, 2), likeness.measure(1, 3)] == [Measure.VECTORS, Measure.WORDS]


def test_the_baseline_is_the_mean_and_the_variance_so_far() -> None:
    values = [0.3, 0.7, 0.1, 0.4]
    usual = Usual(1, values[0], 0.0)
    for value in values[1:]:
        usual = usual.seen(value)
    assert (usual.mean, usual.variance) == (pytest.approx(fmean(values)), pytest.approx(pvariance(values)))


def test_the_baseline_follows_a_stream_that_changes() -> None:
    usual = Usual(4, 0.9, 0.01)
    for _ in range(500):
        usual = usual.seen(0.2)
    assert usual.mean == pytest.approx(0.2, abs=0.01)


def test_a_standard_score_is_bounded_where_nothing_varies() -> None:
    usual = Usual(64, 0.5, 0.0)
    assert (usual.z_score(0.5), usual.z_score(0.52), usual.z_score(-1.0)) == (0, pytest.approx(1), -FARTHEST)


def test_the_usual_pause_is_the_geometric_mean() -> None:
    pace = Pace(1, math.log(10)).seen(timedelta(seconds=1000), factor=1_000.0)
    assert pace.usual.total_seconds() == pytest.approx(100)


def test_a_night_counts_as_no_more_than_the_factor() -> None:
    usual = Pace(1, math.log(10))
    assert usual.seen(timedelta(days=1), 16.0) == usual.seen(timedelta(seconds=160), 16.0)


def test_a_clock_that_runs_backwards_counts_as_a_second() -> None:
    assert Pace(1, 0.0).seen(timedelta(hours=-1), 16.0) == Pace(2, 0.0)
