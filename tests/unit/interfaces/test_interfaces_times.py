from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.cli.times import parse_time

NOW = datetime(2026, 3, 4, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
        ("2026-03-01T09:00:00Z", datetime(2026, 3, 1, 9, tzinfo=UTC)),
        ("2026-03-01T09:00:00+02:00", datetime(2026, 3, 1, 7, tzinfo=UTC)),
        ("90m", NOW - timedelta(minutes=90)),
        ("24h", NOW - timedelta(days=1)),
        ("7d", NOW - timedelta(days=7)),
        ("2w", NOW - timedelta(days=14)),
        ("0d", NOW),
        ("yesterday", datetime(2026, 3, 3, tzinfo=UTC)),
        ("last week", datetime(2026, 2, 23, tzinfo=UTC)),
        ("March 2025", datetime(2025, 3, 1, tzinfo=UTC)),
    ],
)
def test_a_time_is_a_day_a_moment_a_duration_ago_or_the_beginning_of_a_phrase(typed: str, meant: datetime) -> None:
    assert parse_time("since", typed, now=NOW) == meant


@pytest.mark.parametrize(
    "typed",
    ["", "the deploy", "tell me yesterday", "7 d", "-7d", "7y", "9999999w", "2026-02-30", "2026-03-01T09:00:00"],
)
def test_anything_else_is_refused_by_name(typed: str) -> None:
    with pytest.raises(InvalidInput, match=r"^since: .*7d"):
        parse_time("since", typed, now=NOW)


def test_a_moment_before_the_year_1_is_refused() -> None:
    with pytest.raises(InvalidInput, match="between the years"):
        parse_time("since", "0001-01-01T00:00:00+01:00", now=NOW)
