"""Metadata to filter by, as a command line and a query string give it: KEY=VALUE, repeated."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from remembrancer.errors import InvalidInput


def key_values(argument: str, pairs: Iterable[str] | None) -> dict[str, Any] | None:
    """The pairs as a mapping; None stays None. A value is read as JSON if it is valid JSON (3, true, "3"), else as
    text.

    Raises InvalidInput for a pair without a key or without `=`.

    >>> key_values("metadata", ["ticket=7", "env=prod", 'code="7"'])
    {'ticket': 7, 'env': 'prod', 'code': '7'}
    """
    if pairs is None:
        return None
    read: dict[str, Any] = {}
    for pair in pairs:
        key, separator, value = pair.partition("=")
        if not separator or not key:
            raise InvalidInput(argument, pair, "KEY=VALUE")
        try:
            read[key] = json.loads(value)
        except (ValueError, RecursionError):
            read[key] = value
    return read
