"""An HTTP service that answers JSON: the client, and what its failures mean. Importing this module imports httpx."""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final, NamedTuple, Self

import httpx

from remembrancer.adapters.endpoints import (
    KeyRefused,
    TryLater,
    error_text,
    host_and_port,
    retry_after,
    service_message,
)
from remembrancer.errors import ModelUnavailable

# A host that does not accept the connection in this time is down; answers may take much longer.
_CONNECT_SECONDS: Final = 3.0

# Far more than any answer of an embedder or reranker; some services return the texts as well.
_ANSWER_BYTES: Final = 32 << 20

_MESSAGE_CHARS: Final = 200

_REFUSED_KEY: Final = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
_OVERLOADED: Final = 529
"""A status that some services use like 503 when they are overloaded."""
_LATER: Final = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS, _OVERLOADED)


class HttpAnswer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def message(self) -> str:
        """The error message in the answer, on one line; empty if it is not JSON."""
        try:
            return service_message(json.loads(self.body))
        except (ValueError, RecursionError):
            return ""


class HttpService:
    """One model behind one address.

    Requests go directly to the service: no proxy, no redirect, no credentials except the given headers or those in the
    URL. Each request has its own connection, so a stale one is never reused.
    """

    def __init__(self, client: httpx.AsyncClient, url: httpx.URL, *, who: str, model: str, secret: str = "") -> None:
        """`close` closes `client`. Most callers use `open`, which creates the client."""
        self._client = client
        self._base = str(url).rstrip("/")
        self._where = f"{who} at {host_and_port(url)}, model {model}"
        self._secret = secret

    @classmethod
    def open(
        cls, url: str, *, who: str, model: str, headers: Mapping[str, str] | None = None, secret: str = ""
    ) -> Self:
        """Create the HTTP client; nothing is sent yet. Blocks for about 20 ms, so call it outside of the event loop.

        `url`: http or https, with user and password if a proxy before the service requires them. `who` and `model` name
        the service in messages. `secret`: masked in messages, because an error about a key may contain it.

        Raises ModelUnavailable for an invalid URL.
        """
        try:
            given = httpx.URL(url)
        except httpx.InvalidURL:
            given = None  # httpx's message may contain a part of the password
        if given is None or given.scheme not in ("http", "https") or not given.host:
            raise ModelUnavailable(f"{who}'s address is not an http:// or https:// address")
        by_password = given.userinfo and "Authorization" not in (headers or {})
        client = httpx.AsyncClient(
            auth=(given.username, given.password) if by_password else None,
            headers={"Content-Type": "application/json", **(headers or {})},
            timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
            limits=httpx.Limits(max_keepalive_connections=0),
            verify=ssl.create_default_context(),  # the system's certificates, which may include a company's own
            trust_env=False,
        )
        # Kept apart from the address, user and password are not logged by httpx.
        return cls(client, given.copy_with(userinfo=b""), who=who, model=model, secret=secret)

    async def post(self, path: str, body: Mapping[str, Any], *, hint: str = "is it running there?") -> HttpAnswer:
        """Send a JSON body, and return the answer, whatever its status. `path`: below the base URL; "" for that URL.

        `hint`: a hint for the error if no server listens. Raises TryLater if the server cannot be reached, or breaks
        off its answer.
        """
        if self._client.is_closed:
            raise ModelUnavailable(f"{self._where}: the connection is closed")
        url = f"{self._base}/{path}" if path else self._base
        received = bytearray()
        try:
            async with self._client.stream("POST", url, content=json.dumps(body).encode()) as response:
                async for chunk in response.aiter_bytes():
                    received += chunk
                    if len(received) > _ANSWER_BYTES:
                        raise self.unavailable(f"answered with more than {_ANSWER_BYTES >> 20} MiB")
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise TryLater(self._told(f"cannot be reached ({error_text(error)}): {hint}")) from error
        except httpx.HTTPError as error:
            raise TryLater(self._told(f"did not finish its answer ({error_text(error)})")) from error
        return HttpAnswer(response.status_code, response.headers, bytes(received))

    def refusal(self, answer: HttpAnswer, setting: str) -> ModelUnavailable:
        """The error for an answer whose status is not 200. `setting`: the name of the setting with the address."""
        if httpx.codes.is_redirect(answer.status):
            told = f"redirects ({answer.status}), which is not followed: {setting} must name where it is"
            return self.unavailable(told)
        message = answer.message.replace(self._secret, "***") if self._secret else answer.message
        text = self._told(f"answered {answer.status}" + (f": {message[:_MESSAGE_CHARS]}" if message else ""))
        if answer.status in _REFUSED_KEY:
            return KeyRefused(f"{text}; is the API key right?")
        if answer.status in _LATER or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            wait = retry_after(answer.headers, answer.body)
            return TryLater(text if wait is None else f"{text}; it asks to wait {wait:,.6g} s", wait)
        return ModelUnavailable(text)

    def overdue(self, seconds: float, setting: str, hint: str = "") -> TryLater:
        """The error if no answer came in time."""
        return TryLater(self._told(f"did not answer within {seconds:g} s, which {setting} sets{hint}"))

    def unavailable(self, message: str) -> ModelUnavailable:
        return ModelUnavailable(self._told(message))

    async def close(self) -> None:
        """Close the HTTP client. Closing again does nothing."""
        await self._client.aclose()

    def _told(self, message: str) -> str:
        return f"{self._where}: {message}"


def encodable(text: str) -> str:
    """The text with lone surrogates, which JSON can carry and UTF-8 cannot, replaced by question marks."""
    return text.encode("utf-8", "replace").decode()
