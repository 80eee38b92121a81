from __future__ import annotations

import asyncio
import threading

from remembrancer.jobs.worker import Stop

PATIENCE = 20.0


def test_a_waiting_caller_is_woken_from_another_thread() -> None:
    async def wait() -> bool:
        stop = Stop()
        waiting = asyncio.create_task(stop.wait())
        await asyncio.sleep(0)
        thread = threading.Thread(target=stop.set)
        thread.start()
        await asyncio.wait_for(waiting, PATIENCE)
        thread.join()
        return stop.is_set()

    assert asyncio.run(wait())


def test_all_loops_that_wait_are_woken() -> None:
    stop = Stop()
    waits = [threading.Thread(target=lambda: asyncio.run(stop.wait())) for _ in range(3)]
    for thread in waits:
        thread.start()
    stop.set()
    for thread in waits:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in waits)


def test_waiting_for_a_stop_that_is_set_returns_at_once() -> None:
    stop = Stop()
    stop.set()
    stop.set()
    asyncio.run(asyncio.wait_for(stop.wait(), PATIENCE))
