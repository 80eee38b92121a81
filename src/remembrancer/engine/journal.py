"""Reading the journal: pages by time, single events, new events; and changing the priority of events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, TypedDict, TypeVar
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.event import Event, Priority, Role, Severity
from remembrancer.domain.journal import JournalPage, ListingPosition, PriorityChange, Recorded
from remembrancer.domain.memory import is_over
from remembrancer.domain.scope import Reader
from remembrancer.engine.context import Caller, Context
from remembrancer.errors import InvalidInput, NotFound, PermissionDenied
from remembrancer.language.lexical import every_word
from remembrancer.policies.admission.formation import memory_id_of
from remembrancer.ports.journal import EventFilter

MAX_QUERY_BYTES: Final = 4096
MAX_REASON_BYTES: Final = 4096
AT_ONCE: Final = 500
"""The most events that `tail` reads at a time."""

E = TypeVar("E", bound=StrEnum)


class EventFilters(TypedDict, total=False):
    """The filter arguments of `events`, `journal`, `recorded`, `tail` and the counts. A missing one, or None, means any
    event.

    `project`, `crew`, `agent`, `session`, `actor`: exactly this one. `crews`, `agents`, `types`, `severities`,
    `priorities`, `roles`: one of these; `without_types`: none of these. `query`: every word of it occurs in the text or
    the payload. `since`, `until`: it happened in [since, until). `archived`: also archived events, in their shortened
    form.
    """

    project: str | None
    crew: str | None
    agent: str | None
    session: str | None
    crews: Iterable[str] | None
    agents: Iterable[str] | None
    types: Iterable[str] | None
    without_types: Iterable[str] | None
    severities: Iterable[Severity | str] | None
    priorities: Iterable[Priority | str] | None
    roles: Iterable[Role | str] | None
    actor: str | None
    query: str | None
    since: datetime | None
    until: datetime | None
    archived: bool


def filter_of(filters: EventFilters) -> EventFilter:
    """The filter of a caller's arguments. Raises InvalidInput naming the argument, and TypeError for an
    unknown name.
    """
    for name in filters:
        if name not in EventFilters.__annotations__:
            raise TypeError(f"the journal has no filter named {name!r}")
    start, end = validation.span(filters.get("since"), filters.get("until"))
    return EventFilter(
        project=validation.optional_name("project", filters.get("project")),
        crew=validation.optional_name("crew", filters.get("crew")),
        agent=validation.optional_name("agent", filters.get("agent")),
        session=validation.optional_name("session", filters.get("session")),
        crews=validation.any_of("crews", filters.get("crews"), validation.name),
        agents=validation.any_of("agents", filters.get("agents"), validation.name),
        types=validation.any_of("types", filters.get("types"), validation.slug),
        without_types=validation.any_of("without_types", filters.get("without_types"), validation.slug) or frozenset(),
        severities=validation.any_choice("severities", filters.get("severities"), Severity),
        priorities=validation.any_choice("priorities", filters.get("priorities"), Priority),
        roles=validation.any_choice("roles", filters.get("roles"), Role),
        actor=validation.optional_name("actor", filters.get("actor")),
        words=() if (query := filters.get("query")) is None else query_words(query),
        since=start,
        until=end,
        archived=bool(filters.get("archived", False)),
    )


async def page(
    ctx: Context, reader: Reader, where: EventFilter, *, limit: int, oldest_first: bool, after: str | None
) -> JournalPage:
    """Up to `limit` events after a cursor, and the cursor of the next page."""
    place = None if after is None else ListingPosition.parse("after", after)
    found = await ctx.store.events(reader, where, limit=limit + 1, oldest_first=oldest_first, after=place)
    events = found[:limit]
    return JournalPage(events=events, next=ListingPosition.of(events[-1]).cursor if len(found) > limit else None)


async def event(ctx: Context, reader: Reader, event_id: UUID) -> Event:
    """An event, archived or not. Raises NotFound."""
    found = await ctx.store.events(reader, EventFilter(ids=frozenset({event_id}), archived=True), limit=1)
    if not found:
        raise NotFound("event", event_id)
    return found[0]


async def set_priority(
    ctx: Context, caller: Caller, reader: Reader, event_id: UUID, priority: Priority, *, reason: str
) -> PriorityChange:
    """Change the priority of an event, and with it the importance floor of memories formed from the event.

    Raises PermissionDenied for a role that is not an operator's, NotFound, and Conflict for an archived event.
    """
    operators = ctx.preset.access_policy.operators
    if caller.role not in operators:
        allowed = " or ".join(operators) or "no role in this preset"
        raise PermissionDenied(f"only {allowed} may change a priority, not {caller.role}")
    return await ctx.store.set_priority(
        reader,
        event_id,
        priority,
        by=caller.role if caller.scope.agent is None else f"{caller.role} {caller.scope.agent}",
        reason=reason,
        at=ctx.clock(),
        change=lambda memory, before, after: ctx.preset.formation.importance.marked_anew(
            memory.strength, before, after
        ),
    )


async def tail(
    ctx: Context,
    reader: Reader,
    where: EventFilter,
    *,
    after: int | None,
    pause: Callable[[], Awaitable[None]],
) -> AsyncGenerator[Recorded, None]:
    """Every event recorded after a position (None: from now on), in the order of recording; endless, without gaps or
    repeats.

    `pause` is awaited when there is no new event. No read is open meanwhile.
    """
    page = await ctx.store.recorded(reader, where, after=after, limit=0 if after is None else AT_ONCE)
    while True:
        for one in page.entries:
            yield one
        if len(page.entries) < AT_ONCE:  # there were no more
            await pause()
        page = await ctx.store.recorded(reader, where, after=page.position, limit=AT_ONCE)


def query_words(query: object) -> tuple[frozenset[str], ...]:
    """The words of a query, every one of which a text must contain. Raises InvalidInput for one without words."""
    words = every_word(validation.text("query", query, max_bytes=MAX_QUERY_BYTES))
    if not words:
        raise InvalidInput("query", query, "a text with at least one word")
    return words


async def still_said(ctx: Context, reader: Reader, events: Sequence[Event]) -> tuple[Event, ...]:
    """The events, in order, without those whose own memory was forgotten, replaced or expired."""
    now = ctx.clock()
    own = await ctx.store.get(reader, [memory_id_of(event.id) for event in events])
    over = {memory.id for memory in own.values() if is_over(memory, now)}
    return tuple(event for event in events if memory_id_of(event.id) not in over)
