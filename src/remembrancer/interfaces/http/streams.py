"""Server-sent events: the journal as an endless stream, the format, the limit on streams, and their end.

Nothing is buffered for a client: the next entries are read when the client has received the previous ones.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import contextmanager
from dataclasses import field
from datetime import timedelta
from http import HTTPStatus
from typing import Annotated, Final

from fastapi import Depends, HTTPException, Request
from pydantic import Field
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from remembrancer.domain.journal import Recorded, RecordedPage
from remembrancer.engine.journal import EventFilters
from remembrancer.errors import InvalidInput, RemembrancerError
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.http.access import Authenticated, Reauthenticate, reauthenticate
from remembrancer.jobs.worker import Stop
from remembrancer.values import dataclass

MEDIA_TYPE: Final = "text/event-stream"
RETRY: Final = "retry: 1000\n\n"
"""Milliseconds after which a disconnected client reconnects."""
FAREWELL_SECONDS: Final = 1.0
"""The time that sending the last message may take."""


@dataclass(slots=True)
class Streams:
    """The open streams: at most `at_most` of them, and `of_one` of one principal.

    `heartbeat`: seconds of silence after which a comment is sent and the key is checked again. `patience`: seconds in
    which a client must receive a message; then the stream is ended. `on_change`: called with the number of open
    streams.
    """

    at_most: int = 256
    of_one: int = 64
    heartbeat: float = 15.0
    patience: float = 60.0
    on_change: Callable[[int], None] = lambda _: None
    _open: Counter[str] = field(default_factory=Counter[str])

    @property
    def open(self) -> int:
        """The number of open streams."""
        return self._open.total()

    @contextmanager
    def place(self, name: str) -> Generator[None]:
        """A place for a stream of that principal while the context is entered. Raises HTTPException 503 if there is
        none.
        """
        if self.open >= self.at_most:
            raise _full(f"{self.at_most} streams are open, which is the maximum")
        if self._open[name] >= self.of_one:
            raise _full(f"{self.of_one} streams are open with this key, which is the maximum")
        self._open[name] += 1
        self.on_change(self.open)
        try:
            yield
        finally:
            self._open[name] -= 1
            self._open += Counter[str]()  # drops names without open streams
            self.on_change(self.open)


def message(*, data: str, position: int, event: str | None = None) -> str:
    """One message. `data`: a single line. `position`: the `id`, which a client sends as `Last-Event-ID` when it
    reconnects.
    """
    named = "" if event is None else f"event: {event}\n"
    return f"id: {position}\n{named}data: {data}\n\n"


def seen(position: int) -> str:
    """An `id` without data: the client can continue after this position."""
    return f"id: {position}\n\n"


def comment(text: str) -> str:
    """A comment, which clients ignore and which keeps the connection open."""
    return f": {text}\n\n"


class EventStream(Response):
    """Sends the texts of a generator until it ends, the client disconnects or is too slow, or the server stops."""

    media_type = MEDIA_TYPE
    charset = "utf-8"

    def __init__(self, texts: AsyncGenerator[str, None], *, stop: Stop, patience: float) -> None:
        super().__init__(
            headers={
                "Cache-Control": "no-store",
                "X-Accel-Buffering": "no",  # nginx would otherwise buffer messages
            }
        )
        del self.headers["content-length"]  # the length of the response is unknown
        self._texts = texts
        self._stop = stop
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        sending = asyncio.ensure_future(self._send_all(send))
        leaving = asyncio.ensure_future(_gone(receive))
        stopping = asyncio.ensure_future(self._stop.wait())
        tasks = {sending, leaving, stopping}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            await self._texts.aclose()
        if not sending.cancelled():
            sending.result()  # raises any unexpected error
        if not leaving.cancelled() or _gave_up(sending):
            return
        await _farewell(send, comment("the server is stopping") if sending.cancelled() else "")

    async def _send_all(self, send: Send) -> bool:
        """Send every text. Returns whether the client received all of them."""
        async for text in self._texts:
            body = text.encode("utf-8")
            try:
                async with asyncio.timeout(self._patience):
                    await send({"type": "http.response.body", "body": body, "more_body": True})
            except TimeoutError:
                return False
            except OSError:  # the client has disconnected
                return False
        return True


def _gave_up(sending: asyncio.Future[bool]) -> bool:
    return not sending.cancelled() and not sending.result()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _farewell(send: Send, text: str) -> None:
    try:
        async with asyncio.timeout(FAREWELL_SECONDS):
            await send({"type": "http.response.body", "body": text.encode("utf-8"), "more_body": False})
    except (TimeoutError, OSError):
        return


def _full(detail: str) -> HTTPException:
    return HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, detail, headers={"Retry-After": "5"})


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
    formatted: Callable[[Recorded], str],
    chosen: EventFilters,
    *,
    after: int | None,
    last: int,
) -> EventStream:
    """A stream of the entries recorded after a position, or of the `last` entries, and then of new ones. `formatted`
    formats an entry.

    Raises the errors of reading before the response starts.
    """
    first = await memory.journal.recorded(after, limit=last if after is None else PAGE, **chosen)
    complete = after is None or len(first.entries) < PAGE
    texts = _texts(memory, slot, formatted, chosen, first, complete=complete)
    return EventStream(texts, stop=slot.stop, patience=slot.streams.patience)


async def _texts(
    memory: AsyncRemembrancer,
    slot: StreamSlot,
    formatted: Callable[[Recorded], str],
    chosen: EventFilters,
    page: RecordedPage,
    *,
    complete: bool,
) -> AsyncGenerator[str, None]:
    """The stream's texts: formatted entries, heartbeats and a closing comment. `complete`: `page` ended with the
    newest entry when it was read.
    """
    now = asyncio.get_running_loop().time
    heartbeat = slot.streams.heartbeat
    sent_at = checked_at = now()
    yield RETRY
    try:
        while True:
            for one in page.entries:
                yield formatted(one)
                sent_at = now()
                if sent_at - checked_at >= heartbeat:
                    await slot.reauthenticate()
                    checked_at = now()
            position = page.position
            if complete:
                wait = max(_SHORTEST_WAIT, min(sent_at, checked_at) + heartbeat - now())
                await memory.journal.wait(position, within=timedelta(seconds=wait))
            if now() - checked_at >= heartbeat:
                await slot.reauthenticate()
                checked_at = now()
            if now() - sent_at >= heartbeat:
                # Sent even if the filters excluded all new entries, so that a reconnecting client continues after them.
                yield seen(position)
                sent_at = now()
            page = await memory.journal.recorded(position, limit=PAGE, **chosen)
            complete = len(page.entries) < PAGE
    except HTTPException as error:
        yield comment(str(error.detail))
    except RemembrancerError as error:  # the client reconnects and continues after the last message it received
        yield comment(error.code)
