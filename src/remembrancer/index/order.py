"""The best rows of a score array, the same every time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

N = TypeVar("N", bound="np.signedinteger[Any]")


def best(
    scores: NDArray[np.float32], eligible: NDArray[np.bool_], tie_break: tuple[NDArray[np.generic], ...], depth: int
) -> NDArray[np.int64]:
    """Slots of the `depth` greatest eligible scores, best first; ties by `tie_break`, as `ordered` takes it."""
    every = len(scores) > depth and bool(eligible.all())
    slots = np.flatnonzero(scores >= _least(scores, depth) if every else eligible)
    if not every and len(slots) > depth:
        values = scores.take(slots)
        slots = slots[values >= _least(values, depth)]
    return _sorted(slots, -scores.take(slots), tie_break)[:depth]


def distinct(slots: NDArray[N]) -> NDArray[N]:
    """The slots (not negative) that occur, rising. `np.unique` would load `numpy.ma` for this, an eighth of numpy."""
    rising = np.sort(slots)
    return rising[np.diff(rising, prepend=-1) > 0]


def _least(values: NDArray[np.float32], depth: int) -> np.float32:
    """The `depth`th greatest of more values than that."""
    return np.partition(values, len(values) - depth)[len(values) - depth]


def ordered(slots: NDArray[np.int64], keys: tuple[NDArray[np.generic], ...]) -> NDArray[np.int64]:
    """The slots by rising `keys` (columns over all slots), the first key first."""
    return _sorted(slots, keys[0].take(slots), keys[1:])


def _sorted(
    slots: NDArray[np.int64], values: NDArray[np.generic], tie_break: tuple[NDArray[np.generic], ...]
) -> NDArray[np.int64]:
    """The slots by rising value, of which each has one; only where some are equal `tie_break` is looked at."""
    order = np.argsort(values)
    rising = values[order]
    if (rising[1:] == rising[:-1]).any():
        order = np.lexsort([*(key[slots] for key in reversed(tie_break)), values])
    return slots[order]
