import asyncio
import threading

import pytest

from remembrancer.ports.one_thread import driven, has_event_loop


async def _answer() -> int:
    return 42


def test_a_coroutine_that_waits_for_nothing_is_driven_to_its_result() -> None:
    assert driven(_answer()) == 42


def test_what_a_driven_coroutine_raises_is_raised() -> None:
    async def fail() -> None:
        raise ValueError("told")

    with pytest.raises(ValueError, match="told"):
        driven(fail())


def test_a_coroutine_that_waits_is_refused_and_closed() -> None:
    closed: list[bool] = []

    async def wait() -> None:
        try:
            await asyncio.sleep(0)
        finally:
            closed.append(True)

    with pytest.raises(RuntimeError, match="event loop"):
        driven(wait())
    assert closed == [True]


def test_a_thread_with_a_running_loop_is_told_from_one_without() -> None:
    async def here() -> tuple[bool, bool]:
        elsewhere: list[bool] = []
        thread = threading.Thread(target=lambda: elsewhere.append(has_event_loop()))
        thread.start()
        thread.join()
        return has_event_loop(), elsewhere[0]

    assert asyncio.run(here()) == (True, False)
