"""Work that a request starts and that goes on after its response."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self

from remembrancer.errors import Conflict

_log = logging.getLogger("remembrancer.server")


class Background:
    """Runs coroutines, at most one of each name at a time. They are cancelled when the server ends."""

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def refuse_second(self, name: str) -> None:
        """Raises Conflict while work of that name is running."""
        if name in self._tasks:
            raise Conflict(f"{name} is already running; try again when it is done")

    def begin(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Start `work`, which reports its own errors. Raises Conflict if work of that name is running."""
        try:
            self.refuse_second(name)
        except Conflict:
            work.close()
            raise
        task = asyncio.get_running_loop().create_task(work, name=f"remembrancer {name}")
        self._tasks[name] = task
        task.add_done_callback(lambda done: self._ended(name, done))

    async def settled(self) -> None:
        """Wait until no work is running."""
        while self._tasks:
            await asyncio.wait(self._tasks.values())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks.values():
            task.cancel()
        await self.settled()

    def _ended(self, name: str, task: asyncio.Task[None]) -> None:
        del self._tasks[name]
        error = None if task.cancelled() else task.exception()
        if error is not None:
            # Without its message, which may quote a memory.
            _log.error("%s broke off: unforeseen %s", name.partition(" ")[0], type(error).__name__)
