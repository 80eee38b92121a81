"""Fault injection: the n-th call of an object's async methods raises.

Run the same steps with n = 1, 2, 3 … until a run completes without a fault. After each run, check that everything
acknowledged is stored and nothing is half written:

for faults in every_fault(): store = faults.around(inner) try: await steps(store) except StoreUnavailable: ...
check(inner)
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator
from functools import wraps
from typing import Any, TypeVar, cast

from remembrancer.errors import StoreUnavailable

T = TypeVar("T")


class Faults:
    """Counts the async calls of the objects that it wraps, and makes call number `at` (from 1) fail."""

    def __init__(self, at: int, error: Callable[[], Exception] = lambda: StoreUnavailable("injected")) -> None:
        self.at = at
        self.calls = 0
        self._error = error

    @property
    def struck(self) -> bool:
        """Whether call number `at` was made."""
        return self.calls >= self.at

    def around(self, target: T) -> T:
        """An object that behaves like `target`, except that the failing call raises instead of reaching it."""
        return cast("T", _Around(target, self._count))

    def _count(self) -> None:
        self.calls += 1
        if self.calls == self.at:
            raise self._error()


def every_fault(error: Callable[[], Exception] = lambda: StoreUnavailable("injected")) -> Iterator[Faults]:
    """Faults at call 1, 2, 3 …, up to the first run in which the call was not made."""
    at = 1
    while True:
        faults = Faults(at, error)
        yield faults
        if not faults.struck:
            return
        at += 1


class _Around:
    def __init__(self, target: object, count: Callable[[], None]) -> None:
        self._target = target
        self._count = count

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._target, name)
        if inspect.iscoroutinefunction(value):
            return self._counted(value)
        return value

    def _counted(self, method: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
        @wraps(method)
        async def call(*args: object, **kwargs: object) -> object:
            self._count()
            return await method(*args, **kwargs)

        return call
