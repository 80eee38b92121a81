"""An embedder behind an HTTP API: Ollama, OpenAI, Gemini, and servers that speak OpenAI's protocol.

Importing this module imports httpx; facts about models that need no HTTP are in `services` and `ollama_models`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, Self, cast

import numpy as np

from remembrancer.adapters.embedders.services import EmbeddingService, RawVectors
from remembrancer.adapters.http_service import HttpService, encodable
from remembrancer.ports.embedder import Embedded

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Every model reads at least this much; a shorter text was rejected for another reason.
_SHORTEST_CHARACTERS: Final = 64

# No model at OpenAI's address reads more: 8,192 tokens.
_LONGEST_CHARACTERS: Final = 40_000

_ZERO: Final = 1e-9


class _TooLongError(Exception):
    """A text is longer than the model's context."""


class HttpEmbedder:
    """Vectors from one model of one service. All scripts are accepted.

    Only the service can tell whether a text exceeds the context: it has the tokenizer. A request that it rejects for
    that is split in halves until the long texts are alone. A long text is then cut by the service, if it can;
    otherwise, and if the service still rejects it (Ollama 0.13.5 and later, some texts), a shorter beginning is sent, a
    quarter less each time. `truncated` reports it; for Gemini, which cuts silently, it is an estimate.
    """

    def __init__(self, http: HttpService, model: EmbeddingService, *, timeout: float) -> None:
        """`close` closes `http`. Most callers use `open`, which creates it."""
        self._http = http
        self._model = model
        self._timeout = timeout
        self._dim = model.dim

    @classmethod
    def open(cls, url: str, model: EmbeddingService, *, timeout: float, key: str = "") -> Self:
        """Create the HTTP client; nothing is sent yet. Blocks for about 20 ms, so call it outside of the event loop.

        `url`: as for `HttpService.open`, with the path if the service is not at the root. `timeout`: seconds from the
        start of a request to the end of its answer; a list of documents takes several requests. `key`: an API key; ""
        for none. Raises ModelUnavailable for an invalid URL.
        """
        http = HttpService.open(url, who=model.who, model=model.name, headers=model.headers(key), secret=key)
        return cls(http, model, timeout=timeout)

    @property
    def model_id(self) -> str:
        """The service and the model, for example "ollama/nomic-embed-text"."""
        return self._model.model_id

    @property
    def dim(self) -> int | None:
        return self._dim

    def reads(self, text: str) -> bool:
        """True for any text: most of these models know many scripts, and no service says which."""
        return True

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        """Vectors of documents, in their order. Raises ModelUnavailable, without partial results, when a request fails
        or its answer is invalid; TryLater or KeyRefused, its subclasses, if another try or key may succeed.
        """
        vectors: list[NDArray[np.float32]] = []
        truncated: list[bool] = []
        for batch in self._batches([encodable(text) for text in texts]):
            embedded = await self._embed(batch, query=False)
            vectors.append(embedded.vectors)
            truncated.extend(embedded.truncated)
        if not vectors:
            vectors.append(np.empty((0, self._dim or 0), np.float32))
        return Embedded(np.concatenate(vectors), np.array(truncated, np.bool_))

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector of a question. Raises as `embed_documents` does."""
        return (await self._embed([encodable(text)], query=True)).vectors[0]

    async def close(self) -> None:
        """Close the HTTP client. Closing again does nothing."""
        await self._http.close()

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        characters = 0
        for text in texts:
            characters += len(text)
            full = len(batch) == self._model.texts_a_call or characters > self._model.characters_a_call
            if batch and full:
                yield batch
                batch, characters = [], len(text)
            batch.append(text)
        if batch:
            yield batch

    async def _embed(self, texts: Sequence[str], *, query: bool) -> Embedded:
        try:
            vectors = await self._ask(texts, query=query, cut=False)
            return Embedded(vectors, np.array([self._model.is_cut(text) for text in texts], np.bool_))
        except _TooLongError:
            pass
        if len(texts) == 1:
            return Embedded(await self._embed_beginning(texts[0], query=query), np.ones(1, np.bool_))
        middle = len(texts) // 2
        first = await self._embed(texts[:middle], query=query)
        second = await self._embed(texts[middle:], query=query)
        return Embedded(
            np.concatenate([first.vectors, second.vectors]), np.concatenate([first.truncated, second.truncated])
        )

    async def _embed_beginning(self, text: str, *, query: bool) -> NDArray[np.float32]:
        """The vector of the beginning of a long text that fits the model's context, shape (1, dim)."""
        if not self._model.cuts:
            text = text[: min(len(text) * 3 // 4, _LONGEST_CHARACTERS)]
        while True:
            try:
                return await self._ask([text], query=query, cut=True)
            except _TooLongError as error:
                if len(text) <= _SHORTEST_CHARACTERS:
                    raise self._http.unavailable(f"finds {len(text)} characters too long") from error
                text = text[: len(text) * 3 // 4]

    async def _ask(self, texts: Sequence[str], *, query: bool, cut: bool) -> NDArray[np.float32]:
        body = self._model.request(texts, query=query, cut=cut)
        try:
            async with asyncio.timeout(self._timeout):
                answer = await self._http.post(self._model.path, body, hint=self._model.running)
        except TimeoutError as error:
            raise self._http.overdue(self._timeout, "embedder_timeout", self._model.loading) from error
        if answer.status != HTTPStatus.OK:
            if self._model.is_too_long(answer.message):
                raise _TooLongError(answer.message)
            if advice := self._model.advice(answer.status, answer.message):
                raise self._http.unavailable(advice)
            raise self._http.refusal(answer, self._model.setting)
        return self._vectors(answer.body, len(texts))

    def _vectors(self, body: bytes, count: int) -> NDArray[np.float32]:
        """The vectors of an answer, scaled to unit length. Raises ModelUnavailable for an answer of another shape."""
        rows = self._rows(body)
        if rows is None:
            raise self._http.unavailable("answered without embeddings")
        if len(rows) != count:
            raise self._http.unavailable(f"answered with {len(rows)} vectors for {count} texts")
        try:
            found = np.array(rows)
        except ValueError as error:  # rows of different lengths
            raise self._http.unavailable("answered with vectors of different lengths") from error
        if found.ndim != 2 or found.dtype.kind not in "fi" or found.shape[1] == 0:
            raise self._http.unavailable("answered with a value that is not a vector")
        if self._dim is not None and found.shape[1] != self._dim:
            raise self._http.unavailable(f"answered with {found.shape[1]} dimensions where {self._dim} are expected")
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = np.linalg.norm(found.astype(np.float64), axis=1, keepdims=True)
        if not np.all(np.isfinite(lengths) & (lengths > _ZERO)):
            raise self._http.unavailable(
                "answered with a vector that has no direction (zero, infinite or not a number)"
            )
        self._dim = found.shape[1]
        return (found / lengths).astype(np.float32)

    def _rows(self, body: bytes) -> RawVectors | None:
        try:
            answer: object = json.loads(body)
        except (ValueError, RecursionError):
            return None
        return self._model.rows(cast("Mapping[str, object]", answer)) if isinstance(answer, dict) else None
