"""A model that an Ollama server runs, over its HTTP API (`POST /api/embed`).

Importing this module imports httpx, of the extra `ollama`; what is known of models without it is in `ollama_models`.
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
from remembrancer.adapters.endpoints import host_and_port, said_by
from remembrancer.errors import ModelUnavailable
from remembrancer.ports.embedder import Embedded

if TYPE_CHECKING:
    from numpy.typing import NDArray

# One request's texts. Without a graphics card Ollama reads some thousand characters a second: more than this would
# not be done before the time for one answer is over. A longer text goes alone.
_BATCH_TEXTS: Final = 32
_BATCH_CHARACTERS: Final = 8_192

# A host that does not even take the call is gone, however long its answers may take: a question need not wait for it.
_CONNECT_SECONDS: Final = 3.0

# 32 vectors of 4,096 components, written out at length, have less than a tenth of this.
_ANSWER_BYTES: Final = 32 << 20

# Refusals of a text that is longer than the context, in the words of Ollama's versions and of the runners below it.
_TOO_LONG: Final = re.compile(r"exceeds?\b.*\bcontext|too large to process", re.IGNORECASE | re.DOTALL)

# No model reads less: what is refused at this length is refused for another reason.
_SHORTEST_CHARACTERS: Final = 64

_ZERO: Final = 1e-9


class _TooLongError(Exception):
    """The model reads less than it was given."""


class _Answer(NamedTuple):
    status: int
    body: bytes


class OllamaEmbedder:
    """Vectors of one model of one Ollama server; any script, as far as the model knows it.

    Whether a text is longer than the model reads, only Ollama can tell: it has the tokenizer, and the context's length
    is the server's setting. So it is asked not to cut (`truncate: false`), which it answers with a refusal when
    something is too long. The texts of a refused request are asked for in halves until the long ones are alone, and
    those once more with `truncate: true`. Versions that refuse even then (0.13.5 and later do for some texts) get less
    and less of the beginning, a quarter off each time. `truncated` is therefore what happened and no estimate.

    Calls go straight to the server: no proxy, no redirect, no credentials but the URL's own. Each has its own
    connection, so none is found stale.
    """

    def __init__(self, client: httpx.AsyncClient, model: OllamaModel, *, timeout: float) -> None:
        """`client` has Ollama's address as its `base_url`, and is closed with this. Else as `open`, which makes one."""
        self._client = client
        self._model = model
        self._timeout = timeout
        self._dim = model.dim
        self._where = f"Ollama at {host_and_port(client.base_url)}"

    @classmethod
    def open(cls, url: str, model: OllamaModel, *, timeout: float) -> Self:
        """Prepare to call; nothing is sent yet. It takes some 20 ms, so call it off the event loop.

        `url`: http or https, with a user and password if the server is behind a proxy that asks for them, and a path
        if it is not at the root. `timeout`: seconds for one answer, a request's beginning to its end; a list of
        documents is several requests.

        Raises ModelUnavailable for a URL that cannot be called.
        """
        try:
            given = httpx.URL(url)
            client = httpx.AsyncClient(
                # Apart from the address, the user and password stay out of what httpx logs.
                base_url=given.copy_with(userinfo=b""),
                auth=(given.username, given.password) if given.userinfo else None,
                headers={"Content-Type": "application/json"},
                timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
                limits=httpx.Limits(max_keepalive_connections=0),
                verify=ssl.create_default_context(),  # the system's authorities, a company's own among them
                trust_env=False,
            )
        except httpx.InvalidURL as error:
            raise ModelUnavailable(f"Ollama's address cannot be called: {error}") from error
        return cls(client, model, timeout=timeout)

    @property
    def model_id(self) -> str:
        """Such as "ollama/nomic-embed-text"."""
        return self._model.model_id

    @property
    def dim(self) -> int | None:
        return self._dim

    def reads(self, text: str) -> bool:
        """Any text: most of these models know many scripts, and Ollama does not say which."""
        return True

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        """Raises ModelUnavailable, and gives no vector, when one request is not answered as it should be."""
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
        """Raises ModelUnavailable."""
        return (await self._embed([self._model.query_prefix + text])).vectors[0]

    async def close(self) -> None:
        """Closing twice does nothing."""
        await self._client.aclose()

    async def _embed(self, texts: Sequence[str]) -> Embedded:
        try:
            return Embedded(await self._ask(texts, truncate=False), np.zeros(len(texts), np.bool_))
        except _TooLongError:
            pass
        if len(texts) == 1:
            return Embedded(await self._beginning(texts[0]), np.ones(1, np.bool_))
        middle = len(texts) // 2
        first, second = await self._embed(texts[:middle]), await self._embed(texts[middle:])
        return Embedded(
            np.concatenate([first.vectors, second.vectors]), np.concatenate([first.truncated, second.truncated])
        )

    async def _beginning(self, text: str) -> NDArray[np.float32]:
        """The vector of as much of a long text as the model reads, shape (1, dim)."""
        while True:
            try:
                return await self._ask([text], truncate=True)
            except _TooLongError as error:
                if len(text) <= _SHORTEST_CHARACTERS:
                    raise self._down(f"finds {len(text)} characters too long") from error
                text = text[: len(text) * 3 // 4]

    async def _ask(self, texts: Sequence[str], *, truncate: bool) -> NDArray[np.float32]:
        # A lone surrogate, which JSON can carry, has no UTF-8 form; the model gets a question mark for it.
        given = [text.encode("utf-8", "replace").decode() for text in texts]
        question = json.dumps({"model": self._model.name, "input": given, "truncate": truncate})
        if self._client.is_closed:
            raise ModelUnavailable("this embedder is closed")
        try:
            async with asyncio.timeout(self._timeout):
                answer = await self._post(question.encode())
        except TimeoutError as error:
            waited = f"did not answer within {self._timeout:g} s, which embedder_timeout sets"
            raise self._down(f"{waited}: it may be loading the model") from error
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise self._down(f"cannot be reached ({said_by(error)}): is it running there, `ollama serve`?") from error
        except httpx.HTTPError as error:
            raise self._down(f"did not finish its answer ({said_by(error)})") from error
        if answer.status != HTTPStatus.OK:
            raise self._refusal(answer)
        return self._vectors(answer.body, len(texts))

    async def _post(self, question: bytes) -> _Answer:
        body = bytearray()
        async with self._client.stream("POST", "api/embed", content=question) as response:
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > _ANSWER_BYTES:
                    raise self._down(f"answered with more than {_ANSWER_BYTES >> 20} MiB")
        return _Answer(response.status_code, bytes(body))

    def _refusal(self, answer: _Answer) -> Exception:
        """What an answer that is not 200 means."""
        if httpx.codes.is_redirect(answer.status):
            return self._down(f"redirects ({answer.status}), which is not followed: ollama_url must name where it is")
        said = _error_of(answer.body)
        if _TOO_LONG.search(said):
            return _TooLongError(said)
        if answer.status == HTTPStatus.NOT_FOUND and "model" in said:
            return self._down(f"does not have the model: ollama pull {self._model.name}")
        return self._down(f"answered {answer.status}" + (f": {said[:200]}" if said else ""))

    def _vectors(self, body: bytes, count: int) -> NDArray[np.float32]:
        """Of unit length, checked: what does not answer the question is as good as no answer."""
        embeddings = _field(body, "embeddings")
        if not isinstance(embeddings, list):
            raise self._down("answered without embeddings")
        rows = cast("list[Any]", embeddings)
        if len(rows) != count:
            raise self._down(f"answered with {len(rows)} vectors for {count} texts")
        try:
            found = np.array(rows)
        except ValueError as error:  # rows of different lengths
            raise self._down("answered with vectors of different lengths") from error
        if found.ndim != 2 or found.dtype.kind not in "fi" or found.shape[1] == 0:
            raise self._down("answered with something that is no vector")
        if self._dim is not None and found.shape[1] != self._dim:
            raise self._down(f"answered with {found.shape[1]} dimensions where {self._dim} are expected")
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = np.linalg.norm(found.astype(np.float64), axis=1, keepdims=True)
        if not np.all(np.isfinite(lengths) & (lengths > _ZERO)):
            raise self._down("answered with a vector that has no direction (zero, infinite or not a number)")
        self._dim = found.shape[1]
        return (found / lengths).astype(np.float32)

    def _down(self, said: str) -> ModelUnavailable:
        return ModelUnavailable(f"{self._where}, model {self._model.name}: {said}")


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


def _error_of(body: bytes) -> str:
    """What Ollama says of a refusal, on one line; empty where it is not Ollama that answers."""
    said = _field(body, "error")
    text = said if isinstance(said, str) else "" if said is None else json.dumps(said)
    return " ".join(text.split())


def _field(body: bytes, name: str) -> object:
    """A field of a JSON object; None where the body is none, or has none."""
    try:
        answer: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, object]", answer).get(name) if isinstance(answer, dict) else None
