"""The best rows of a score array, the same every time."""

from __future__ import annotations

from uuid import UUID

import numpy as np
from numpy.typing import NDArray


def best(
    scores: NDArray[np.float32], eligible: NDArray[np.bool_], newest: NDArray[np.int64], ids: list[UUID], depth: int
) -> NDArray[np.int64]:
    """Slots of the `depth` greatest eligible scores, best first; ties by newest, then by id."""
    slots = np.flatnonzero(eligible)
    if len(slots) > depth:
        values = scores[slots]
        threshold = np.partition(values, len(values) - depth)[len(values) - depth]
        slots = slots[values >= threshold]
    ordered = sorted(slots.tolist(), key=lambda slot: (-float(scores[slot]), -int(newest[slot]), ids[slot].bytes))
    return np.array(ordered[:depth], dtype=np.int64)
