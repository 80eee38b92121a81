"""The result of `AsyncRemembrancer.open`: a coroutine that is also an asynchronous context manager."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager
from functools import wraps
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R", bound=AbstractAsyncContextManager[Any])


class Opening(Coroutine[Any, Any, R], AbstractAsyncContextManager[R]):
    """A memory that is being opened: `await` gives it, and `async with` gives it and closes it at the end."""

    def __init__(self, opening: Coroutine[Any, Any, R]) -> None:
        self._opening = opening

    def __await__(self) -> Generator[Any, Any, R]:
        return self._opening.__await__()

    async def __aenter__(self) -> R:
        self._opened = await self._opening
        return self._opened

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._opened.__aexit__(kind, error, trace)

    def send(self, value: Any, /) -> Any:
        return self._opening.send(value)

    def throw(self, *raised: Any) -> Any:
        return self._opening.throw(*raised)

    def close(self) -> None:
        self._opening.close()


def opens(method: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, Opening[R]]:
    """Let an asynchronous constructor be used with `async with`, without `await`."""

    @wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> Opening[R]:
        return Opening(method(*args, **kwargs))

    return call
