"""The best rows of a score array, the same every time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def best(
    scores: NDArray[np.float32], eligible: NDArray[np.bool_], tie_break: tuple[NDArray[np.generic], ...], depth: int
) -> NDArray[np.int64]:
    """Slots of the `depth` greatest eligible scores, best first; ties by `tie_break`, as `ordered` takes it."""
    every = len(scores) > depth and bool(eligible.all())
    slots = np.flatnonzero(scores >= _least(scores, depth) if every else eligible)
    if not every and len(slots) > depth:
        values = scores.take(slots)
        slots = slots[values >= _least(values, depth)]
    by_score = [*(key[slots] for key in reversed(tie_break)), -scores[slots]]
    return slots[np.lexsort(by_score)][:depth]


def _least(values: NDArray[np.float32], depth: int) -> np.float32:
    """The `depth`th greatest of more values than that."""
    return np.partition(values, len(values) - depth)[len(values) - depth]


def ordered(slots: NDArray[np.int64], keys: tuple[NDArray[np.generic], ...]) -> NDArray[np.int64]:
    """The slots by rising `keys` (columns over all slots), the first key first."""
    return slots[np.lexsort([key[slots] for key in reversed(keys)])]
