"""A reranker behind an HTTP API: Cohere, Jina, vLLM, Infinity, Text Embeddings Inference.

Importing this module imports httpx, of the extra `rerank`; the services' request formats are in `services`.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import httpx
import numpy as np

from remembrancer.adapters.endpoints import error_text, host_and_port, service_message
from remembrancer.adapters.rerankers.services import AnswerError, RerankService
from remembrancer.errors import InvalidInput, ModelUnavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A host that does not accept the connection in this time is down; scoring may take much longer.
_CONNECT_SECONDS: Final = 3.0

# Far more than a hundred scores need, because some services also return the texts.
_ANSWER_BYTES: Final = 32 << 20

# Statuses that may carry Retry-After. More tries would only use up the question's time.
_LATER: Final = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
_TRIES: Final = 3

_NO_ADDRESS: Final = "the reranker's address cannot be called: it is no http:// or https:// address"
_REFUSED_KEY: Final = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class _Answer(NamedTuple):
    status: int
    retry_after: str
    body: bytes


class HttpReranker:
    """Scores by one model of one service.

    If the service answers 429 or 503 with Retry-After in seconds, and that time is left, the request is repeated, at
    most twice. Requests go directly to the service: no proxy, no redirect, no credentials except the given key or those
    in the URL. Each request has its own connection, so a stale one is never reused.
    """

    def __init__(self, client: httpx.AsyncClient, url: httpx.URL, service: RerankService, *, timeout: float) -> None:
        """`close` closes `client`. Most callers use `open`, which creates the client."""
        self._client = client
        self._url = url
        self._service = service
        self._timeout = timeout
        self._where = f"the reranker at {host_and_port(url)}"
        # Masked in messages: a service's error about a rejected key may contain the key.
        self._secret = client.headers.get("Authorization", "").removeprefix("Bearer ")

    @classmethod
    def open(cls, url: str, service: RerankService, *, timeout: float, api_key: str | None = None) -> Self:
        """Create the HTTP client; nothing is sent yet. Blocks for about 20 ms, so call it outside of the event loop.

        `url`: the endpoint itself, such as https://api.cohere.com/v2/rerank, https://api.jina.ai/v1/rerank or
        http://localhost:8080/rerank; http or https, with user and password if a proxy before it requires them.
        `api_key`: sent as a bearer token; None or empty: none is sent. `timeout`: seconds for all texts of one
        question, which may take several requests.

        Raises InvalidInput for a key that a header cannot carry or an invalid timeout, ModelUnavailable for an invalid
        URL.
        """
        if not timeout > 0:
            raise InvalidInput("timeout", timeout, "a number of seconds greater than 0")
        headers = {"Content-Type": "application/json", **_authorization(api_key)}
        try:
            given = httpx.URL(url)
        except httpx.InvalidURL:
            raise ModelUnavailable(_NO_ADDRESS) from None  # httpx's message may contain a part of the password
        if given.scheme not in ("http", "https") or not given.host:
            raise ModelUnavailable(_NO_ADDRESS)
        by_password = given.userinfo and "Authorization" not in headers
        client = httpx.AsyncClient(
            auth=(given.username, given.password) if by_password else None,
            headers=headers,
            timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
            limits=httpx.Limits(max_keepalive_connections=0),
            verify=ssl.create_default_context(),  # the system's certificates, which may include a company's own
            trust_env=False,
        )
        # Kept apart from the address, user and password are not logged by httpx.
        return cls(client, given.copy_with(userinfo=b""), service, timeout=timeout)

    @property
    def model_id(self) -> str:
        """For example "rerank/rerank-v3.5"."""
        return self._service.model_id

    async def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """See `Reranker.scores`. Raises ModelUnavailable, without partial results, when a request fails, its answer is
        invalid, or the timeout is over.
        """
        found = [np.empty(0, np.float32)]
        deadline = asyncio.get_running_loop().time() + self._timeout
        try:
            async with asyncio.timeout_at(deadline):
                for start in range(0, len(texts), self._service.batch):
                    found.append(await self._ask(question, texts[start : start + self._service.batch], deadline))
        except TimeoutError as error:
            raise self._unavailable(f"did not answer within {self._timeout:g} s") from error
        return np.concatenate(found)

    async def close(self) -> None:
        """Close the HTTP client. Closing again does nothing."""
        await self._client.aclose()

    async def _ask(self, question: str, texts: Sequence[str], deadline: float) -> NDArray[np.float32]:
        # Replaces lone surrogates, which JSON can carry, by question marks: they have no UTF-8 form.
        asked, *given = (text.encode("utf-8", "replace").decode() for text in (question, *texts))
        answer = await self._answer(json.dumps(self._service.request(asked, given)).encode(), deadline)
        if answer.status != HTTPStatus.OK:
            raise self._refusal(answer)
        try:
            return self._service.scores(json.loads(answer.body), len(texts))
        except AnswerError as error:
            raise self._unavailable(str(error)) from error
        except (ValueError, RecursionError) as error:
            raise self._unavailable("answered with something that is no JSON") from error

    async def _answer(self, request: bytes, deadline: float) -> _Answer:
        """The last of up to three answers; a request is repeated when the service asks to wait and there is time."""
        answer = await self._post(request)
        for _ in range(_TRIES - 1):
            wait = _seconds(answer.retry_after)
            # Waiting longer than the remaining time would end in a timeout, which explains less than this answer.
            left = deadline - asyncio.get_running_loop().time()
            if answer.status not in _LATER or wait is None or wait >= left:
                break
            await asyncio.sleep(wait)
            answer = await self._post(request)
        return answer

    async def _post(self, request: bytes) -> _Answer:
        if self._client.is_closed:
            raise ModelUnavailable("this reranker is closed")
        body = bytearray()
        try:
            async with self._client.stream("POST", self._url, content=request) as response:
                async for chunk in response.aiter_bytes():
                    body += chunk
                    if len(body) > _ANSWER_BYTES:
                        raise self._unavailable(f"answered with more than {_ANSWER_BYTES >> 20} MiB")
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise self._unavailable(f"cannot be reached ({error_text(error)}): is it running there?") from error
        except httpx.HTTPError as error:
            raise self._unavailable(f"did not finish its answer ({error_text(error)})") from error
        return _Answer(response.status_code, response.headers.get("Retry-After", ""), bytes(body))

    def _refusal(self, answer: _Answer) -> ModelUnavailable:
        """The error for an answer whose status is not 200."""
        if httpx.codes.is_redirect(answer.status):
            return self._unavailable(
                f"redirects ({answer.status}), which is not followed: the URL must name the endpoint"
            )
        message = _error_message(answer.body)
        message = message.replace(self._secret, "***") if self._secret else message
        text = f"answered {answer.status}" + (f": {message[:200]}" if message else "")
        if answer.status in _REFUSED_KEY:
            return self._unavailable(f"{text}; is the API key right?")
        if answer.status in _LATER and answer.retry_after:
            return self._unavailable(f"{text}; Retry-After: {answer.retry_after[:40]}")
        return self._unavailable(text)

    def _unavailable(self, message: str) -> ModelUnavailable:
        return ModelUnavailable(f"{self._where}, model {self._service.model}: {message}")


def _authorization(api_key: str | None) -> dict[str, str]:
    key = (api_key or "").strip()  # a key read from a file ends with a line break
    if not key:
        return {}
    if not key.isascii() or not key.isprintable() or " " in key:
        raise InvalidInput("api_key", "***", "printable ASCII characters without a blank")
    return {"Authorization": f"Bearer {key}"}


def _seconds(retry_after: str) -> float | None:
    """The seconds of a Retry-After header; None for a date or an empty value."""
    return float(retry_after) if retry_after.isascii() and retry_after.isdigit() else None


def _error_message(body: bytes) -> str:
    """The error message in an answer; empty if it is not JSON."""
    try:
        return service_message(json.loads(body))
    except (ValueError, RecursionError):
        return ""
