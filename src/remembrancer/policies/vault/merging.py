"""Three-way merge of a learning that may have changed both in its file and in the store since the last sync."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import date, datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final, cast

from remembrancer.domain.learning import Learning
from remembrancer.domain.memory import Memory, Status
from remembrancer.domain.validation import JsonScalar, JsonValue
from remembrancer.values import dataclass

Agreed = Mapping[str, JsonValue]
"""The state that file and store last agreed on, by field; the text as a digest."""

_FIELDS: Final = tuple(field.name for field in fields(Learning) if field.name != "id")
_COUNTED: Final = ("reinforcement_count", "last_reinforced")


@dataclass(frozen=True, slots=True)
class Base:
    """The agreed state of an entry, and the memory it was agreed with. It does not apply to another memory of the same
    id.

    `recorded_at`: when that memory was recorded.
    """

    agreed: Agreed
    recorded_at: datetime


def agreed(learning: Learning) -> dict[str, JsonValue]:
    """The fields of a learning, to be compared at the next sync."""
    return {name: _plain(name, getattr(learning, name)) for name in _FIELDS}


def base_for(base: Base | None, memory: Memory) -> Agreed | None:
    """The state agreed with this memory; None if there is none."""
    return base.agreed if base is not None and base.recorded_at == memory.recorded_at else None


def merged(file: Learning, memory: Learning, base: Agreed | None, *, superseded: bool) -> Learning:
    """The learning that both sides have afterwards.

    For each field, the side that changed wins; if both changed, or there is no base, the file wins. For usage counts
    and days the greater value wins, so that merging is idempotent. A superseded memory stays retired. An entry without
    a day gets the memory's.
    """
    taken: dict[str, Any] = {}
    for name in _FIELDS:
        here, there = getattr(file, name), getattr(memory, name)
        if here == there:
            continue
        if base is not None and _plain(name, here) == base[name]:
            taken[name] = there
        elif (base is None or _plain(name, there) != base[name]) and name in _COUNTED:
            taken[name] = max((each for each in (here, there) if each is not None), default=None)
    if file.created_at is None:
        taken["created_at"] = memory.created_at
    if superseded:
        taken["status"] = Status.RETIRED
    return replace(file, **taken)


def says_enough(file: Learning, meant: Learning) -> bool:
    """Whether the file need not be written. A missing creation date alone is no reason to write it."""
    return replace(meant, created_at=file.created_at) == file if file.created_at is None else meant == file


def _plain(name: str, value: object) -> JsonValue:
    if name == "text":
        return sha256(str(value).encode()).hexdigest()
    match value:
        case StrEnum():
            return value.value
        case date() | datetime():
            return value.isoformat()
        case tuple():
            return [str(each) for each in cast("tuple[object, ...]", value)]
        case None | str() | int() | float():
            scalar: JsonScalar = value
            return scalar
        case _:
            raise TypeError(f"{name}: {value!r} is no field of a learning")
