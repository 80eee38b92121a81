"""Kept recalls: answers that a caller asked to keep, so that they can be given again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from remembrancer.domain.scope import Scope
from remembrancer.domain.validation import JsonValue
from remembrancer.values import dataclass

MAX_KEPT: Final = 10_000
"""The kept recalls of a workspace. Of more, the oldest are dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptRecall:
    """An answer without its texts. `scope`: who asked. `answer`: scores, explanations, and for each memory the revision
    and the state that it had; what the memory said stays in its own rows.
    """

    id: UUID
    scope: Scope
    at: datetime
    query: str
    answer: Mapping[str, JsonValue]
