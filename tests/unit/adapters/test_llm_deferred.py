from __future__ import annotations

import asyncio
import threading

import pytest

from remembrancer.adapters.deferred import DeferredLanguageModel
from remembrancer.errors import ModelUnavailable
from remembrancer.ports.language_model import LanguageModel, Task
from remembrancer.testing.scripted_model import ScriptedModel

TASK = Task(purpose="title", instructions="Name it.", material="", schema={}, check=lambda _: "")


class Loader:
    """Counts its calls, and records their threads."""

    def __init__(self, *failures: Exception) -> None:
        self.loaded: list[ScriptedModel] = []
        self.threads: list[str] = []
        self._failures = list(failures)

    def __call__(self) -> LanguageModel:
        self.threads.append(threading.current_thread().name)
        if self._failures:
            raise self._failures.pop(0)
        self.loaded.append(ScriptedModel(lambda _: {"title": "Deploy"}))
        return self.loaded[-1]


def deferred(loader: Loader) -> DeferredLanguageModel:
    return DeferredLanguageModel(model_id="openai:m", load=loader)


def test_nothing_is_loaded_for_the_name() -> None:
    loader = Loader()
    assert (deferred(loader).model_id, loader.threads) == ("openai:m", [])


def test_it_answers_as_the_model_it_loads() -> None:
    assert asyncio.run(deferred(Loader()).answer(TASK)).value == {"title": "Deploy"}


def test_many_tasks_at_once_load_it_once_and_off_the_event_loop() -> None:
    loader = Loader()

    async def ask() -> None:
        model = deferred(loader)
        await asyncio.gather(*(model.answer(TASK) for _ in range(20)))

    asyncio.run(ask())
    assert len(loader.threads) == 1
    assert loader.threads != [threading.current_thread().name]


def test_a_model_that_could_not_be_loaded_is_tried_again() -> None:
    loader = Loader(ModelUnavailable("no package"))

    async def ask() -> None:
        model = deferred(loader)
        with pytest.raises(ModelUnavailable, match="no package"):
            await model.answer(TASK)
        await model.answer(TASK)

    asyncio.run(ask())
    assert len(loader.loaded) == 1


def test_closing_closes_the_loaded_model() -> None:
    loader = Loader()

    async def ask() -> None:
        model = deferred(loader)
        await model.answer(TASK)
        await model.close()

    asyncio.run(ask())
    assert loader.loaded[0].closed == 1


def test_closing_loads_nothing() -> None:
    loader = Loader()
    asyncio.run(deferred(loader).close())
    assert loader.threads == []
