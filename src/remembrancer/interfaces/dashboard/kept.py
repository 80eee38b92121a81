"""Results of the overview that take long to compute over a large memory, kept for a while."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Final, Generic, TypeVar

from remembrancer.values import dataclass

T = TypeVar("T")

SHORT_S: Final = 0.1
"""A result that took less is computed anew each time."""
TIMES: Final = 50
"""A result is kept for this many times the time that it took, so that at most 2 % of the time goes into it."""
MOST: Final = 64
"""The most results kept; the oldest are dropped."""


@dataclass(frozen=True, slots=True)
class _Kept(Generic[T]):
    value: T
    until: float


class KeptResults(Generic[T]):
    """Results by key. `stopwatch`: seconds from any start."""

    def __init__(self, stopwatch: Callable[[], float] = time.perf_counter) -> None:
        self._stopwatch = stopwatch
        self._kept: dict[Hashable, _Kept[T]] = {}

    async def get(self, key: Hashable, compute: Callable[[], Awaitable[T]]) -> T:
        """The kept result of that key, or a new one."""
        began = self._stopwatch()
        kept = self._kept.pop(key, None)
        if kept is not None and began < kept.until:
            self._kept[key] = kept
            return kept.value
        value = await compute()
        ended = self._stopwatch()
        if ended - began >= SHORT_S:
            self._kept[key] = _Kept(value, ended + TIMES * (ended - began))
            while len(self._kept) > MOST:
                del self._kept[next(iter(self._kept))]
        return value
