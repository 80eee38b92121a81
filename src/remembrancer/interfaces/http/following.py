"""The journal as an endless stream: every entry once, in the order of recording."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Generator
from datetime import timedelta
from typing import Annotated, Final

from fastapi import Depends, HTTPException, Request
from pydantic import Field

from remembrancer.domain.journal import Recorded, Stretch
from remembrancer.engine.journal import EventFilters
from remembrancer.errors import InvalidInput, RemembrancerError
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.http.access import Authenticated, Reauthenticate, reauthenticate
from remembrancer.interfaces.http.streams import RETRY, EventStream, Streams, comment, seen
from remembrancer.jobs.worker import Stop
from remembrancer.values import dataclass

PAGE: Final = 100
"""Entries read at a time: the most that is held in memory for one client."""
_POSITION: Final = re.compile(r"[0-9]{1,18}")
_SHORTEST_WAIT: Final = 0.01

LastEventId = Annotated[str, Field(max_length=100)]


@dataclass(frozen=True, slots=True)
class StreamSlot:
    """One client's place among the limited number of streams, for the duration of its request."""

    streams: Streams
    stop: Stop
    reauthenticate: Reauthenticate


def stream_slot(
    request: Request,
    principal: Authenticated,
    again: Annotated[Reauthenticate, Depends(reauthenticate)],
) -> Generator[StreamSlot]:
    """Raises HTTPException 503 if there are too many streams."""
    streams: Streams = request.app.state.streams
    with streams.place(principal.name):
        yield StreamSlot(streams, request.app.state.stop, again)


def position_of(last_event_id: str | None) -> int | None:
    """The position in a `Last-Event-ID`. Raises InvalidInput for an id that this stream never sent."""
    if last_event_id is None:
        return None
    if not _POSITION.fullmatch(last_event_id):
        raise InvalidInput("Last-Event-ID", last_event_id, "the `id` of a message of this stream")
    return int(last_event_id)


async def followed(
    memory: AsyncRemembrancer,
    slot: StreamSlot,
    tell: Callable[[Recorded], str],
    chosen: EventFilters,
    *,
    after: int | None,
    last: int,
) -> EventStream:
    """A stream of the entries recorded after a position, or of the `last` entries, and then of new ones; `tell` formats
    each.

    Raises the errors of reading before the response starts.
    """
    first = await memory.journal.recorded(after, limit=last if after is None else PAGE, **chosen)
    complete = after is None or len(first.entries) < PAGE
    told = _told(memory, slot, tell, chosen, first, complete=complete)
    return EventStream(told, stop=slot.stop, patience=slot.streams.patience)


async def _told(
    memory: AsyncRemembrancer,
    slot: StreamSlot,
    tell: Callable[[Recorded], str],
    chosen: EventFilters,
    stretch: Stretch,
    *,
    complete: bool,
) -> AsyncGenerator[str, None]:
    """`complete`: `stretch` ended with the newest entry when it was read."""
    now = asyncio.get_running_loop().time
    heartbeat = slot.streams.heartbeat
    told_at = looked_at = now()
    yield RETRY
    try:
        while True:
            for one in stretch.entries:
                yield tell(one)
                told_at = now()
                if told_at - looked_at >= heartbeat:
                    await slot.reauthenticate()
                    looked_at = now()
            position = stretch.position
            if complete:
                wait = max(_SHORTEST_WAIT, min(told_at, looked_at) + heartbeat - now())
                await memory.journal.wait(position, within=timedelta(seconds=wait))
            if now() - looked_at >= heartbeat:
                await slot.reauthenticate()
                looked_at = now()
            if now() - told_at >= heartbeat:
                # Also where all that came was left out: whoever comes again need not look through it again.
                yield seen(position)
                told_at = now()
            stretch = await memory.journal.recorded(position, limit=PAGE, **chosen)
            complete = len(stretch.entries) < PAGE
    except HTTPException as error:
        yield comment(str(error.detail))
    except RemembrancerError as error:  # it comes again behind what it was told last
        yield comment(error.code)
