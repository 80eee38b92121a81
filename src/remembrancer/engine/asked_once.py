"""An embedder that caches the embeddings of questions, for comparing presets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from remembrancer.domain.calibration import REFERENCE, CosineScale
from remembrancer.errors import ModelUnavailable
from remembrancer.ports.embedder import (
    ComputingEmbedder,
    Embedded,
    EmbeddedPassages,
    EmbeddedQuestion,
    Embedder,
    Passage,
    TokenEmbedder,
    calibration,
    computing,
    languages,
    token_embedder,
)
from remembrancer.values import dataclass

_Vector: TypeAlias = NDArray[np.float32] | EmbeddedQuestion


@dataclass(slots=True)
class _AskedOnce:
    """Caches the vector of each question, or the error that the inner embedder raised."""

    inner: Embedder
    known: dict[str, _Vector | ModelUnavailable] = field(default_factory=dict[str, _Vector | ModelUnavailable])

    @property
    def model_id(self) -> str:
        return self.inner.model_id

    @property
    def dim(self) -> int | None:
        return self.inner.dim

    @property
    def languages(self) -> frozenset[str] | None:
        return languages(self.inner)

    @property
    def calibration(self) -> CosineScale | None:
        return calibration(self.inner) or REFERENCE

    @property
    def computes(self) -> bool:
        return computing(self.inner) is not None

    def reads(self, text: str) -> bool:
        return self.inner.reads(text)

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        return await self.inner.embed_documents(texts)

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        return _vector(await self._once(text))

    def query_now(self, text: str) -> NDArray[np.float32]:
        return _vector(self._once_now(text))

    def question_now(self, text: str) -> EmbeddedQuestion:
        return cast("EmbeddedQuestion", self._once_now(text))  # `_asked_now` of `_TokensAskedOnce` returns it

    async def close(self) -> None:
        """Does nothing: the owner of the inner embedder closes it."""

    async def _once(self, text: str) -> _Vector:
        if text not in self.known:
            try:
                self.known[text] = await self._asked(text)
            except ModelUnavailable as error:
                self.known[text] = error
        return self._answer(text)

    def _once_now(self, text: str) -> _Vector:
        if text not in self.known:
            try:
                self.known[text] = self._asked_now(text)
            except ModelUnavailable as error:
                self.known[text] = error
        return self._answer(text)

    def _answer(self, text: str) -> _Vector:
        answer = self.known[text]
        if isinstance(answer, ModelUnavailable):
            raise answer
        return answer

    async def _asked(self, text: str) -> _Vector:
        return await self.inner.embed_query(text)

    def _asked_now(self, text: str) -> _Vector:
        return cast("ComputingEmbedder", self.inner).query_now(text)


@dataclass(slots=True)
class _TokensAskedOnce(_AskedOnce):
    """The same for an embedder that also gives token embeddings; vector and token embeddings come from one call."""

    token_embedder: TokenEmbedder = field(kw_only=True)

    async def embed_passages(self, passages: Sequence[Passage]) -> EmbeddedPassages:
        return await self.token_embedder.embed_passages(passages)

    async def embed_question(self, text: str) -> EmbeddedQuestion:
        return cast("EmbeddedQuestion", await self._once(text))  # `_asked` returns it

    async def _asked(self, text: str) -> _Vector:
        return await self.token_embedder.embed_question(text)

    def _asked_now(self, text: str) -> _Vector:
        return cast("ComputingEmbedder", self.inner).question_now(text)


def _vector(answer: _Vector) -> NDArray[np.float32]:
    return answer.vector if isinstance(answer, EmbeddedQuestion) else answer


def asked_once(embedder: Embedder) -> Embedder:
    """An embedder that embeds each question once and caches the result. Closing it does not close `embedder`."""
    with_tokens = token_embedder(embedder)
    return _AskedOnce(embedder) if with_tokens is None else _TokensAskedOnce(embedder, token_embedder=with_tokens)
