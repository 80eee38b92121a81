"""An embedder that is loaded when first asked to embed: looking at what is kept needs no model."""

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
    """Knows its model's name and script beforehand; `load` runs once, off the event loop, at the first text.

    `dim`: the size of its vectors; None where only the model can tell.
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
        """Raises ModelUnavailable where it is not loaded yet, or does not compute."""
        return self._computing().query_now(text)

    def question_now(self, text: str) -> EmbeddedQuestion:
        """Raises ModelUnavailable where it is not loaded yet, or does not compute."""
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
        """Raises ModelUnavailable when it cannot be loaded or does not answer."""
        return await (await self._inner.get()).embed_documents(texts)

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """Raises ModelUnavailable when it cannot be loaded or does not answer."""
        return await (await self._inner.get()).embed_query(text)

    async def close(self) -> None:
        if self._inner.loaded is not None:
            await self._inner.loaded.close()


class DeferredWordEmbedder(DeferredEmbedder[WordEmbedder]):
    """The same for one that also gives the vectors of words."""

    async def embed_passages(self, passages: Sequence[Passage]) -> EmbeddedPassages:
        """Raises ModelUnavailable when it cannot be loaded or does not answer."""
        return await (await self._inner.get()).embed_passages(passages)

    async def embed_question(self, text: str) -> EmbeddedQuestion:
        """Raises ModelUnavailable when it cannot be loaded or does not answer."""
        return await (await self._inner.get()).embed_question(text)
