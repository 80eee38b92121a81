"""The addresses, errors and rate limits of network services."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Final, Protocol, cast

from remembrancer.errors import ModelUnavailable


class TryLater(ModelUnavailable):
    """A rate limit or an outage: a later try, or another key, may succeed.

    `wait`: the seconds that the service asks to wait; None: it does not say.
    """

    def __init__(self, message: str, wait: float | None = None) -> None:
        self.wait = wait
        super().__init__(message)


class KeyRefused(ModelUnavailable):
    """The service refuses the key; another one may work."""


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


_LIMITS: Final = ("requests", "tokens")
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_UNITS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def retry_after(headers: Mapping[str, str], body: bytes = b"") -> float | None:
    """The seconds that a service asks to wait; None if it does not say. Header names are in lower case, or `headers`
    ignores case.

    Read, in this order: `retry-after-ms`; `retry-after` (seconds, or a date, compared with the answer's own `date`);
    `retryDelay` of Google's `RetryInfo`, in the body; `x-ratelimit-reset-requests` and `-tokens` (OpenAI, "6m0s") of
    the limits with nothing left.

    >>> retry_after({"retry-after": "2"}), retry_after({"retry-after-ms": "250"}), retry_after({})
    (2.0, 0.25, None)
    >>> retry_after({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m30.5s"})
    90.5
    """
    millis, asked = _seconds(headers.get("retry-after-ms", "")), headers.get("retry-after", "")
    if millis is not None:
        return millis / 1000
    for said in (_seconds(asked), _until(asked, headers.get("date", "")), _retry_delay(body)):
        if said is not None:
            return said
    resets = [
        duration
        for limit in _LIMITS
        if headers.get(f"x-ratelimit-remaining-{limit}") == "0"
        and (duration := _duration(headers.get(f"x-ratelimit-reset-{limit}", ""))) is not None
    ]
    return max(resets, default=None)


def _seconds(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", text, re.ASCII) else None


def _until(date: str, now: str) -> float | None:
    try:
        return max(0.0, (parsedate_to_datetime(date) - parsedate_to_datetime(now)).total_seconds())
    except (OverflowError, TypeError, ValueError):
        return None


def _duration(text: str) -> float | None:
    parts = _DURATION.findall(text)
    whole = "".join(f"{number}{unit}" for number, unit in parts) == text
    return sum(float(number) * _UNITS[unit] for number, unit in parts) if parts and whole else None


def _retry_delay(body: bytes) -> float | None:
    found = re.search(rb'"retryDelay"\s*:\s*"(\d{1,9}(?:\.\d{1,9})?)s"', body)
    return float(found[1]) if found else None
