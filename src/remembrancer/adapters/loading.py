"""Load an object on first use, once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

Loaded = TypeVar("Loaded")


class LoadedOnce(Generic[Loaded]):
    """Calls `load` once, in a thread, at the first `get`. If `load` fails, the next `get` calls it again."""

    def __init__(self, load: Callable[[], Loaded]) -> None:
        self._load = load
        self._loading = asyncio.Lock()
        self.loaded: Loaded | None = None
        """None until loaded."""

    async def get(self) -> Loaded:
        """The loaded object. Raises what `load` raises."""
        if self.loaded is not None:
            return self.loaded
        async with self._loading:
            if self.loaded is None:
                self.loaded = await asyncio.to_thread(self._load)
        return self.loaded
