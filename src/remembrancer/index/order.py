"""Sorting slots by score, with deterministic tie-breaking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SAMPLED: Final = 1_024
"""If there are at least twice as many scores, a sample of about this many tells which of them need sorting."""

N = TypeVar("N", bound="np.signedinteger[Any]")


def best(
    scores: NDArray[np.float32], eligible: NDArray[np.bool_], tie_break: tuple[NDArray[np.generic], ...], depth: int
) -> NDArray[np.int64]:
    """The `depth` eligible slots with the greatest scores, best first. `tie_break`: keys as in `ordered`."""
    every = depth < len(scores) < 2 * _SAMPLED and bool(eligible.all())
    slots = np.flatnonzero(scores >= _least(scores, depth)) if every else _likely(scores, eligible, depth)
    if not every and len(slots) > depth:
        values = scores.take(slots)
        slots = slots[values >= _least(values, depth)]
    return _sorted(slots, -scores.take(slots), tie_break)[:depth]


def distinct(slots: NDArray[N]) -> NDArray[N]:
    """The distinct values of `slots` (not negative), ascending. `np.unique` would load `numpy.ma`, an eighth of numpy's
    load time.
    """
    rising = np.sort(slots)
    return rising[np.diff(rising, prepend=-1) > 0]


def _likely(scores: NDArray[np.float32], eligible: NDArray[np.bool_], depth: int) -> NDArray[np.int64]:
    """Eligible slots that include the `depth` best ones, ascending: all, or of many, those of at least a score that was
    estimated from a sample.
    """
    step = len(scores) // _SAMPLED
    if step > 1:
        sample, place = scores[::step][eligible[::step]], 4 * depth // step + 8
        if len(sample) > place:
            slots = np.flatnonzero(eligible & (scores >= _least(sample, place)))
            if len(slots) >= depth:
                return slots
    return np.flatnonzero(eligible)


def _least(values: NDArray[np.float32], depth: int) -> np.float32:
    """The `depth`th greatest value. `values` must have more than `depth` elements."""
    return np.partition(values, len(values) - depth)[len(values) - depth]


def ordered(slots: NDArray[np.int64], keys: tuple[NDArray[np.generic], ...]) -> NDArray[np.int64]:
    """The slots in ascending order of `keys`: columns over all slots, the first key first."""
    return _sorted(slots, keys[0].take(slots), keys[1:])


def _sorted(
    slots: NDArray[np.int64], values: NDArray[np.generic], tie_break: tuple[NDArray[np.generic], ...]
) -> NDArray[np.int64]:
    """The slots in ascending order of `values`, one for each slot. `tie_break` is used only if values are equal."""
    order = np.argsort(values)
    rising = values[order]
    if (rising[1:] == rising[:-1]).any():
        order = np.lexsort([*(key[slots] for key in reversed(tie_break)), values])
    return slots[order]
