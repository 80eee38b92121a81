"""Work done whole in one thread that has no event loop.

Each hand-over between threads costs a wake-up, and the core that waited comes back slow, its caches cold: of a
recall with five of them that was a third of the time. What waits for nothing but arithmetic and a file needs none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Beside(Protocol):
    """A second thread beside the one that work is done in."""

    def __call__(self, work: Callable[[], Coroutine[Any, Any, T]], /) -> Callable[[], T]:
        """Begin work that waits for nothing either. What comes back waits for its result, and raises what it raised."""
        ...


def has_event_loop() -> bool:
    """Whether this thread runs one: then nothing may be done here that takes its time."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def driven(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that never has to wait. Raises what it raises, and RuntimeError when it waits."""
    try:
        work.send(None)
    except StopIteration as done:
        return done.value
    work.close()
    raise RuntimeError(f"{work!r} waits for something that only an event loop can bring")
