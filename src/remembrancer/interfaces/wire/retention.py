"""The JSON shapes of retention rules and legal holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self
from uuid import UUID

from pydantic import AwareDatetime

from remembrancer.interfaces.wire.erasures import SelectedOut
from remembrancer.interfaces.wire.shape import Derived, Many, Of, Wire

if TYPE_CHECKING:
    from remembrancer.domain.retention import LegalHold, RetentionRule
    from remembrancer.engine.retain import DueRows


class RuleOut(Derived, SelectedOut):
    """A retention rule: rows with all of its parts are erased `after` so many seconds."""

    id: UUID
    after: float
    by: str
    created_at: AwareDatetime

    @classmethod
    def of(cls, rule: RetentionRule) -> Self:
        return cls.copied(rule, after=rule.after.total_seconds())


class DueOut(Wire, Of["DueRows"]):
    """The rows past the time of a `rule`: how many memories and events.

    `held`: how many of these rows a legal hold keeps.
    """

    rule: RuleOut
    memories: int
    events: int
    held: int


class RulesOut(Wire, Many["DueRows"]):
    """The retention rules, oldest first, each with the rows past its time."""

    rules: list[DueOut]


class HoldOut(SelectedOut, Of["LegalHold"]):
    """A legal hold: until it is released, rows with all of its parts are not erased. `by`: who placed it, at
    `placed_at`.
    """

    id: UUID
    reason: str
    by: str
    placed_at: AwareDatetime
    released_at: AwareDatetime | None


class HoldsOut(Wire, Many["LegalHold"]):
    """Legal `holds`, newest first, released ones too."""

    holds: list[HoldOut]
