"""The server's process: a socket, requests, and an end that loses nothing that was acknowledged."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from remembrancer.errors import InvalidInput, StoreUnavailable
from remembrancer.jobs.stop import Stop

GRACE_SECONDS: Final = 30
"""So long what is under way may go on once the server is asked to stop."""
KEEP_ALIVE_SECONDS: Final = 30
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class Server(uvicorn.Server):
    """Serves until it is asked to stop, by SIGINT or SIGTERM: then `stop` is set, so that streams end, no request is
    taken any more, and those under way are answered. Asked once more, it breaks them off.

    `on_ready` is called when it answers, and can be asked to stop.
    """

    def __init__(self, app: ASGIApp, stop: Stop, on_ready: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                ws="none",
                lifespan="on",
                # A request's line is written by `logs`, and logging is the program's to set up.
                log_config=None,
                access_log=False,
                server_header=False,
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=GRACE_SECONDS,
            )
        )
        self._stop = stop
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        # Heard by the loop, not between any two instructions: what `stop` wakes must not be in the middle of waiting.
        # And once it has ended, the process goes on to close its memory, where uvicorn's own raises the signal again.
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self.ask_to_stop)
        try:
            yield
        finally:
            for number in _SIGNALS:
                loop.remove_signal_handler(number)

    def ask_to_stop(self) -> None:
        """Once: end in good order. Twice: at once."""
        if self.should_exit:
            self.force_exit = True
            for task in self.server_state.tasks:
                task.cancel()
        self.should_exit = True
        self._stop.set()


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens there, on any free port for 0. Raises InvalidInput, and StoreUnavailable if it is taken."""
    try:
        places = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = places[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise InvalidInput("host", host, f"an address of this machine ({error})") from error
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRNOTAVAIL:
            raise InvalidInput("host", host, "an address of this machine") from error
        raise StoreUnavailable(f"port {port} of {host} cannot be listened on: {error.strerror}") from error
    listener.setblocking(False)
    return listener


def address_of(host: str, listener: socket.socket) -> str:
    """The URL that a client of this machine reaches it by."""
    port: int = listener.getsockname()[1]
    reached = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host.strip("[]"), host.strip("[]"))  # noqa: S104  all addresses
    return f"http://[{reached}]:{port}/" if ":" in reached else f"http://{reached}:{port}/"
