"""Workers that share a queue run each sweep once, take over from dead ones, and survive a server that goes away."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import psycopg
import pytest
from postgres_server import Schemas
from procrastinate.exceptions import ConnectorException
from procrastinate.manager import JobManager

from remembrancer import AsyncRemembrancer
from remembrancer.adapters.distributed import tables
from remembrancer.adapters.distributed.queue import TASK, ProcrastinateQueue
from remembrancer.adapters.relational.postgres.dialect import PostgresConnection
from remembrancer.domain.job import Job
from remembrancer.errors import InvalidInput, StoreUnavailable, Unsupported
from remembrancer.jobs.sweeps import JobReport
from remembrancer.jobs.worker import Stop
from remembrancer.ports.job_queue import PutSweep, RunSweep
from remembrancer.testing.doubles import HashEmbedder

PATIENCE: Final = 20.0
HEARTBEAT_S: Final = 0.1
STALLED_S: Final = 0.4
T = TypeVar("T")


def a_queue(url: str, group: str = "one") -> ProcrastinateQueue:
    return ProcrastinateQueue(url, group=group, heartbeat_s=HEARTBEAT_S, stalled_s=STALLED_S)


class Runs:
    """What was run, and by whom; and how many runs of one sweep there were at once."""

    def __init__(self) -> None:
        self.by: list[tuple[str, str, Job]] = []
        self.at_once: Counter[tuple[str, Job]] = Counter()
        self.most = 0
        self.ran = asyncio.Event()
        self.begun = asyncio.Event()
        self.hold = asyncio.Event()
        self.hold.set()

    def of(self, worker: str) -> RunSweep:
        async def run(workspace: str, job: Job) -> None:
            self.at_once[workspace, job] += 1
            self.begun.set()
            self.most = max(self.most, self.at_once[workspace, job])
            try:
                await self.hold.wait()
            finally:
                self.at_once[workspace, job] -= 1
            self.by.append((worker, workspace, job))
            self.ran.set()

        return run

    async def until(self, count: int) -> None:
        while len(self.by) < count:
            self.ran.clear()
            await self.ran.wait()


@asynccontextmanager
async def working(
    url: str, runs: Runs, *names: str, jobs: Sequence[Job] = tuple(Job), group: str = "one"
) -> AsyncGenerator[list[PutSweep]]:
    async with AsyncExitStack() as stack:
        puts: list[PutSweep] = []
        for name in names:
            queue = a_queue(url, group)
            stack.push_async_callback(queue.close)
            puts.append(await stack.enter_async_context(queue.serving("acme", jobs, runs.of(name))))
        yield puts


def run(whole: Callable[[], Coroutine[Any, Any, T]]) -> T:
    async def in_time() -> T:
        return await asyncio.wait_for(whole(), PATIENCE)

    return asyncio.run(in_time())


@pytest.fixture
def url(postgres: Schemas) -> str:
    address = postgres.take()

    async def remembered() -> None:
        async with AsyncRemembrancer.open(address, embedder="none"):
            return

    asyncio.run(remembered())
    return address


# ── who runs what ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_sweeps_that_several_workers_put_all_run_and_none_twice_at_once(url: str) -> None:
    async def whole() -> tuple[set[Job], int]:
        runs = Runs()
        async with working(url, runs, "a", "b") as puts:
            runs.hold.clear()
            # All but the first four wait while these run.
            for put in puts:
                for job in Job:
                    assert not await put("acme", job)
            runs.hold.set()
            while {job for _, _, job in runs.by} != set(Job):
                await runs.until(len(runs.by) + 1)
        return {job for _, _, job in runs.by}, runs.most

    assert run(whole) == (set(Job), 1)


def test_a_sweep_that_waits_is_not_put_a_second_time(url: str) -> None:
    async def whole() -> list[str]:
        queue, runs = a_queue(url), Runs()
        for _ in range(3):
            await queue.put("acme", Job.COMPACT)
        await queue.close()
        async with working(url, runs, "a") as (put,):
            await runs.until(1)
            await put("acme", Job.HEALTH)
            await runs.until(2)
        return [job.value for _, _, job in runs.by]

    assert run(whole) == ["compact", "health"]


def test_a_sweep_that_is_put_while_it_runs_runs_once_more_afterwards(url: str) -> None:
    async def whole() -> tuple[int, int]:
        runs = Runs()
        async with working(url, runs, "a", "b") as (one, _):
            runs.hold.clear()
            await one("acme", Job.INDEX)
            await runs.begun.wait()
            await one("acme", Job.INDEX)
            runs.hold.set()
            await runs.until(2)
        return len(runs.by), runs.most

    assert run(whole) == (2, 1)


def test_sweeps_of_other_workspaces_are_run_too(url: str) -> None:
    async def whole() -> list[tuple[str, str, Job]]:
        runs = Runs()
        async with working(f"{url}&connections=8", runs, "a") as (put,):  # a parameter of ours
            await put("other", Job.INDEX)
            await runs.until(1)
        return runs.by

    assert run(whole) == [("a", "other", Job.INDEX)]


@pytest.mark.parametrize(("jobs", "group"), [([Job.HEALTH], "one"), (list(Job), "two")])
def test_a_worker_with_other_jobs_or_models_leaves_a_sweep_to_those_who_have_them(
    url: str, jobs: Sequence[Job], group: str
) -> None:
    async def whole() -> list[tuple[str, str, Job]]:
        runs = Runs()
        async with working(url, runs, "other", jobs=jobs, group=group) as (other,):
            queue = a_queue(url)
            await queue.put("acme", Job.INDEX)
            await queue.close()
            await other("acme", Job.HEALTH)
            await runs.until(1)
            async with working(url, runs, "fitting"):
                await runs.until(2)
        return runs.by

    assert run(whole) == [("other", "acme", Job.HEALTH), ("fitting", "acme", Job.INDEX)]


def test_new_work_that_is_announced_is_run_by_whoever_works(url: str) -> None:
    async def whole() -> list[tuple[str, str, Job]]:
        runs, queue = Runs(), a_queue(url)
        async with working(url, runs, "a"):
            for _ in range(5):
                queue.announce("acme", Job.INDEX)
            await runs.until(1)
        await queue.close()
        return runs.by

    assert run(whole) == [("a", "acme", Job.INDEX)]


# ── who is dead ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_sweep_of_a_worker_without_a_sign_of_life_is_run_by_another(url: str) -> None:
    async def whole() -> list[tuple[str, str, Job]]:
        runs, dead = Runs(), a_queue(url)
        await dead.put("acme", Job.COMPACT)
        manager = (await dead.opened()).job_manager
        assert await manager.fetch_job([dead.name_of(Job.COMPACT)], await manager.register_worker())
        await dead.put("acme", Job.COMPACT)  # a second one waits: it cannot be run before the first is given up
        async with working(url, runs, "alive"):
            await runs.until(1)
        await dead.close()
        return runs.by

    assert run(whole)[0] == ("alive", "acme", Job.COMPACT)


def test_a_sweep_whose_end_could_not_be_noted_does_not_block_the_next(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish, failed = JobManager.finish_job, list[bool]()

    async def fails_once(self: JobManager, *args: Any, **kwargs: Any) -> None:
        if not failed:
            failed.append(True)
            raise ConnectorException
        await finish(self, *args, **kwargs)

    monkeypatch.setattr(JobManager, "finish_job", fails_once)

    async def whole() -> int:
        runs = Runs()
        asyncio.get_running_loop().set_exception_handler(lambda _, __: None)  # of the row's task, which nobody awaits
        async with working(url, runs, "a") as (put,):
            await put("acme", Job.COMPACT)
            await runs.until(2)
        return len(runs.by)

    assert run(whole) == 2


def test_workers_go_on_after_the_server_has_closed_their_connections(url: str, postgres: Schemas) -> None:
    async def whole() -> list[Job]:
        runs = Runs()
        async with working(url, runs, "a", "b") as (put, _):
            await put("acme", Job.INDEX)
            await runs.until(1)
            with psycopg.connect(postgres.url, autocommit=True) as server:
                server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'ordinary'")
            await put("acme", Job.COMPACT)
            await runs.until(2)
        return [job for _, _, job in runs.by]

    assert run(whole) == [Job.INDEX, Job.COMPACT]


def test_a_server_that_is_away_is_an_unavailable_store(tmp_path: Path) -> None:
    async def whole() -> None:
        await a_queue(f"postgresql:///none?host={tmp_path}").put("acme", Job.INDEX)

    with pytest.raises(StoreUnavailable):
        run(whole)


def test_a_worker_that_finishes_a_long_sweep_before_it_stops_is_not_taken_for_dead(url: str) -> None:
    async def whole() -> list[str]:
        runs = Runs()
        compact = working(url, runs, "stopping", jobs=[Job.COMPACT], group="two")
        async with working(url, runs, "alive"), compact as (put,):
            runs.hold.clear()
            await put("acme", Job.COMPACT)
            await runs.begun.wait()
            asyncio.get_running_loop().call_later(3 * STALLED_S, runs.hold.set)
        return [worker for worker, _, _ in runs.by]

    assert run(whole) == ["stopping"]


# ── when it stops ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_worker_that_is_cancelled_cancels_its_sweeps(url: str) -> None:
    async def whole() -> tuple[list[Any], int]:
        runs = Runs()
        runs.hold.clear()

        async def work() -> None:
            async with working(url, runs, "a") as (put,):
                await put("acme", Job.INDEX)
                await asyncio.Event().wait()

        task = asyncio.create_task(work())
        await runs.begun.wait()
        task.cancel()
        await asyncio.wait([task])
        return runs.by, runs.at_once["acme", Job.INDEX]

    assert run(whole) == ([], 0)


# ── its tables ───────────────────────────────────────────────────────────────────────────────────────────────────────


def on(url: str, work: Callable[[PostgresConnection], T]) -> T:
    connection = PostgresConnection(url)
    try:
        return work(connection)
    finally:
        connection.close()


def test_its_tables_are_in_a_schema_of_their_own(url: str) -> None:
    schema = on(url, lambda connection: tables.prepare(connection, "here"))
    own: str = on(url, lambda connection: connection.execute("SELECT current_schema()").get)
    assert schema == f"{own}_jobs"
    found = on(url, lambda connection: connection.execute("SELECT to_regclass(?)", (f"{schema}.procrastinate_jobs",)))
    assert found.get is not None


@pytest.fixture
def older(url: str) -> str:
    """A database whose job queue lacks the last migrations of procrastinate."""
    schema = on(url, lambda connection: connection.execute("SELECT current_schema() || '_jobs'").get)
    steps = [step for step in tables.migrations() if step.name < "03.04"]

    def make(connection: PostgresConnection) -> None:
        connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}")
        connection.execute(f"SET search_path TO {schema}")
        for step in steps:
            connection.execute(step.read_text(encoding="utf-8"))
        connection.execute("CREATE TABLE remembrancer_jobs (migration text)")
        connection.execute("INSERT INTO remembrancer_jobs VALUES (?)", (steps[-1].name,))

    on(url, make)
    return url


def test_the_tables_of_an_older_procrastinate_are_migrated(older: str) -> None:
    async def whole() -> list[tuple[str, str, Job]]:
        runs = Runs()
        async with working(older, runs, "a") as (put,):
            await put("acme", Job.INDEX)
            await runs.until(1)
        return runs.by

    assert run(whole) == [("a", "acme", Job.INDEX)]


def test_the_tables_of_a_newer_procrastinate_are_refused(url: str) -> None:
    schema = on(url, lambda connection: tables.prepare(connection, "here"))
    newest = tables.migrations()[-1].name
    on(url, lambda connection: connection.execute(f"UPDATE {schema}.remembrancer_jobs SET migration = '99.00.00'"))
    try:
        with pytest.raises(Unsupported, match="newer procrastinate"):
            on(url, lambda connection: tables.prepare(connection, "here"))
    finally:
        on(url, lambda connection: connection.execute(f"UPDATE {schema}.remembrancer_jobs SET migration = '{newest}'"))


# ── through the facade ───────────────────────────────────────────────────────────────────────────────────────────────

DISTRIBUTED: Final = {"jobs": "distributed"}


def test_what_one_process_records_is_embedded_by_a_worker(url: str) -> None:
    async def whole() -> tuple[int, int, int]:
        told: list[tuple[Job, JobReport]] = []
        indexed, all_ran = asyncio.Event(), asyncio.Event()

        def on_run(job: Job, report: JobReport) -> None:
            told.append((job, report))
            if len(told) == 4:
                all_ran.set()
            if job is Job.INDEX and getattr(report, "indexed", 0):
                indexed.set()

        def opened() -> Awaitable[AsyncRemembrancer]:
            return AsyncRemembrancer.open(url, embedder=HashEmbedder(32), settings=DISTRIBUTED)

        async with await opened() as api, await opened() as worker:
            stop = Stop()
            working = asyncio.create_task(worker.jobs.work(stop, on_run=on_run))
            await all_ran.wait()
            await api.observe("The deploy failed")
            await indexed.wait()
            states = {state.job: state for state in await api.jobs.list()}
            stop.set()
            await working
        last = states[Job.INDEX].last
        assert last is not None
        return last.done, states[Job.INDEX].backlog or 0, len(states)

    assert run(whole) == (1, 0, 5)


def test_jobs_cannot_be_shared_on_a_file(tmp_path: Path) -> None:
    async def whole() -> None:
        await AsyncRemembrancer.open(str(tmp_path / "a.db"), embedder="none", settings=DISTRIBUTED)

    with pytest.raises(InvalidInput, match=r"jobs: .*embedded"):
        run(whole)
    assert not list(tmp_path.iterdir())


def test_every_queue_has_a_name_that_can_be_listened_to() -> None:
    async def names() -> list[str]:
        queue = ProcrastinateQueue("postgresql://here/memory", group="a preset and its models")
        return [queue.name_of(job) for job in Job]

    assert all(len(f"procrastinate_queue_v1#{name}") < 64 for name in asyncio.run(names()))
    assert TASK
