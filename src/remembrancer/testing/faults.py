"""Fault injection: the n-th call of an object's async methods raises.

Run the same steps with n = 1, 2, 3 … until a run completes untouched, and check after each that what was acknowledged
is there and nothing is half written:

    for faults in every_fault():
        store = faults.around(inner)
        try:
            await steps(store)
        except StoreUnavailable:
            ...
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
    """Counts the async calls made to every object it is put around, and fails the one at `at` (from 1)."""

    def __init__(self, at: int, error: Callable[[], Exception] = lambda: StoreUnavailable("injected")) -> None:
        self.at = at
        self.calls = 0
        self._error = error

    @property
    def struck(self) -> bool:
        """Whether the call at `at` was made."""
        return self.calls >= self.at

    def around(self, target: T) -> T:
        """An object that behaves like `target`, but for the failing call, which never reaches it."""
        return cast("T", _Around(target, self._count))

    def _count(self) -> None:
        self.calls += 1
        if self.calls == self.at:
            raise self._error()


def every_fault(error: Callable[[], Exception] = lambda: StoreUnavailable("injected")) -> Iterator[Faults]:
    """Faults at 1, 2, 3 …, ending with the first that was not struck."""
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
