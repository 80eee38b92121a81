from __future__ import annotations

from datetime import timedelta
from itertools import groupby

import pytest
from golden_tables import number, table

from remembrancer.errors import InvalidInput
from remembrancer.policies.token_bucket import TokenRate, full, take

SEQUENCES = {name: list(rows) for name, rows in groupby(table("token_bucket"), key=lambda row: row["sequence"])}


@pytest.mark.parametrize("rows", SEQUENCES.values(), ids=SEQUENCES.keys())
def test_a_bucket_fills_and_empties_as_fractions_do(rows: list[dict[str, str]]) -> None:
    rate = TokenRate(number(rows[0]["per_second"]), number(rows[0]["burst"]))
    bucket = full(rate, timedelta(seconds=number(rows[0]["at"])))
    found: list[tuple[float, float]] = []
    for row in rows:
        taken = take(bucket, rate, timedelta(seconds=number(row["at"])))
        bucket = taken.bucket
        found.append((taken.wait.total_seconds(), bucket.tokens))
    assert found == [(pytest.approx(number(row["wait"])), pytest.approx(number(row["tokens"]))) for row in rows]


@pytest.mark.parametrize("per_second", [0.0, -1.0, float("inf"), float("nan")])
def test_a_rate_that_is_none_is_refused(per_second: float) -> None:
    with pytest.raises(InvalidInput, match=r"^per_second: .* a number above 0$"):
        TokenRate(per_second, 10)


@pytest.mark.parametrize("burst", [0.0, 0.99, float("inf"), float("nan")])
def test_a_bucket_without_room_for_a_token_is_refused(burst: float) -> None:
    with pytest.raises(InvalidInput, match=r"^burst: .* a number of at least 1$"):
        TokenRate(1, burst)
