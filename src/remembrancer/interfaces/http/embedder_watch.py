"""The search mode for probes and pages: the embedder is asked rarely, and its answer is shared by all of them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from remembrancer.engine.search_state import SearchMode, SearchState

FRESH_SECONDS: Final = 30.0
"""How long an answer of the embedder is used."""
PATIENCE_SECONDS: Final = 1.0
"""How long a probe waits for an answer."""


class EmbedderWatch:
    """Asks the embedder at most every `fresh` seconds. An embedder that hangs delays a caller by `patience` seconds at
    most.
    """

    def __init__(
        self,
        ask: Callable[[], Awaitable[SearchState]],
        *,
        fresh: float = FRESH_SECONDS,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self._ask = ask
        self._fresh = fresh
        self._patience = patience
        self._known: SearchState | None = None
        self._asked_at = float("-inf")
        self._asking: asyncio.Task[None] | None = None

    async def state(self) -> SearchState:
        """The latest known state; the previous one if the embedder does not answer in time."""
        if self._asking is None and time.monotonic() - self._asked_at >= self._fresh:
            self._asked_at = time.monotonic()
            self._asking = asyncio.get_running_loop().create_task(self._look(), name="remembrancer-embedder-watch")
        if self._asking is not None:
            await asyncio.wait([self._asking], timeout=self._patience)
        if self._known is not None:
            return self._known
        return SearchState(SearchMode.VECTOR_DEGRADED, f"the embedder has not answered yet, for {self._patience:g} s")

    async def stop(self) -> None:
        """Stop waiting for an answer."""
        task, self._asking = self._asking, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _look(self) -> None:
        try:
            self._known = await self._ask()
        finally:
            self._asking = None
