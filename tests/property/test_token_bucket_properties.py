"""Properties of a token bucket for any sequence of requests."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from remembrancer.policies.token_bucket import TokenRate, filled, full, take

rates = st.builds(TokenRate, st.floats(0.001, 10_000), st.floats(1, 10_000))
steps = st.lists(st.timedeltas(timedelta(seconds=-1), timedelta(seconds=10)), max_size=60)
START = timedelta(days=3)
ROUNDING = 1e-6


@given(rates, steps)
def test_no_stretch_of_time_lets_through_more_than_its_burst_and_its_rate(
    rate: TokenRate, waits: list[timedelta]
) -> None:
    bucket, at, given_at = full(rate, START), START, list[timedelta]()
    for wait in waits:
        at += wait
        taken = take(bucket, rate, at)
        bucket = taken.bucket
        if taken.is_given:
            given_at.append(bucket.at)
    for first, begins in enumerate(given_at):
        for last, ends in enumerate(given_at[first:], start=first):
            allowed = rate.burst + (ends - begins).total_seconds() * rate.per_second
            assert last - first + 1 <= allowed + ROUNDING


@given(rates, steps)
def test_a_request_after_the_stated_wait_is_allowed(rate: TokenRate, waits: list[timedelta]) -> None:
    bucket, at = full(rate, START), START
    for wait in waits:
        at += wait
        taken = take(bucket, rate, at)
        bucket = taken.bucket
        assert take(bucket, rate, bucket.at + taken.wait).is_given or not taken.wait


@given(rates, steps)
def test_a_bucket_is_never_over_full_nor_in_debt(rate: TokenRate, waits: list[timedelta]) -> None:
    bucket, at = full(rate, START), START
    for wait in waits:
        at += wait
        assert 0 <= filled(bucket, rate, at).tokens <= rate.burst
        bucket = take(bucket, rate, at).bucket
        assert 0 <= bucket.tokens <= rate.burst


@given(rates, st.timedeltas(timedelta(0), timedelta(seconds=10)))
def test_a_refusal_costs_nothing(rate: TokenRate, later: timedelta) -> None:
    bucket = full(rate, START)
    while (taken := take(bucket, rate, START)).is_given:
        bucket = taken.bucket
    refused = take(bucket, rate, START).bucket
    assert filled(refused, rate, START + later) == filled(bucket, rate, START + later)
