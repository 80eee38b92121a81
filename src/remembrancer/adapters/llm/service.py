"""The language model to use: its provider, name and address. Importing this module imports no provider's package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Final, Literal, get_args

from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass

Provider = Literal["openai", "anthropic", "gemini", "ollama"]
"""The protocol: OpenAI's chat completions, Anthropic's messages, Gemini's generateContent, or Ollama's
OpenAI-compatible route.
"""

ADDRESSES: Final[Mapping[Provider, str]] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "gemini": "https://generativelanguage.googleapis.com",
    "ollama": "http://localhost:11434",
}
"""Each provider's default address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """US dollars per million tokens, 0 or more."""

    input: float
    output: float

    def __post_init__(self) -> None:
        for name, value in (("input", self.input), ("output", self.output)):
            if not value >= 0:
                raise InvalidInput(name, value, "a price of 0 or more")

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """The cost in US dollars.

        >>> Prices(input=0.25, output=2).of(4_000, 500)
        0.002
        """
        return (self.input * input_tokens + self.output * output_tokens) / 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmService:
    """One model of a provider.

    `url`: replaces the provider's default address. `key`: empty: none is sent. `timeout`: seconds per request.
    `prices`: None: the prices that genai-prices knows, at the provider's default address only.
    """

    provider: Provider
    model: str
    url: str | None = field(default=None, repr=False)  # may contain a password
    key: str = field(default="", repr=False)
    timeout: float = 60.0
    prices: Prices | None = None

    def __post_init__(self) -> None:
        if self.provider not in get_args(Provider):
            raise InvalidInput("provider", self.provider, " or ".join(get_args(Provider)))
        if not self.model.strip() or not self.model.isprintable():
            raise InvalidInput("model", self.model, "the name of a model")
        if not self.timeout > 0:
            raise InvalidInput("timeout", self.timeout, "a number of seconds greater than 0")

    @property
    def model_id(self) -> str:
        """The provider and the model, for example "openai:gpt-5-mini"."""
        return f"{self.provider}:{self.model}"

    @property
    def address(self) -> str:
        """The base URL of the protocol, to which a route such as `/chat/completions` is appended."""
        address = (self.url or ADDRESSES[self.provider]).rstrip("/")
        # Users configure the address of Ollama's own API; the compatible API is below /v1.
        return f"{address}/v1" if self.provider == "ollama" and not address.endswith("/v1") else address
