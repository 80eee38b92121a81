"""Values as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, cast


def plain(value: object, *, without: tuple[str, ...] = ()) -> Any:
    """The value as JSON: of a dataclass each field by its name, except those in `without`; a tuple as a list."""
    if is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value) if one.name not in without}
    if isinstance(value, Mapping):
        return {key: plain(held) for key, held in cast("Mapping[str, object]", value).items()}
    if isinstance(value, tuple | list):
        return [plain(held) for held in cast("list[object]", value)]
    return value
