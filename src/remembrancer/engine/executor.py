"""Threads for arithmetic that goes on beside a read."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

T = TypeVar("T")

THREADS: Final = 2


class Executor:
    """A few threads, started when first needed."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, "remembrancer-beside")

    def begin(self, work: Callable[[], T]) -> Callable[[], T]:
        """Begin work in another thread. The function returned waits for its result, and raises what it raised."""
        begun = threading.Event()

        def whole() -> T:
            begun.set()
            return work()

        result = self._threads.submit(whole)
        # Until it waits for something, this thread keeps Python's lock: the other would not begin before it is needed.
        begun.wait()
        return result.result

    async def close(self) -> None:
        """Let running work end. Closing twice does nothing."""
        await asyncio.to_thread(self._threads.shutdown)
