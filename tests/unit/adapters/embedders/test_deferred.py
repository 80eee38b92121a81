from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

from remembrancer.adapters.embedders.deferred import DeferredEmbedder
from remembrancer.errors import ModelUnavailable
from remembrancer.ports.embedder import Embedder
from remembrancer.testing.doubles import HashEmbedder


class Loader:
    """Counts how often it is asked, and remembers from which thread."""

    def __init__(self, *failures: Exception) -> None:
        self.loaded: list[Closing] = []
        self.threads: list[str] = []
        self._failures = list(failures)

    def __call__(self) -> Embedder:
        self.threads.append(threading.current_thread().name)
        if self._failures:
            raise self._failures.pop(0)
        self.loaded.append(Closing())
        return self.loaded[-1]


class Closing(HashEmbedder):
    closed = 0

    async def close(self) -> None:
        self.closed += 1


def deferred(loader: Loader) -> DeferredEmbedder:
    return DeferredEmbedder(model_id="hash-256", dim=256, reads=str.isascii, load=loader)


def test_nothing_is_loaded_to_tell_the_name_and_the_size() -> None:
    loader = Loader()
    embedder = deferred(loader)
    assert (embedder.model_id, embedder.dim, loader.threads) == ("hash-256", 256, [])


def test_it_embeds_as_the_model_it_loads() -> None:
    async def embed() -> tuple[bool, bool]:
        embedder, model = deferred(Loader()), HashEmbedder()
        documents = await embedder.embed_documents(["one", "two"])
        same = np.array_equal(documents.vectors, (await model.embed_documents(["one", "two"])).vectors)
        return same, np.array_equal(await embedder.embed_query("one"), await model.embed_query("one"))

    assert asyncio.run(embed()) == (True, True)


def test_many_calls_at_once_load_it_once() -> None:
    loader = Loader()

    async def embed() -> None:
        embedder = deferred(loader)
        await asyncio.gather(*(embedder.embed_query(f"text {n}") for n in range(20)))
        await asyncio.gather(*(embedder.embed_documents([f"text {n}"]) for n in range(20)))

    asyncio.run(embed())
    assert len(loader.threads) == 1


def test_it_is_loaded_off_the_event_loop() -> None:
    loader = Loader()
    asyncio.run(deferred(loader).embed_query("text"))
    assert loader.threads != [threading.current_thread().name]


def test_a_model_that_could_not_be_loaded_is_tried_again() -> None:
    loader = Loader(ModelUnavailable("no weights"))

    async def embed() -> None:
        embedder = deferred(loader)
        with pytest.raises(ModelUnavailable, match="no weights"):
            await embedder.embed_query("text")
        await embedder.embed_query("text")

    asyncio.run(embed())
    assert len(loader.loaded) == 1


def test_closing_closes_what_was_loaded() -> None:
    loader = Loader()

    async def embed() -> None:
        embedder = deferred(loader)
        await embedder.embed_query("text")
        await embedder.close()

    asyncio.run(embed())
    assert loader.loaded[0].closed == 1


def test_closing_loads_nothing() -> None:
    loader = Loader()
    asyncio.run(deferred(loader).close())
    assert loader.threads == []
