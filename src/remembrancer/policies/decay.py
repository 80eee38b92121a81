"""Forgetting curves, each by its right name."""

from __future__ import annotations

from datetime import timedelta


def exponential_decay(age: timedelta, *, half_life: timedelta, floor: float = 0.0) -> float:
    """Fraction left after `age`: 1 when new, 0.5 at one half-life, never below `floor`. In [floor, 1].

    A negative age (clock skew between writers) counts as zero.

    >>> exponential_decay(timedelta(days=180), half_life=timedelta(days=90))
    0.25
    """
    return max(floor, 0.5 ** (max(age, timedelta()) / half_life))
