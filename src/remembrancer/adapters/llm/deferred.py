"""A language model whose packages are imported at the first task, because the import takes a second or two."""

from __future__ import annotations

from collections.abc import Callable

from remembrancer.adapters.loading import LoadedOnce
from remembrancer.ports.language_model import Answer, LanguageModel, Task


class DeferredLanguageModel:
    """Knows the model's name before loading. `load` runs once, in a thread, at the first task."""

    def __init__(self, *, model_id: str, load: Callable[[], LanguageModel]) -> None:
        self._model_id = model_id
        self._inner = LoadedOnce(load)

    @property
    def model_id(self) -> str:
        return self._model_id

    async def answer(self, task: Task) -> Answer:
        """Raises ModelUnavailable when the model cannot be loaded, which is tried again the next time, or does not
        answer.
        """
        return await (await self._inner.get()).answer(task)

    async def close(self) -> None:
        if self._inner.loaded is not None:
            await self._inner.loaded.close()
