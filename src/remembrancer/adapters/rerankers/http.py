"""A reranker that a service runs, over its HTTP API: Cohere, Jina, vLLM, Infinity, Text Embeddings Inference.

Importing this module imports httpx, of the extra `rerank`; how services are spoken to is in `services`.
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

from remembrancer.adapters.endpoints import host_and_port, said_by, said_in
from remembrancer.adapters.rerankers.services import AnswerError, RerankService
from remembrancer.errors import InvalidInput, ModelUnavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A host that does not even take the call is gone, however long its answers may take: a question need not wait for it.
_CONNECT_SECONDS: Final = 3.0

# A hundred scores have less than a thousandth of this; some services send the texts back beside them.
_ANSWER_BYTES: Final = 32 << 20

# What says "later" may say when. More tries would only spend the time that the question has.
_LATER: Final = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
_TRIES: Final = 3

_NO_ADDRESS: Final = "the reranker's address cannot be called: it is no http:// or https:// address"
_REFUSED_KEY: Final = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class _Answer(NamedTuple):
    status: int
    retry_after: str
    body: bytes


class HttpReranker:
    """Scores of one model of one service.

    A service that asks to be called later (429 or 503 with Retry-After in seconds) is called again where that is
    within the time the question has, at most twice. Calls go straight to the service: no proxy, no redirect, no
    credentials but the key given or the URL's own. Each has its own connection, so none is found stale.
    """

    def __init__(self, client: httpx.AsyncClient, url: httpx.URL, service: RerankService, *, timeout: float) -> None:
        """`client` is closed with this. Else as `open`, which makes one."""
        self._client = client
        self._url = url
        self._service = service
        self._timeout = timeout
        self._where = f"the reranker at {host_and_port(url)}"
        # What a service says of a refused key may hold the key.
        self._secret = client.headers.get("Authorization", "").removeprefix("Bearer ")

    @classmethod
    def open(cls, url: str, service: RerankService, *, timeout: float, api_key: str | None = None) -> Self:
        """Prepare to call; nothing is sent yet. It takes some 20 ms, so call it off the event loop.

        `url`: the endpoint itself, such as https://api.cohere.com/v2/rerank, https://api.jina.ai/v1/rerank or
        http://localhost:8080/rerank, http or https, with a user and password if a proxy before it asks for them.
        `api_key` is sent as a bearer token; None or empty: none is sent. `timeout`: seconds for all the texts of one
        question, which may be several requests.

        Raises InvalidInput for a key that no header can carry or a timeout that is none, ModelUnavailable for a URL
        that cannot be called.
        """
        if not timeout > 0:
            raise InvalidInput("timeout", timeout, "a number of seconds greater than 0")
        headers = {"Content-Type": "application/json", **_authorization(api_key)}
        try:
            given = httpx.URL(url)
        except httpx.InvalidURL:
            raise ModelUnavailable(_NO_ADDRESS) from None  # what httpx says may hold a part of the password
        if given.scheme not in ("http", "https") or not given.host:
            raise ModelUnavailable(_NO_ADDRESS)
        by_password = given.userinfo and "Authorization" not in headers
        client = httpx.AsyncClient(
            auth=(given.username, given.password) if by_password else None,
            headers=headers,
            timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
            limits=httpx.Limits(max_keepalive_connections=0),
            verify=ssl.create_default_context(),  # the system's authorities, a company's own among them
            trust_env=False,
        )
        # Apart from the address, the user and password stay out of what httpx logs.
        return cls(client, given.copy_with(userinfo=b""), service, timeout=timeout)

    @property
    def model_id(self) -> str:
        """Such as "rerank/rerank-v3.5"."""
        return self._service.model_id

    async def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """As the port says. Raises ModelUnavailable, and gives no score, when one request is not answered in time as
        it should be.
        """
        found = [np.empty(0, np.float32)]
        deadline = asyncio.get_running_loop().time() + self._timeout
        try:
            async with asyncio.timeout_at(deadline):
                for start in range(0, len(texts), self._service.batch):
                    found.append(await self._ask(question, texts[start : start + self._service.batch], deadline))
        except TimeoutError as error:
            raise self._down(f"did not answer within {self._timeout:g} s") from error
        return np.concatenate(found)

    async def close(self) -> None:
        """Closing twice does nothing."""
        await self._client.aclose()

    async def _ask(self, question: str, texts: Sequence[str], deadline: float) -> NDArray[np.float32]:
        # A lone surrogate, which JSON can carry, has no UTF-8 form; the model gets a question mark for it.
        asked, *given = (text.encode("utf-8", "replace").decode() for text in (question, *texts))
        answer = await self._answer(json.dumps(self._service.request(asked, given)).encode(), deadline)
        if answer.status != HTTPStatus.OK:
            raise self._refusal(answer)
        try:
            return self._service.scores(json.loads(answer.body), len(texts))
        except AnswerError as error:
            raise self._down(str(error)) from error
        except (ValueError, RecursionError) as error:
            raise self._down("answered with something that is no JSON") from error

    async def _answer(self, request: bytes, deadline: float) -> _Answer:
        """The last of up to three answers: what is asked to wait, and may, tries again."""
        answer = await self._post(request)
        for _ in range(_TRIES - 1):
            wait = _seconds(answer.retry_after)
            # A wait beyond the time there is would end in a timeout, which says less than the refusal.
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
                        raise self._down(f"answered with more than {_ANSWER_BYTES >> 20} MiB")
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise self._down(f"cannot be reached ({said_by(error)}): is it running there?") from error
        except httpx.HTTPError as error:
            raise self._down(f"did not finish its answer ({said_by(error)})") from error
        return _Answer(response.status_code, response.headers.get("Retry-After", ""), bytes(body))

    def _refusal(self, answer: _Answer) -> ModelUnavailable:
        """What an answer that is not 200 means."""
        if httpx.codes.is_redirect(answer.status):
            return self._down(f"redirects ({answer.status}), which is not followed: the URL must name the endpoint")
        said = _error_of(answer.body)
        said = said.replace(self._secret, "***") if self._secret else said
        words = f"answered {answer.status}" + (f": {said[:200]}" if said else "")
        if answer.status in _REFUSED_KEY:
            return self._down(f"{words}; is the API key right?")
        if answer.status in _LATER and answer.retry_after:
            return self._down(f"{words}; Retry-After: {answer.retry_after[:40]}")
        return self._down(words)

    def _down(self, said: str) -> ModelUnavailable:
        return ModelUnavailable(f"{self._where}, model {self._service.model}: {said}")


def _authorization(api_key: str | None) -> dict[str, str]:
    key = (api_key or "").strip()  # a file's last line break is no part of it
    if not key:
        return {}
    if not key.isascii() or not key.isprintable() or " " in key:
        raise InvalidInput("api_key", "***", "printable ASCII characters without a blank")
    return {"Authorization": f"Bearer {key}"}


def _seconds(retry_after: str) -> float | None:
    """None where it names a date, or nothing."""
    return float(retry_after) if retry_after.isascii() and retry_after.isdigit() else None


def _error_of(body: bytes) -> str:
    """What a service says of a refusal; empty where that is no JSON."""
    try:
        return said_in(json.loads(body))
    except (ValueError, RecursionError):
        return ""
