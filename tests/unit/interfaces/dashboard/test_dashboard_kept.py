from __future__ import annotations

import asyncio
from collections.abc import Sequence

from remembrancer.interfaces.dashboard.kept import MOST, KeptResults


class Computed:
    """A computation that takes `seconds`, and counts its runs. Between requests, `pause` passes."""

    def __init__(self, seconds: float, pause: float = 0.0) -> None:
        self.now, self.runs = 0.0, 0
        self._seconds, self._pause = seconds, pause
        self._kept = KeptResults[int](lambda: self.now)

    async def _compute(self) -> int:
        self.now += self._seconds
        self.runs += 1
        return self.runs

    def asked(self, *keys: str) -> Sequence[int]:
        async def each() -> list[int]:
            results = list[int]()
            for key in keys:
                results.append(await self._kept.get(key, self._compute))
                self.now += self._pause
            return results

        return asyncio.run(each())


def test_a_quick_result_is_computed_anew() -> None:
    assert Computed(0.05).asked("a", "a") == [1, 2]


def test_a_slow_result_is_kept() -> None:
    assert Computed(0.4).asked("a", "a") == [1, 1]


def test_a_slow_result_is_kept_for_fifty_times_as_long_as_it_took() -> None:
    assert Computed(0.4, pause=19.9).asked("a", "a") == [1, 1]
    assert Computed(0.4, pause=20.1).asked("a", "a") == [1, 2]


def test_each_key_has_a_result_of_its_own() -> None:
    assert Computed(0.4).asked("a", "b", "a") == [1, 2, 1]


def test_the_oldest_results_are_dropped() -> None:
    keys = [f"{number}" for number in range(MOST + 1)]
    assert Computed(0.4).asked(*keys, keys[-1], keys[0])[-2:] == [MOST + 1, MOST + 2]
