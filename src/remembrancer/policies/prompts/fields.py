"""Reading the fields of a model's answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from remembrancer.domain.validation import JsonValue
from remembrancer.policies.rendering.safe import kept_line

Object = Mapping[str, JsonValue]


def objects(value: Object, name: str) -> list[Object] | None:
    """A list of objects; None for anything else."""
    held = value.get(name)
    if not isinstance(held, list) or not all(isinstance(one, dict) for one in held):
        return None
    return cast("list[Object]", held)


def words(value: Object, name: str, *, max_chars: int) -> str:
    """A text on one line, cut to its first `max_chars` characters; "" for anything else."""
    held = value.get(name)
    return kept_line(held)[:max_chars].strip() if isinstance(held, str) else ""


def whole(value: Object, name: str) -> int | None:
    """A whole number; None for anything else."""
    held = value.get(name)
    return held if isinstance(held, int) and not isinstance(held, bool) else None
