"""`rem.journal`: all recorded events, whether or not they became memories."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping
from datetime import date, timedelta
from typing import TYPE_CHECKING, Final, Unpack

from remembrancer import engine
from remembrancer.domain import validation
from remembrancer.domain.event import Event, EventDraft, Priority, Role, Severity
from remembrancer.domain.journal import JournalPage, PriorityChange, Recorded, RecordedPage
from remembrancer.domain.scope import Scope
from remembrancer.domain.validation import JsonValue
from remembrancer.errors import InvalidInput
from remembrancer.facade.view import MAX_LISTED, Identifier, View, from_arguments, listed

if TYPE_CHECKING:
    from remembrancer.engine.conversations import ConversationExcerpt, ConversationPage
    from remembrancer.engine.journal import EventFilters

MOST_AROUND: Final = 1_000
"""The most events that `conversation` gives before and after one."""


def _a_scope(argument: str, value: object) -> Scope:
    if not isinstance(value, Scope):
        raise InvalidInput(argument, value, "a Scope, as of a memory or an event")
    return value


class AsyncJournalApi(View):
    """Reads the journal, follows new events, and sets their priority. `observe` and `log` write events."""

    async def log(
        self,
        type: str,  # noqa: A002  the field's own name
        text: str,
        *,
        severity: Severity | str = Severity.INFO,
        payload: Mapping[str, JsonValue] | None = None,
        refs: Mapping[str, JsonValue] | None = None,
        key: str | None = None,
    ) -> Event:
        """Record an event about the memory itself. It never becomes a memory.

        Its role is `system`. If the `key` is already recorded: returns the recorded event, or raises Conflict if its
        text differs.
        """
        given = locals() | {"role": Role.SYSTEM}
        draft = from_arguments(
            EventDraft, given, payload={} if payload is None else payload, refs={} if refs is None else refs
        )
        event = await engine.record.log(self._ctx, self._scope, draft)
        self._arrivals.wake()
        return event

    async def list(
        self, *, limit: int = 100, oldest_first: bool = False, **filters: Unpack[EventFilters]
    ) -> tuple[Event, ...]:
        """Events, newest first unless `oldest_first`. `limit`: 1 to 10,000.

        Filters: `project`, `crew`, `agent`, `session`, `actor` (exactly this one); `crews`, `agents`, `types`,
        `severities`, `priorities`, `roles` (any of the values), `without_types` (none of them); `query` (each of its
        words occurs in the text or the payload); `since` and `until` (happened in [since, until)); `archived` (include
        archived events, whose text is shortened). Raises InvalidInput.
        """
        where = engine.journal.filter_of(filters)
        return await engine.inspect.events(
            self._ctx, self._reader(), where, limit=listed(limit), oldest_first=oldest_first
        )

    async def page(
        self,
        *,
        after: str | None = None,
        limit: int = 100,
        oldest_first: bool = False,
        **filters: Unpack[EventFilters],
    ) -> JournalPage:
        """As `list`, one page at a time. `after`: the `next` of the previous page; it stays valid while events are
        recorded.
        """
        where = engine.journal.filter_of(filters)
        return await engine.journal.page(
            self._ctx, self._reader(), where, limit=listed(limit), oldest_first=oldest_first, after=after
        )

    async def get(self, event_id: Identifier) -> Event:
        """One event, archived or not. Raises NotFound."""
        identifier = await self._identified("event_id", event_id, "event")
        return await engine.journal.event(self._ctx, self._reader(), identifier)

    async def conversations(self, *, after: str | None = None, limit: int = 30) -> ConversationPage:
        """Conversations, newest first: for each its scope with the session, its title, who took part, its first and
        last turn, and the number of turns.

        A conversation is all that was recorded in one session of one scope. Its title is the session's name if people
        can read it, else the title in the service that it was imported from, else that of its first episode, else its
        day and who spoke.
        `after`: the `next` of the previous page. `limit`: 1 to 10,000.
        """
        return await engine.conversations.page(self._ctx, self._reader(), limit=listed(limit), after=after)

    async def titles(self, scopes: Iterable[Scope]) -> Mapping[Scope, str]:
        """The titles of conversations, as in `conversations`. `scopes`: those of memories or events; the ones without a
        session are left out.
        """
        known = validation.any_of("scopes", scopes, _a_scope) or frozenset[Scope]()
        return await engine.conversations.titles(self._ctx, self._reader(), known)

    async def conversation(self, event_id: Identifier, *, before: int = 20, after: int = 20) -> ConversationExcerpt:
        """The conversation that an event was recorded in: the event, and up to `before` and `after` events around it
        (0 to 1,000 each), with the memories formed from them and the conversation's episodes. Raises NotFound.
        """
        return await engine.conversations.around(
            self._ctx,
            self._reader(),
            await self._identified("event_id", event_id, "event"),
            before=validation.whole("before", before, 0, MOST_AROUND),
            after=validation.whole("after", after, 0, MOST_AROUND),
        )

    async def count(self, **filters: Unpack[EventFilters]) -> int:
        """The number of events. Filters as in `list`."""
        return await self._ctx.store.count_events(self._reader(), engine.journal.filter_of(filters))

    async def count_by_day(self, **filters: Unpack[EventFilters]) -> Mapping[date, int]:
        """The number of events of each UTC day that has any, earliest day first. Filters as in `list`."""
        return await self._ctx.store.events_by_day(self._reader(), engine.journal.filter_of(filters))

    async def recorded(
        self, after: int | None = None, *, limit: int = 100, **filters: Unpack[EventFilters]
    ) -> RecordedPage:
        """Events in the order they were recorded, after a position; without a position, the last events.

        `limit`: 0 to 10,000. Filters as in `list`. Pass the result's `position` as the next call's `after`: nothing is
        ever recorded at or before a position that was read. Raises InvalidInput for a position that this store never
        returned.
        """
        validation.whole("limit", limit, 0, MAX_LISTED)
        where = engine.journal.filter_of(filters)
        return await self._ctx.store.recorded(self._reader(), where, after=_position(after), limit=limit)

    def tail(
        self, after: int | None = None, *, every: timedelta = timedelta(seconds=1), **filters: Unpack[EventFilters]
    ) -> AsyncGenerator[Recorded, None]:
        """Every event recorded after a position, or from now on, in the order of recording; endless.

        Includes events of other processes: the store is polled at the interval `every` (0.01 s to a day). Filters as in
        `list`.
        """
        validation.number("every", every.total_seconds(), 0.01, 86_400)
        return engine.journal.tail(
            self._ctx,
            self._reader(),
            engine.journal.filter_of(filters),
            after=_position(after),
            pause=lambda: asyncio.sleep(every.total_seconds()),
        )

    async def wait(self, after: int, *, within: timedelta = timedelta(seconds=15)) -> bool:
        """Wait until any process records an event after a position in this workspace; False if none does `within` this
        time (0.01 s to a day).

        True also for an event that the caller may not see; `recorded` returns only visible ones.
        """
        longest = validation.duration("within", within, timedelta(days=1))
        seconds = validation.number("within", longest.total_seconds(), 0.01, 86_400)
        position = validation.whole("after", after, 0, 2**63 - 1)
        try:
            async with asyncio.timeout(seconds):
                await self._arrivals.behind(position)
        except TimeoutError:
            return False
        return (await self.recorded(limit=0)).position > position

    async def set_priority(self, event_id: Identifier, priority: Priority | str, reason: str = "") -> PriorityChange:
        """Give an event the priority `normal`, `high`, `pin` or `permanent`; a `permanent` event neither fades nor is
        archived.

        The change is logged with its author and reason. The priority sets the importance floor of memories formed from
        the event. Setting the current priority changes nothing. Raises PermissionDenied unless the caller's role is an
        operator's (LEAD is one), NotFound, and Conflict for an archived event.
        """
        return await engine.journal.set_priority(
            self._ctx,
            self._caller,
            self._reader(),
            await self._identified("event_id", event_id, "event"),
            validation.choice("priority", priority, Priority),
            reason=reason and validation.text("reason", reason, max_bytes=engine.journal.MAX_REASON_BYTES),
        )

    async def priority_changes(self, event_id: Identifier) -> tuple[PriorityChange, ...]:
        """The changes of an event's priority, with author, time and reason, oldest first."""
        identifier = await self._identified("event_id", event_id, "event")
        return await self._ctx.store.priority_changes(self._reader(), identifier)


def _position(after: int | None) -> int | None:
    return None if after is None else validation.whole("after", after, 0, 2**63 - 1)
