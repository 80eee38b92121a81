from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from random import Random
from uuid import UUID

import pytest
from golden_tables import every_row, table
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.domain.health import Metrics
from remembrancer.policies import health
from remembrancer.policies.health import Metric

NOTHING = Metrics(freshness=None, coverage=None, coherence=None, efficiency=None, reachability=None)
GOOD = Metrics(freshness=90.0, coverage=90.0, coherence=90.0, efficiency=90.0, reachability=90.0)

percents = st.none() | st.floats(0, 100)
metrics = st.builds(
    Metrics, freshness=percents, coverage=percents, coherence=percents, efficiency=percents, reachability=percents
)
ids = st.lists(st.uuids(), unique=True, max_size=30)


def number(text: str) -> float | None:
    return None if text in {"", "-"} else float(text)


def numbers(text: str) -> list[float]:
    return [float(one) for one in text.split()]


MEASURED: dict[str, Callable[[str], float | str | None]] = {
    "freshness": lambda inputs: health.freshness(timedelta(days=age) for age in numbers(inputs)),
    "coverage": lambda inputs: health.coverage(*map(int, inputs.split())),
    "coherence": lambda inputs: health.coherence(numbers(inputs)),
    "efficiency": lambda inputs: health.efficiency(numbers(inputs)),
    "reachability": lambda inputs: health.reachability(*map(int, inputs.split())),
    "score": lambda inputs: health.score(Metrics(**dict(zip(Metric, map(number, inputs.split()), strict=True)))),
    "band": lambda inputs: health.band(number(inputs)),
}


@every_row(table("health"), name=lambda row: f"{row['metric']} of {row['inputs'] or 'nothing'}")
def test_health_is_as_worked_out_in_exact_fractions(row: dict[str, str]) -> None:
    expected = (row["expected"] or None) if row["metric"] == "band" else number(row["expected"])
    assert MEASURED[row["metric"]](row["inputs"]) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("names", [[metric.value for metric in Metric], list(health.WEIGHTS), list(health.ADVICE)])
def test_the_metrics_are_the_fields_of_a_snapshot(names: list[str]) -> None:
    assert names == list(Metrics.__dataclass_fields__)


def test_the_weights_sum_up_to_the_whole() -> None:
    assert sum(health.WEIGHTS.values()) == pytest.approx(1.0)


@given(metrics)
def test_a_score_lies_between_its_lowest_and_its_highest_metric(given_metrics: Metrics) -> None:
    known = [value for value in health.values(given_metrics).values() if value is not None]
    score = health.score(given_metrics)
    assert (score is None) == (not known)
    assert score is None or min(known) - 1e-9 <= score <= max(known) + 1e-9


@given(metrics)
def test_a_missing_metric_has_no_weight_and_the_rest_share_it(given_metrics: Metrics) -> None:
    shares = health.shares(given_metrics)
    missing = [metric for metric, value in health.values(given_metrics).items() if value is None]
    assert [shares[metric] for metric in missing] == [0.0] * len(missing)
    assert sum(shares.values()) == pytest.approx(0.0 if len(missing) == len(Metric) else 1.0)


@given(st.lists(st.timedeltas(timedelta(days=-1_000), timedelta(days=1_000)), min_size=1))
def test_older_is_never_fresher(ages: list[timedelta]) -> None:
    now, later = health.freshness(ages), health.freshness([age + timedelta(days=1) for age in ages])
    assert now is not None
    assert later is not None
    assert 0.0 < later <= now <= 100.0


# ── bands ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("value", [75.0, 50.0, 62.7])
def test_metrics_that_agree_make_a_score_in_their_own_band(value: float) -> None:
    alike = Metrics(freshness=value, coverage=value, coherence=value, efficiency=value, reachability=value)
    assert health.band(health.score(alike)) == health.band(value)


def test_no_data_is_never_red() -> None:
    assert health.band(health.score(NOTHING)) is None


# ── the weakest ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_weakest_is_the_lowest_metric() -> None:
    assert health.weakest(replace(GOOD, coherence=10.0, efficiency=5.0)) is Metric.EFFICIENCY


def test_of_equals_the_heaviest_is_the_weakest() -> None:
    assert health.weakest(replace(GOOD, coverage=0.0, reachability=0.0)) is Metric.COVERAGE


def test_where_nothing_was_measured_nothing_is_weak() -> None:
    assert (health.weakest(NOTHING), health.advice(NOTHING)) == (None, "")


@pytest.mark.parametrize("metric", Metric)
def test_there_is_advice_about_every_metric_that_is_not_green(metric: Metric) -> None:
    assert health.advice(replace(GOOD, **{metric.value: 74.0})) == health.ADVICE[metric]


def test_where_all_is_green_there_is_no_advice() -> None:
    assert health.advice(replace(GOOD, efficiency=75.0)) == ""


# ── why there is none ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("metric", Metric)
def test_an_empty_memory_has_one_reason_for_all_it_lacks(metric: Metric) -> None:
    assert health.why_absent(NOTHING, metric) == "nothing was remembered"


@pytest.mark.parametrize(
    ("lacking", "metric", "why"),
    [
        ({"coverage", "coherence", "reachability"}, Metric.COVERAGE, "there was no embedder"),
        ({"coverage", "coherence", "reachability"}, Metric.COHERENCE, "there was no embedder"),
        ({"coverage", "coherence", "reachability"}, Metric.REACHABILITY, "there was no embedder"),
        ({"coverage", "efficiency"}, Metric.EFFICIENCY, "no memory found by its vector was shown in the last 7 days"),
        ({"coherence"}, Metric.COHERENCE, "fewer than two memories had a vector"),
        ({"reachability"}, Metric.REACHABILITY, "the preset relates no memories by itself"),
        (set[str](), Metric.COVERAGE, ""),
    ],
)
def test_a_missing_metric_has_the_reason(lacking: set[str], metric: Metric, why: str) -> None:
    assert health.why_absent(replace(GOOD, **dict.fromkeys(lacking)), metric) == why


# ── the sample ───────────────────────────────────────────────────────────────────────────────────────────────────────


@given(ids, st.randoms(use_true_random=False))
def test_a_sample_is_a_function_of_the_ids_and_not_of_their_order(given_ids: list[UUID], chance: Random) -> None:
    shuffled = list(given_ids)
    chance.shuffle(shuffled)
    assert health.sample_order(shuffled, 7) == health.sample_order(given_ids, 7)


@given(ids)
def test_a_sample_order_holds_every_id_once(given_ids: list[UUID]) -> None:
    assert sorted(health.sample_order(given_ids, 7)) == sorted(given_ids)


@given(ids, st.uuids())
def test_an_id_more_moves_no_other(given_ids: list[UUID], another: UUID) -> None:
    with_it = health.sample_order({*given_ids, another}, 7)
    assert [one for one in with_it if one != another] == health.sample_order(set(given_ids) - {another}, 7)


def test_another_seed_is_another_sample() -> None:
    given_ids = [UUID(int=number) for number in range(100)]
    assert health.sample_order(given_ids, 7)[:10] != health.sample_order(given_ids, 8)[:10]


def test_a_sample_is_fair_to_old_and_new() -> None:
    given_ids = [UUID(int=number) for number in range(10_000)]
    early = sum(one.int < 5_000 for one in health.sample_order(given_ids, 7)[: health.SAMPLE])
    assert 200 < early < 300
