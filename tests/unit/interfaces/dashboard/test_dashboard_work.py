"""A page reads as much of a large memory as of a small one: its statements and the rows they give are counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import apsw
import pytest
from served import QUIET, Served, asked

from remembrancer import EventDraft
from remembrancer.testing.doubles import NOW

FEW, MANY = 300, 600
"""More memories than any page lists, and twice as many."""
TURNS: Final = 10
ROOM: Final = 100
"""Rows more in the larger memory: of lists that are not full yet, and of work that is counted up to a limit."""
PAGES: Final = (
    "/",
    "/parts/state",
    "/search?q=deploy",
    "/search?q=deploy&kinds=message&walk=1",
    "/compare?q=deploy&presets=default",
    "/timeline",
    "/timeline?kind=all",
    "/graph",
    "/conversations",
    "/memories",
    "/preferences",
    "/journal",
    "/journal?actor=Ana",
    "/jobs",
    "/memories/MEMORY",
    "/graph?memory=MEMORY",
)


@dataclass
class Work:
    statements: int = 0
    rows: int = 0


@pytest.fixture(scope="module")
def counted() -> Iterator[Work]:
    """What all connections do, from now on."""
    work = Work()

    def note(event: dict[str, Any]) -> None:
        work.statements += event["code"] == apsw.SQLITE_TRACE_STMT and not event["trigger"]
        work.rows += event["code"] == apsw.SQLITE_TRACE_ROW

    def watch(connection: apsw.Connection) -> None:
        traced: Any = connection
        traced.trace_v2(apsw.SQLITE_TRACE_STMT | apsw.SQLITE_TRACE_ROW, note)

    apsw.connection_hooks.append(watch)
    yield work
    apsw.connection_hooks.remove(watch)


@pytest.fixture(scope="module")
def done(counted: Work) -> dict[int, dict[str, Work]]:
    """The work of each page, by the number of memories."""
    return {size: asked(lambda served, size=size: _done(served, size, counted), settings=QUIET) for size in (FEW, MANY)}


async def _done(served: Served, size: int, counted: Work) -> dict[str, Work]:
    turns = [
        EventDraft(
            text=f"Deploy number-{number} of checkout took {number} minutes",
            actor=("Ana", "Bo")[number % 2],
            session=f"session-{number // TURNS}",
            occurred_at=NOW - timedelta(hours=size - number),
        )
        for number in range(size)
    ]
    events = await served.memory.observe_many(turns)
    episodes = list[UUID]()
    for first in range(0, size, TURNS):
        session = served.memory.scoped(session=f"session-{first // TURNS}")
        told = [event.id for event in events[first : first + TURNS]]
        episodes.append((await session.remember(f"Deploys from {first} on", kind="episode", events=told)).id)
    pages = [path.replace("MEMORY", str(episodes[-1])) for path in PAGES]
    done = dict[str, Work]()
    for path, page in zip(PAGES, pages, strict=True):
        await served.http.get(page)  # what is loaded once is loaded
        before = Work(counted.statements, counted.rows)
        answer = await served.http.get(page)
        assert answer.status_code == 200, page
        done[path] = Work(counted.statements - before.statements, counted.rows - before.rows)
    return done


@pytest.mark.parametrize("page", PAGES)
def test_a_page_reads_no_more_of_a_larger_memory(done: dict[int, dict[str, Work]], page: str) -> None:
    few, many = done[FEW][page], done[MANY][page]
    assert 0 < many.statements <= few.statements + 5
    assert many.rows <= few.rows + ROOM


@pytest.mark.parametrize("page", PAGES)
def test_a_page_takes_few_statements(done: dict[int, dict[str, Work]], page: str) -> None:
    assert done[MANY][page].statements <= 120
