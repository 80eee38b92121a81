"""The filter built from a caller's arguments."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from remembrancer.domain.memory import Tier
from remembrancer.domain.query import Filter, Filters, filter_of
from remembrancer.domain.scope import Visibility
from remembrancer.errors import InvalidInput

NOW = datetime(2026, 3, 4, 9, tzinfo=UTC)
DAY = timedelta(days=1)


def test_every_argument_becomes_its_filter() -> None:
    filters: Filters = {
        "kinds": ["note", "note"],
        "tiers": ["semantic"],
        "tags": ["b", "a"],
        "source": "wiki",
        "session": "monday",
        "metadata": {"ticket": 7, "env": "prod"},
        "visibilities": ["own", Visibility.CREW],
        "since": NOW - 2 * DAY,
        "until": NOW - DAY,
        "as_of": NOW + DAY,
    }
    assert set(filters) == set(Filters.__annotations__)
    assert filter_of(filters, NOW) == Filter(
        current_at=NOW + DAY,
        kinds=frozenset({"note"}),
        tiers=frozenset({Tier.SEMANTIC}),
        tags=frozenset({"a", "b"}),
        source="wiki",
        session="monday",
        metadata=(("env", "prod"), ("ticket", 7)),
        visibilities=frozenset({Visibility.OWN, Visibility.CREW}),
        since=NOW - 2 * DAY,
        until=NOW - DAY,
    )


def test_without_arguments_any_memory_that_is_current_now_counts() -> None:
    assert filter_of({}, NOW) == Filter(current_at=NOW)


def test_none_means_any_memory() -> None:
    nothing = cast("Filters", dict.fromkeys(Filters.__annotations__))
    assert filter_of(nothing, NOW) == Filter(current_at=NOW)


@pytest.mark.parametrize("name", ["kinds", "tiers", "tags", "visibilities"])
def test_one_text_is_not_taken_for_a_list(name: str) -> None:
    given: Any = {name: "note"}
    with pytest.raises(InvalidInput, match=name):
        filter_of(given, NOW)


def test_an_unknown_filter_is_refused() -> None:
    given: Any = {"kind": "note"}
    with pytest.raises(TypeError, match="kind"):
        filter_of(given, NOW)
