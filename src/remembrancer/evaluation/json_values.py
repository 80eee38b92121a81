"""JSON documents: values to JSON, and type checks of a document that name the location of the wrong value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, cast

from remembrancer.errors import InvalidInput


def plain(value: object, *, without: tuple[str, ...] = ()) -> Any:
    """The value as JSON: of a dataclass each field by its name, except those in `without`; a tuple as a list."""
    if is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value) if one.name not in without}
    if isinstance(value, Mapping):
        return {key: plain(held) for key, held in cast("Mapping[str, object]", value).items()}
    if isinstance(value, tuple | list):
        return [plain(held) for held in cast("list[object]", value)]
    return value


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
