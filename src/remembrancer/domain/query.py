"""What a reader asks of the store: which rows count, and in words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from remembrancer.domain.memory import Tier


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which memories count, beyond what the reader may see. None means: any.

    `current_at`: believed at that time: recorded by then, inside [valid_from, valid_until), not yet superseded
    or retired. `since` and `until` select what happened in [since, until): the memory's span overlaps it.
    `tags` must all be there; `kinds`, `tiers`: any of them.
    """

    current_at: datetime
    kinds: frozenset[str] | None = None
    tiers: frozenset[Tier] | None = None
    tags: frozenset[str] = frozenset()
    source: str | None = None
    session: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalQuery:
    """A question as the full-text index takes it.

    `terms`: distinct analysed terms, any of which may match.
    `phrase`: when only stop words are left, they must stand together in this order; then `terms` is empty.
    """

    terms: tuple[str, ...] = ()
    phrase: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.terms and not self.phrase
