"""The base class of an index's suites: fixtures of an index over a store, and helpers that search it."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import AsyncGenerator, Callable, Collection, Generator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

import numpy as np
import pytest

from remembrancer.domain.candidates import Candidates
from remembrancer.domain.event import Role
from remembrancer.domain.query import Filter, LexicalQuery
from remembrancer.domain.scope import Reader
from remembrancer.language.lexical import stem
from remembrancer.ports.changes import ReadView
from remembrancer.ports.index import Bm25, ContextRules, Index, SearchRequest
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import EVERYTHING, MODEL, StoreSuite, assert_same_states, refs_of
from remembrancer.testing.doubles import READER
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

COSINE_TOLERANCE = 2e-3
"""The tolerance of similarities: an index may quantise its vectors to 8 bits."""
BM25_TOLERANCE = 1e-4

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class VectoredRequest:
    """A search request together with its vector."""

    request: SearchRequest
    vector: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class Finder:
    """A store to write to, and the index under test over that store."""

    store: Store
    index: Index
    at: datetime | None = None
    """The time as of which the records are read; None: now."""

    async def read(self, work: Callable[[ReadView], T]) -> T:
        """Run a function over the records of that time."""
        at = self.at
        return await self.store.read(work if at is None else lambda view: work(view.as_of(at)))

    async def search(self, reader: Reader, asked: VectoredRequest) -> Candidates:
        return await self.read(lambda view: self.index.search(view, reader, asked.request).candidates(asked.vector))

    async def participants(self, reader: Reader, where: Filter, *, model: str | None) -> frozenset[str]:
        return await self.read(lambda view: self.index.participants(view, reader, where, model=model))

    async def token_embeddings(
        self, reader: Reader, model: str, refs: Sequence[int]
    ) -> Mapping[int, NDArray[np.uint8]]:
        return await self.read(lambda view: self.index.token_embeddings(view, reader, model, refs))

    async def found(self, *words: str, reader: Reader = READER, where: Filter = EVERYTHING) -> set[str]:
        """The texts of the memories that contain one of the words."""
        ids = (await self.search(reader, request(*words, where=where))).ids
        return {memory.text for memory in (await self.read(lambda view: view.get(reader, ids))).values()}

    async def token_embeddings_of(
        self, cues: Mapping[UUID, int], *, reader: Reader = READER, model: str = MODEL
    ) -> dict[UUID, NDArray[np.uint8]]:
        """The token embeddings of cues given as memory → ordinal, by memory; cues without any are left out."""
        refs = await refs_of(self.store, cues, reader.scope)
        found = await self.token_embeddings(reader, model, list(refs.values()))
        return {one: found[ref] for one, ref in refs.items() if ref in found}

    @property
    def bm25(self) -> Bm25:
        """The BM25 constants that the index declares."""
        assert self.index.capabilities.bm25 is not None
        return self.index.capabilities.bm25

    @property
    def rules(self) -> ContextRules:
        """The context rules that the index declares."""
        assert self.index.capabilities.context is not None
        return self.index.capabilities.context

    def idf(self, cues: int, holding: int) -> float:
        """The idf of a term that `holding` of the `cues` visible cues contain, by the declared constants."""
        return math.log(1 + (cues + self.bm25.background - holding + 0.5) / (holding + 0.5))

    def weight(self, repeats: int, length: int, mean: float) -> float:
        """The BM25 weight of a term without its idf. `repeats`: its count in the cue; `length`: terms in the cue;
        `mean`: the mean length.
        """
        k1, b = self.bm25.k1, self.bm25.b
        return repeats * (k1 + 1) / (repeats + k1 * (1 - b + b * length / mean))


class IndexSuite(StoreSuite):
    """The base class of every suite of an index. A subclass says how a store and an index are made."""

    @abstractmethod
    def make_index(self) -> Index:
        """Return a new index, for a store that no other index has read."""
        ...

    @pytest.fixture
    def finder(self, request: pytest.FixtureRequest, store: Store) -> Generator[Finder, None, None]:
        """An index over a new store. A test that needs an undeclared capability is skipped."""
        index = self.make_index()
        test: Any = request.function  # pytest declares no type for it
        try:
            for name in getattr(test, "needs", ()):
                if not getattr(index.capabilities, name):
                    pytest.skip(f"the index does not declare {name}")
            yield Finder(store, index)
        finally:
            self.runner.run(index.close())

    @asynccontextmanager
    async def finder_over(self, store: Store) -> AsyncGenerator[Finder, None]:
        """A new index over a store, closed at the end of the block."""
        index = self.make_index()
        try:
            yield Finder(store, index)
        finally:
            await index.close()

    @asynccontextmanager
    async def another_finder(self) -> AsyncGenerator[Finder, None]:
        """A second index over a second store, closed at the end of the block."""
        async with self.another_store() as store, self.finder_over(store) as finder:
            yield finder


def needs(*capabilities: str) -> Callable[[T], T]:
    """Skip a test, or each test of a class, unless the index declares these fields of `Capabilities`."""

    def marked(thing: T) -> T:
        tests = vars(thing).items() if isinstance(thing, type) else [("test_", thing)]
        for name, test in list(tests):
            if name.startswith("test_"):
                test.needs = *getattr(test, "needs", ()), *capabilities
        return thing

    return marked


def request(
    *words: str,
    phrase: tuple[str, ...] = (),
    vector: NDArray[np.float32] | None = None,
    model: str | None = None,
    depth: int = 100,
    where: Filter = EVERYTHING,
    context_features: bool = False,
    speakers: Collection[str] = (),
    roles: Collection[Role] = (),
    any_at: tuple[tuple[datetime, datetime], ...] = (),
    preferences: bool = False,
) -> VectoredRequest:
    """A search request. Words are stemmed here; words or a phrase make the lexical search, a vector the dense one."""
    asked = SearchRequest(
        where=where,
        depth=depth,
        lexical=LexicalQuery(terms=tuple(stem(word) for word in words), phrase=phrase) if words or phrase else None,
        model=MODEL if vector is not None and model is None else model,
        context_features=context_features,
        speakers=frozenset(speakers),
        roles=frozenset(roles),
        any_at=any_at,
        preferences=preferences,
    )
    return VectoredRequest(asked, vector)


def by_id(found: Candidates, values: NDArray[np.generic]) -> dict[int, float]:
    """One column of an answer as plain numbers, by the number of the memory's id."""
    return {memory_id.int: float(value) for memory_id, value in zip(found.ids, values, strict=True)}


def assert_same_answer(actual: Candidates, expected: Candidates) -> None:
    """Assert that all fields are equal: scores within the tolerances, and ranks in the order of the expected scores."""
    assert actual.ids == expected.ids
    np.testing.assert_allclose(actual.similarity, expected.similarity, rtol=0, atol=COSINE_TOLERANCE)
    np.testing.assert_allclose(actual.bm25, expected.bm25, rtol=BM25_TOLERANCE)
    np.testing.assert_allclose(actual.coverage, expected.coverage, rtol=0, atol=BM25_TOLERANCE)
    if expected.ids:  # The bound is a divisor of scores, so it means nothing without a candidate.
        np.testing.assert_allclose(actual.bm25_bound, expected.bm25_bound, rtol=BM25_TOLERANCE)
    assert_same_states(actual.states, expected.states)
    assert (actual.visible, actual.without_vector) == (expected.visible, expected.without_vector)
    _assert_ranked(actual.dense_rank, expected.similarity, COSINE_TOLERANCE)
    _assert_ranked(actual.lexical_rank, expected.bm25, BM25_TOLERANCE * max(expected.bm25_bound, 1.0))
    if actual.idf is None or expected.idf is None:
        assert actual.idf is expected.idf
    else:
        np.testing.assert_allclose(actual.idf, expected.idf, rtol=BM25_TOLERANCE)
    if actual.preferences is None or expected.preferences is None:
        assert actual.preferences is expected.preferences
    else:
        np.testing.assert_array_equal(actual.preferences, expected.preferences, strict=True)
    assert_same_context(actual, expected)


def assert_same_context(actual: Candidates, expected: Candidates) -> None:
    """Assert that context features agree: speakers and flags where both answers name the same cue, ranks only for
    questions of one word.

    With more words, coverage is a sum whose rounding may change the order of near ties.
    """
    mine, theirs = actual.context_features, expected.context_features
    if mine is None or theirs is None:
        assert mine is theirs
        return
    np.testing.assert_allclose(mine.neighbour_coverage, theirs.neighbour_coverage, rtol=0, atol=BM25_TOLERANCE)
    np.testing.assert_allclose(mine.session, theirs.session, rtol=BM25_TOLERANCE)
    same = actual.cue == expected.cue
    np.testing.assert_array_equal(mine.speaker_match[same], theirs.speaker_match[same], strict=True)
    np.testing.assert_array_equal(mine.flags[same], theirs.flags[same], strict=True)
    if expected.idf is not None and len(expected.idf) == 1:
        np.testing.assert_array_equal(mine.rank, theirs.rank, strict=True)
    else:
        np.testing.assert_array_equal(mine.rank > 0, theirs.rank > 0)
        assert sorted(mine.rank[mine.rank > 0].tolist()) == list(range(1, np.count_nonzero(mine.rank) + 1))


def _assert_ranked(ranks: NDArray[np.int32], scores: NDArray[np.float32], tolerance: float) -> None:
    """Assert that ranks are 1, 2, 3 …, and that scores do not rise along them by more than the tolerance."""
    ranked = np.flatnonzero(ranks)
    order = ranked[np.argsort(ranks[ranked])]
    assert ranks[order].tolist() == list(range(1, len(order) + 1))
    assert not np.isnan(scores[order]).any()
    assert (np.diff(scores[order]) <= tolerance).all()
