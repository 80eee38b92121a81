"""Checks of the values in a JSON document, which name the place of a wrong one."""

from __future__ import annotations

from typing import cast

from remembrancer.errors import InvalidInput


def as_object(where: str, value: object) -> dict[str, object]:
    """Raises InvalidInput naming `where` for anything else."""
    if not isinstance(value, dict):
        raise InvalidInput(where, value, "a JSON object")
    return cast("dict[str, object]", value)  # JSON has no other keys


def as_list(where: str, value: object) -> list[object]:
    """Raises InvalidInput naming `where` for anything else."""
    if not isinstance(value, list):
        raise InvalidInput(where, value, "a JSON list")
    return cast("list[object]", value)
