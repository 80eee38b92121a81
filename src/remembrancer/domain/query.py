"""Filters on memories, and full-text queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import TypedDict

from remembrancer.domain import validation
from remembrancer.domain.memory import Tier
from remembrancer.domain.scope import Visibility
from remembrancer.domain.validation import JsonScalar
from remembrancer.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A filter on memories, beyond visibility. None means any.

    - `current_at`: believed at that time: recorded by then, within [valid_from, valid_until), not yet superseded or
      retired. `past`: memories are returned with their texts and fields as of that time; otherwise with the present
      ones.
    - `since`, `until`: its time span overlaps [since, until).
    - `tags`: it has all of these; `without_tags`: none of these.
    - `kinds`, `tiers`, `visibilities`: it has one of these; `without_kinds`: none of these.
    - `metadata`: each key has exactly this value: text, a number, a boolean or None.
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
    past: bool = False


class Filters(TypedDict, total=False):
    """The filter arguments of `recall`, `why_not` and `memories`. A missing one, or None, means any memory.

    `kinds`, `tiers`, `visibilities`: the memory has one of them. `tags`: it has all of them. `metadata`: it has each
    key with exactly this value. `source`, `session`: exactly this one. `since`, `until`: it happened in [since, until).
    `as_of`: as known at that time, by each memory's text and state at that time; None: now.
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
    """The filter of a caller's arguments. `now` replaces a missing `as_of`.

    Raises InvalidInput naming the argument, and TypeError for an unknown name.
    """
    if not filters:  # as most questions have none
        return Filter(current_at=now)
    for name in filters:
        if name not in Filters.__annotations__:
            raise TypeError(f"there is no filter named {name!r}")
    start, end = validation.span(filters.get("since"), filters.get("until"))
    as_of, tags, metadata = filters.get("as_of"), filters.get("tags"), filters.get("metadata")
    at = now if as_of is None else validation.moment("as_of", as_of)
    return Filter(
        current_at=at,
        past=at < now,
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


class QuestionKind(StrEnum):
    """The kind of a question: one fact; a list of several things, or their number; the order of several things;
    a time or a duration. A request asks for something to be done, or for advice; a statement asks for nothing.
    """

    FACT = "fact"
    LIST = "list"
    ORDER = "order"
    TIME = "time"
    REQUEST = "request"
    STATEMENT = "statement"


@dataclass(frozen=True, slots=True, kw_only=True)
class LexicalQuery:
    """A question as a full-text query.

    `terms`: distinct analysed terms, any of which may match. `phrase`: tokens that must be adjacent, in this order;
    used only if the question consists of stop words, and `terms` is then empty.
    """

    terms: tuple[str, ...] = ()
    phrase: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.terms and not self.phrase
