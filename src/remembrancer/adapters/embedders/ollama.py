"""Embedder for a model served by Ollama, over its HTTP API (`POST /api/embed`).

Importing this module imports httpx, of the extra `ollama`; facts about models that need no HTTP are in `ollama_models`.
"""

from __future__ import annotations

import asyncio
import json
import re
import ssl
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, cast

import httpx
import numpy as np

from remembrancer.adapters.embedders.ollama_models import OllamaModel
from remembrancer.adapters.endpoints import error_text, host_and_port
from remembrancer.errors import ModelUnavailable
from remembrancer.ports.embedder import Embedded

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Limits of one request. Without a GPU, Ollama reads about a thousand characters a second, so a larger request would not
# be answered within the timeout. A longer text is sent alone.
_BATCH_TEXTS: Final = 32
_BATCH_CHARACTERS: Final = 8_192

# A host that does not accept the connection in this time is down; answers may take much longer.
_CONNECT_SECONDS: Final = 3.0

# More than ten times the JSON of 32 vectors with 4,096 components.
_ANSWER_BYTES: Final = 32 << 20

# Error messages for a text that is longer than the context, of Ollama's versions and of its runners.
_TOO_LONG: Final = re.compile(r"exceeds?\b.*\bcontext|too large to process", re.IGNORECASE | re.DOTALL)

# Every model reads at least this much; a shorter text was rejected for another reason.
_SHORTEST_CHARACTERS: Final = 64

_ZERO: Final = 1e-9


class _TooLongError(Exception):
    """The text is longer than the model's context."""


class _Answer(NamedTuple):
    status: int
    body: bytes


class OllamaEmbedder:
    """Vectors from one model on one Ollama server. All scripts are accepted.

    Only Ollama can tell whether a text exceeds the context: it has the tokenizer, and the context length is a setting
    of the server. Requests are therefore sent with `truncate: false`, and Ollama rejects a request with a text that is
    too long. A rejected request is split in halves until the long texts are alone; these are sent again with `truncate:
    true`. Some versions reject a text even then (0.13.5 and later, for some texts); they get a shorter beginning of it,
    a quarter less each time. `truncated` thus reports what happened and is not an estimate.

    Requests go directly to the server: no proxy, no redirect, no credentials except those in the URL. Each request has
    its own connection, so a stale one is never reused.
    """

    def __init__(self, client: httpx.AsyncClient, model: OllamaModel, *, timeout: float) -> None:
        """`client` has Ollama's address as its `base_url`; `close` closes it. Most callers use `open`, which creates
        the client.
        """
        self._client = client
        self._model = model
        self._timeout = timeout
        self._dim = model.dim
        self._where = f"Ollama at {host_and_port(client.base_url)}"

    @classmethod
    def open(cls, url: str, model: OllamaModel, *, timeout: float) -> Self:
        """Create the HTTP client; nothing is sent yet. Blocks for about 20 ms, so call it outside of the event loop.

        `url`: http or https, with user and password if a proxy before the server requires them, and with the path if
        Ollama is not at the root. `timeout`: seconds from the start of a request to the end of its answer; a list of
        documents takes several requests.

        Raises ModelUnavailable for an invalid URL.
        """
        try:
            given = httpx.URL(url)
            client = httpx.AsyncClient(
                # Kept apart from the address, user and password are not logged by httpx.
                base_url=given.copy_with(userinfo=b""),
                auth=(given.username, given.password) if given.userinfo else None,
                headers={"Content-Type": "application/json"},
                timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
                limits=httpx.Limits(max_keepalive_connections=0),
                verify=ssl.create_default_context(),  # the system's certificates, which may include a company's own
                trust_env=False,
            )
        except httpx.InvalidURL as error:
            raise ModelUnavailable(f"Ollama's address cannot be called: {error}") from error
        return cls(client, model, timeout=timeout)

    @property
    def model_id(self) -> str:
        """For example "ollama/nomic-embed-text"."""
        return self._model.model_id

    @property
    def dim(self) -> int | None:
        return self._dim

    def reads(self, text: str) -> bool:
        """True for any text: most of these models know many scripts, and Ollama does not say which."""
        return True

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        """Raises ModelUnavailable, without partial results, when a request fails or its answer is invalid."""
        vectors: list[NDArray[np.float32]] = []
        truncated: list[bool] = []
        for batch in _batches([self._model.document_prefix + text for text in texts]):
            embedded = await self._embed(batch)
            vectors.append(embedded.vectors)
            truncated.extend(embedded.truncated)
        if not vectors:
            vectors.append(np.empty((0, self._dim or 0), np.float32))
        return Embedded(np.concatenate(vectors), np.array(truncated, np.bool_))

    async def embed_query(self, text: str) -> NDArray[np.float32]:
        """Raises ModelUnavailable when the request fails or its answer is invalid."""
        return (await self._embed([self._model.query_prefix + text])).vectors[0]

    async def close(self) -> None:
        """Close the HTTP client. Closing again does nothing."""
        await self._client.aclose()

    async def _embed(self, texts: Sequence[str]) -> Embedded:
        try:
            return Embedded(await self._ask(texts, truncate=False), np.zeros(len(texts), np.bool_))
        except _TooLongError:
            pass
        if len(texts) == 1:
            return Embedded(await self._embed_beginning(texts[0]), np.ones(1, np.bool_))
        middle = len(texts) // 2
        first, second = await self._embed(texts[:middle]), await self._embed(texts[middle:])
        return Embedded(
            np.concatenate([first.vectors, second.vectors]), np.concatenate([first.truncated, second.truncated])
        )

    async def _embed_beginning(self, text: str) -> NDArray[np.float32]:
        """The vector of the beginning of a long text that fits the model's context, shape (1, dim)."""
        while True:
            try:
                return await self._ask([text], truncate=True)
            except _TooLongError as error:
                if len(text) <= _SHORTEST_CHARACTERS:
                    raise self._unavailable(f"finds {len(text)} characters too long") from error
                text = text[: len(text) * 3 // 4]

    async def _ask(self, texts: Sequence[str], *, truncate: bool) -> NDArray[np.float32]:
        # Replaces lone surrogates, which JSON can carry, by question marks: they have no UTF-8 form.
        given = [text.encode("utf-8", "replace").decode() for text in texts]
        question = json.dumps({"model": self._model.name, "input": given, "truncate": truncate})
        if self._client.is_closed:
            raise ModelUnavailable("this embedder is closed")
        try:
            async with asyncio.timeout(self._timeout):
                answer = await self._post(question.encode())
        except TimeoutError as error:
            waited = f"did not answer within {self._timeout:g} s, which embedder_timeout sets"
            raise self._unavailable(f"{waited}: it may be loading the model") from error
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise self._unavailable(
                f"cannot be reached ({error_text(error)}): is it running there, `ollama serve`?"
            ) from error
        except httpx.HTTPError as error:
            raise self._unavailable(f"did not finish its answer ({error_text(error)})") from error
        if answer.status != HTTPStatus.OK:
            raise self._refusal(answer)
        return self._vectors(answer.body, len(texts))

    async def _post(self, question: bytes) -> _Answer:
        body = bytearray()
        async with self._client.stream("POST", "api/embed", content=question) as response:
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > _ANSWER_BYTES:
                    raise self._unavailable(f"answered with more than {_ANSWER_BYTES >> 20} MiB")
        return _Answer(response.status_code, bytes(body))

    def _refusal(self, answer: _Answer) -> Exception:
        """The error for an answer whose status is not 200."""
        if httpx.codes.is_redirect(answer.status):
            return self._unavailable(
                f"redirects ({answer.status}), which is not followed: ollama_url must name where it is"
            )
        message = _error_message(answer.body)
        if _TOO_LONG.search(message):
            return _TooLongError(message)
        if answer.status == HTTPStatus.NOT_FOUND and "model" in message:
            return self._unavailable(f"does not have the model: ollama pull {self._model.name}")
        return self._unavailable(f"answered {answer.status}" + (f": {message[:200]}" if message else ""))

    def _vectors(self, body: bytes, count: int) -> NDArray[np.float32]:
        """The vectors of an answer, scaled to unit length. Raises ModelUnavailable for an answer of another shape."""
        embeddings = _field(body, "embeddings")
        if not isinstance(embeddings, list):
            raise self._unavailable("answered without embeddings")
        rows = cast("list[Any]", embeddings)
        if len(rows) != count:
            raise self._unavailable(f"answered with {len(rows)} vectors for {count} texts")
        try:
            found = np.array(rows)
        except ValueError as error:  # rows of different lengths
            raise self._unavailable("answered with vectors of different lengths") from error
        if found.ndim != 2 or found.dtype.kind not in "fi" or found.shape[1] == 0:
            raise self._unavailable("answered with something that is no vector")
        if self._dim is not None and found.shape[1] != self._dim:
            raise self._unavailable(f"answered with {found.shape[1]} dimensions where {self._dim} are expected")
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = np.linalg.norm(found.astype(np.float64), axis=1, keepdims=True)
        if not np.all(np.isfinite(lengths) & (lengths > _ZERO)):
            raise self._unavailable("answered with a vector that has no direction (zero, infinite or not a number)")
        self._dim = found.shape[1]
        return (found / lengths).astype(np.float32)

    def _unavailable(self, message: str) -> ModelUnavailable:
        return ModelUnavailable(f"{self._where}, model {self._model.name}: {message}")


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    characters = 0
    for text in texts:
        characters += len(text)
        if batch and (len(batch) == _BATCH_TEXTS or characters > _BATCH_CHARACTERS):
            yield batch
            batch, characters = [], len(text)
        batch.append(text)
    if batch:
        yield batch


def _error_message(body: bytes) -> str:
    """The error message in Ollama's answer, on one line; empty if there is none."""
    message = _field(body, "error")
    text = message if isinstance(message, str) else "" if message is None else json.dumps(message)
    return " ".join(text.split())


def _field(body: bytes, name: str) -> object:
    """A field of a JSON object; None when the body is not a JSON object or lacks the field."""
    try:
        answer: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", answer).get(name) if isinstance(answer, dict) else None
