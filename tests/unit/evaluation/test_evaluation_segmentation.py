"""A whole measurement of segmentation, and what its figures say."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from remembrancer import Settings
from remembrancer.errors import InvalidInput
from remembrancer.evaluation.machine import machine_line
from remembrancer.evaluation.run import Progress
from remembrancer.evaluation.segmentation import evaluate_segmentation
from remembrancer.evaluation.segmentation_report import SegmentationReport
from remembrancer.evaluation.segmentation_summary import DialogueOutcome, differences, summarise
from remembrancer.testing.doubles import WordHashEmbedder

FOLDER = Path(__file__).parents[2] / "fixtures" / "segmentation"
WITHOUT = Settings(embedder="none")


class ReportingEmbedder(WordHashEmbedder):
    arithmetic = "8-bit products: exact"


def measured(path: Path = FOLDER, **options: Any) -> SegmentationReport:
    return asyncio.run(evaluate_segmentation(path, settings=WITHOUT, **options))


def outcomes(seed: int, *, right: float) -> list[DialogueOutcome]:
    """The results of 40 dialogues with four boundaries each, of which about `right` are found."""
    rng = np.random.default_rng(seed)
    found = rng.binomial(4, right, size=40)
    return [
        DialogueOutcome(
            str(place), pk=0.5 - one / 10, window_diff=0.6 - one / 10, right=float(one), predicted=4, gold=4
        )
        for place, one in enumerate(found.tolist())
    ]


def test_without_an_embedder_lexical_segmentation_is_measured_and_reported() -> None:
    report = measured()
    assert [one.method for one in report.sets[0].results] == [
        "topic-shift by words",
        "none",
        "random",
        "fixed windows",
        "texttiling",
        "texttiling by turns",
    ]
    assert "lexical" in report.degraded["embedder"]


def test_with_an_embedder_each_way_to_read_turns_is_measured() -> None:
    report = measured(embedder=WordHashEmbedder(), baselines=False)
    assert [one.method for one in report.sets[0].results] == [
        "topic-shift",
        "topic-shift in context",
        "topic-shift by words",
    ]
    assert report.sets[0].differences == ()


def test_the_kernels_of_the_embedder_are_reported_with_the_machine() -> None:
    report = measured(embedder=ReportingEmbedder(), baselines=False)
    assert report.machine == f"{machine_line()}; 8-bit products: exact"


def test_the_part_for_testing_is_measured_where_there_is_one() -> None:
    assert [(one.part, one.dialogues) for one in measured().sets] == [("test", 2), ("all", 2)]


def test_a_set_without_the_part_is_left_out() -> None:
    assert [(one.name, one.dialogues) for one in measured(part="dev").sets] == [("errands", 1)]


@pytest.mark.parametrize(("part", "error"), [("train", "part: 'train'"), ("half", "part: 'half'")])
def test_an_unknown_part_is_refused(part: str, error: str) -> None:
    with pytest.raises(InvalidInput, match=error):
        measured(part=part)


def test_the_same_seed_gives_the_same_figures() -> None:
    first, second = (measured(seed=3).sets for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert [result.values for result in one.results] == [result.values for result in other.results]
        assert [result.intervals for result in one.results] == [result.intervals for result in other.results]
        assert one.differences == other.differences


def test_progress_reaches_all_dialogues() -> None:
    seen: list[Progress] = []
    measured(on_progress=seen.append)
    assert (seen[-1].done, seen[-1].total) == (4, 4)


def test_records_hold_segments_and_no_texts(tmp_path: Path) -> None:
    measured(folder=tmp_path)
    record = json.loads((tmp_path / "errands.jsonl").read_text().splitlines()[0])
    assert (record["id"], record["gold"], sum(record["methods"]["random"]["segments"])) == ("workshop", [5, 5, 4], 14)
    assert "lathe" not in (tmp_path / "errands.jsonl").read_text()
    assert json.loads((tmp_path / "report.json").read_text())["sets"][0]["name"] == "errands"


def test_f1_pools_the_boundaries_of_all_dialogues() -> None:
    told = [
        DialogueOutcome("a", 0.0, 0.0, right=1, predicted=1, gold=1),
        DialogueOutcome("b", 1.0, 1.0, right=0, predicted=3, gold=5),
    ]
    result = summarise("ours", told, seed=0, seconds=[0.1, 0.3], turns=20)
    assert result.values == {"pk": 0.5, "window_diff": 0.5, "f1": pytest.approx(0.2)}
    assert (result.precision, result.recall) == (pytest.approx(1 / 4), pytest.approx(1 / 6))
    assert (result.median_ms, result.turns_per_second) == (pytest.approx(200), pytest.approx(50))


def test_an_interval_holds_its_figure() -> None:
    result = summarise("ours", outcomes(1, right=0.6), seed=0, seconds=[0.0], turns=1)
    for metric, interval in result.intervals.items():
        assert interval.low < result.values[metric] < interval.high


def test_an_improvement_on_most_dialogues_is_reported_as_significant() -> None:
    told = differences(outcomes(1, right=0.9), [("other", outcomes(2, right=0.3))], seed=0)
    assert [one.metric for one in told] == ["pk", "window_diff", "f1"]
    assert [one.difference < 0 for one in told] == [True, True, False]
    assert all(one.p_holm < 0.01 and one.better > 10 * one.worse for one in told)


def test_equal_results_are_not_reported_as_different() -> None:
    told = differences(outcomes(1, right=0.5), [("other", outcomes(1, right=0.5))], seed=0)
    assert all((one.difference, one.p, one.tied) == (0, 1, 40) for one in told)
