"""A reranker behind an HTTP API: Cohere, Jina, vLLM, Infinity, Text Embeddings Inference.

Importing this module imports httpx, of the extra `rerank`; the services' request formats are in `services`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from remembrancer.adapters.endpoints import TryLater
from remembrancer.adapters.http_service import HttpAnswer, HttpService, encodable
from remembrancer.adapters.rerankers.services import AnswerError, RerankService
from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import NDArray

# More tries would only use up the question's time.
_TRIES: Final = 3


class HttpReranker:
    """Scores by one model of one service.

    If the service names a time in which to ask again (429, 503), and that time is left, the request is repeated, at
    most twice.
    """

    def __init__(self, http: HttpService, service: RerankService, *, timeout: float) -> None:
        """`close` closes `http`. Most callers use `open`, which creates it."""
        self._http = http
        self._service = service
        self._timeout = timeout

    @classmethod
    def open(cls, url: str, service: RerankService, *, timeout: float, api_key: str | None = None) -> Self:
        """Create the HTTP client; nothing is sent yet. Blocks for about 20 ms, so call it outside of the event loop.

        `url`: the endpoint itself, such as https://api.cohere.com/v2/rerank, https://api.jina.ai/v1/rerank or
        http://localhost:8080/rerank. `api_key`: sent as a bearer token; None or empty: none is sent. `timeout`: seconds
        for all texts of one question, which may take several requests.

        Raises InvalidInput for a key that a header cannot carry or an invalid timeout, ModelUnavailable for an invalid
        URL.
        """
        if not timeout > 0:
            raise InvalidInput("timeout", timeout, "a number of seconds greater than 0")
        key = (api_key or "").strip()  # a key read from a file ends with a line break
        if not key.isascii() or not key.isprintable() or " " in key:
            raise InvalidInput("api_key", "***", "printable ASCII characters without spaces")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        http = HttpService.open(url, who="the reranker", model=service.model, headers=headers, secret=key)
        return cls(http, service, timeout=timeout)

    @property
    def model_id(self) -> str:
        """The model's name, for example "rerank/rerank-v3.5"."""
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
            raise self._http.overdue(self._timeout, "reranker_timeout") from error
        return np.concatenate(found)

    async def close(self) -> None:
        """Close the HTTP client. Closing again does nothing."""
        await self._http.close()

    async def _ask(self, question: str, texts: Sequence[str], deadline: float) -> NDArray[np.float32]:
        request = self._service.request(encodable(question), [encodable(text) for text in texts])
        answer = await self._http.post("", request)
        for _ in range(_TRIES - 1):
            if answer.status == HTTPStatus.OK:
                break
            refusal = self._http.refusal(answer, "reranker")
            wait = refusal.wait if isinstance(refusal, TryLater) else None
            # Waiting longer than the remaining time would end in a timeout, which explains less than this answer.
            if wait is None or wait >= deadline - asyncio.get_running_loop().time():
                break
            await asyncio.sleep(wait)
            answer = await self._http.post("", request)
        return self._scores(answer, len(texts))

    def _scores(self, answer: HttpAnswer, count: int) -> NDArray[np.float32]:
        if answer.status != HTTPStatus.OK:
            raise self._http.refusal(answer, "reranker")
        try:
            return self._service.scores(json.loads(answer.body), count)
        except AnswerError as error:
            raise self._http.unavailable(str(error)) from error
        except (ValueError, RecursionError) as error:
            raise self._http.unavailable("answered with a text that is not JSON") from error
