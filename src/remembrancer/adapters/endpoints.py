"""Format the addresses and errors of network services for messages."""

from __future__ import annotations

import json
from typing import Protocol, cast


class ParsedUrl(Protocol):
    """A URL object of any HTTP client."""

    @property
    def scheme(self) -> str: ...
    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int | None: ...


def host_and_port(url: ParsedUrl) -> str:
    """The host and port of an http or https URL, without user and password."""
    host = f"[{url.host}]" if ":" in url.host else url.host
    return f"{host}:{url.port or {'http': 80, 'https': 443}[url.scheme]}"


def error_text(error: Exception) -> str:
    """The exception's message, or its class name if it has none."""
    return str(error) or type(error).__name__


def service_message(answer: object) -> str:
    """The error message in a service's JSON answer, on one line; the whole answer if no known field is in it.

    Known fields: `error` (Text Embeddings Inference), `error.message` (OpenAI, Anthropic, Gemini, vLLM), `message`
    (Cohere), `detail` (Jina).
    """
    said = answer
    for _ in range(2):
        if isinstance(said, dict):
            fields = cast("dict[str, object]", said)
            said = next((fields[name] for name in ("error", "message", "detail") if fields.get(name)), fields)
    text = said if isinstance(said, str) else json.dumps(said, default=str)
    return " ".join(text.split())
