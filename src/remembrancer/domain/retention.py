"""Retention: rules for how long rows may live, and legal holds, which forbid to erase rows."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.erasure import PARTS, RowSelection
from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass

SHORTEST: Final = timedelta(hours=1)
LONGEST: Final = timedelta(days=36_500)
MAX_REASON_CHARS: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionRule(RowSelection):
    """Rows that match every part given are erased once they happened longer ago than `after` (an hour to a hundred
    years). `by`: who made the rule, as a role and, if known, the agent's name.

    Raises InvalidInput if no part is given.
    """

    id: UUID
    after: timedelta
    by: str
    created_at: datetime

    def __post_init__(self) -> None:
        RowSelection.__post_init__(self)
        validation.duration("after", self.after, LONGEST)
        if self.after < SHORTEST:
            raise InvalidInput("after", str(self.after), f"at least {SHORTEST}")
        _require_parts("the rule", self)


@dataclass(frozen=True, slots=True, kw_only=True)
class LegalHold(RowSelection):
    """While a hold is in force, no row that matches every part given is erased or shortened, neither by a person nor by
    a rule. `by`: who placed it, at `placed_at`. `reason`: why, such as the number of a case. `released_at`: when it
    ended; None: it is in force.

    Raises InvalidInput if no part is given.
    """

    id: UUID
    reason: str
    by: str
    placed_at: datetime
    released_at: datetime | None = None

    def __post_init__(self) -> None:
        RowSelection.__post_init__(self)
        validation.name("reason", self.reason, max_chars=MAX_REASON_CHARS)
        _require_parts("the hold", self)


def _require_parts(argument: str, rows: RowSelection) -> None:
    if not rows.parts:
        raise InvalidInput(argument, "all rows", f"at least one of {', '.join(PARTS)}")
