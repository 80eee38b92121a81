from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import pytest

from remembrancer.domain.candidates import Candidates
from remembrancer.policies.signals import SIGNALS, Moment, compute
from remembrancer.testing.doubles import NOW

NAN = math.nan
MOMENT = Moment(asked_at=NOW, recency_half_life=timedelta(days=10))
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def candidates(
    *,
    similarity: float = NAN,
    bm25: float = NAN,
    coverage: float = NAN,
    bound: float = 0.0,
    age: timedelta = timedelta(),
) -> Candidates:
    """One candidate."""
    return Candidates(
        ids=(UUID(int=1),),
        cue=np.zeros(1, dtype=np.int32),
        similarity=np.array([similarity], dtype=np.float32),
        bm25=np.array([bm25], dtype=np.float32),
        coverage=np.array([coverage], dtype=np.float32),
        dense_rank=np.zeros(1, dtype=np.int32),
        lexical_rank=np.zeros(1, dtype=np.int32),
        occurred_at=np.array([(NOW - age - EPOCH) // timedelta(microseconds=1)], dtype=np.int64),
        importance=np.array([0.75], dtype=np.float32),
        confidence=np.array([0.25], dtype=np.float32),
        priority=np.array([7], dtype=np.int32),
        bm25_bound=bound,
        visible=1,
        without_vector=0,
    )


def signal(name: str, found: Candidates) -> float:
    return float(compute(found, MOMENT)[name][0])


@pytest.mark.parametrize(("cosine", "expected"), [(0.5, 0.5), (-0.5, 0.0), (1.25, 1.0), (NAN, NAN)])
def test_similarity_is_the_cosine_within_the_unit_interval(cosine: float, expected: float) -> None:
    assert signal("similarity", candidates(similarity=cosine)) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("bm25", [0.0, 3.5, NAN])
def test_bm25_comes_as_it_is(bm25: float) -> None:
    assert signal("bm25", candidates(bm25=bm25)) == pytest.approx(bm25, nan_ok=True)


@pytest.mark.parametrize(
    ("bm25", "bound", "expected"),
    [(2.0, 8.0, 0.25), (0.0, 8.0, 0.0), (9.0, 8.0, 1.0), (NAN, 8.0, NAN), (0.0, 0.0, NAN), (NAN, 0.0, NAN)],
)
def test_lexical_is_the_share_of_the_most_any_text_could_reach(bm25: float, bound: float, expected: float) -> None:
    assert signal("lexical", candidates(bm25=bm25, bound=bound)) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("coverage", [0.0, 0.5, 1.0, NAN])
def test_coverage_comes_as_it_is(coverage: float) -> None:
    assert signal("coverage", candidates(coverage=coverage)) == pytest.approx(coverage, nan_ok=True)


@pytest.mark.parametrize(
    ("age", "expected"),
    [
        (timedelta(), 1.0),
        (timedelta(days=10), 0.5),
        (timedelta(days=20), 0.25),
        (timedelta(days=5), 0.5**0.5),
        (timedelta(days=-5), 1.0),
        (timedelta(days=700_000), 0.0),
    ],
)
def test_recency_halves_with_each_half_life(age: timedelta, expected: float) -> None:
    assert signal("recency", candidates(age=age)) == pytest.approx(expected)


def test_importance_and_confidence_come_as_they_are() -> None:
    assert (signal("importance", candidates()), signal("confidence", candidates())) == (0.75, 0.25)


def test_priority_is_a_tenth_of_its_number() -> None:
    assert signal("priority", candidates()) == pytest.approx(0.7)


def test_every_signal_is_computed_for_every_candidate() -> None:
    one = candidates()
    three = replace(
        one,
        ids=tuple(UUID(int=n) for n in range(3)),
        **{name: np.repeat(getattr(one, name), 3) for name in _columns()},
    )
    computed = compute(three, MOMENT)
    assert {name: (values.shape, values.dtype) for name, values in computed.items()} == {
        name: ((3,), np.dtype(np.float64)) for name in SIGNALS
    }


def test_every_signal_of_no_candidate_is_empty() -> None:
    one = candidates()
    none = replace(one, ids=(), **{name: getattr(one, name)[:0] for name in _columns()})
    assert {values.shape for values in compute(none, MOMENT).values()} == {(0,)}


def test_only_raw_bm25_is_uncalibrated() -> None:
    assert [name for name, definition in SIGNALS.items() if not definition.calibrated] == ["bm25"]


def _columns() -> Sequence[str]:
    return (
        "cue",
        "similarity",
        "bm25",
        "coverage",
        "dense_rank",
        "lexical_rank",
        "occurred_at",
        "importance",
        "confidence",
        "priority",
    )
