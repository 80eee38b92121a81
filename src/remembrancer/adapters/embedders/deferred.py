"""An embedder that loads its model at the first text, because many commands never embed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from remembrancer.adapters.loading import LoadedOnce
from remembrancer.errors import ModelUnavailable
from remembrancer.ports.embedder import (
    ComputingEmbedder,
    Embedded,
    EmbeddedPassages,
    EmbeddedQuestion,
    Embedder,
    Passage,
    WordEmbedder,
    arithmetic,
    computing,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Inner = TypeVar("Inner", bound=Embedder)


class DeferredEmbedder(Generic[Inner]):
    """Knows its model's name and scripts before loading. `load` runs once, in a thread, at the first text.

    `dim`: the size of its vectors; None when only the loaded model knows it.
    """

    def __init__(
        self, *, model_id: str, dim: int | None, reads: Callable[[str], bool], load: Callable[[], Inner]
    ) -> None:
        self._model_id = model_id
        self._dim = dim
        self._reads = reads
        self._inner = LoadedOnce(load)

    @property
    def model_id(self) -> str:
        return self._model_id

    @property
    def dim(self) -> int | None:
        return self._dim if self._inner.loaded is None else self._inner.loaded.dim

    @property
    def computes(self) -> bool:
        return computing(self._inner.loaded) is not None

    def query_now(self, text: str) -> NDArray[np.float32]:
        """Raises ModelUnavailable unless the model is loaded and runs in this process."""
        return self._computing().query_now(text)

    def question_now(self, text: str) -> EmbeddedQuestion:
        """Raises ModelUnavailable unless the model is loaded and runs in this process."""
        return self._computing().question_now(text)

    def _computing(self) -> ComputingEmbedder:
        inner = computing(self._inner.loaded)
        if inner is None:
            raise ModelUnavailable(f"{self._model_id} is not loaded")
        return inner

    @property
    def arithmetic(self) -> str:
        return arithmetic(self._inner.loaded)

    def reads(self, text: str) -> bool:
        return self._reads(text)

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        """Raises ModelUnavailable when the model cannot be loaded or does not answer."""
        return await (await self._inner.get()).embed_documents(texts)

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """Raises ModelUnavailable when the model cannot be loaded or does not answer."""
        return await (await self._inner.get()).embed_query(text)

    async def close(self) -> None:
        if self._inner.loaded is not None:
            await self._inner.loaded.close()


class DeferredWordEmbedder(DeferredEmbedder[WordEmbedder]):
    """A deferred embedder whose model also returns token embeddings."""

    async def embed_passages(self, passages: Sequence[Passage]) -> EmbeddedPassages:
        """Raises ModelUnavailable when the model cannot be loaded or does not answer."""
        return await (await self._inner.get()).embed_passages(passages)

    async def embed_question(self, text: str) -> EmbeddedQuestion:
        """Raises ModelUnavailable when the model cannot be loaded or does not answer."""
        return await (await self._inner.get()).embed_question(text)
