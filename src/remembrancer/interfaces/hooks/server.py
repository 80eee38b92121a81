"""The server of the hooks: it keeps the memory open, records transcripts and answers the clients. It ends when idle."""

from __future__ import annotations

import asyncio
import fcntl
import json
import logging
import os
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import field
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from remembrancer.errors import RemembrancerError
from remembrancer.ingest.fields import is_object
from remembrancer.interfaces.hooks.answers import at_message, at_start
from remembrancer.interfaces.hooks.capture import Capture
from remembrancer.interfaces.hooks.place import Place
from remembrancer.interfaces.signals import on_stop_signal
from remembrancer.interfaces.text import one_line
from remembrancer.jobs.worker import Stop
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer import AsyncRemembrancer
    from remembrancer.domain.recall import Recall

MAX_REQUEST_BYTES: Final = 1024 * 1024
REQUEST_SECONDS: Final = 5
"""The time limit of one request."""
PAUSE_SECONDS: Final = 0.5
"""The pause between two readings of the notes, so that a burst of tool calls is recorded at once."""
RETRY_SECONDS: Final = 15
"""The pause after a failure of the store."""

_logger: Final = logging.getLogger(__name__)


@dataclass
class HookServer:
    """Answers the hooks' requests over an open memory, until it has been idle for so long.

    `on_ready` is called when requests are accepted. `monotonic`: in seconds.
    """

    memory: AsyncRemembrancer
    place: Place
    idle: timedelta
    on_ready: Callable[[], None] = lambda: None
    monotonic: Callable[[], float] = time.monotonic
    _stop: asyncio.Event = field(default_factory=asyncio.Event)
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _jobs: dict[str, asyncio.Task[None]] = field(default_factory=dict[str, "asyncio.Task[None]"])
    _no_more_jobs: Stop = field(default_factory=Stop)
    _compacted: set[str] = field(default_factory=set[str])
    _last: float = 0.0
    _running: set[asyncio.Task[None]] = field(default_factory=set["asyncio.Task[None]"])

    async def run(self) -> None:
        """Answer until idle, or until SIGINT or SIGTERM. Then what is noted is recorded."""
        self._last = self.monotonic()
        os.chdir(self.place.folder)
        _remove_socket()
        capture = Capture(self.memory, self.place)
        async with _private_socket(self._handle), asyncio.TaskGroup() as tasks:
            recording = tasks.create_task(self._record(capture))
            with on_stop_signal(self._stop.set):
                self.on_ready()
                await self._until_idle()
            _remove_socket()  # the next hook starts another server
            self._stop.set()
            self._news.set()
            self._no_more_jobs.set()
            await recording
        await asyncio.gather(*self._running, *self._jobs.values(), return_exceptions=True)

    async def _until_idle(self) -> None:
        while not self._stop.is_set():
            left = self.idle.total_seconds() - (self.monotonic() - self._last)
            if left <= 0:
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), min(left, 30))

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._last = self.monotonic()
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                request: object = json.loads(await reader.readuntil(b"\n"))
                answer = await self._answer(request)
                writer.write(answer.encode())
                await writer.drain()
        except (
            ValueError,
            asyncio.IncompleteReadError,
            asyncio.LimitOverrunError,
            ConnectionError,
            TimeoutError,
        ) as error:
            _logger.info("a request was not answered: %s", error)
        except RemembrancerError as error:
            _logger.warning("a request was not answered: %s", error)
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
        self._news.set()

    async def _answer(self, request: object) -> str:
        if not is_object(request):
            raise ValueError("a request is one JSON object on a line")
        event, workspace, session, source, prompt = (
            str(request.get(name) or "") for name in ("event", "workspace", "session", "source", "prompt")
        )
        memory = self.memory.of_workspace(workspace)
        self._work(workspace)
        if event == "session-start":
            if source == "compact":
                self._compacted.add(session)
            return await at_start(memory, session, source)
        if event == "user-prompt":
            answer, shown = await at_message(memory, session, prompt, session in self._compacted)
            if shown is not None:
                self._later(self._mark(memory, shown))
            return answer
        return ""

    async def _mark(self, memory: AsyncRemembrancer, shown: Recall) -> None:
        await memory.mark(shown.hits, "shown", query=shown.query)

    def _later(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def _work(self, workspace: str) -> None:
        """Run the jobs of a workspace from its first request on."""
        if workspace not in self._jobs:
            work = self.memory.of_workspace(workspace).jobs.work(self._no_more_jobs)
            self._jobs[workspace] = asyncio.create_task(work, name=f"jobs of {workspace}")

    async def _record(self, capture: Capture) -> None:
        """Record what the notes point to, whenever there is news, and once more at the end."""
        while True:
            ending = self._stop.is_set()
            self._news.clear()
            try:
                for note in capture.waiting():
                    await capture.take(note)
            except RemembrancerError as error:
                _logger.warning("not recorded yet: %s", error)
                if not ending:
                    await self._pause(RETRY_SECONDS)
                    self._news.set()
            if ending:
                return
            await self._pause(PAUSE_SECONDS)
            await self._news.wait()

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)


def _remove_socket() -> None:
    Place.SOCKET.unlink(missing_ok=True)


@asynccontextmanager
async def _private_socket(
    handle: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[None, None, None]],
) -> AsyncGenerator[None]:
    """Accept connections at the socket in the working directory, of this user only."""
    before = os.umask(0o177)
    try:
        server = await asyncio.start_unix_server(handle, path=Place.SOCKET, limit=MAX_REQUEST_BYTES)
    finally:
        os.umask(before)
    try:
        yield
    finally:
        server.close()


def the_only_server(place: Place) -> int | None:
    """Become the place's server: the descriptor of its lock, or None if another process is."""
    lock = os.open(place.lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    os.ftruncate(lock, 0)
    os.write(lock, str(os.getpid()).encode())
    return lock


def tell_failure(place: Place, error: BaseException | None) -> None:
    """Note why the server did not start, for the next hooks; None: it did."""
    if error is None:
        place.failure.unlink(missing_ok=True)
        return
    told = {"at": time.time(), "why": one_line(str(error) or type(error).__name__)}
    place.failure.write_text(json.dumps(told), encoding="utf-8")
