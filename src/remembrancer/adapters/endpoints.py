"""How a service on the network is named, and its failures, in messages."""

from __future__ import annotations

import httpx


def host_and_port(url: httpx.URL) -> str:
    host = f"[{url.host}]" if ":" in url.host else url.host
    return f"{host}:{url.port or {'http': 80, 'https': 443}[url.scheme]}"


def said_by(error: Exception) -> str:
    """What it says, or what it is."""
    return str(error) or type(error).__name__
