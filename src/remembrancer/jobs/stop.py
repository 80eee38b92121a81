"""A stop signal that can be set from any thread and awaited in any event loop."""

from __future__ import annotations

import asyncio
import threading


class Stop:
    """Once set, from any thread, it wakes all who wait for it."""

    def __init__(self) -> None:
        self._told = False
        self._door = threading.Lock()
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()

    def set(self) -> None:
        """Set the signal. Setting it again has no effect."""
        with self._door:
            self._told = True
            for loop, heard in self._waiting:
                loop.call_soon_threadsafe(heard.set)

    def is_set(self) -> bool:
        return self._told

    async def wait(self) -> None:
        """Wait until it is set."""
        here = (asyncio.get_running_loop(), asyncio.Event())
        with self._door:
            if self._told:
                return
            self._waiting.add(here)
        try:
            await here[1].wait()
        finally:
            with self._door:
                self._waiting.discard(here)
