"""Intervals and tests compared with exact values computed independently, and their properties for any draws."""

from __future__ import annotations

import numpy as np
import pytest
from golden_tables import cells, every_row, numbers, table

from remembrancer.errors import InvalidInput
from remembrancer.evaluation.statistics import bootstrap_intervals, holm, sign_flip_p, wilson


@every_row(table("cluster_interval"), cells)
def test_interval_by_clusters_is_that_of_all_draws(row: dict[str, str]) -> None:
    clusters = [numbers(cluster) for cluster in row["clusters"].split("|")]
    names = [place for place, cluster in enumerate(clusters) for _ in cluster]
    values = np.concatenate(clusters)[:, np.newaxis]
    drawn = bootstrap_intervals(values, rng=np.random.default_rng(1), clusters=names, resamples=20_000)
    assert drawn[0].tolist() == [pytest.approx(float(row["low"])), pytest.approx(float(row["high"]))]


def test_where_each_row_is_its_own_cluster_the_intervals_are_the_same() -> None:
    values = np.random.default_rng(6).random((40, 3))
    plain = bootstrap_intervals(values, rng=np.random.default_rng(7))
    clustered = bootstrap_intervals(values, rng=np.random.default_rng(7), clusters=range(40))
    assert plain.tolist() == clustered.tolist()


def test_rows_that_resemble_their_cluster_make_a_wider_interval_by_clusters() -> None:
    values = np.repeat(np.random.default_rng(8).random(10), 30)[:, np.newaxis]
    plain = bootstrap_intervals(values, rng=np.random.default_rng(9))[0]
    clustered = bootstrap_intervals(values, rng=np.random.default_rng(9), clusters=[row // 30 for row in range(300)])[0]
    assert clustered[1] - clustered[0] > 3 * (plain[1] - plain[0])


@every_row(table("sign_flip"), cells)
def test_p_is_the_share_of_assignments_as_far_from_zero(row: dict[str, str]) -> None:
    differences = numbers(row["differences"])[:, np.newaxis]
    p = sign_flip_p(differences, rng=np.random.default_rng(1))
    assert p.tolist() == [pytest.approx(float(row["expected"]))]


def test_p_by_drawing_is_near_the_exact_one() -> None:
    differences = np.random.default_rng(2).normal(0.15, 1, size=(12, 3))
    exact = sign_flip_p(differences, rng=np.random.default_rng(1), flips=2**12)
    drawn = sign_flip_p(differences, rng=np.random.default_rng(1), flips=2**12 - 1)
    assert drawn.tolist() == pytest.approx(exact.tolist(), abs=0.03)
    assert drawn.tolist() != exact.tolist()


def test_columns_are_tested_each_by_itself() -> None:
    several = np.array([[1.0, 1.0, 0.0]] * 5 + [[1.0, -1.0, 0.0]] * 5)
    alone = [sign_flip_p(several[:, [column]], rng=np.random.default_rng(1))[0] for column in range(3)]
    assert sign_flip_p(several, rng=np.random.default_rng(1)).tolist() == pytest.approx(alone)


def test_a_p_that_was_drawn_is_never_zero() -> None:
    p = sign_flip_p(np.ones((400, 1)), rng=np.random.default_rng(1), flips=1_000)
    assert p.tolist() == [pytest.approx(1 / 1_001)]


def test_p_is_evenly_spread_where_there_is_no_difference() -> None:
    rng = np.random.default_rng(10)
    p = sign_flip_p(rng.normal(size=(60, 400)), rng=rng, flips=2_000)
    assert np.mean(p <= 0.05) == pytest.approx(0.05, abs=0.03)
    assert np.mean(p <= 0.5) == pytest.approx(0.5, abs=0.08)


def test_p_is_the_same_for_the_same_seed() -> None:
    differences = np.random.default_rng(3).normal(size=(50, 2))
    first, second = (sign_flip_p(differences, rng=np.random.default_rng(4)) for _ in range(2))
    assert first.tolist() == second.tolist()


@every_row(table("holm"), cells)
def test_several_p_values_are_corrected_together(row: dict[str, str]) -> None:
    given = {str(place): p for place, p in enumerate(numbers(row["p_values"]).tolist())}
    assert list(holm(given)) == list(given)
    assert list(holm(given).values()) == pytest.approx(numbers(row["expected"]).tolist())


@every_row(table("wilson"), cells)
def test_interval_of_a_share_is_where_the_score_test_agrees(row: dict[str, str]) -> None:
    interval = wilson(int(row["successes"]), int(row["trials"]))
    assert (interval.low, interval.high) == pytest.approx((float(row["low"]), float(row["high"])), abs=1e-11)


@pytest.mark.parametrize(("successes", "trials"), [(0, 0), (-1, 5), (6, 5)])
def test_a_share_of_no_trials_or_of_more_than_there_are_is_refused(successes: int, trials: int) -> None:
    with pytest.raises(InvalidInput, match=r"trials|successes"):
        wilson(successes, trials)


def test_interval_of_a_constant_is_that_constant() -> None:
    values = np.full((30, 1), 0.25)
    intervals = bootstrap_intervals(values, rng=np.random.default_rng(1))
    assert intervals.tolist() == [[pytest.approx(0.25), pytest.approx(0.25)]]


def test_interval_of_a_fraction_is_near_the_normal_one() -> None:
    values = np.array([[1.0, 0.0]] * 200 + [[0.0, 0.0]] * 200)
    intervals = bootstrap_intervals(values, rng=np.random.default_rng(2))
    assert intervals.shape == (2, 2)
    assert intervals[0] == pytest.approx([0.5 - 1.96 * 0.025, 0.5 + 1.96 * 0.025], abs=0.006)
    assert intervals[1].tolist() == [0.0, 0.0]


def test_interval_is_the_same_for_the_same_seed() -> None:
    values = np.random.default_rng(3).random((50, 2))
    first, second = (bootstrap_intervals(values, rng=np.random.default_rng(4)) for _ in range(2))
    assert first.tolist() == second.tolist()


def test_interval_needs_a_question() -> None:
    with pytest.raises(InvalidInput, match="at least one question"):
        bootstrap_intervals(np.empty((0, 3)), rng=np.random.default_rng(5))
