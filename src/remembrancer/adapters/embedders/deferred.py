"""An embedder that is loaded when first asked to embed: looking at what is kept needs no model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from remembrancer.ports.embedder import Embedded, Embedder


class DeferredEmbedder:
    """Knows its model's name and script beforehand; `load` runs once, off the event loop, at the first text.

    `dim`: the size of its vectors; None where only the model can tell.
    """

    def __init__(
        self, *, model_id: str, dim: int | None, reads: Callable[[str], bool], load: Callable[[], Embedder]
    ) -> None:
        self._model_id = model_id
        self._dim = dim
        self._reads = reads
        self._load = load
        self._loaded: Embedder | None = None
        self._loading = asyncio.Lock()

    @property
    def model_id(self) -> str:
        return self._model_id

    @property
    def dim(self) -> int | None:
        return self._dim if self._loaded is None else self._loaded.dim

    def reads(self, text: str) -> bool:
        return self._reads(text)

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        """Raises ModelUnavailable when it cannot be loaded or does not answer."""
        return await (await self._embedder()).embed_documents(texts)

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """Raises ModelUnavailable when it cannot be loaded or does not answer."""
        return await (await self._embedder()).embed_query(text)

    async def close(self) -> None:
        if self._loaded is not None:
            await self._loaded.close()

    async def _embedder(self) -> Embedder:
        if self._loaded is not None:
            return self._loaded
        async with self._loading:
            if self._loaded is None:
                self._loaded = await asyncio.to_thread(self._load)
        return self._loaded
