"""Waiting for new entries, with one poll for all waiters."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from remembrancer import AsyncRemembrancer, Settings
from remembrancer.errors import StoreUnavailable
from remembrancer.jobs.arrivals import Arrivals
from remembrancer.ports.notifications import Polled

PATIENCE = 20.0
LONG = timedelta(hours=1)
SHORT = timedelta(milliseconds=10)
QUIET = Settings(db=":memory:", background_index=False, embedder="none")


class Journal:
    """Counts the queries for its position."""

    def __init__(self) -> None:
        self.position = 0
        self.looks = 0
        self.fails = False
        self._looked = asyncio.Event()

    async def __call__(self) -> int:
        self.looks += 1
        self._looked.set()
        if self.fails:
            raise StoreUnavailable("the file is away")
        return self.position

    async def looked_at(self, times: int = 1) -> None:
        """Wait until it was queried that often."""
        while self.looks < times:
            self._looked.clear()
            await self._looked.wait()


def polled(every: timedelta) -> Callable[[Callable[[], None]], Polled]:
    """Subscriptions without notifications."""
    return lambda _: Polled(every)


class Told:
    """A subscription that the test wakes, from another thread."""

    def __init__(self) -> None:
        self.poll_every = LONG
        self.wakes: list[Callable[[], None]] = []

    def __call__(self, wake: Callable[[], None]) -> Told:
        self.wakes.append(wake)
        return self

    async def wake(self) -> None:
        for wake in self.wakes:
            await asyncio.to_thread(wake)

    def end(self) -> None:
        self.wakes.clear()


def run(steps: Callable[[Journal], Awaitable[None]]) -> Journal:
    journal = Journal()

    async def whole() -> None:
        async with asyncio.timeout(PATIENCE):
            await steps(journal)

    asyncio.run(whole())
    return journal


def test_existing_entries_are_returned_without_waiting() -> None:
    async def steps(journal: Journal) -> None:
        journal.position = 3
        await Arrivals(journal, polled(LONG)).behind(2)

    assert run(steps).looks == 1


def test_entries_recorded_by_this_process_are_noticed_at_once() -> None:
    async def steps(journal: Journal) -> None:
        arrivals = Arrivals(journal, polled(LONG))
        waiting = asyncio.create_task(arrivals.behind(0))
        await journal.looked_at()
        journal.position = 1
        arrivals.wake()
        await waiting
        await arrivals.stop()

    assert run(steps).looks == 2


def test_entries_recorded_by_another_process_are_noticed_at_the_next_poll() -> None:
    async def steps(journal: Journal) -> None:
        arrivals = Arrivals(journal, polled(SHORT))
        waiting = asyncio.create_task(arrivals.behind(0))
        await journal.looked_at(3)
        journal.position = 1
        await waiting

    run(steps)


def test_a_notification_of_another_process_makes_waiters_look_at_once() -> None:
    async def steps(journal: Journal) -> None:
        told = Told()
        waiting = asyncio.create_task(Arrivals(journal, told).behind(0))
        await journal.looked_at()
        await told.wake()  # about something else
        await journal.looked_at(2)
        journal.position = 1
        await told.wake()
        await waiting

    assert run(steps).looks == 3


def test_a_lost_notification_delays_waiters_by_the_polling_interval_of_that_moment() -> None:
    async def steps(journal: Journal) -> None:
        told = Told()
        waiting = asyncio.create_task(Arrivals(journal, told).behind(0))
        await journal.looked_at()
        told.poll_every = SHORT  # the connection failed: whoever waits is woken, and polls from then on
        await told.wake()
        await journal.looked_at(2)
        journal.position = 1
        await waiting

    run(steps)


def test_the_subscription_ends_when_nobody_waits() -> None:
    told = Told()

    async def steps(journal: Journal) -> None:
        arrivals = Arrivals(journal, told)
        waiting = asyncio.create_task(arrivals.behind(0))
        await journal.looked_at()
        assert len(told.wakes) == 1
        await arrivals.stop()
        await waiting

    run(steps)
    assert told.wakes == []


def test_all_who_wait_share_a_look() -> None:
    async def steps(journal: Journal) -> None:
        arrivals = Arrivals(journal, polled(LONG))
        waiting = [asyncio.create_task(arrivals.behind(0)) for _ in range(100)]
        await journal.looked_at()
        journal.position = 1
        arrivals.wake()
        await asyncio.gather(*waiting)
        await arrivals.stop()

    assert run(steps).looks == 2


def test_without_waiting_callers_the_store_is_not_polled() -> None:
    async def steps(journal: Journal) -> None:
        arrivals = Arrivals(journal, polled(SHORT))
        waiting = asyncio.create_task(arrivals.behind(0))
        await journal.looked_at()
        waiting.cancel()
        [watching] = [task for task in asyncio.all_tasks() if task.get_name() == "remembrancer-arrivals"]
        await watching

    run(steps)


def test_a_store_that_does_not_answer_is_left_to_who_reads_next() -> None:
    async def steps(journal: Journal) -> None:
        journal.fails = True
        await Arrivals(journal, polled(SHORT)).behind(0)

    assert run(steps).looks == 1


def test_waiting_callers_are_released_at_the_end() -> None:
    async def steps(journal: Journal) -> None:
        arrivals = Arrivals(journal, polled(LONG))
        waiting = asyncio.create_task(arrivals.behind(0))
        await journal.looked_at()
        await arrivals.stop()
        await waiting

    run(steps)


def test_a_wait_ends_with_an_entry_or_with_its_timeout() -> None:
    async def whole() -> list[bool]:
        async with await AsyncRemembrancer.open(settings=QUIET) as memory:
            in_vain = await memory.journal.wait(0, within=SHORT)
            waiting = asyncio.create_task(memory.journal.wait(0, within=LONG))
            await memory.observe("something")
            return [in_vain, await waiting, await memory.of_workspace("other").journal.wait(0, within=SHORT)]

    assert asyncio.run(whole()) == [False, True, False]
