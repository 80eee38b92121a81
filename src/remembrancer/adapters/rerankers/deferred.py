"""A reranker that loads its model at the first question, because a process that only records never needs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from remembrancer.adapters.loading import LoadedOnce
from remembrancer.ports.reranker import Reranker

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class DeferredReranker:
    """Knows its model's name before loading. `load` runs once, in a thread, at the first texts."""

    def __init__(self, *, model_id: str, load: Callable[[], Reranker]) -> None:
        self._model_id = model_id
        self._inner = LoadedOnce(load)

    @property
    def model_id(self) -> str:
        return self._model_id

    async def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Raises ModelUnavailable when the model cannot be loaded, which is tried again the next time, or does not
        answer.
        """
        return await (await self._inner.get()).scores(question, texts)

    async def close(self) -> None:
        if self._inner.loaded is not None:
            await self._inner.loaded.close()
