"""What a reader asks of the store: which rows count, and in words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from remembrancer.domain.memory import Tier
from remembrancer.domain.scope import Visibility
from remembrancer.domain.validation import JsonScalar


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which memories count, beyond what the reader may see. None means: any.

    `current_at`: believed at that time: recorded by then, inside [valid_from, valid_until), not yet superseded
    or retired. `since` and `until` select what happened in [since, until): the memory's span overlaps it.
    `tags` must all be there and none of `without_tags`; `kinds`, `tiers`, `visibilities`: any of them, and none of
    `without_kinds`. `metadata`: each
    of these keys has exactly this value, which is text, a number, a truth value or None.
    """

    current_at: datetime
    kinds: frozenset[str] | None = None
    without_kinds: frozenset[str] = frozenset()
    tiers: frozenset[Tier] | None = None
    tags: frozenset[str] = frozenset()
    without_tags: frozenset[str] = frozenset()
    visibilities: frozenset[Visibility] | None = None
    metadata: tuple[tuple[str, JsonScalar], ...] = ()
    source: str | None = None
    crew: str | None = None
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
