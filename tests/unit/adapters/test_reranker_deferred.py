from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from remembrancer.adapters.deferred import DeferredReranker
from remembrancer.errors import ModelUnavailable
from remembrancer.ports.reranker import Reranker


class ByLength:
    """A reranker that scores longer texts higher."""

    closed = 0

    @property
    def model_id(self) -> str:
        return "by-length"

    async def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([1 - 1 / (1 + len(text)) for text in texts], np.float32)

    async def close(self) -> None:
        self.closed += 1


class Loader:
    """Counts its calls, and records their threads."""

    def __init__(self, *failures: Exception) -> None:
        self.loaded: list[ByLength] = []
        self.threads: list[str] = []
        self._failures = list(failures)

    def __call__(self) -> Reranker:
        self.threads.append(threading.current_thread().name)
        if self._failures:
            raise self._failures.pop(0)
        self.loaded.append(ByLength())
        return self.loaded[-1]


def deferred(loader: Loader) -> DeferredReranker:
    return DeferredReranker(model_id="by-length", load=loader)


def test_nothing_is_loaded_for_the_name() -> None:
    loader = Loader()
    assert (deferred(loader).model_id, loader.threads) == ("by-length", [])


def test_it_scores_as_the_model_it_loads() -> None:
    assert asyncio.run(deferred(Loader()).scores("question", ["", "a", "abc"])).tolist() == [0.0, 0.5, 0.75]


def test_many_calls_at_once_load_it_once() -> None:
    loader = Loader()

    async def score() -> None:
        reranker = deferred(loader)
        await asyncio.gather(*(reranker.scores("question", ["text"]) for _ in range(20)))

    asyncio.run(score())
    assert len(loader.threads) == 1


def test_it_is_loaded_off_the_event_loop() -> None:
    loader = Loader()
    asyncio.run(deferred(loader).scores("question", ["text"]))
    assert loader.threads != [threading.current_thread().name]


def test_a_model_that_could_not_be_loaded_is_tried_again() -> None:
    loader = Loader(ModelUnavailable("no folder"))

    async def score() -> None:
        reranker = deferred(loader)
        with pytest.raises(ModelUnavailable, match="no folder"):
            await reranker.scores("question", ["text"])
        await reranker.scores("question", ["text"])

    asyncio.run(score())
    assert len(loader.loaded) == 1


def test_closing_closes_the_loaded_reranker() -> None:
    loader = Loader()

    async def score() -> None:
        reranker = deferred(loader)
        await reranker.scores("question", ["text"])
        await reranker.close()

    asyncio.run(score())
    assert loader.loaded[0].closed == 1


def test_closing_loads_nothing() -> None:
    loader = Loader()
    asyncio.run(deferred(loader).close())
    assert loader.threads == []
