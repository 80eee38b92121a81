"""JSON schemas of models' answers, and reading the answers' fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, TypeVar, cast

from remembrancer.domain.validation import JsonValue
from remembrancer.errors import InvalidInput
from remembrancer.policies.rendering.safe import kept_line

T = TypeVar("T")

Object = Mapping[str, JsonValue]

TEXT: Final[JsonValue] = {"type": "string"}
INTEGER: Final[JsonValue] = {"type": "integer"}
FRACTION: Final[JsonValue] = {"type": "number", "minimum": 0, "maximum": 1}


def object_of(**properties: JsonValue) -> dict[str, JsonValue]:
    """The schema of an object with exactly these fields."""
    required: list[JsonValue] = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def list_of(items: JsonValue, **limits: int) -> JsonValue:
    """The schema of a list. `limits`: `minItems`, `maxItems`."""
    return {"type": "array", **limits, "items": items}


def one_of(words: Iterable[str]) -> JsonValue:
    """The schema of a text that must be one of these words."""
    listed: list[JsonValue] = [str(word) for word in words]
    return {"type": "string", "enum": listed}


def objects(value: Object, name: str) -> list[Object] | None:
    """The field `name` if it is a list of objects, else None."""
    held = value.get(name)
    if not isinstance(held, list) or not all(isinstance(one, dict) for one in held):
        return None
    return cast("list[Object]", held)


def entries(
    name: str, given: Sequence[JsonValue | Object], read: Callable[[str, JsonValue | Object], T], *, at_most: int
) -> tuple[T, ...] | str:
    """The entries of a list, or what is wrong with it, for the model's next attempt.

    `read` converts one entry: it takes its path ("rules[0]") and its value, and raises InvalidInput.
    """
    if len(given) > at_most:
        return f"{name}: {len(given)} of them, at most {at_most} are expected"
    try:
        return tuple(read(f"{name}[{place}]", one) for place, one in enumerate(given))
    except InvalidInput as error:
        return str(error)


def words(value: Object, name: str, *, max_chars: int) -> str:
    """The field `name` as one line, cut to `max_chars` characters; "" if it is not a text."""
    held = value.get(name)
    return kept_line(held)[:max_chars].strip() if isinstance(held, str) else ""


def whole(value: Object, name: str) -> int | None:
    """The field `name` if it is a whole number, else None."""
    held = value.get(name)
    return held if isinstance(held, int) and not isinstance(held, bool) else None
