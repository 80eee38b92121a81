"""Jobs whose store, model, embedder or commit fails at any step, or that are killed there, are completed exactly once.

Each job fails at step n = 1, 2, 3 … until a run has no failure. After each failure it is run again until no work is
left; then the store must equal that of a run without a failure.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import killed_jobs
import pytest
from job_worlds import (
    WORLDS,
    State,
    World,
    done_in,
    done_on,
    events_there,
    faults_of,
    filled,
    filled_in,
    parted,
    run_out,
    state,
)
from killed_processes import KILLED
from postgres_server import Schemas

from remembrancer.adapters.reference import ReferenceStore
from remembrancer.errors import Conflict, ModelUnavailable, StoreUnavailable
from remembrancer.jobs.maintenance import run_job
from remembrancer.jobs.sweeps import Sweeper
from remembrancer.ports.store import Store
from remembrancer.testing.doubles import FixedClock
from remembrancer.testing.faults import Faults, every_fault

IN_ANY_ORDER = [name for name in WORLDS if name not in {"index with edges", "facts"}]
"""Worlds where the order in which pieces of work are done makes no difference: one that failed is done later."""
APART = [name for name in WORLDS if name != "facts of each episode"]
"""That world is another of the same job, for where the order is not always the same."""
ASKING = [name for name in IN_ANY_ORDER if WORLDS[name].answers is not None]
EMBEDDING = ["index", "segment", "segment with a model", "facts of each episode"]
COMMITTING = [name for name in IN_ANY_ORDER if WORLDS[name].job.value not in {"index", "retain", "health"}]


@dataclass(frozen=True, kw_only=True)
class Struck:
    """The contents of a store after a run that may have failed, and after further runs until no work was left."""

    rows: State
    faults: list[str]


Strike = Callable[[World, Store, FixedClock, Faults], Sweeper]


def at_the_store(world: World, store: Store, clock: FixedClock, faults: Faults) -> Sweeper:
    return world.sweeper(faults.around(store), clock, llm=world.model, embedder=world.embedder)


def at_a_commit(world: World, store: Store, clock: FixedClock, faults: Faults) -> Sweeper:
    failing = parted(store, faults.around(store), {"commit"})
    return world.sweeper(failing, clock, llm=world.model, embedder=world.embedder)


def at_the_model(world: World, store: Store, clock: FixedClock, faults: Faults) -> Sweeper:
    model = world.model
    assert model is not None
    return world.sweeper(store, clock, llm=faults.around(model), embedder=world.embedder)


def at_the_embedder(world: World, store: Store, clock: FixedClock, faults: Faults) -> Sweeper:
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
    return Struck(rows=await state(store), faults=left)


@cache
def untouched(name: str) -> State:
    return asyncio.run(_struck(WORLDS[name], Faults(10**9), at_the_store)).rows


def strike_everywhere(name: str, strike: Strike, error: Callable[[], Exception]) -> int:
    """Let the job fail at each step in turn. Returns the number of steps."""
    expected = untouched(name)
    steps = 0
    for faults in every_fault(error):
        struck = asyncio.run(_struck(WORLDS[name], faults, strike))
        assert (struck.faults, struck.rows) == ([], expected), f"step {faults.at}"
        steps += faults.struck
    return steps


@pytest.mark.parametrize("name", APART)
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


# ── killed ───────────────────────────────────────────────────────────────────────────────────────────────────────────

RANDOM_MOMENTS = 3
"""Statements of each job's run that its writing connection runs, drawn with a fixed seed, before which it is killed."""


@dataclass(frozen=True)
class Mortals:
    """Processes that run a job and are killed at a step."""

    process: subprocess.Popen[str]

    def run(self, name: str, path: Path, *, step: str, at: int, db: str = "") -> str:
        """The number of times the step was reached, or KILLED."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        order = {"world": name, "path": str(path), "step": step, "at": at, "db": db}
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


@pytest.fixture(scope="module")
def mortals() -> Iterator[Mortals]:
    command = [sys.executable, str(Path(killed_jobs.__file__))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Mortals(process)
        process.communicate()


@dataclass(frozen=True)
class Grave:
    """A file filled for a job, to be copied, and its contents after a run without a failure."""

    name: str
    world: World
    content: bytes
    acknowledged: Counter[str]
    expected: State

    def killed(self, mortals: Mortals, path: Path, *, step: str, at: int) -> bool:
        """Whether a process was killed at that step. Checks that the job is then completed as without a kill."""
        path.write_bytes(self.content)
        outcome = mortals.run(self.name, path, step=step, at=at)
        assert outcome == KILLED or outcome.isdecimal(), outcome
        assert asyncio.run(done_on(path, self.world, self.acknowledged)) == ([], self.expected), f"{step} {at}"
        return outcome == KILLED


@pytest.fixture(scope="module")
def graves(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Grave]:
    folder = tmp_path_factory.mktemp("graves")

    @cache
    def dug(name: str) -> Grave:
        path, world = folder / f"{name}.db", WORLDS[name]
        acknowledged = asyncio.run(filled(world, path))
        content = path.read_bytes()
        found, expected = asyncio.run(done_on(path, world, acknowledged))
        assert found == []
        return Grave(name, world, content, acknowledged, expected)

    return dug


@pytest.mark.parametrize("name", APART)
def test_a_job_killed_before_any_of_its_writes_is_done_once_and_to_the_end(
    name: str, mortals: Mortals, graves: Callable[[str], Grave], tmp_path: Path
) -> None:
    grave = graves(name)
    for at in itertools.count(1):
        if not grave.killed(mortals, tmp_path / f"{at}.db", step="write", at=at):
            assert at > 2
            return


@pytest.mark.parametrize("name", APART)
def test_whatever_a_kill_at_any_statement_leaves_in_the_file_is_done_once_and_to_the_end(
    name: str, mortals: Mortals, graves: Callable[[str], Grave], tmp_path: Path
) -> None:
    """SQLite writes to the file at commits, so many statements leave equal files: each state is recovered once."""
    grave = graves(name)
    path = tmp_path / "run.db"
    path.write_bytes(grave.content)
    statements = int(mortals.run(name, path, step="states", at=0))
    left = list(tmp_path.glob("run.db.*.state"))
    assert 1 < len(left) < statements
    for file in left:
        assert asyncio.run(done_on(file, grave.world, grave.acknowledged)) == ([], grave.expected), file.name


@pytest.mark.parametrize("name", APART)
def test_a_job_killed_in_the_middle_of_a_transaction_is_done_once_and_to_the_end(
    name: str, mortals: Mortals, graves: Callable[[str], Grave], tmp_path: Path
) -> None:
    grave = graves(name)
    counted = tmp_path / "counted.db"
    counted.write_bytes(grave.content)
    statements = int(mortals.run(name, counted, step="statement", at=0))
    moments = random.Random(name).sample(range(1, statements + 1), RANDOM_MOMENTS)
    assert all(grave.killed(mortals, tmp_path / f"{at}.db", step="statement", at=at) for at in moments)


def test_a_job_killed_in_the_middle_of_a_transaction_on_a_server_is_done_once_and_to_the_end(
    mortals: Mortals, postgres: Schemas, tmp_path: Path
) -> None:
    """Of one job, for the time that it takes: the others write by the same transactions."""
    name, address, opened = "promote", postgres.take(), postgres.connections.open_store
    world = WORLDS[name]
    acknowledged = asyncio.run(filled_in(world, opened(address)))
    content = postgres.contents(address)
    found, expected = asyncio.run(done_in(opened(address), world, acknowledged))
    assert found == []
    postgres.put(address, content)
    statements = int(mortals.run(name, tmp_path / "run", step="statement", at=0, db=address))
    for at in random.Random(name).sample(range(1, statements + 1), RANDOM_MOMENTS):
        postgres.put(address, content)
        assert mortals.run(name, tmp_path / "run", step="statement", at=at, db=address) == KILLED
        assert asyncio.run(done_in(opened(address), world, acknowledged)) == ([], expected), f"statement {at}"
