"""`rem.journal`: the record of all that was said and done, whether it was remembered or not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from datetime import date, timedelta
from typing import TYPE_CHECKING, Unpack

from remembrancer import engine
from remembrancer.domain import validation
from remembrancer.domain.event import Event, EventDraft, Priority, Role, Severity
from remembrancer.domain.journal import JournalPage, PriorityChange, Recorded, Stretch
from remembrancer.domain.validation import JsonValue
from remembrancer.facade.view import MAX_LISTED, Identifier, View, from_arguments, listed

if TYPE_CHECKING:
    from remembrancer.engine.journal import EventFilters


class AsyncJournalApi(View):
    """Reads the journal, follows it, and marks its entries. `observe` and `log` write to it."""

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
        """Record something that was done with the memory itself: kept in the journal, and never made a memory.

        Its role is `system`. A `key` that is known returns the event as it was recorded, or raises Conflict where that
        says something else.
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
        """Entries of the journal, newest first unless `oldest_first`. `limit`: 1 to 10,000.

        Filters: `project`, `crew`, `agent`, `session`, `actor` (exactly this one); `crews`, `agents`, `types`,
        `severities`, `priorities`, `roles` (any of the values), `without_types` (none of them); `query` (each of its
        words occurs in the text or the payload); `since` and `until` (happened in [since, until)); `archived` (also
        entries in the archive, shortened as they are there). Raises InvalidInput.
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
        """The same, one page at a time. `after`: the `next` of the page before, which stays valid while entries are
        recorded.
        """
        where = engine.journal.filter_of(filters)
        return await engine.journal.page(
            self._ctx, self._reader(), where, limit=listed(limit), oldest_first=oldest_first, after=after
        )

    async def get(self, event_id: Identifier) -> Event:
        """One entry of the journal, or what the archive has of it. Raises NotFound."""
        return await engine.journal.event(self._ctx, self._reader(), validation.identifier("event_id", event_id))

    async def count(self, **filters: Unpack[EventFilters]) -> int:
        """The number of entries. Filters as in `list`."""
        return await self._ctx.store.count_events(self._reader(), engine.journal.filter_of(filters))

    async def count_by_day(self, **filters: Unpack[EventFilters]) -> Mapping[date, int]:
        """The number of entries of each day (UTC) on which any happened, earliest day first. Filters as in `list`."""
        return await self._ctx.store.events_by_day(self._reader(), engine.journal.filter_of(filters))

    async def recorded(self, after: int | None = None, *, limit: int = 100, **filters: Unpack[EventFilters]) -> Stretch:
        """Entries in the order they were recorded: those behind a position or, without one, the last ones.

        `limit`: 0 to 10,000. Filters as in `list`. The result's `position` is the next call's `after`: nothing is ever
        recorded at or before a position that was read. Raises InvalidInput for a position that was not returned here.
        """
        validation.whole("limit", limit, 0, MAX_LISTED)
        where = engine.journal.filter_of(filters)
        return await self._ctx.store.recorded(self._reader(), where, after=_position(after), limit=limit)

    def tail(
        self, after: int | None = None, *, every: timedelta = timedelta(seconds=1), **filters: Unpack[EventFilters]
    ) -> AsyncGenerator[Recorded, None]:
        """Every entry recorded behind a position, or from now on, without end, in the order of recording.

        Entries of other processes too: the store is asked for new ones each `every` (0.01 s to a day). Filters as in
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
        """Wait until any process records something behind a position in this workspace; False after `within` (0.01 s
        to a day) without. True also for an entry that this caller may not see: `recorded` returns those it may.
        """
        seconds = validation.number("within", within.total_seconds(), 0.01, 86_400)
        position = validation.whole("after", after, 0, 2**63 - 1)
        try:
            async with asyncio.timeout(seconds):
                await self._arrivals.behind(position)
        except TimeoutError:
            return False
        return (await self.recorded(limit=0)).position > position

    async def set_priority(self, event_id: Identifier, priority: Priority | str, reason: str = "") -> PriorityChange:
        """Give an entry the priority `normal`, `high`, `pin` or `permanent`; the last neither fades nor is deleted.

        Who changed it and why is kept. Memories formed from the entry fade no further than its priority allows. Setting
        the priority that it has changes nothing. Raises PermissionDenied where the caller's role is no operator's (LEAD
        is one), NotFound, and Conflict for an entry in the archive.
        """
        return await engine.journal.set_priority(
            self._ctx,
            self._caller,
            self._reader(),
            validation.identifier("event_id", event_id),
            validation.choice("priority", priority, Priority),
            reason=reason and validation.text("reason", reason, max_bytes=engine.journal.MAX_REASON_BYTES),
        )

    async def priority_changes(self, event_id: Identifier) -> tuple[PriorityChange, ...]:
        """Who gave an entry another priority, when and why, oldest first."""
        return await self._ctx.store.priority_changes(self._reader(), validation.identifier("event_id", event_id))


def _position(after: int | None) -> int | None:
    return None if after is None else validation.whole("after", after, 0, 2**63 - 1)
