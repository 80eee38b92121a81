"""A provider's protocol as pydantic-ai speaks it, over an HTTP client of ours.

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

# A host that does not even take the call is gone, however long its answers may take.
_CONNECT_SECONDS: Final = 10.0

# The timeout of a whole request is kept elsewhere; that of the client must not come before it.
_SLACK_SECONDS: Final = 5.0

# An answer of a few thousand tokens has less than a hundredth of this.
_ANSWER_BYTES: Final = 8 << 20

# What a provider's package is told for a key: ours goes into the request behind its back, so it can log none.
_PLACEHOLDER: Final = "none"
_KEY_HEADERS: Final = ("Authorization", "X-Api-Key", "X-Goog-Api-Key")

_NO_ADDRESS: Final = "the language model's address cannot be called: it is no http:// or https:// address"


class Opened(NamedTuple):
    """`client` is what is to be closed; `address`: without user and password."""

    model: Model
    client: httpx2.AsyncClient
    address: httpx2.URL


def open_model(service: LlmService) -> Opened:
    """Prepare to call; nothing is sent yet. It imports the provider's package, so call it off the event loop.

    Calls go straight to the address: no proxy, no redirect, no credentials but the key given or the URL's own, which
    count where there is no key. Each has its own connection, so none is found stale.

    Raises ModelUnavailable for an address that cannot be called.
    """
    try:
        given = httpx2.URL(service.address)
    except httpx2.InvalidURL:
        raise ModelUnavailable(_NO_ADDRESS) from None  # what httpx says may hold a part of the password
    if given.scheme not in ("http", "https") or not given.host:
        raise ModelUnavailable(_NO_ADDRESS)
    # Apart from the address, the user and password stay out of what is logged.
    address = given.copy_with(userinfo=b"")
    client = httpx2.AsyncClient(
        auth=_authorization(service, given),
        headers={"Accept-Encoding": "identity"},  # the bound on an answer's size is on what it grows to
        timeout=httpx2.Timeout(service.timeout + _SLACK_SECONDS, connect=_CONNECT_SECONDS),
        transport=_Bounded(
            verify=ssl.create_default_context(),  # the system's authorities, a company's own among them
            limits=httpx2.Limits(max_keepalive_connections=0),
            trust_env=False,
        ),
        follow_redirects=False,
        trust_env=False,
    )
    return Opened(_SPEAKING[service.provider](service, str(address), client), client, address)


def _openai(service: LlmService, address: str, client: httpx2.AsyncClient) -> Model:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.ollama import OllamaProvider
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    own = AsyncOpenAI(api_key=_PLACEHOLDER, base_url=address, max_retries=0, http_client=client)
    own.organization = own.project = None  # which it takes from the environment
    if service.provider == "ollama":
        from pydantic_ai.models.ollama import OllamaModel
        from pydantic_ai.profiles import merge_profile
        from pydantic_ai.profiles.openai import OpenAIModelProfile

        provider = OllamaProvider(openai_client=own)
        known = OllamaModel(service.model, provider=provider).profile
        # Ollama knows the limit of an answer by its older name only, and writes on without end where it has none.
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


_SPEAKING: Final[dict[str, Callable[[LlmService, str, httpx2.AsyncClient], Model]]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "ollama": _openai,
}


def _authorization(service: LlmService, url: httpx2.URL) -> httpx2.Auth:
    if not service.key:
        return httpx2.BasicAuth(url.username, url.password) if url.userinfo else _Key({})
    match service.provider:
        case "anthropic":
            return _Key({"X-Api-Key": service.key})
        case "gemini":
            return _Key({"X-Goog-Api-Key": service.key})
        case _:
            return _Key({"Authorization": f"Bearer {service.key}"})


class _Key(httpx2.Auth):
    """Puts the key where the provider's documents want it, and nothing where there is none."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = headers

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        for name in _KEY_HEADERS:
            request.headers.pop(name, None)
        request.headers.update(self._headers)
        yield request


class _Bounded(httpx2.AsyncHTTPTransport):
    """Reads no answer further than the bound."""

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
                raise httpx2.ReadError(f"an answer of more than {_ANSWER_BYTES >> 20} MiB")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
