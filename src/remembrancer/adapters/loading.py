"""What is slow to load and may never be asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

Loaded = TypeVar("Loaded")


class LoadedOnce(Generic[Loaded]):
    """`load` runs once, off the event loop, when first asked for; where it fails, again the next time."""

    def __init__(self, load: Callable[[], Loaded]) -> None:
        self._load = load
        self._loading = asyncio.Lock()
        self.loaded: Loaded | None = None
        """None until it was asked for."""

    async def get(self) -> Loaded:
        """Raises what `load` raises."""
        if self.loaded is not None:
            return self.loaded
        async with self._loading:
            if self.loaded is None:
                self.loaded = await asyncio.to_thread(self._load)
        return self.loaded
