"""Work in parallel with a read: in another thread, with its result and errors raised where it is awaited."""

from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest
from numpy.typing import NDArray

from remembrancer import Remembrancer
from remembrancer.engine import recall
from remembrancer.engine.context import Executor
from remembrancer.testing.doubles import NOW, HashEmbedder


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


class WatchedEmbedder(HashEmbedder):
    """Notes the threads in which questions are embedded."""

    def __init__(self) -> None:
        super().__init__()
        self.threads = list[str]()

    def query_now(self, text: str) -> NDArray[np.float32]:
        self.threads.append(threading.current_thread().name)
        return super().query_now(text)


def test_a_question_is_embedded_in_another_thread_in_a_large_workspace_only(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = WatchedEmbedder()
    with Remembrancer.open(":memory:", embedder=embedder, clock=lambda: NOW) as rem:
        rem.remember_many([f"kestrel {number} sat on a wire" for number in range(5)])
        rem.jobs.index_now()
        rem.recall("where did kestrel 3 sit?")
        monkeypatch.setattr(recall, "BESIDE_FROM", 0)
        rem.recall("where does kestrel 3 sit?")
    assert [name.startswith("remembrancer-beside") for name in embedder.threads] == [False, True]
