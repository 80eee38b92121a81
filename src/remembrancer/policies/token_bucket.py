"""Token buckets: limits on the burst and the long-term rate of requests."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Final

from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass

_ROUNDING: Final = 1e-9
"""Tolerance, in tokens, for the rounding of float sums."""


@dataclass(frozen=True, slots=True)
class TokenRate:
    """A rate limit: `per_second` tokens are added, up to `burst`; a request takes one."""

    per_second: float
    burst: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.per_second) and self.per_second > 0):
            raise InvalidInput("per_second", self.per_second, "a number above 0")
        if not (math.isfinite(self.burst) and self.burst >= 1):
            raise InvalidInput("burst", self.burst, "a number of at least 1")


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket with `tokens` at time `at` of a monotonic clock with any origin."""

    tokens: float
    at: timedelta


@dataclass(frozen=True, slots=True)
class Taken:
    """The bucket after a request, and the time until a token is available; 0 if the request was granted."""

    bucket: Bucket
    wait: timedelta

    @property
    def is_given(self) -> bool:
        return not self.wait


def full(rate: TokenRate, at: timedelta) -> Bucket:
    """A bucket that is full."""
    return Bucket(rate.burst, at)


def filled(bucket: Bucket, rate: TokenRate, at: timedelta) -> Bucket:
    """The bucket at a later time: min(burst, tokens + elapsed × rate). Negative elapsed time counts as 0."""
    elapsed = max(at - bucket.at, timedelta()).total_seconds()
    return Bucket(min(rate.burst, bucket.tokens + elapsed * rate.per_second), max(at, bucket.at))


def take(bucket: Bucket, rate: TokenRate, at: timedelta) -> Taken:
    """Take one token. A refused request takes none, so a client that asks too often still gets the long-term rate.

    >>> slow = TokenRate(per_second=1, burst=1)
    >>> first = take(full(slow, timedelta()), slow, timedelta())
    >>> first.is_given, take(first.bucket, slow, timedelta(milliseconds=250)).wait
    (True, datetime.timedelta(microseconds=750000))
    """
    now = filled(bucket, rate, at)
    if now.tokens >= 1 - _ROUNDING:
        return Taken(Bucket(max(0.0, now.tokens - 1), now.at), timedelta())
    # Rounded up to a whole microsecond, so that a client that waits exactly this long is granted a token.
    missing = math.ceil((1 - now.tokens) / rate.per_second * 1_000_000)
    return Taken(now, timedelta(microseconds=max(1, missing)))
