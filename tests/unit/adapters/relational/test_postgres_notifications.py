"""Processes on one PostgreSQL server learn at once what another wrote; a lost notification only delays that."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from postgres_server import Schemas

from remembrancer import Remembrancer
from remembrancer.adapters.relational.postgres import listening
from remembrancer.adapters.relational.postgres.dialect import APPLICATION
from remembrancer.adapters.relational.postgres.server import PostgresServer
from remembrancer.index.resident import ResidentIndex
from remembrancer.ports.notifications import POLLING, Subscription

PATIENCE = 20.0
LONG = timedelta(seconds=PATIENCE)
LISTENING = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN %%' AND pid <> pg_backend_pid()"


@pytest.fixture
def url(postgres: Schemas) -> str:
    return postgres.take()


@pytest.fixture
def writer(url: str) -> Iterator[Remembrancer]:
    with Remembrancer.open(url, embedder="none", workspace="acme") as rem:
        yield rem


class Woken:
    """Counts how often it is called."""

    def __init__(self) -> None:
        self._times = 0
        self._called = threading.Condition()

    def __call__(self) -> None:
        with self._called:
            self._times += 1
            self._called.notify_all()

    def wait(self, times: int) -> int:
        """The number of calls, when there are this many."""
        with self._called:
            assert self._called.wait_for(lambda: self._times >= times, PATIENCE)
            return self._times


@pytest.fixture
def server(url: str) -> Iterator[PostgresServer]:
    """Another process's."""
    server = PostgresServer(url)
    yield server
    server.close()


@pytest.fixture
def woken(server: PostgresServer) -> tuple[Woken, Subscription]:
    """A subscriber to the workspace acme, who was woken when the process began to listen."""
    woken = Woken()
    subscription = server.subscribe("acme", woken)
    woken.wait(1)
    return woken, subscription


def test_a_write_wakes_the_subscribers_of_its_workspace(writer: Remembrancer, woken: tuple[Woken, object]) -> None:
    writer.of_workspace("other").observe("not about acme")
    writer.observe("about acme")
    assert woken[0].wait(2) == 2


def test_a_refused_write_wakes_nobody(writer: Remembrancer, woken: tuple[Woken, object]) -> None:
    writer.observe("first", key="k")
    woken[0].wait(2)
    with pytest.raises(Exception, match="k"):
        writer.observe("something else", key="k")
    writer.observe("second")
    assert woken[0].wait(3) == 3


def test_a_subscription_that_ended_is_not_woken(
    writer: Remembrancer, server: PostgresServer, woken: tuple[Woken, Subscription]
) -> None:
    other = Woken()
    server.subscribe("acme", other)
    woken[1].end()
    woken[1].end()
    writer.observe("about acme")
    other.wait(1)
    assert woken[0].wait(1) == 1


def test_a_notification_names_no_workspace(url: str, writer: Remembrancer) -> None:
    with psycopg.connect(url, autocommit=True) as any_user:
        [[channel]] = any_user.execute("SELECT 'remembrancer_' || to_hex(hashtextextended(current_schema(), 0))")
        any_user.execute(f'LISTEN "{channel}"'.encode())
        writer.observe("a secret")
        [notification] = any_user.notifies(timeout=PATIENCE, stop_after=1)
    assert len(notification.payload) == 32
    assert "acme" not in notification.payload


def test_subscribers_are_woken_when_the_listening_connection_fails_and_when_it_is_made_again(
    url: str, writer: Remembrancer, woken: tuple[Woken, Subscription]
) -> None:
    assert woken[1].poll_every == listening.SAFETY_NET
    with psycopg.connect(url, autocommit=True) as admin:
        [[listener]] = admin.execute(LISTENING)
        admin.execute("SELECT pg_terminate_backend(%s)", (listener,))
    woken[0].wait(3)
    assert woken[1].poll_every == listening.SAFETY_NET
    writer.observe("about acme")
    woken[0].wait(4)


def test_a_server_that_is_away_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, url: str, server: PostgresServer
) -> None:
    monkeypatch.setattr(listening, "FIRST_RETRY_S", 0.001)
    failures = iter(range(3))

    def connected() -> psycopg.Connection[Any]:
        if next(failures, None) is not None:
            raise psycopg.OperationalError("connection refused")
        return psycopg.connect(url, autocommit=True)

    woken, listener = Woken(), listening.Listener(connected)
    subscription = listener.subscribe("acme", woken)
    woken.wait(1)
    assert subscription.poll_every == listening.SAFETY_NET
    listener.close()


def test_a_process_that_cannot_listen_polls(server: PostgresServer) -> None:
    tried = Woken()

    def refused() -> psycopg.Connection[Any]:
        tried()
        raise psycopg.OperationalError("connection refused")

    listener = listening.Listener(refused)
    assert listener.subscribe("acme", Woken()).poll_every == POLLING
    tried.wait(1)
    listener.close()


def waits(reader: Remembrancer, write: Callable[[], object]) -> bool:
    """Whether the reader's wait for the next event ends after this write."""
    position = reader.journal.recorded(limit=0).position
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(reader.journal.wait, position, within=LONG)
        write()
        return waiting.result(PATIENCE)


def lost(*_: object) -> None:
    """A notification that does not arrive."""


def test_a_lost_notification_delays_an_event_and_loses_none(
    monkeypatch: pytest.MonkeyPatch, url: str, writer: Remembrancer
) -> None:
    monkeypatch.setattr(listening, "SAFETY_NET", timedelta(milliseconds=100))
    monkeypatch.setattr(PostgresServer, "notify", lost)
    with Remembrancer.open(url, embedder="none", workspace="acme") as reader:
        assert waits(reader, lambda: writer.observe("written in silence"))


def test_a_failed_notification_fails_no_write(monkeypatch: pytest.MonkeyPatch, writer: Remembrancer) -> None:
    def failing(*_: object) -> None:
        raise psycopg.OperationalError("the queue is full")

    monkeypatch.setattr(PostgresServer, "notify", failing)
    assert [writer.observe("one").seq, writer.observe("two").seq] == [1, 2]


def test_a_process_without_notifications_answers_from_the_newest_records(
    monkeypatch: pytest.MonkeyPatch, url: str, writer: Remembrancer
) -> None:
    monkeypatch.setattr(PostgresServer, "notify", lost)
    index = ResidentIndex()
    with Remembrancer.open(url, embedder="none", workspace="acme", index=index) as reader:

        def told() -> list[str]:
            return [hit.memory.text for hit in reader.recall("which pump leaks?")]

        assert told() == []  # the index is loaded
        empty = index.nbytes
        pump = writer.remember("The pump of line 3 leaks.")
        assert told() == ["The pump of line 3 leaks."]
        assert index.nbytes > empty
        writer.update(pump.id, text="The pump of line 4 leaks.")
        assert told() == ["The pump of line 4 leaks."]
        writer.erase(ids=[pump.id])
        assert told() == []
        assert index.nbytes == empty  # nor has its cache anything of what was erased


def test_waiting_goes_on_after_the_server_closed_every_connection(url: str, writer: Remembrancer) -> None:
    with (
        Remembrancer.open(url, embedder="none", workspace="acme") as reader,
        psycopg.connect(url, autocommit=True) as admin,
    ):
        assert waits(reader, lambda: writer.observe("before"))
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s", (APPLICATION,)
        )
        assert waits(reader, lambda: writer.observe("after"))
