"""How near memories lie to the times that were asked for."""

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
"""People tell of things after they happen: a distance after a span counts a third of one before it."""


def happened_in(
    times: Sequence[tuple[datetime, datetime]], occurred_from: Moments, occurred_to: Moments
) -> NDArray[np.bool_]:
    """Which memories overlap one of the times [start, end), aware, shape (n,): a memory that begins at the end of a
    time does not overlap it.

    `occurred_from`, `occurred_to`: as `nearness` takes them.
    """
    then = np.zeros(occurred_from.shape, dtype=np.bool_)
    for start, end in times:
        then |= (occurred_to >= microseconds(start)) & (occurred_from < microseconds(end))
    return then


def nearness(spans: Sequence[TimeSpan], occurred_from: Moments, occurred_to: Moments) -> NDArray[np.float64]:
    """How near each memory is to the nearest of the spans, in [0, 1], shape (n,); NaN for all if there are none.

    `occurred_from`, `occurred_to`: when each began and ended, microseconds since 1970 UTC, both ends belonging to it,
    shape (n,). A memory that overlaps or touches a span [start, end) has 1. Else, with its distance d from the span:

        2 ** (-d / h),  h = sqrt(length of the span * 1 day), three times that after the span

    so h is the distance at which half is left: the geometric mean of the span and a day. A day's expression is half
    forgiven 1 day before it and 3 days after, a week's 2.6 and 7.9 days, a month's (30 days) 5.5 and 16.4, a year's
    (365) 19 and 57. Ours, made for these figures; there is no published law for it.

    Raises InvalidInput if the two differ in shape.
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
