"""Jobs whose store, model, embedder or commit fails at any step, or that are killed there: done once, and to the end.

Each job is struck at step n = 1, 2, 3 … until a run comes through untouched. After each blow it is run again until
nothing is left, and then the store holds what it holds after a run that nothing happened to.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import pytest
from job_worlds import WORLDS, State, World, events_there, faults_of, run_out, state

from remembrancer.adapters.reference import ReferenceStore
from remembrancer.errors import Conflict, ModelUnavailable, StoreUnavailable
from remembrancer.jobs.maintenance import run_job
from remembrancer.ports.store import Store
from remembrancer.testing.doubles import FixedClock
from remembrancer.testing.faults import Faults, every_fault

ASKING = [name for name, world in WORLDS.items() if world.answers is not None]
EMBEDDING = ["index", "index with words", "segment", "segment with a model", "facts"]
COMMITTING = [name for name, world in WORLDS.items() if world.job.value not in {"index", "retain", "health"}]


class _AtCommits:
    """A store whose commits alone may fail."""

    def __init__(self, store: Store, failing: Store) -> None:
        self._store = store
        self._failing = failing

    def __getattr__(self, name: str) -> Any:
        return getattr(self._failing if name == "commit" else self._store, name)


@dataclass(frozen=True, kw_only=True)
class Struck:
    """What was there after a run that a fault may have struck, and runs until nothing was left."""

    rows: State
    faults: list[str]
    counts: Counter[str]
    """Of the events."""


Strike = Callable[[World, Store, FixedClock, Faults], Any]


def at_the_store(world: World, store: Store, clock: FixedClock, faults: Faults) -> Any:
    return world.sweeper(faults.around(store), clock, llm=world.model, embedder=world.embedder)


def at_a_commit(world: World, store: Store, clock: FixedClock, faults: Faults) -> Any:
    failing = cast("Store", _AtCommits(store, faults.around(store)))
    return world.sweeper(failing, clock, llm=world.model, embedder=world.embedder)


def at_the_model(world: World, store: Store, clock: FixedClock, faults: Faults) -> Any:
    model = world.model
    assert model is not None
    return world.sweeper(store, clock, llm=faults.around(model), embedder=world.embedder)


def at_the_embedder(world: World, store: Store, clock: FixedClock, faults: Faults) -> Any:
    assert world.embedder is not None
    return world.sweeper(store, clock, llm=world.model, embedder=faults.around(world.embedder))


async def _struck(world: World, faults: Faults, strike: Strike) -> Struck:
    store = ReferenceStore()
    await world.fill(store)
    acknowledged = await events_there(store)
    clock = FixedClock(world.now)
    with suppress(StoreUnavailable):
        await run_job(strike(world, store, clock, faults), world.job)
    left = await faults_of(store, world, acknowledged)
    sound = world.sweeper(store, clock, llm=world.model, embedder=world.embedder)
    await run_out(sound, world.job, clock)
    left += await faults_of(store, world, acknowledged)
    return Struck(rows=await state(store), faults=left, counts=acknowledged)


@cache
def untouched(name: str) -> State:
    return asyncio.run(_struck(WORLDS[name], Faults(10**9), at_the_store)).rows


def strike_everywhere(name: str, strike: Strike, error: Callable[[], Exception]) -> int:
    """How many steps there were to strike at."""
    expected = untouched(name)
    for faults in every_fault(error):
        struck = asyncio.run(_struck(WORLDS[name], faults, strike))
        assert (struck.faults, struck.rows) == ([], expected), f"step {faults.at}"
    return faults.at - 1  # the last was not struck


@pytest.mark.parametrize("name", WORLDS)
def test_a_job_whose_store_fails_anywhere_is_done_once_and_to_the_end(name: str) -> None:
    steps = strike_everywhere(name, at_the_store, lambda: StoreUnavailable("injected"))
    assert steps >= 3


@pytest.mark.parametrize("name", COMMITTING)
def test_a_job_that_another_was_faster_with_is_done_once_and_to_the_end(name: str) -> None:
    steps = strike_everywhere(name, at_a_commit, lambda: Conflict("injected"))
    assert steps >= 2


@pytest.mark.parametrize("name", ASKING)
def test_a_job_whose_model_fails_anywhere_is_done_once_and_to_the_end(name: str) -> None:
    steps = strike_everywhere(name, at_the_model, lambda: ModelUnavailable("injected"))
    assert steps >= 2


@pytest.mark.parametrize("name", EMBEDDING)
def test_a_job_whose_embedder_fails_anywhere_is_done_once_and_to_the_end(name: str) -> None:
    steps = strike_everywhere(name, at_the_embedder, lambda: ModelUnavailable("injected"))
    assert steps >= 1
