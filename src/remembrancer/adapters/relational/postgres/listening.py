"""Notifications of writes, by NOTIFY and LISTEN.

A notification is sent after the commit of the write, in a transaction of its own that does not wait for the disk:
PostgreSQL commits transactions with a notification one at a time in the whole server, each until it is on the disk. A
notification is lost if the connection ends in between; subscribers therefore also read every `SAFETY_NET`.
"""

from __future__ import annotations

import hashlib
import selectors
import socket
import threading
from collections.abc import Callable, Collection, Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import psycopg

from remembrancer.ports.notifications import POLLING

if TYPE_CHECKING:
    from remembrancer.adapters.relational.connection import Connection

SAFETY_NET: Final = timedelta(seconds=5)
"""The polling interval while the process listens."""
FIRST_RETRY_S: Final = 0.25
LONGEST_RETRY_S: Final = 10.0
"""The waits before the connection is made again: doubled after each failure, up to the longest."""
_CHANNEL: Final = "'remembrancer_' || to_hex(hashtextextended(current_schema(), 0))"
"""The channel's name as SQL: a server sends each notification to all schemas of the database."""


def notify(connection: Connection, workspaces: Iterable[str]) -> None:
    """Notify all processes that these workspaces were written to. Called outside of a transaction."""
    sent = ", ".join(f"pg_notify({_CHANNEL}, '{_digest(workspace)}')" for workspace in workspaces)
    connection.execute(f"SET LOCAL synchronous_commit = off; SELECT {sent}")  # one message is one transaction


def _digest(workspace: str) -> str:
    """A notification's contents. They name no workspace, because any user of the database may listen."""
    return hashlib.sha256(workspace.encode()).hexdigest()[:32]


class Listener:
    """Wakes the subscribers of a workspace when a notification of it arrives.

    It has a connection and a thread of its own from the first subscription on. After a failure it connects again. All
    subscribers are woken when the connection is made and when it fails.
    """

    def __init__(self, connected: Callable[[], psycopg.Connection[Any]]) -> None:
        """`connected`: makes a connection in autocommit mode."""
        self._connected = connected
        self._woken: dict[str, list[Wakened]] = {}
        self._door = threading.Lock()
        self._thread: threading.Thread | None = None
        self._end: socket.socket | None = None
        """Closed to end the thread, which waits for its other end."""
        self.is_listening = False

    def subscribe(self, workspace: str, wake: Callable[[], None]) -> Wakened:
        subscription = Wakened(self, _digest(workspace), wake)
        with self._door:
            self._woken.setdefault(subscription.digest, []).append(subscription)
            if self._thread is None:
                self._end, ended = socket.socketpair()
                self._thread = threading.Thread(
                    target=self._run, args=(ended,), name="remembrancer-listener", daemon=True
                )
                self._thread.start()
        return subscription

    def end(self, subscription: Wakened) -> None:
        with self._door:
            others = [one for one in self._woken.pop(subscription.digest, ()) if one is not subscription]
            if others:
                self._woken[subscription.digest] = others

    def close(self) -> None:
        """End the thread and its connection."""
        if self._thread is not None and self._end is not None:
            self._end.close()
            self._thread.join()

    def _run(self, ended: socket.socket) -> None:
        wait = FIRST_RETRY_S
        with ended, selectors.DefaultSelector() as input_of:
            input_of.register(ended, selectors.EVENT_READ)
            while True:
                try:
                    with self._connected() as driver:
                        [[channel]] = driver.execute(f"SELECT {_CHANNEL}".encode())
                        driver.execute(f'LISTEN "{channel}"'.encode())
                        self._set_listening(True)
                        wait = FIRST_RETRY_S
                        return self._receive(driver, ended)
                except psycopg.Error:
                    self._set_listening(False)
                if input_of.select(wait):
                    return None
                wait = min(wait * 2, LONGEST_RETRY_S)

    def _receive(self, driver: psycopg.Connection[Any], ended: socket.socket) -> None:
        """Wake subscribers until the listener is closed. Raises OperationalError if the connection fails."""
        with selectors.DefaultSelector() as input_of:
            input_of.register(ended, selectors.EVENT_READ)
            input_of.register(driver.pgconn.socket, selectors.EVENT_READ)
            while all(key.fileobj is not ended for key, _ in input_of.select()):
                driver.pgconn.consume_input()
                digests = set[str]()
                while (notification := driver.pgconn.notifies()) is not None:
                    digests.add(notification.extra.decode())
                self._wake(digests)

    def _set_listening(self, is_listening: bool) -> None:
        if self.is_listening != is_listening:
            self.is_listening = is_listening
            self._wake(None)

    def _wake(self, digests: Collection[str] | None) -> None:
        """Wake the subscribers of these workspaces; None: all."""
        with self._door:
            for digest in tuple(self._woken) if digests is None else digests:
                for subscription in self._woken.get(digest, ()):
                    subscription.wake()


class Wakened:
    """See `Subscription`."""

    __slots__ = ("_listener", "digest", "wake")

    def __init__(self, listener: Listener, digest: str, wake: Callable[[], None]) -> None:
        self._listener, self.digest, self.wake = listener, digest, wake

    @property
    def poll_every(self) -> timedelta:
        return SAFETY_NET if self._listener.is_listening else POLLING

    def end(self) -> None:
        self._listener.end(self)
