"""Models that load on first use, because many commands never need them and loading takes up to two seconds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from remembrancer.errors import ModelUnavailable
from remembrancer.ports.embedder import Embedder, TokenEmbedder, arithmetic, computing
from remembrancer.ports.language_model import LanguageModel
from remembrancer.ports.reranker import Reranker

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from remembrancer.domain.calibration import CosineScale
    from remembrancer.ports.embedder import ComputingEmbedder, Embedded, EmbeddedPassages, EmbeddedQuestion, Passage
    from remembrancer.ports.language_model import Answer, Task


class _Closable(Protocol):
    def close(self) -> Awaitable[None]: ...


Model = TypeVar("Model", bound=_Closable)
Inner = TypeVar("Inner", bound=Embedder)


class Deferred(Generic[Model]):
    """A model that loads on first use; its name is known before that.

    `load` runs once, in a thread, at the first call. If it fails, that call raises ModelUnavailable and the next one
    loads again.
    """

    def __init__(self, *, model_id: str, load: Callable[[], Model]) -> None:
        self._model_id = model_id
        self._load = load
        self._loading = asyncio.Lock()
        self._loaded: Model | None = None

    @property
    def model_id(self) -> str:
        return self._model_id

    async def _get(self) -> Model:
        if self._loaded is not None:
            return self._loaded
        async with self._loading:
            if self._loaded is None:
                self._loaded = await asyncio.to_thread(self._load)
        return self._loaded

    async def load(self) -> None:
        """Load the model now. Raises ModelUnavailable when that is impossible."""
        await self._get()

    def begin(self) -> None:
        """Begin to load the model, in another thread. The first call waits for it, or raises its ModelUnavailable."""
        thread = ThreadPoolExecutor(1, "load-model")
        begun, load = thread.submit(self._load), self._load
        thread.shutdown(wait=False)

        def loaded() -> Model:
            self._load = load
            return begun.result()

        self._load = loaded

    async def close(self) -> None:
        if self._loaded is not None:
            await self._loaded.close()


class DeferredLanguageModel(Deferred[LanguageModel]):
    """A language model that loads at its first task."""

    async def answer(self, task: Task) -> Answer:
        """The model's answer. Loads the model first if necessary. Raises ModelUnavailable when the model cannot be
        loaded or does not answer.
        """
        return await (await self._get()).answer(task)


class DeferredReranker(Deferred[Reranker]):
    """A reranker that loads when it first scores texts."""

    async def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """The model's scores. Loads the model first if necessary. Raises ModelUnavailable when the model cannot be
        loaded or does not answer.
        """
        return await (await self._get()).scores(question, texts)


class DeferredEmbedder(Deferred[Inner]):
    """An embedder that loads when it first embeds a text. `reads` answers without loading it.

    `dim`: the size of its vectors; None when only the loaded model knows it. `languages`: those that it reads; None:
    unknown. `calibration`: its measured cosines; None: not measured.
    """

    def __init__(
        self,
        *,
        model_id: str,
        dim: int | None,
        reads: Callable[[str], bool],
        load: Callable[[], Inner],
        languages: frozenset[str] | None = None,
        calibration: CosineScale | None = None,
    ) -> None:
        super().__init__(model_id=model_id, load=load)
        self._dim = dim
        self._languages = languages
        self._calibration = calibration
        self._reads = reads

    @property
    def dim(self) -> int | None:
        return self._dim if self._loaded is None else self._loaded.dim

    @property
    def languages(self) -> frozenset[str] | None:
        return self._languages

    @property
    def calibration(self) -> CosineScale | None:
        return self._calibration

    @property
    def computes(self) -> bool:
        return computing(self._loaded) is not None

    def query_now(self, text: str) -> NDArray[np.float32]:
        """Raises ModelUnavailable unless the model is loaded and runs in this process."""
        return self._computing().query_now(text)

    def question_now(self, text: str) -> EmbeddedQuestion:
        """Raises ModelUnavailable unless the model is loaded and runs in this process."""
        return self._computing().question_now(text)

    def _computing(self) -> ComputingEmbedder:
        inner = computing(self._loaded)
        if inner is None:
            raise ModelUnavailable(f"{self._model_id} is not loaded")
        return inner

    @property
    def arithmetic(self) -> str:
        return arithmetic(self._loaded)

    def reads(self, text: str) -> bool:
        return self._reads(text)

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        """Raises ModelUnavailable when the model cannot be loaded or does not answer."""
        return await (await self._get()).embed_documents(texts)

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """Raises ModelUnavailable when the model cannot be loaded or does not answer."""
        return await (await self._get()).embed_query(text)


class DeferredTokenEmbedder(DeferredEmbedder[TokenEmbedder]):
    """A deferred embedder whose model also returns token embeddings."""

    async def embed_passages(self, passages: Sequence[Passage]) -> EmbeddedPassages:
        """Raises ModelUnavailable when the model cannot be loaded or does not answer."""
        return await (await self._get()).embed_passages(passages)

    async def embed_question(self, text: str) -> EmbeddedQuestion:
        """Raises ModelUnavailable when the model cannot be loaded or does not answer."""
        return await (await self._get()).embed_question(text)
