"""What every part of the suite stands on: a fresh store for each test, and short ways to fill and ask it."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Generator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import fields, replace
from datetime import datetime, timedelta
from functools import wraps
from typing import TYPE_CHECKING, Final, TypeVar
from uuid import UUID

import numpy as np
import pytest

from remembrancer.domain.candidates import Candidates, States
from remembrancer.domain.event import Role
from remembrancer.domain.memory import Memory, MemoryWrite
from remembrancer.domain.query import Filter, LexicalQuery
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.strength import Exposure
from remembrancer.language.lexical import stem
from remembrancer.ports.embeddings import CueVector
from remembrancer.ports.store import SearchRequest, Store
from remembrancer.ports.transfer import ExportRow
from remembrancer.testing.doubles import NOW, READER, SCOPE

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODEL: Final = "model-a"
EVERYTHING: Final = Filter(current_at=NOW + timedelta(days=1))
"""All that is current a day after the rows of a test were made."""

COSINE_TOLERANCE: Final = 2e-3
"""An embedded index may keep its vectors in eight bits."""
BM25_TOLERANCE: Final = 1e-4

S = TypeVar("S", bound="StoreSuite")


class StoreSuite(ABC):
    """The hook of the suite, and the fixture made from it."""

    runner: asyncio.Runner

    @abstractmethod
    async def make_store(self) -> Store:
        """A new, empty, open store that shares nothing with any made before."""
        ...

    @pytest.fixture
    def store(self) -> Generator[Store, None, None]:
        """One store for the test, closed after it, in a loop of its own."""
        with asyncio.Runner() as self.runner:
            store = self.runner.run(self.make_store())
            yield store
            self.runner.run(store.close())

    @asynccontextmanager
    async def another_store(self) -> AsyncGenerator[Store, None]:
        """A second store, closed at the end of the block."""
        store = await self.make_store()
        try:
            yield store
        finally:
            await store.close()


def awaited(test: Callable[[S, Store], Awaitable[None]]) -> Callable[[S, Store], None]:
    """Lets pytest run an async test without a plugin, in the loop its store was made in."""

    @wraps(test)
    def run(self: S, store: Store) -> None:
        async def whole() -> None:
            await test(self, store)

        self.runner.run(whole())

    return run


async def remember(store: Store, *writes: MemoryWrite) -> None:
    for write in writes:
        await store.insert(write.memory.scope, write)


async def give_vectors(
    store: Store, vectors: Mapping[str, NDArray[np.float32]], *, scope: Scope = SCOPE, model: str = MODEL
) -> int:
    """Store the vectors of the cues with these texts; how many were new."""
    pending = await store.pending(scope, model, limit=10_000, now=NOW + timedelta(days=365))
    return await store.put_vectors(
        scope,
        model,
        [CueVector(cue.ref, vectors[cue.text], False) for cue in pending if cue.text in vectors],
        at=NOW,
    )


def request(
    *words: str,
    phrase: tuple[str, ...] = (),
    vector: NDArray[np.float32] | None = None,
    model: str | None = None,
    depth: int = 100,
    where: Filter = EVERYTHING,
    surroundings: bool = False,
    speakers: Collection[str] = (),
    roles: Collection[Role] = (),
    any_at: tuple[tuple[datetime, datetime], ...] = (),
) -> SearchRequest:
    """A question: words (stemmed here) or a phrase for the lexical leg, a vector for the dense one."""
    return SearchRequest(
        where=where,
        depth=depth,
        lexical=LexicalQuery(terms=tuple(stem(word) for word in words), phrase=phrase) if words or phrase else None,
        vector=vector,
        model=MODEL if vector is not None and model is None else model,
        surroundings=surroundings,
        speakers=frozenset(speakers),
        roles=frozenset(roles),
        any_at=any_at,
    )


async def found(store: Store, *words: str, reader: Reader = READER, where: Filter = EVERYTHING) -> set[str]:
    """The texts of the memories that hold one of the words."""
    candidates = await store.search(reader, request(*words, where=where))
    memories = await store.get(reader, candidates.ids)
    return {memory.text for memory in memories.values()}


async def exported(store: Store, scope: Scope = SCOPE) -> list[ExportRow]:
    return [row async for row in store.export(scope)]


def spread(memories: Iterable[Memory], *, step: timedelta = timedelta(minutes=1)) -> list[Memory]:
    """The memories one step apart in time, the first the oldest."""
    return [moved(memory, NOW + position * step) for position, memory in enumerate(memories)]


def moved(memory: Memory, at: datetime) -> Memory:
    return replace(memory, occurred_from=at, occurred_to=at)


def column(found: Candidates, values: NDArray[np.generic]) -> dict[str, float]:
    """One column of an answer by memory id, as plain numbers."""
    return {str(memory_id): float(value) for memory_id, value in zip(found.ids, values, strict=True)}


def assert_same_answer(actual: Candidates, expected: Candidates) -> None:
    """Field by field; scores within the tolerances, ranks such that they follow the expected scores."""
    assert actual.ids == expected.ids
    np.testing.assert_allclose(actual.similarity, expected.similarity, rtol=0, atol=COSINE_TOLERANCE)
    np.testing.assert_allclose(actual.bm25, expected.bm25, rtol=BM25_TOLERANCE)
    np.testing.assert_allclose(actual.coverage, expected.coverage, rtol=0, atol=BM25_TOLERANCE)
    if expected.ids:  # the bound is for dividing scores by: without a candidate it says nothing
        np.testing.assert_allclose(actual.bm25_bound, expected.bm25_bound, rtol=BM25_TOLERANCE)
    assert_same_states(actual.states, expected.states)
    assert (actual.visible, actual.without_vector) == (expected.visible, expected.without_vector)
    _assert_ranked(actual.dense_rank, expected.similarity, COSINE_TOLERANCE)
    _assert_ranked(actual.lexical_rank, expected.bm25, BM25_TOLERANCE * max(expected.bm25_bound, 1.0))
    assert_same_surroundings(actual, expected)


def assert_same_surroundings(actual: Candidates, expected: Candidates) -> None:
    """Who speaks and what is marked, where both name the same cue; ranks exactly where a question has one word.

    What stands in a turn and around it adds up to such sums as rounding may tell apart, of two words and more.
    """
    mine, theirs = actual.surroundings, expected.surroundings
    if mine is None or theirs is None:
        assert mine is theirs
        return
    np.testing.assert_allclose(mine.idf, theirs.idf, rtol=BM25_TOLERANCE)
    np.testing.assert_allclose(mine.nearby, theirs.nearby, rtol=0, atol=BM25_TOLERANCE)
    np.testing.assert_allclose(mine.session, theirs.session, rtol=BM25_TOLERANCE)
    same = actual.cue == expected.cue
    np.testing.assert_array_equal(mine.spoken[same], theirs.spoken[same], strict=True)
    np.testing.assert_array_equal(mine.marks[same], theirs.marks[same], strict=True)
    if len(theirs.idf) == 1:
        np.testing.assert_array_equal(mine.rank, theirs.rank, strict=True)
    else:
        np.testing.assert_array_equal(mine.rank > 0, theirs.rank > 0)
        assert sorted(mine.rank[mine.rank > 0].tolist()) == list(range(1, np.count_nonzero(mine.rank) + 1))


def assert_same_states(actual: States, expected: States) -> None:
    """Every array the same, and of the same type."""
    pairs = [
        (getattr(actual, field.name), getattr(expected, field.name))
        for field in fields(States)
        if field.name not in ("exposed", "exposed_at")
    ]
    pairs += [(actual.exposed[kind], expected.exposed[kind]) for kind in Exposure]
    pairs += [(actual.exposed_at[kind], expected.exposed_at[kind]) for kind in Exposure]
    for mine, theirs in pairs:
        np.testing.assert_array_equal(mine, theirs, strict=True)


def _assert_ranked(ranks: NDArray[np.int32], scores: NDArray[np.float32], tolerance: float) -> None:
    """Ranks run 1, 2, 3 … and scores fall along them, but for the tolerance."""
    ranked = np.flatnonzero(ranks)
    order = ranked[np.argsort(ranks[ranked])]
    assert ranks[order].tolist() == list(range(1, len(order) + 1))
    assert not np.isnan(scores[order]).any()
    assert (np.diff(scores[order]) <= tolerance).all()


async def refs_of(store: Store, cues: Mapping[UUID, int], scope: Scope = SCOPE) -> dict[UUID, int]:
    """What the words of texts (memory → ordinal) are asked by; texts that are not there are left out."""
    # A model that nobody has: every cue of a memory awaits its vector of that.
    pending = {one: await store.pending_of(scope, "nobody's", one) for one in cues}
    return {one: pending[one][ordinal].ref for one, ordinal in cues.items() if ordinal < len(pending[one])}


async def stored_words(
    store: Store, cues: Mapping[UUID, int], *, reader: Reader = READER, model: str = MODEL
) -> dict[UUID, NDArray[np.uint8]]:
    """The words of texts (memory → ordinal), where there are any."""
    refs = await refs_of(store, cues, reader.scope)
    found = await store.words(reader, model, list(refs.values()))
    return {one: found[ref] for one, ref in refs.items() if ref in found}
