"""Checks of arguments, shared by the domain's values. Each returns the checked value or raises InvalidInput."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, TypeVar, cast
from uuid import UUID

from remembrancer.errors import InvalidInput

JsonScalar = str | int | float | bool | None
JsonValue = JsonScalar | list["JsonValue"] | dict[str, "JsonValue"]

MAX_TEXT_BYTES = 65_536
"""The limit of one text: an utterance, a memory, a query."""
MAX_NAME_CHARS = 200
"""The limit of one name: a scope part, an actor, a key, a source."""
MAX_TITLE_CHARS = 500
MAX_TAGS = 64
MAX_JSON_BYTES = 65_536
MAX_JSON_DEPTH = 32

_SLUG = re.compile(r"[a-z0-9][a-z0-9_.\-]{0,99}")

E_ = TypeVar("E_", bound=StrEnum)
T = TypeVar("T")


def text(argument: str, value: object, *, max_bytes: int = MAX_TEXT_BYTES) -> str:
    """A text that is valid Unicode, not blank, and at most `max_bytes` of UTF-8."""
    if not isinstance(value, str):
        raise InvalidInput(argument, value, "a string")
    if not value.strip():
        raise InvalidInput(argument, value, "a text that is not blank")
    try:
        size = len(value.encode("utf-8"))
    except UnicodeEncodeError:
        raise InvalidInput(argument, value, "valid Unicode (it holds a lone surrogate)") from None
    if size > max_bytes:
        raise InvalidInput(argument, f"{size:,} bytes", f"at most {max_bytes:,} bytes of UTF-8")
    if "\x00" in value:
        raise InvalidInput(argument, value, "a text without NUL characters")
    return value


def name(argument: str, value: object, *, max_chars: int = MAX_NAME_CHARS) -> str:
    """A short name: 1 to `max_chars` characters, no control characters, no outer blanks."""
    if isinstance(value, str) and _is_name(value, max_chars):
        return value
    raise InvalidInput(argument, value, f"1 to {max_chars} characters without control characters or outer blanks")


def _is_name(value: str, max_chars: int) -> bool:
    if not value or len(value) > max_chars or value != value.strip():
        return False
    return value.isprintable() or not any(unicodedata.category(character) in {"Cc", "Cs"} for character in value)


def optional_name(argument: str, value: object, *, max_chars: int = MAX_NAME_CHARS) -> str | None:
    return None if value is None else name(argument, value, max_chars=max_chars)


def slug(argument: str, value: object) -> str:
    """A type, kind or tag: lower-case letters, digits, `_`, `-` and `.`, at most 100."""
    if not isinstance(value, str) or not _SLUG.fullmatch(value):
        raise InvalidInput(argument, value, "lower-case letters, digits, '_', '-' and '.', at most 100")
    return value


def choice(argument: str, value: object, options: type[E_]) -> E_:
    """A member of an enumeration, from the member or its value."""
    if isinstance(value, options):
        return value
    try:
        # The enumeration's own error quotes the value: of another type, that may be nested too deeply.
        return options(value if isinstance(value, str) else "")
    except ValueError:
        raise InvalidInput(argument, value, "one of " + ", ".join(member.value for member in options)) from None


def several(argument: str, values: object) -> Iterable[Any]:
    """The elements of an iterable that is not text, bytes or a mapping."""
    if not isinstance(values, Iterable) or isinstance(values, str | bytes | Mapping):
        raise InvalidInput(argument, cast("object", values), "a list")
    return cast("Iterable[Any]", values)


def any_of(argument: str, values: object, check: Callable[[str, object], T]) -> frozenset[T] | None:
    """The distinct values of a list, each passed through `check`; None stays None."""
    return None if values is None else frozenset(check(argument, one) for one in several(argument, values))


def any_choice(argument: str, values: object, options: type[E_]) -> frozenset[E_] | None:
    """The distinct members of an enumeration in a list; None stays None."""
    return any_of(argument, values, lambda argument, value: choice(argument, value, options))


def moment(argument: str, value: object) -> datetime:
    """A point in time with a UTC offset, returned in UTC."""
    if not isinstance(value, datetime):
        raise InvalidInput(argument, value, "a datetime")
    if value.tzinfo is None or value.utcoffset() is None:
        raise InvalidInput(argument, value, "a datetime with a UTC offset (naive times are ambiguous)")
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(argument, value, "a time between the years 1 and 9999 in UTC") from None


def optional_moment(argument: str, value: object) -> datetime | None:
    return None if value is None else moment(argument, value)


def parse_moment(argument: str, value: str) -> datetime:
    """An ISO 8601 time with a UTC offset ("2026-03-04T09:00:00Z"), returned in UTC."""
    allowed = "an ISO 8601 time with a UTC offset, such as 2026-03-04T09:00:00Z"
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        raise InvalidInput(argument, value, allowed) from None
    if parsed.tzinfo is None:
        raise InvalidInput(argument, value, allowed)
    return moment(argument, parsed)


def span(since: object, until: object) -> tuple[datetime | None, datetime | None]:
    """The two ends of [since, until), either of them open, in UTC."""
    start, end = optional_moment("since", since), optional_moment("until", until)
    if start is not None and end is not None and end < start:
        raise InvalidInput("until", end.isoformat(), f"a time that is not before since ({start.isoformat()})")
    return start, end


def fraction(argument: str, value: object) -> float:
    """A number in [0, 1]."""
    return number(argument, value, 0.0, 1.0)


def fraction_or(argument: str, value: object, word: str) -> float | None:
    """A number in [0, 1], or None for `word`, which may stand in its place."""
    if value == word:
        return None
    try:
        return fraction(argument, value)
    except InvalidInput as error:
        raise InvalidInput(argument, error.value, f"{error.allowed}, or {word}") from None


def number(argument: str, value: object, low: float, high: float) -> float:
    """A finite number in [low, high]."""
    if isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high and _is_finite(value):
        return float(value)
    raise InvalidInput(argument, value, f"a number from {low:g} to {high:g}")


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def whole(argument: str, value: object, low: int, high: int) -> int:
    """A whole number in [low, high]."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidInput(argument, value, f"a whole number from {low} to {high}")
    return value


def truth(argument: str, value: object) -> bool:
    """The value if it is a bool. Raises InvalidInput for anything else."""
    if not isinstance(value, bool):
        raise InvalidInput(argument, value, "True or False")
    return value


def duration(argument: str, value: object, longest: timedelta) -> timedelta:
    """A length of time greater than 0 and at most `longest`."""
    if not isinstance(value, timedelta) or not timedelta() < value <= longest:
        raise InvalidInput(argument, value, f"a timedelta of more than 0, at most {longest.days:,} days")
    return value


def tags(argument: str, value: object) -> tuple[str, ...]:
    """Up to 64 distinct tags, in the order given."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidInput(argument, value, f"a list of at most {MAX_TAGS} tags")
    distinct = tuple(dict.fromkeys(name(argument, tag, max_chars=100) for tag in cast("Iterable[object]", value)))
    if len(distinct) > MAX_TAGS:
        raise InvalidInput(argument, f"{len(distinct)} tags", f"at most {MAX_TAGS} tags")
    return distinct


def json_object(argument: str, value: object) -> dict[str, JsonValue]:
    """A copy of a JSON object: string keys, finite numbers, at most 64 KiB and 32 levels deep."""
    if not isinstance(value, Mapping):
        raise InvalidInput(argument, value, "a JSON object (a mapping with string keys)")
    if not value:
        return {}
    copied = _json(argument, dict(cast("Mapping[object, object]", value)), MAX_JSON_DEPTH)
    encoded = json.dumps(copied, ensure_ascii=False, separators=(",", ":"))
    try:
        size = len(encoded.encode("utf-8"))
    except UnicodeEncodeError:
        raise InvalidInput(argument, encoded, "valid Unicode (it holds a lone surrogate)") from None
    if size > MAX_JSON_BYTES:
        raise InvalidInput(argument, f"{size:,} bytes", f"at most {MAX_JSON_BYTES:,} bytes of JSON")
    return cast("dict[str, JsonValue]", copied)


def json_scalars(argument: str, value: object) -> tuple[tuple[str, JsonScalar], ...]:
    """A mapping of names to text, numbers, booleans or None, as pairs sorted by name."""
    pairs: list[tuple[str, JsonScalar]] = []
    for key, held in sorted(json_object(argument, value).items()):
        if isinstance(held, dict | list):
            raise InvalidInput(f"{argument}.{key}", held, "text, a number, true, false or null")
        pairs.append((key, held))
    return tuple(pairs)


def _json(argument: str, value: object, depth: int) -> JsonValue:
    if depth == 0:
        raise InvalidInput(argument, "…", f"JSON at most {MAX_JSON_DEPTH} levels deep")
    match value:
        case None | bool() | str():
            return value
        case int():
            if not -(2**63) <= value < 2**63:
                raise InvalidInput(argument, "a number of more than 64 bits", "whole numbers of at most 64 bits")
            return value
        case float() if math.isfinite(value):
            return value
        case Mapping():
            copied: dict[str, JsonValue] = {}
            for key, item in cast("Mapping[object, object]", value).items():
                if not isinstance(key, str):
                    raise InvalidInput(argument, key, "JSON with string keys")
                copied[key] = _json(f"{argument}.{key}", item, depth - 1)
            return copied
        case list() | tuple():
            return [_json(argument, item, depth - 1) for item in cast("Iterable[object]", value)]
        case _:
            raise InvalidInput(argument, value, "JSON values: strings, finite numbers, booleans, null, lists, objects")


def no_json() -> Mapping[str, JsonValue]:
    """An empty JSON object."""
    return {}


def identifier(argument: str, value: object) -> UUID:
    """A row's id, from a UUID or its text."""
    if isinstance(value, UUID):
        return value
    try:
        return UUID(cast("str", value))
    except (ValueError, AttributeError, TypeError):
        raise InvalidInput(argument, value, "an id (a UUID such as 0192f0c1-…)") from None
