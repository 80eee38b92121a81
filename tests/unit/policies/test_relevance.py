from __future__ import annotations

import math

import numpy as np
import pytest
from golden_tables import every_row, number, numbers, table
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.errors import InvalidInput
from remembrancer.policies.ranking.relevance import RelevanceThreshold


@every_row(table("relevance_threshold"), name=lambda row: " ".join(list(row.values())[:7]))
def test_candidates_pass_as_worked_out(row: dict[str, str]) -> None:
    threshold = RelevanceThreshold(
        similarity=number(row["similarity_mark"]), coverage=number(row["coverage_mark"]), then=number(row["then"])
    )
    shares = None if row["shares"] == "-" else numbers(row["shares"])
    passed = threshold.passes(numbers(row["similarity"]), numbers(row["coverage"]), shares, number(row["least"]))
    assert passed.tolist() == [one == "yes" for one in row["passes"].split()]


def test_no_candidates_pass_where_there_are_none() -> None:
    nothing = np.empty(0)
    assert RelevanceThreshold(similarity=0.5, coverage=0.5).passes(nothing, nothing, nothing).tolist() == []


@pytest.mark.parametrize("value", [0.0, -0.1, 1.1, math.nan, math.inf])
@pytest.mark.parametrize("name", ["similarity", "coverage"])
def test_a_threshold_outside_its_range_is_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(InvalidInput, match=rf"^threshold\.{name}: .*greater than 0, at most 1"):
        RelevanceThreshold(**{"similarity": 0.5, "coverage": 0.5, name: value})


@pytest.mark.parametrize("value", [-0.1, 1.1, math.nan, math.inf])
@pytest.mark.parametrize("name", ["evidence", "evidence_first_stage", "then"])
def test_a_share_outside_its_range_is_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(InvalidInput, match=rf"^threshold\.{name}: .*0 to 1"):
        RelevanceThreshold(**{"similarity": 0.5, "coverage": 0.5, name: value})


shares_and_signals = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=6)


@given(shares_and_signals, st.floats(0, 1), st.floats(0, 1), st.booleans())
def test_what_does_not_pass_has_less_than_it_needs(
    rows: list[tuple[float, float, float]], least: float, then: float, with_shares: bool
) -> None:
    threshold = RelevanceThreshold(similarity=0.3, coverage=0.35, then=then)
    similarity, coverage, shares = np.array(rows).T
    given_shares = shares if with_shares else None
    passes = threshold.passes(similarity, coverage, given_shares, least)
    has, needed = threshold.margin(similarity, coverage, given_shares, least)
    assert (has < needed).tolist() == (~passes).tolist()
