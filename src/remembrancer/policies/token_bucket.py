"""A bucket of tokens: how many requests may come at once, and how many in the long run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from remembrancer.errors import InvalidInput

_ROUNDING: Final = 1e-9
"""Of a token, which sums of floats may be short of."""


@dataclass(frozen=True, slots=True)
class TokenRate:
    """`per_second` tokens flow in, at most `burst` find room; a request takes one."""

    per_second: float
    burst: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.per_second) and self.per_second > 0):
            raise InvalidInput("per_second", self.per_second, "a number above 0")
        if not (math.isfinite(self.burst) and self.burst >= 1):
            raise InvalidInput("burst", self.burst, "a number of at least 1")


@dataclass(frozen=True, slots=True)
class Bucket:
    """`tokens` in it at a time `at`, on a clock that never goes back and whose beginning does not matter."""

    tokens: float
    at: timedelta


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of asking for a token: the bucket after it, and how long until there is one, which is 0 where it was
    given.
    """

    bucket: Bucket
    wait: timedelta

    @property
    def is_given(self) -> bool:
        return not self.wait


def full(rate: TokenRate, at: timedelta) -> Bucket:
    """A bucket that nobody has taken from."""
    return Bucket(rate.burst, at)


def filled(bucket: Bucket, rate: TokenRate, at: timedelta) -> Bucket:
    """The bucket as it is at a time: min(burst, tokens + elapsed × rate). Time that went back counts as none."""
    elapsed = max(at - bucket.at, timedelta()).total_seconds()
    return Bucket(min(rate.burst, bucket.tokens + elapsed * rate.per_second), max(at, bucket.at))


def take(bucket: Bucket, rate: TokenRate, at: timedelta) -> Taken:
    """Ask for one token. What is refused costs nothing: who keeps asking too often still gets the long-run rate.

    >>> slow = TokenRate(per_second=1, burst=1)
    >>> first = take(full(slow, timedelta()), slow, timedelta())
    >>> first.is_given, take(first.bucket, slow, timedelta(milliseconds=250)).wait
    (True, datetime.timedelta(microseconds=750000))
    """
    now = filled(bucket, rate, at)
    if now.tokens >= 1 - _ROUNDING:
        return Taken(Bucket(max(0.0, now.tokens - 1), now.at), timedelta())
    # Of the next whole microsecond, so that who waits for it is never refused for a fraction of one.
    missing = math.ceil((1 - now.tokens) / rate.per_second * 1_000_000)
    return Taken(now, timedelta(microseconds=max(1, missing)))
