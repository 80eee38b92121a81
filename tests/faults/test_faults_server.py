"""A PostgreSQL server that crashes and starts again in the middle of writes, recalls and erasures: nothing acknowledged
is lost, and nothing is half written.

One of its processes is killed (SIGKILL): the server then ends all others, forgets what was only in memory, and recovers
from its write-ahead log.
"""

from __future__ import annotations

import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar
from uuid import UUID

import psycopg
import pytest
from postgres_server import Schemas, serving

from remembrancer import Remembrancer
from remembrancer.adapters.relational.postgres.dialect import APPLICATION
from remembrancer.domain.erasure import Erasure
from remembrancer.errors import StoreUnavailable
from remembrancer.testing.doubles import HashEmbedder

T = TypeVar("T")
CRASHES: Final = 3
WRITERS: Final = 3
BETWEEN: Final = 15
"""Acknowledged writes before each crash."""
DEADLINE_S: Final = 60.0


@pytest.fixture(scope="module")
def server() -> Iterator[Schemas]:
    """A server of its own. Unlike that of other tests it acknowledges what is in its write-ahead log only."""
    with tempfile.TemporaryDirectory(prefix="remembrancer-crashing-") as folder, serving(Path(folder)) as schemas:
        with psycopg.connect(schemas.url, autocommit=True) as admin:
            admin.execute("ALTER SYSTEM SET synchronous_commit = on")
            admin.execute("SELECT pg_reload_conf()")
        yield schemas


@pytest.fixture(scope="module")
def addresses(server: Schemas) -> Iterator[str]:
    """Those of empty schemas, made before the first crash closes the connection that makes them."""
    return iter([server.take() for _ in range(4)])


def opened(db: str) -> Remembrancer:
    return Remembrancer.open(db, agent="ana", embedder=HashEmbedder(16), settings={"background_index": False})


def until_it_answers(call: Callable[[], T]) -> T:
    """The result of the call, tried again while the server recovers."""
    deadline = time.monotonic() + DEADLINE_S
    while True:
        try:
            return call()
        except (StoreUnavailable, psycopg.OperationalError):
            if time.monotonic() > deadline:
                raise
            threading.Event().wait(0.02)


def crash(server: Schemas) -> None:
    """Kill the server process of one of our connections, and wait until the server answers again."""

    def victim() -> tuple[int] | None:
        with psycopg.connect(server.url, autocommit=True) as admin:
            query = "SELECT pid FROM pg_stat_activity WHERE application_name = %s ORDER BY state = 'active' DESC"
            return admin.execute(query, (APPLICATION,)).fetchone()

    found = until_it_answers(victim)
    assert found is not None
    with psycopg.connect(server.url, autocommit=True) as watching:
        os.kill(found[0], signal.SIGKILL)
        deadline = time.monotonic() + DEADLINE_S
        with suppress(psycopg.OperationalError):
            while time.monotonic() < deadline:
                watching.execute("SELECT 1")
    until_it_answers(victim)


@dataclass
class Told:
    """What a writer knows: the texts it tried to record, and those that were acknowledged."""

    tried: list[str] = field(default_factory=list[str])
    acknowledged: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Survived:
    """A database whose server crashed while threads wrote and asked."""

    db: str
    told: list[Told]
    answers: list[int]
    """The number of hits of each recall that was answered."""


@pytest.fixture(scope="module")
def survived(server: Schemas, addresses: Iterator[str]) -> Survived:
    db = next(addresses)
    told, answers, enough = [Told() for _ in range(WRITERS)], list[int](), threading.Event()
    with opened(db) as rem, ThreadPoolExecutor(WRITERS + 1) as threads:
        rem.observe("the first kestrel came to the barn", session="before")

        def write(number: int) -> None:
            while not enough.is_set():
                text = f"kestrel{number}x{len(told[number].tried)} came to the barn"
                told[number].tried.append(text)
                with suppress(StoreUnavailable):
                    rem.observe(text, session="shared")
                    told[number].acknowledged.append(text)

        def ask() -> None:
            while not enough.is_set():
                with suppress(StoreUnavailable):
                    answers.append(len(rem.recall("which kestrel came first?")))

        running: list[Future[None]] = [threads.submit(write, number) for number in range(WRITERS)]
        running.append(threads.submit(ask))
        try:
            for _ in range(CRASHES):
                reached([BETWEEN + len(one.acknowledged) for one in told], told)
                crash(server)
            reached([BETWEEN + len(one.acknowledged) for one in told], told)
        finally:
            enough.set()
        for one in running:
            one.result()
    return Survived(db, told, answers)


def reached(counts: list[int], told: list[Told]) -> None:
    """Wait until each writer has so many acknowledged writes."""
    deadline = time.monotonic() + DEADLINE_S
    while any(len(one.acknowledged) < count for one, count in zip(told, counts, strict=True)):
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)


def test_no_acknowledged_write_is_lost_by_a_crash(survived: Survived) -> None:
    with opened(survived.db) as rem:
        there = [event.text for event in rem.journal.list(session="shared", limit=10_000)]
    assert {text for one in survived.told for text in one.acknowledged} <= set(there)
    assert set(there) <= {text for one in survived.told for text in one.tried}
    assert len(there) == len(set(there))


def test_a_crash_leaves_no_gap_in_the_numbers_of_a_session(survived: Survived) -> None:
    with opened(survived.db) as rem:
        numbers = [event.seq for event in rem.journal.list(session="shared", limit=10_000)]
    assert sorted(numbers) == list(range(1, len(numbers) + 1))


def test_every_event_that_a_crash_left_has_its_memory_and_its_words(survived: Survived) -> None:
    with opened(survived.db) as rem:
        assert [finding for finding in rem.health.doctor() if not finding.ok] == []
        stats = rem.health.stats()
        assert stats.events == sum(stats.memories.values()) == stats.cues
        last = survived.told[0].acknowledged[-1]
        assert [event.text for event in rem.journal.list(query=last.split()[0])] == [last]


def test_a_recall_during_a_crash_is_an_error_or_an_answer(survived: Survived) -> None:
    assert len(survived.answers) > CRASHES
    assert all(survived.answers)


@pytest.mark.parametrize("moment", ["as it begins", "while it deletes", "while it writes the tables anew"])
def test_an_erasure_that_a_crash_cuts_off_is_whole_after_the_next_try(
    server: Schemas, addresses: Iterator[str], moment: str
) -> None:
    with opened(next(addresses)) as rem, ThreadPoolExecutor(1) as threads:
        kept = rem.observe("The harvest was good")
        secret = rem.observe("Quokkas juggle vermilion zithers")
        rem.jobs.index_now()
        erasing = threads.submit(rem.erase, events=[secret.id])
        if moment != "as it begins":
            wait_for_query(server, "VACUUM%" if moment.endswith("anew") else "%DELETE%", erasing)
        crash(server)
        with suppress(StoreUnavailable):
            erasing.result()
        left = until_it_answers(lambda: {event.id for event in rem.journal.list()})
        assert left in ({kept.id}, {kept.id, secret.id})
        assert set(until_it_answers(lambda: found_by(rem, "zithers"))) <= left - {kept.id}
        if secret.id in left:
            until_it_answers(lambda: rem.erase(events=[secret.id]))
        until_it_answers(lambda: rem.maintain(only=["health"], force=True))
        assert found_by(rem, "zithers") == []
        assert [finding for finding in rem.health.doctor() if not finding.ok] == []
        assert all(one.purged_at is not None for one in rem.erasures())


def found_by(rem: Remembrancer, word: str) -> list[UUID]:
    return [event.id for event in rem.journal.list(query=word)]


def wait_for_query(server: Schemas, query: str, erasing: Future[Erasure]) -> None:
    """Wait until a connection of ours runs such a statement, or the erasure is over."""
    running = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s AND query LIKE %s"
    with psycopg.connect(server.url, autocommit=True) as admin:
        while not erasing.done():
            row = admin.execute(running, (APPLICATION, query)).fetchone()
            if row is not None and row[0]:
                return
