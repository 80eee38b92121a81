"""What a reader asks of the store: a filter on memories, and a full-text query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict

from remembrancer.domain import validation
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


class Filters(TypedDict, total=False):
    """The filters that a caller of `recall`, `why_not` and `memories` may give. A missing one or None: any memory.

    `kinds`, `tiers`, `visibilities`: a memory has one of them. `tags`: it has all of them. `metadata`: it has each of
    these keys with exactly this value. `source`, `session`: exactly this one. `since`, `until`: it happened in
    [since, until). `as_of`: as it was believed at that time; None: now.
    """

    kinds: Iterable[str] | None
    tiers: Iterable[Tier | str] | None
    tags: Iterable[str] | None
    source: str | None
    session: str | None
    metadata: Mapping[str, JsonScalar] | None
    visibilities: Iterable[Visibility | str] | None
    since: datetime | None
    until: datetime | None
    as_of: datetime | None


def filter_of(filters: Filters, now: datetime) -> Filter:
    """The filter that a caller's arguments stand for; `now` takes the place of a missing `as_of`.

    Raises InvalidInput, which names the argument, and TypeError for a name that is no filter.
    """
    for name in filters:
        if name not in Filters.__annotations__:
            raise TypeError(f"there is no filter {name!r}")
    start, end = validation.span(filters.get("since"), filters.get("until"))
    as_of, tags, metadata = filters.get("as_of"), filters.get("tags"), filters.get("metadata")
    return Filter(
        current_at=now if as_of is None else validation.moment("as_of", as_of),
        kinds=validation.any_of("kinds", filters.get("kinds"), validation.slug),
        tiers=validation.any_choice("tiers", filters.get("tiers"), Tier),
        tags=frozenset(validation.tags("tags", () if tags is None else tags)),
        source=validation.optional_name("source", filters.get("source")),
        session=validation.optional_name("session", filters.get("session")),
        metadata=validation.json_scalars("metadata", {} if metadata is None else metadata),
        visibilities=validation.any_choice("visibilities", filters.get("visibilities"), Visibility),
        since=start,
        until=end,
    )


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
