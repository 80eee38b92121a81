"""The base class of all suites: its fixtures for a store, and helpers that fill and read the store."""

from __future__ import annotations

import asyncio
import inspect
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import fields, replace
from datetime import datetime, timedelta
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeVar
from uuid import UUID

import numpy as np
import pytest

from remembrancer.domain.candidates import States
from remembrancer.domain.memory import Memory, MemoryWrite
from remembrancer.domain.query import Filter, LexicalQuery
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.stream import Tail
from remembrancer.domain.strength import Exposure
from remembrancer.errors import RemembrancerError
from remembrancer.language.lexical import stem
from remembrancer.ports.embeddings import CueVector
from remembrancer.ports.index import SearchRequest
from remembrancer.ports.store import Store
from remembrancer.ports.transfer import ExportRow
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory, indexed
from remembrancer.testing.simple_index import SimpleIndex

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")

MODEL: Final = "model-a"
EVERYTHING: Final = Filter(current_at=NOW + timedelta(days=1))
"""Selects the memories that are current a day after `NOW`."""


class StoreSuite(ABC):
    """The base class of every suite. A subclass says how a store is made.

    Tests are `async def`; each runs in the event loop in which its store was made, without a pytest plugin. A test is
    skipped if it needs a method of a role that the store lacks.
    """

    runner: asyncio.Runner
    _kind: type

    def __init_subclass__(cls) -> None:
        """Turn the async tests of the class into functions that pytest can run.

        Raises TypeError if two suites have a test, fixture or helper of the same name: one would hide the other.
        """
        super().__init_subclass__()
        for name, test in list(vars(cls).items()):
            if name.startswith("test_") and inspect.iscoroutinefunction(test):
                setattr(cls, name, _awaited(test))
        for name in {name for base in cls.__mro__ for name in vars(base) if not name.startswith(("__", "_abc"))}:
            first, *others = (base for base in cls.__mro__ if name in vars(base))
            if not all(issubclass(first, other) for other in others):
                raise TypeError(f"{name} is in {first.__name__} and in {others[0].__name__}: one would hide the other")

    @abstractmethod
    async def make_store(self) -> Store:
        """Return a new, empty, open store that shares no data with other stores."""
        ...

    def run(self, steps: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the test's event loop. Skip the test if it needs a method of a role that the store
        lacks.
        """
        try:
            return self.runner.run(steps)
        except AttributeError as error:
            if type(error.obj) is self._kind and error.name in dir(Store):
                pytest.skip(f"the store has no {error.name}")
            raise

    @pytest.fixture
    def store(self) -> Generator[Store, None, None]:
        """An empty store for the test, closed afterwards."""
        with asyncio.Runner() as self.runner:
            store = self.runner.run(self.make_store())
            self._kind = type(store)
            yield store
            self.runner.run(store.close())

    @pytest.fixture
    def remembered(self, store: Store) -> Store:
        """The store, with the one memory `a_memory()`."""
        self.run(remember(store, a_memory()))
        return store

    @asynccontextmanager
    async def another_store(self) -> AsyncGenerator[Store, None]:
        """A second store, closed at the end of the block."""
        store = await self.make_store()
        try:
            yield store
        finally:
            await store.close()

    async def exported_by(self, *steps: Callable[[Store], Awaitable[object]]) -> list[ExportRow]:
        """The export of a second store after these steps."""
        async with self.another_store() as store:
            for step in steps:
                await step(store)
            return await exported(store)


def holding(step: Callable[[Store], Coroutine[Any, Any, object]]) -> Any:
    """Make a fixture of a suite: the test's store after `step`."""

    @pytest.fixture
    def prepared(self: StoreSuite, store: Store) -> Store:
        self.run(step(store))
        return store

    return prepared


def _awaited(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @wraps(test)
    def run(self: StoreSuite, **fixtures: Any) -> None:
        self.run(test(self, **fixtures))

    return run


async def remember(store: Store, *given: Memory | MemoryWrite) -> None:
    """Insert memories. A memory given without cues gets one cue with its text."""
    for one in given:
        write = indexed(one) if isinstance(one, Memory) else one
        await store.insert(write.memory.scope, write)


async def stored(store: Store, given: Memory | MemoryWrite) -> Memory:
    """Insert a memory as `remember` does, and return it."""
    await remember(store, given)
    return given if isinstance(given, Memory) else given.memory


@asynccontextmanager
async def unchanged(store: Store) -> AsyncGenerator[None, None]:
    """Check that the block leaves every exported row unchanged."""
    before = await exported(store)
    yield
    assert await exported(store) == before


@asynccontextmanager
async def refused(
    store: Store, error: type[RemembrancerError], *, match: str | None = None
) -> AsyncGenerator[None, None]:
    """Check that the block raises the error and leaves every exported row unchanged."""
    async with unchanged(store):
        with pytest.raises(error, match=match):
            yield


async def give_vectors(
    store: Store, vectors: Mapping[str, NDArray[np.float32]], *, scope: Scope = SCOPE, model: str = MODEL
) -> int:
    """Store vectors for the pending cues with these texts. Returns how many were new."""
    pending = await store.pending(scope, model, limit=10_000, now=NOW + timedelta(days=365))
    return await store.put_vectors(
        scope, model, [CueVector(cue.ref, vectors[cue.text], False) for cue in pending if cue.text in vectors], at=NOW
    )


async def found(store: Store, *words: str, reader: Reader = READER, where: Filter = EVERYTHING) -> set[str]:
    """The texts of the memories that the resident index finds by any of the words."""
    terms = LexicalQuery(terms=tuple(stem(word) for word in words))
    request = SearchRequest(where=where, depth=100, lexical=terms)
    ids = await store.read(lambda view: SimpleIndex().search(view, reader, request).candidates().ids)
    return {memory.text for memory in (await store.get(reader, ids)).values()}


async def exported(store: Store, scope: Scope = SCOPE) -> list[ExportRow]:
    return [row async for row in store.export(scope)]


async def the_tail(store: Store, stream: Scope = SCOPE) -> Tail:
    tail = await store.tail(stream)
    assert tail is not None
    return tail


def spread(memories: Iterable[Memory], *, step: timedelta = timedelta(minutes=1)) -> list[Memory]:
    """Give the memories times one step apart, the first one the oldest."""
    return [moved(memory, NOW + position * step) for position, memory in enumerate(memories)]


def moved(memory: Memory, at: datetime) -> Memory:
    return replace(memory, occurred_from=at, occurred_to=at)


def assert_same_states(actual: States, expected: States) -> None:
    """Assert that all arrays have equal values and types."""
    pairs = [
        (getattr(actual, field.name), getattr(expected, field.name))
        for field in fields(States)
        if field.name not in ("exposed", "exposed_at")
    ]
    pairs += [(actual.exposed[kind], expected.exposed[kind]) for kind in Exposure]
    pairs += [(actual.exposed_at[kind], expected.exposed_at[kind]) for kind in Exposure]
    for mine, theirs in pairs:
        np.testing.assert_array_equal(mine, theirs, strict=True)


async def refs_of(store: Store, cues: Mapping[UUID, int], scope: Scope = SCOPE) -> dict[UUID, int]:
    """The cue numbers (`ref`) of cues given as memory → ordinal, by memory; cues that do not exist are left out."""
    # No cue has a vector of this model, so every cue of a memory is pending.
    pending = {one: await store.pending_of(scope, "nobody's", one) for one in cues}
    return {one: pending[one][ordinal].ref for one, ordinal in cues.items() if ordinal < len(pending[one])}


async def stored_token_embeddings(
    store: Store, cues: Mapping[UUID, int], *, scope: Scope = SCOPE, model: str = MODEL
) -> dict[UUID, NDArray[np.uint8]]:
    """The stored token embeddings of cues given as memory → ordinal, by memory; cues without any are left out."""
    refs = await refs_of(store, cues, scope)
    found = await store.read(lambda view: view.token_embeddings(scope, model, list(refs.values())))
    return {one: found[ref] for one, ref in refs.items() if ref in found}
