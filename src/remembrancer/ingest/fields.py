"""Reading fields of foreign JSON: a value of the right type, or InvalidInput naming the field."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TypeGuard, cast

from remembrancer.domain import validation
from remembrancer.domain.validation import JsonValue
from remembrancer.errors import InvalidInput

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_MILLISECONDS = 1e11
"""Larger numbers are read as milliseconds: as seconds they would be after the year 5138."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def clean(text: str) -> str:
    """The text with NUL and lone surrogates, which no store can hold, replaced by U+FFFD."""
    return _UNSTORABLE.sub("\ufffd", text)


def wrong(argument: str, value: object, allowed: str) -> InvalidInput:
    """The error for a value of the wrong type. Containers are named, not shown: their repr may be nested too deeply."""
    match value:
        case list():
            shown: object = "a list"
        case dict():
            shown = "an object"
        case _:
            shown = value
    return InvalidInput(argument, shown, allowed)


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Whether a JSON value is an object, whose keys are strings."""
    return isinstance(value, dict)


def as_object(argument: str, value: object) -> dict[str, object]:
    if not is_object(value):
        raise wrong(argument, value, "a JSON object")
    return value


def as_list(argument: str, value: object) -> list[object]:
    if not isinstance(value, list):
        raise wrong(argument, value, "a JSON list")
    return cast("list[object]", value)


def as_text(argument: str, value: object) -> str:
    if not isinstance(value, str):
        raise wrong(argument, value, "a string")
    return clean(value)


def optional_object(record: Mapping[str, object], key: str) -> dict[str, object]:
    """The object under `key`; empty if it is missing or null."""
    value = record.get(key)
    return {} if value is None else as_object(key, value)


def optional_list(record: Mapping[str, object], key: str) -> list[object]:
    """The list under `key`; empty if it is missing or null."""
    value = record.get(key)
    return [] if value is None else as_list(key, value)


def optional_text(record: Mapping[str, object], key: str) -> str | None:
    """The string under `key`; None if it is missing, null or empty."""
    value = record.get(key)
    return None if value is None else as_text(key, value) or None


def optional_fraction(record: Mapping[str, object], key: str) -> float | None:
    """A number from 0 to 1."""
    value = record.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise wrong(key, value, "a number from 0 to 1")
    return float(value)


def optional_time(record: Mapping[str, object], key: str) -> datetime | None:
    value = record.get(key)
    return None if value is None else time(key, value)


def time(argument: str, value: object) -> datetime:
    """An ISO 8601 time with a UTC offset, or a number of seconds or milliseconds since 1970, in UTC."""
    match value:
        case str():
            return _iso_time(argument, clean(value))
        case bool():
            raise wrong(argument, value, "a time")
        case int() | float():
            try:
                seconds = value / 1000 if abs(value) >= FIRST_MILLISECONDS else value
                return EPOCH + timedelta(seconds=seconds)
            except (OverflowError, ValueError):
                raise wrong(argument, value, "seconds or milliseconds since 1970-01-01, UTC") from None
        case _:
            raise wrong(argument, value, "an ISO 8601 time, or seconds or milliseconds since 1970-01-01")


def _iso_time(argument: str, value: str) -> datetime:
    allowed = "an ISO 8601 time with a UTC offset, such as 2026-03-04T09:00:00Z"
    try:
        parsed = datetime.fromisoformat(value)
    except ValueError:
        raise InvalidInput(argument, value, allowed) from None
    if parsed.tzinfo is None:
        raise InvalidInput(argument, value, f"{allowed} (it has no UTC offset)")
    return validation.moment(argument, parsed)


def clean_json(argument: str, value: object, depth: int = validation.MAX_JSON_DEPTH) -> JsonValue:
    """A copy of a JSON value whose strings can all be stored. Raises InvalidInput beyond `depth` levels."""
    if depth == 0:
        raise InvalidInput(argument, "…", f"JSON at most {validation.MAX_JSON_DEPTH} levels deep")
    match value:
        case None | bool() | int() | float():
            return value
        case str():
            return clean(value)
        case list():
            return [clean_json(argument, item, depth - 1) for item in cast("list[object]", value)]
        case dict():
            items = cast("dict[str, object]", value).items()
            return {clean(key): clean_json(argument, item, depth - 1) for key, item in items}
        case _:
            raise wrong(argument, type(value).__name__, "a JSON value")
