"""A learning: a lesson from a session, with the fields of its markdown header."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, date, datetime, time
from enum import StrEnum
from typing import Any, Final, cast
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.event import Origin
from remembrancer.domain.memory import Status
from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass


class LearningType(StrEnum):
    """The type of a learning: a fact, a way to do something, an order, or a correction."""

    DECLARATIVE = "declarative"
    PROCEDURAL = "procedural"
    DIRECTIVE = "directive"
    CORRECTIVE = "corrective"


class Domain(StrEnum):
    """The subject of a learning: the task at hand, or how the team works."""

    TASK = "task"
    TEAM = "team"


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """A learning as its file has it, checked on construction. `importance` and `confidence` in [0, 1]; days are in UTC.

    `phase`: the project stage it was learned in. `promoted_from`: the learning it was promoted from. `merged_from`: the
    ids of the learnings merged into it. `created_at`: a day, or the moment if known. `agent`, `session`: its owner, if
    narrower than that of its file's folder. Valid in [valid_from, valid_until).
    """

    id: UUID
    text: str
    type: LearningType = LearningType.PROCEDURAL
    domain: Domain = Domain.TEAM
    importance: float = 0.5
    reinforcement_count: int = 0
    last_reinforced: date | None = None
    status: Status = Status.ACTIVE
    phase: str | None = None
    created_at: date | None = None
    session_id: str | None = None
    session_task: str | None = None
    promoted_from: str | None = None
    merged_from: tuple[UUID, ...] = ()
    title: str | None = None
    tags: tuple[str, ...] = ()
    origin: Origin = Origin.USER
    confidence: float = 0.5
    topic_key: str | None = None
    agent: str | None = None
    session: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None

    def __post_init__(self) -> None:
        checked = object.__setattr__  # the dataclass is frozen
        validation.text("text", self.text)
        checked(self, "importance", validation.fraction("importance", self.importance))
        checked(self, "confidence", validation.fraction("confidence", self.confidence))
        validation.whole("reinforcement_count", self.reinforcement_count, 0, 2**31 - 1)
        for field in ("phase", "session_id", "session_task", "promoted_from", "topic_key", "agent", "session"):
            validation.optional_name(field, getattr(self, field))
        validation.optional_name("title", self.title, max_chars=validation.MAX_TITLE_CHARS)
        checked(self, "tags", validation.tags("tags", self.tags))
        if isinstance(self.created_at, datetime):
            checked(self, "created_at", validation.moment("created_at", self.created_at))
        checked(self, "valid_from", validation.optional_moment("valid_from", self.valid_from))
        checked(self, "valid_until", validation.optional_moment("valid_until", self.valid_until))
        if self.valid_from and self.valid_until and self.valid_until <= self.valid_from:
            raise InvalidInput("valid_until", self.valid_until.isoformat(), "a time after valid_from")


FIELDS: Final = tuple(field.name for field in fields(Learning) if field.name != "text")
"""The fields of a header, in the order they are written."""


def learning_of(header: Mapping[str, object], text: str) -> Learning:
    """The learning with a header's fields, as YAML parses them, and the text below it. None means not set.

    Raises InvalidInput naming the field.
    """
    given: dict[str, Any] = {name: value for name, value in header.items() if value is not None}
    if "id" not in given:
        raise InvalidInput("id", None, "a UUID")
    given["id"] = validation.identifier("id", given["id"])
    for name, kind in (("type", LearningType), ("domain", Domain), ("status", Status), ("origin", Origin)):
        if name in given:
            given[name] = validation.choice(name, given[name], kind)
    if "last_reinforced" in given:
        given["last_reinforced"] = _day("last_reinforced", given["last_reinforced"])
    if "created_at" in given:
        given["created_at"] = _day_or_moment("created_at", given["created_at"])
    for name in ("valid_from", "valid_until"):
        if name in given:
            day = _day_or_moment(name, given[name])
            given[name] = day if isinstance(day, datetime) else datetime.combine(day, time(), tzinfo=UTC)
    if "tags" in given:
        given["tags"] = tuple(_listed("tags", given["tags"], "tags"))
    if "merged_from" in given:
        named = _listed("merged_from", given["merged_from"], "ids")
        given["merged_from"] = tuple(validation.identifier("merged_from", one) for one in named)
    return Learning(text=text, **given)


def _listed(name: str, value: object, of: str) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidInput(name, value, f"a list of {of}")
    return cast("list[Any]", value)


def _day(name: str, value: object) -> date:
    """The day of a value: YAML parses a bare date as a date, and a quoted one as text."""
    day = _day_or_moment(name, value)
    return day.astimezone(UTC).date() if isinstance(day, datetime) else day


def _day_or_moment(name: str, value: object) -> date:
    """A moment if the value has a UTC offset, else a day."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value) if len(value) > len("2026-03-01") else date.fromisoformat(value)
        except ValueError:
            raise InvalidInput(name, value, "a day, such as 2026-03-01") from None
    if isinstance(value, datetime):
        return value.date() if value.tzinfo is None else validation.moment(name, value)
    if isinstance(value, date):
        return value
    raise InvalidInput(name, value, "a day, such as 2026-03-01")
