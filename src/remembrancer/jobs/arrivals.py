"""Wait for new events: one subscription serves all waiters, and an event of this process wakes them at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from remembrancer.errors import RemembrancerError

if TYPE_CHECKING:
    from remembrancer.ports.notifications import Subscription

Subscribe = Callable[[Callable[[], None]], "Subscription"]
"""See `Notifications.subscribe`."""


class Arrivals:
    """Watches the position of one workspace's journal while anyone waits for it."""

    def __init__(self, position: Callable[[], Awaitable[int]], subscribe: Subscribe) -> None:
        """`position`: returns the number of events recorded so far. `subscribe`: to the workspace's writes."""
        self._position = position
        self._subscribe = subscribe
        self._seen = 0
        self._look = asyncio.Event()
        self._moved = asyncio.Event()
        self._waiting = 0
        self._task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Report that this process recorded an event."""
        self._look.set()

    async def behind(self, position: int) -> None:
        """Wait until an event is recorded after `position`.

        Also returns if the store fails; the next read raises the error.
        """
        self._waiting += 1
        try:
            if self._seen <= position:
                if self._task is None:
                    watching = asyncio.get_running_loop().create_task(self._watch(), name="remembrancer-arrivals")
                    self._task = watching
                await self._next(position)
        finally:
            self._waiting -= 1

    async def stop(self) -> None:
        """Stop polling, and release all waiters."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        self._let_go()

    async def _next(self, position: int) -> None:
        while self._seen <= position and self._task is not None:
            await self._moved.wait()

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self.wake)

        subscription = self._subscribe(wake)
        try:
            while self._waiting:
                self._look.clear()
                now = await self._position()
                if now > self._seen:
                    self._seen = now
                    self._let_go()
                await self._pause(subscription)
        except RemembrancerError:
            await self._pause(subscription)  # the waiters released below read the store themselves and get the error
        finally:
            subscription.end()
            self._task = None
            self._let_go()

    async def _pause(self, subscription: Subscription) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(subscription.poll_every.total_seconds()):
                await self._look.wait()

    def _let_go(self) -> None:
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()
