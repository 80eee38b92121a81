"""Type checks for the values of a JSON document; errors name the location of the wrong value."""

from __future__ import annotations

from typing import cast

from remembrancer.errors import InvalidInput


def as_object(where: str, value: object) -> dict[str, object]:
    """The value as a JSON object. Raises InvalidInput naming `where` for any other type."""
    if not isinstance(value, dict):
        raise InvalidInput(where, value, "a JSON object")
    return cast("dict[str, object]", value)  # JSON has no other keys


def as_list(where: str, value: object) -> list[object]:
    """The value as a JSON list. Raises InvalidInput naming `where` for any other type."""
    if not isinstance(value, list):
        raise InvalidInput(where, value, "a JSON list")
    return cast("list[object]", value)
