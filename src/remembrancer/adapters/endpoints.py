"""How a service on the network is named, and its failures, in messages."""

from __future__ import annotations

import json
from typing import Protocol, cast


class Address(Protocol):
    """A URL, of whichever HTTP client."""

    @property
    def scheme(self) -> str: ...
    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int | None: ...


def host_and_port(url: Address) -> str:
    host = f"[{url.host}]" if ":" in url.host else url.host
    return f"{host}:{url.port or {'http': 80, 'https': 443}[url.scheme]}"


def said_by(error: Exception) -> str:
    """What it says, or what it is."""
    return str(error) or type(error).__name__


def said_in(answer: object) -> str:
    """What a service says of a refusal, on one line; all of the answer where none of the known fields is in it.

    Text Embeddings Inference: `error`; OpenAI, Anthropic, Gemini, vLLM: `error.message`; Cohere: `message`; Jina:
    `detail`.
    """
    said = answer
    for _ in range(2):
        if isinstance(said, dict):
            fields = cast("dict[str, object]", said)
            said = next((fields[name] for name in ("error", "message", "detail") if fields.get(name)), fields)
    text = said if isinstance(said, str) else json.dumps(said, default=str)
    return " ".join(text.split())
