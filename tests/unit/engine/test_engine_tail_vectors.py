"""A tail that grows is embedded once a turn, however often it is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import numpy as np
from contexts import STORES, a_context, over

from remembrancer.domain.event import EventDraft
from remembrancer.domain.scope import Scope
from remembrancer.engine.context import TailVectors
from remembrancer.engine.index import index_batch
from remembrancer.engine.record import observe
from remembrancer.engine.segment import segment
from remembrancer.policies.segmentation.segmentation import Segmentation
from remembrancer.policies.segmentation.topic_shift import TopicShift
from remembrancer.ports.embedder import Embedded
from remembrancer.ports.store import Store
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import NOW, WordHashEmbedder

SCOPE = Scope(workspace="acme", agent="ana", session="monday")
EAGER = replace(DEFAULT, segmentation=Segmentation(segmenter=TopicShift(), least=1, idle_minutes=60))


class _Counting(WordHashEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        self.texts += texts
        return await super().embed_documents(texts)


def vector(of: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return np.array([of], dtype=np.float32)


def test_a_turn_of_a_growing_tail_is_embedded_once() -> None:
    async def steps(store: Store) -> list[str]:
        embedder = _Counting()
        ctx = a_context(store, EAGER, embedder=embedder)
        for number in range(5):
            text = f"the backup of the checkout database takes hour {number}"
            await observe(ctx, SCOPE, [EventDraft(text=text, occurred_at=NOW + timedelta(minutes=number))])
            await segment(ctx, SCOPE)
        return embedder.texts

    embedded = over(STORES["sqlite"], steps)
    assert sorted(embedded) == [f"the backup of the checkout database takes hour {number}" for number in range(5)]


def test_of_a_long_turn_its_first_and_last_characters_are_embedded() -> None:
    async def steps(store: Store) -> list[str]:
        embedder = _Counting()
        ctx = a_context(store, EAGER, embedder=embedder)
        texts = ["a" * 400, "b" * 300 + "c" * 300]
        await observe(ctx, SCOPE, [EventDraft(text=text, occurred_at=NOW) for text in texts])
        await segment(ctx, SCOPE)
        return embedder.texts

    assert over(STORES["reference"], steps) == ["a" * 400, "b" * 200 + " " + "c" * 200]


def test_a_turn_that_was_indexed_in_context_is_not_embedded_again() -> None:
    async def steps(store: Store) -> list[str]:
        embedder = _Counting()
        ctx = a_context(store, EAGER, embedder=embedder)
        texts = ["the backup takes an hour", "b" * 300 + "c" * 300]
        await observe(ctx, SCOPE, [EventDraft(text=text, actor="Ana", occurred_at=NOW) for text in texts])
        await index_batch(ctx, SCOPE)
        embedder.texts.clear()
        await segment(ctx, SCOPE)
        return embedder.texts

    assert over(STORES["sqlite"], steps) == ["b" * 200 + " " + "c" * 200]


def test_the_least_recently_read_vectors_are_dropped() -> None:
    one, two, three = (UUID(int=number) for number in (1, 2, 3))
    vectors = TailVectors(most=2)
    vectors.keep("acme", [(one, "first", vector(1)), (two, "second", vector(2))])
    vectors.known("acme", {one: "first"})
    vectors.keep("acme", [(three, "third", vector(3))])
    assert set(vectors.known("acme", {one: "first", two: "second", three: "third"})) == {one, three}


def test_a_vector_is_not_known_for_another_text() -> None:
    vectors = TailVectors()
    vectors.keep("acme", [(UUID(int=1), "first", vector(1))])
    assert vectors.known("acme", {UUID(int=1): "changed"}) == {}


def test_a_turn_has_not_the_vector_of_another_workspace_s_turn_with_its_id() -> None:
    same = UUID(int=1)
    vectors = TailVectors()
    vectors.keep("acme", [(same, "first", vector(1))])
    vectors.keep("rival", [(same, "first", vector(2))])
    vectors.forget("rival", [same])
    assert vectors.known("rival", {same: "first"}) == {}
    assert vectors.known("acme", {same: "first"})[same].tolist() == vector(1).tolist()
