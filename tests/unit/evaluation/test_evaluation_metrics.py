"""Retrieval metrics against values worked out by hand."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from remembrancer.errors import InvalidInput
from remembrancer.evaluation import metrics

GOLDEN = Path(__file__).parents[2] / "golden" / "metrics.csv"
AT_K = {
    "recall": metrics.recall_at,
    "any": metrics.any_at,
    "all": metrics.all_at,
    "ndcg": metrics.ndcg_at,
}


def golden() -> list[dict[str, str]]:
    with GOLDEN.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("row", golden(), ids=lambda row: f"{row['metric']}@{row['k']}({row['ranked']}|{row['gold']})")
def test_metric_has_the_value_worked_out_by_hand(row: dict[str, str]) -> None:
    ranked, gold = row["ranked"].split(), row["gold"].split()
    if row["metric"] == "mrr":
        value = metrics.reciprocal_rank(ranked, gold)
    else:
        value = AT_K[row["metric"]](ranked, gold, int(row["k"]))
    assert value == pytest.approx(float(row["expected"]), abs=1e-9)


@pytest.mark.parametrize("metric", AT_K.values())
def test_nothing_to_be_found_is_an_error(metric: object) -> None:
    assert callable(metric)
    with pytest.raises(InvalidInput, match="gold"):
        metric(["a"], [], 5)


def test_reciprocal_rank_of_nothing_to_be_found_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="gold"):
        metrics.reciprocal_rank(["a"], [])


def test_first_nothing_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="k"):
        metrics.any_at(["a"], ["a"], 0)


def test_measure_gives_every_metric_in_order() -> None:
    assert tuple(metrics.measure(["b", "a"], ["a"])) == metrics.METRICS
    assert metrics.measure(["b", "a"], ["a"])["mrr"] == 0.5


def test_a_group_has_the_position_of_its_first_item() -> None:
    groups = {"t1": "s1", "t2": "s1", "t3": "s2", "t4": "s3"}
    assert metrics.fold(["t3", "t2", "t1", "t3", "t4"], groups) == ["s2", "s1", "s3"]


def test_rank_of_each_gold_item() -> None:
    assert metrics.gold_ranks(["a", "b", "b"], ["b", "x", "a"]) == (2, None, 1)
