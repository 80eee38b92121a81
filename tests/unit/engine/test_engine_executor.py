"""Work in parallel with a read: in another thread, with its result and errors raised where it is awaited."""

from __future__ import annotations

import asyncio
import threading

import pytest

from remembrancer.engine.context import Executor


def test_work_is_done_in_another_thread() -> None:
    assert Executor().begin(threading.get_ident)() != threading.get_ident()


def test_work_has_begun_before_the_caller_continues() -> None:
    begun, on = threading.Event(), threading.Event()

    def work() -> bool:
        begun.set()
        return on.wait(20)

    result = Executor().begin(work)
    assert begun.wait(20)
    on.set()
    assert result()


def test_an_exception_of_the_work_is_raised_where_it_is_awaited() -> None:
    def failing() -> int:
        raise ValueError("no such sum")

    result = Executor().begin(failing)
    with pytest.raises(ValueError, match="no such sum"):
        result()


def test_closing_waits_for_work_and_may_be_done_twice() -> None:
    async def steps() -> int:
        executor = Executor()
        result = executor.begin(lambda: 42)
        await executor.close()
        await executor.close()
        return result()

    assert asyncio.run(steps()) == 42
