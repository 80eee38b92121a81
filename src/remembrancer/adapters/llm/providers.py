"""Create pydantic-ai models for each provider, over an HTTP client that this module configures.

Importing this module imports pydantic-ai, of the extra `llm`; a provider's own package is imported when it is opened.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import httpx2

from remembrancer.adapters.llm.service import LlmService
from remembrancer.errors import ModelUnavailable

if TYPE_CHECKING:
    from pydantic_ai.models import Model

# A host that does not accept the connection in this time is down; answers may take much longer.
_CONNECT_SECONDS: Final = 10.0

# `llm.tries` enforces the timeout of a request; the client's own timeout must not expire before it.
_SLACK_SECONDS: Final = 5.0

# More than a hundred times an answer of a few thousand tokens.
_ANSWER_BYTES: Final = 8 << 20

# The key that provider packages are given. The real key is set on the request by `_KeyAuth`, so they cannot log it.
_PLACEHOLDER: Final = "none"
_KEY_HEADERS: Final = ("Authorization", "X-Api-Key", "X-Goog-Api-Key")

_NO_ADDRESS: Final = "the language model's address is not an http:// or https:// address"


class OpenedModel(NamedTuple):
    """A ready model. `client`: to be closed by the owner; `address`: without user and password."""

    model: Model
    client: httpx2.AsyncClient
    address: httpx2.URL


def open_model(service: LlmService) -> OpenedModel:
    """Create the model and its client; nothing is sent yet. Imports the provider's package, so call it outside of the
    event loop.

    Requests go directly to the address: no proxy, no redirect. Credentials are the given key, else user and password of
    the URL. Each request has its own connection, so a stale one is never reused.

    Raises ModelUnavailable for an invalid address.
    """
    try:
        given = httpx2.URL(service.address)
    except httpx2.InvalidURL:
        raise ModelUnavailable(_NO_ADDRESS) from None  # httpx's message may contain a part of the password
    if given.scheme not in ("http", "https") or not given.host:
        raise ModelUnavailable(_NO_ADDRESS)
    # Kept apart from the address, user and password are not logged.
    address = given.copy_with(userinfo=b"")
    client = httpx2.AsyncClient(
        auth=_authorization(service, given),
        headers={"Accept-Encoding": "identity"},  # uncompressed, because the size limit applies to the decoded answer
        timeout=httpx2.Timeout(service.timeout + _SLACK_SECONDS, connect=_CONNECT_SECONDS),
        transport=_BoundedTransport(
            verify=ssl.create_default_context(),  # the system's certificates, which may include a company's own
            limits=httpx2.Limits(max_keepalive_connections=0),
            trust_env=False,
        ),
        follow_redirects=False,
        trust_env=False,
    )
    return OpenedModel(_FACTORIES[service.provider](service, str(address), client), client, address)


def _openai(service: LlmService, address: str, client: httpx2.AsyncClient) -> Model:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.ollama import OllamaProvider
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    own = AsyncOpenAI(api_key=_PLACEHOLDER, base_url=address, max_retries=0, http_client=client)
    own.organization = own.project = None  # the package would take them from the environment
    if service.provider == "ollama":
        from pydantic_ai.models.ollama import OllamaModel
        from pydantic_ai.profiles import merge_profile
        from pydantic_ai.profiles.openai import OpenAIModelProfile

        provider = OllamaProvider(openai_client=own)
        known = OllamaModel(service.model, provider=provider).profile
        # Ollama knows only the older name of the token limit, and without a limit its answer may never end.
        profile = merge_profile(known, OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False))
        return OllamaModel(service.model, provider=provider, profile=profile)
    if service.url is None:
        return OpenAIChatModel(service.model, provider=OpenAIProvider(openai_client=own))
    return OpenAIChatModel(service.model, provider=OpenAICompatibleProvider("compatible", openai_client=own))


def _anthropic(service: LlmService, address: str, client: httpx2.AsyncClient) -> Model:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    own = AsyncAnthropic(api_key=_PLACEHOLDER, base_url=address, max_retries=0, http_client=client)
    return AnthropicModel(service.model, provider=AnthropicProvider(anthropic_client=own))


def _gemini(service: LlmService, address: str, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    provider = GoogleProvider(api_key=_PLACEHOLDER, base_url=address, http_client=client)
    return GoogleModel(service.model, provider=provider)


_FACTORIES: Final[dict[str, Callable[[LlmService, str, httpx2.AsyncClient], Model]]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "ollama": _openai,
}


def _authorization(service: LlmService, url: httpx2.URL) -> httpx2.Auth:
    if not service.key:
        return httpx2.BasicAuth(url.username, url.password) if url.userinfo else _KeyAuth({})
    match service.provider:
        case "anthropic":
            return _KeyAuth({"X-Api-Key": service.key})
        case "gemini":
            return _KeyAuth({"X-Goog-Api-Key": service.key})
        case _:
            return _KeyAuth({"Authorization": f"Bearer {service.key}"})


class _KeyAuth(httpx2.Auth):
    """Sets the key in the header that the provider expects, and removes those that the provider's package set."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = headers

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        for name in _KEY_HEADERS:
            request.headers.pop(name, None)
        request.headers.update(self._headers)
        yield request


class _BoundedTransport(httpx2.AsyncHTTPTransport):
    """A transport that stops reading an answer after _ANSWER_BYTES."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _BoundedStream(response.stream)
        return response


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > _ANSWER_BYTES:
                raise httpx2.ReadError(f"answered with more than {_ANSWER_BYTES >> 20} MiB")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
