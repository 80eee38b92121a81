from __future__ import annotations

import asyncio
import threading

import numpy as np
import pytest

from remembrancer.adapters.deferred import DeferredEmbedder, DeferredTokenEmbedder
from remembrancer.errors import ModelUnavailable
from remembrancer.ports.embedder import Embedder, Passage, TokenEmbedder, arithmetic, load, token_embedder
from remembrancer.testing.doubles import HashEmbedder, WordHashEmbedder


class Loader:
    """Counts its calls, and records their threads."""

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
    arithmetic = "8-bit products: exact"

    async def close(self) -> None:
        self.closed += 1


def deferred(loader: Loader) -> DeferredEmbedder[Embedder]:
    return DeferredEmbedder(model_id="hash-256", dim=256, reads=str.isascii, load=loader)


def test_nothing_is_loaded_for_the_name_and_the_size() -> None:
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


def test_a_load_that_was_begun_is_the_one_that_is_used() -> None:
    loader = Loader()
    embedder = deferred(loader)
    embedder.begin()
    asyncio.run(load(embedder))
    assert (len(loader.loaded), loader.threads) == (1, ["load-model_0"])


def test_after_a_load_that_was_begun_and_failed_the_next_call_loads_again() -> None:
    async def embed() -> str:
        with pytest.raises(ModelUnavailable) as raised:
            await embedder.embed_query("one")
        await embedder.embed_query("one")
        return str(raised.value)

    loader = Loader(ModelUnavailable("no file"))
    embedder = deferred(loader)
    embedder.begin()
    assert asyncio.run(embed()) == "no file"
    assert (len(loader.loaded), len(loader.threads)) == (1, 2)


def test_it_can_be_loaded_before_it_is_used() -> None:
    loader = Loader()

    async def steps() -> None:
        embedder = deferred(loader)
        await load(embedder)
        assert len(loader.loaded) == 1
        await embedder.embed_query("one")

    asyncio.run(steps())
    assert len(loader.loaded) == 1


def test_how_it_is_computed_is_reported_once_it_is_loaded() -> None:
    embedder = deferred(Loader())
    before = arithmetic(embedder)
    asyncio.run(embedder.embed_query("text"))
    assert (before, arithmetic(embedder)) == ("", "8-bit products: exact")


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


def test_closing_closes_the_loaded_embedder() -> None:
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


def deferred_words(*failures: Exception) -> tuple[DeferredTokenEmbedder, list[TokenEmbedder]]:
    """A deferred embedder with token embeddings, and its loader."""
    loaded: list[TokenEmbedder] = []
    waiting = list(failures)

    def load() -> TokenEmbedder:
        if waiting:
            raise waiting.pop(0)
        loaded.append(WordHashEmbedder())
        return loaded[-1]

    return DeferredTokenEmbedder(model_id="hash-256", dim=256, reads=str.isascii, load=load), loaded


def test_that_it_gives_vectors_of_words_is_known_before_it_is_loaded() -> None:
    embedder, loaded = deferred_words()
    assert token_embedder(embedder) is embedder
    assert token_embedder(deferred(Loader())) is None
    assert loaded == []


def test_it_reads_passages_as_the_model_it_loads() -> None:
    async def embed() -> None:
        passages = [Passage("one two", "zero"), Passage("three")]
        actual = await deferred_words()[0].embed_passages(passages)
        expected = await WordHashEmbedder().embed_passages(passages)
        np.testing.assert_array_equal(actual.vectors, expected.vectors)
        for mine, theirs in zip(actual.token_embeddings, expected.token_embeddings, strict=True):
            np.testing.assert_array_equal(mine, theirs)

    asyncio.run(embed())


def test_it_reads_questions_as_the_model_it_loads() -> None:
    async def embed() -> None:
        actual = await deferred_words()[0].embed_question("One two")
        expected = await WordHashEmbedder().embed_question("One two")
        assert actual.spelled == expected.spelled == ("One", "two")
        np.testing.assert_array_equal(actual.vector, expected.vector)
        np.testing.assert_array_equal(actual.token_embeddings, expected.token_embeddings)

    asyncio.run(embed())


def test_questions_and_passages_at_once_load_it_once() -> None:
    embedder, loaded = deferred_words()

    async def embed() -> None:
        await asyncio.gather(*(embedder.embed_question(f"text {n}") for n in range(9)))
        await embedder.embed_passages([Passage("text")])

    asyncio.run(embed())
    assert len(loaded) == 1


def test_a_question_for_a_model_that_cannot_be_loaded_reports_it() -> None:
    embedder, _ = deferred_words(ModelUnavailable("no weights"), ModelUnavailable("no weights"))

    async def embed() -> None:
        with pytest.raises(ModelUnavailable, match="no weights"):
            await embedder.embed_question("text")
        with pytest.raises(ModelUnavailable, match="no weights"):
            await embedder.embed_passages([Passage("text")])

    asyncio.run(embed())
