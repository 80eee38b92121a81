from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from remembrancer.engine.asked_once import asked_once
from remembrancer.errors import ModelUnavailable
from remembrancer.ports.embedder import EmbeddedQuestion, Embedder, Passage, token_embedder
from remembrancer.testing.doubles import FailingEmbedder, HashEmbedder, WordHashEmbedder


class Counting(HashEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def reads(self, text: str) -> bool:
        return text.isascii()

    def query_now(self, text: str) -> NDArray[np.float32]:
        self.asked.append(text)
        return super().query_now(text)

    async def close(self) -> None:
        self.asked.append("closed")


class CountingWords(WordHashEmbedder):
    """Counts its questions, and fails until it is made available."""

    def __init__(self, *, well: bool = True) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.well = well

    def question_now(self, text: str) -> EmbeddedQuestion:
        self.asked.append(text)
        if not self.well:
            raise ModelUnavailable("the model does not answer")
        return super().question_now(text)


def once_words(inner: Embedder) -> tuple[Embedder, Sequence[Awaitable[EmbeddedQuestion]]]:
    """It asked once, and three questions to it of which two are the same."""
    once = asked_once(inner)
    words = token_embedder(once)
    assert words is not None
    return once, [words.embed_question(text) for text in ("one", "two", "one")]


def test_each_question_is_asked_once() -> None:
    inner = Counting()

    async def ask() -> list[list[float]]:
        once = asked_once(inner)
        return [(await once.embed_query(text)).tolist() for text in ("one", "two", "one")]

    first, second, third = asyncio.run(ask())
    assert inner.asked == ["one", "two"]
    assert first == third != second


def test_one_that_is_down_is_asked_once_and_down_each_time() -> None:
    inner = CountingWords(well=False)

    async def ask() -> None:
        once, questions = once_words(inner)
        for question in (*questions, once.embed_query("one")):
            with pytest.raises(ModelUnavailable, match="the model does not answer"):
                await question

    asyncio.run(ask())
    assert inner.asked == ["one", "two"]


def test_a_question_and_its_words_are_one_answer() -> None:
    inner = CountingWords()

    async def ask() -> None:
        once, questions = once_words(inner)
        vector = await once.embed_query("one")
        answers = [await question for question in questions]
        assert answers[0] is answers[2]
        assert vector is answers[0].vector

    asyncio.run(ask())
    assert inner.asked == ["one", "two"]


@pytest.mark.parametrize("inner", [HashEmbedder(), FailingEmbedder(), WordHashEmbedder()])
def test_it_gives_vectors_of_words_where_the_embedder_does(inner: Embedder) -> None:
    assert (token_embedder(asked_once(inner)) is None) == (token_embedder(inner) is None)


def test_passages_and_documents_are_the_embedder_s_own() -> None:
    async def embed() -> None:
        inner = WordHashEmbedder()
        once = token_embedder(asked_once(inner))
        assert once is not None
        passages = [Passage("one", "Ana")]
        read, expected = await once.embed_passages(passages), await inner.embed_passages(passages)
        np.testing.assert_array_equal(read.token_embeddings[0], expected.token_embeddings[0])
        documents = await once.embed_documents(["one"])
        np.testing.assert_array_equal(documents.vectors, (await inner.embed_documents(["one"])).vectors)

    asyncio.run(embed())


def test_it_is_known_as_the_embedder_it_asks_and_leaves_it_open() -> None:
    inner = Counting()
    once = asked_once(inner)
    asyncio.run(once.close())
    assert (once.model_id, once.dim, once.reads("one"), once.reads("один")) == ("hash-256", 256, True, False)
    assert inner.asked == []
