"""Nearness of memories to the times that a question names."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.domain.instants import microseconds
from remembrancer.errors import InvalidInput
from remembrancer.language.times.spans import TimeSpan
from remembrancer.policies.forgetting.dynamics import DAY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.policies.forgetting.dynamics import Moments

AFTER: Final = 3.0
"""A distance after a span counts 1 / AFTER of one before it, because people tell of things after they happen."""


def happened_in(
    times: Sequence[tuple[datetime, datetime]], occurred_from: Moments, occurred_to: Moments
) -> NDArray[np.bool_]:
    """The memories that overlap one of the times [start, end), aware; shape (n,).

    `occurred_from`, `occurred_to`: as in `nearness`. A memory that begins at the end of a time does not overlap it.
    """
    then = np.zeros(occurred_from.shape, dtype=np.bool_)
    for start, end in times:
        then |= (occurred_to >= microseconds(start)) & (occurred_from < microseconds(end))
    return then


def nearness(spans: Sequence[TimeSpan], occurred_from: Moments, occurred_to: Moments) -> NDArray[np.float64]:
    """The nearness of each memory to the nearest span, in [0, 1], shape (n,); NaN for all without spans.

    `occurred_from`, `occurred_to`: the start and end of each memory, both included, in microseconds since 1970 UTC,
    shape (n,). A memory that overlaps or touches a span [start, end) has 1. Otherwise, with its distance d from the
    span:

        2 ** (-d / h),  h = sqrt(length of the span * 1 day), three times that after the span

    h is the distance at which the value is 0.5: the geometric mean of the span and a day. It is 1 day before and 3 days
    after a span of a day; 2.6 and 7.9 days for a week, 5.5 and 16.4 for a month (30 days), 19 and 57 for a year (365).
    The formula is our own; we know of no published one.

    Raises InvalidInput if the two shapes differ.
    """
    if occurred_from.shape != occurred_to.shape:
        raise InvalidInput("occurred_to", occurred_to.shape, f"the shape of occurred_from, {occurred_from.shape}")
    if not spans:
        return np.full(occurred_from.shape, np.nan)
    first, last = occurred_from.astype(np.float64), occurred_to.astype(np.float64)
    nearest = np.zeros(first.shape)
    for span in spans:
        start, end = microseconds(span.start), microseconds(span.end)
        half = float(np.sqrt(float(end - start) * DAY))
        before = np.maximum(start - last, 0.0) / half
        after = np.maximum(first - end, 0.0) / (half * AFTER)
        np.maximum(nearest, np.exp2(-(before + after)), out=nearest)
    return nearest
