from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from remembrancer.errors import InvalidInput
from remembrancer.policies.relevance import Floor

GOLDEN = Path(__file__).parents[2] / "golden" / "relevance_floor.csv"


def golden() -> list[dict[str, str]]:
    with GOLDEN.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def number(text: str) -> float:
    return float(text) if text else math.nan


@pytest.mark.parametrize("row", golden(), ids=lambda row: " ".join(list(row.values())[:4]))
def test_evidence_passes_as_worked_out_by_hand(row: dict[str, str]) -> None:
    floor = Floor(similarity=float(row["similarity_mark"]), coverage=float(row["coverage_mark"]))
    passed = floor.passes(np.array([number(row["similarity"])]), np.array([number(row["coverage"])]))
    assert passed.tolist() == [row["passes"] == "yes"]


def test_each_candidate_passes_for_itself() -> None:
    floor = Floor(similarity=0.5, coverage=0.5)
    passed = floor.passes(np.array([0.5, 0.25, math.nan]), np.array([0.0, 0.0, 0.5]))
    assert passed.tolist() == [True, False, True]


def test_no_candidates_pass_where_there_are_none() -> None:
    assert Floor(similarity=0.5, coverage=0.5).passes(np.empty(0), np.empty(0)).tolist() == []


@pytest.mark.parametrize("value", [0.0, -0.1, 1.1, math.nan, math.inf])
@pytest.mark.parametrize("name", ["similarity", "coverage"])
def test_a_mark_outside_its_range_is_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(InvalidInput, match=rf"^floor\.{name}: .*greater than 0, at most 1"):
        Floor(**{"similarity": 0.5, "coverage": 0.5, name: value})
