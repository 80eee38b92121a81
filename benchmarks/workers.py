"""Workers that share the jobs of one PostgreSQL database: killed in the middle of sweeps, and measured.

`kill`: several workers run all jobs while turns, near-duplicate notes and used memories are written. Each worker is
killed with SIGKILL at a random call of the store, in the middle of a sweep, and replaced. At the end everything that
was acknowledged is there and embedded, each turn is in one episode in its order, each note was merged once, and the use
of each memory was reviewed once. `measure`: sweeps a second, and the time from an arrival to its embedding.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final, cast

import psycopg
from rich.console import Console
from rich.table import Table

from remembrancer import AsyncRemembrancer, compose
from remembrancer.adapters.distributed.queue import ProcrastinateQueue
from remembrancer.config import Settings
from remembrancer.domain.event import EventDraft
from remembrancer.domain.job import Job
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Scope
from remembrancer.engine.context import Context
from remembrancer.engine.record import observe
from remembrancer.errors import StoreUnavailable
from remembrancer.evaluation.machine import machine_line
from remembrancer.jobs.indexer import Indexer
from remembrancer.jobs.maintenance import run_job
from remembrancer.jobs.sweeps import BrokenOff, JobReport, Sweeper
from remembrancer.jobs.sweeps import counted as numbers_of
from remembrancer.jobs.worker import Stop, work
from remembrancer.policies.consolidation.compacting import MERGED_FROM
from remembrancer.policies.consolidation.compaction import Compaction
from remembrancer.policies.forgetting.reviewing import Reviewing
from remembrancer.policies.schedule import Schedule
from remembrancer.policies.segmentation.dual_channel import DualChannel
from remembrancer.policies.segmentation.segmentation import Segmentation
from remembrancer.ports.embedder import Embedded
from remembrancer.ports.language_model import Task
from remembrancer.ports.store import Store
from remembrancer.presets.plastmem import PLASTMEM
from remembrancer.testing.doubles import HashEmbedder
from remembrancer.testing.faults import Faults
from remembrancer.testing.scripted_model import Scripted, ScriptedModel

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "fixtures"))
from job_worlds import MINUTE, misplaced  # noqa: E402  its folder is found above
from postgres_server import Schemas, serving  # noqa: E402

WORKSPACE: Final = "acme"
SESSIONS: Final = 3
TURNS: Final = 5
NOTES: Final = (
    "Run the linter before you commit, and fix what it finds",
    "Ask before the branch of somebody else is rebased",
    "Tell the support before the shop is closed for the night",
)
USED: Final = ("Ana drinks green tea", "The rent is due on Fridays", "Tom is a cat", "The saw hangs in the shed")
OFTEN: Final = 0.3 / 3600
"""A third of a second, in hours."""
CALLS: Final = 120
"""A worker is killed at a call of the store up to this one."""
HEARTBEAT_S: Final = 0.3
STALLED_S: Final = 1.5
IDLE_MINUTES: Final = 0.02
SILENCE: Final = timedelta(minutes=IDLE_MINUTES, seconds=0.5)
"""After this time without an event, all streams have fallen silent: their last episodes can be formed."""
PATIENCE_S: Final = 120.0
BUSY: Final = replace(
    PLASTMEM,
    name="busy",
    description="Everything at once, and all the time.",
    segmentation=Segmentation(segmenter=DualChannel(), replaces=True, least=5, idle_minutes=IDLE_MINUTES),
    review=Reviewing(min_days=1e-6, silent_hours=0.0),
    facts=None,
    compaction=Compaction(above=0.9),
    schedule=Schedule(hours=dict.fromkeys(Job, OFTEN)),
)


def rates(task: Task) -> Scripted:
    """A model that rates every memory good, and joins the turns of each conversation."""
    if task.purpose == "review":
        return {"ratings": [{"memory": f"m{number}", "rating": "good"} for number in range(1, 51)]}
    told: dict[str, Any] = {"title": "A talk", "summary": "It was said."}
    if task.purpose != "segment":
        return told
    count = sum(line.startswith("[") for line in task.material.splitlines())
    return {"segments": [{"first": 1, "last": count, "surprise": "low", **told}]}


class SlowEmbedder(HashEmbedder):
    """Takes as long for a batch as a small model."""

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        await asyncio.sleep(0.02)
        return await super().embed_documents(texts)


# -- workers ----------------------------------------------------------------------------------------------------------


class _Sweeping:
    """A store on which all calls of sweeps count, but not the question what is due."""

    def __init__(self, store: Store, faults: Faults) -> None:
        self._store = store
        self._counted = faults.around(store)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store if name == "runs" else self._counted, name)


def _kill() -> Exception:
    os.kill(os.getpid(), signal.SIGKILL)
    return AssertionError("the process has outlived its end")


def _say(**line: object) -> None:
    os.write(1, (json.dumps(line) + "\n").encode())  # whole, whoever else writes to it


class _Told(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        _say(log=record.getMessage())


def settings_for(url: str) -> Settings:
    return Settings(db=url, jobs="distributed", workspace=WORKSPACE, preset="default", embedder="none")


def _context(settings: Settings) -> Context | None:
    with suppress(StoreUnavailable):
        return compose.context(settings, preset=BUSY, embedder=SlowEmbedder(64), llm=ScriptedModel(rates), create=False)
    return None


async def _work(url: str, at: int) -> None:
    """Work until the process is killed at that call of the store; 0: until it is told to stop."""
    logging.getLogger("remembrancer").addHandler(_Told())
    settings, scope, stop = settings_for(url), Scope(workspace=WORKSPACE), Stop()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    ctx = _context(settings)
    while ctx is None:  # the server is away: a service is started again
        await asyncio.sleep(0.1)
        ctx = _context(settings)
    queue = cast("ProcrastinateQueue", compose.choose_job_queue(settings)(ctx))
    queue.heartbeat_s, queue.stalled_s = HEARTBEAT_S, STALLED_S
    store: Any = _Sweeping(ctx.store, Faults(at or sys.maxsize, _kill))
    mortal = replace(ctx, store=store)

    def on_run(job: Job, report: JobReport) -> None:
        broke_off = report.reason if isinstance(report, BrokenOff) else ""
        _say(pid=os.getpid(), job=job, done=numbers_of(report).done, broke_off=broke_off)

    await work(Sweeper(mortal, scope, Indexer(mortal, scope)), stop, queue=queue, on_run=on_run)
    await queue.close()
    await ctx.store.close()


def _reap(_number: int, _frame: object) -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _start_workers(url: str) -> None:
    """Fork a worker for each line of stdin, which says where it is killed."""
    signal.signal(signal.SIGCHLD, _reap)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            asyncio.run(_work(url, int(line)))
            os._exit(0)
        _say(started=child)


class Crew:
    """Workers in processes, all forked from one that has loaded the modules."""

    def __init__(self, url: str) -> None:
        command = [sys.executable, "-m", "benchmarks.workers", "--work", url]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=os.environ
        )
        self._started = threading.Condition()
        self._pids: list[int] = []
        self.runs: Counter[str] = Counter()
        self.broke_off: list[str] = []
        self.taken_over = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def start(self, at: int = 0) -> int:
        """The id of a new worker."""
        assert self._process.stdin is not None
        with self._started:
            count = len(self._pids)
            self._process.stdin.write(f"{at}\n")
            self._process.stdin.flush()
            assert self._started.wait_for(lambda: len(self._pids) > count, PATIENCE_S)
            return self._pids[-1]

    def stop(self, pids: Sequence[int]) -> None:
        for pid in pids:
            os.kill(pid, signal.SIGTERM)
        until(lambda: not any(map(lives, pids)))
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(PATIENCE_S)

    def close(self) -> None:
        for pid in self._pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        self._reader.join(PATIENCE_S)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            told: dict[str, Any] = json.loads(line)
            if "started" in told:
                with self._started:
                    self._pids.append(told["started"])
                    self._started.notify_all()
            elif "log" in told:
                self.taken_over += "was not finished by its worker" in told["log"]
            else:
                self.runs[told["job"]] += 1
                self.broke_off += [told["broke_off"]] * bool(told["broke_off"])


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def until(condition: Callable[[], bool], seconds: float = PATIENCE_S) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


# -- kills ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What is there after the kills. `lost`, `doubled`: acknowledged events. `unembedded`: cues without a vector.
    `misplaced`: streams whose turns are not each in one episode in order. `merged`: for each note, its revision and
    how many were merged into it. `reviews`: for each used memory. `taken_over`: sweeps of killed workers that others
    ran again. `settled`: seconds from the last write until no work was left.
    """

    kills: int
    runs: dict[str, int]
    taken_over: int
    events: int
    lost: int
    doubled: int
    unembedded: int
    misplaced: list[str]
    merged: list[tuple[int, int]]
    reviews: list[int]
    broke_off: list[str]
    settled: float


async def killed(
    url: str, *, kills: int, workers: int, seed: int, calls: int = CALLS, restart: Callable[[], None] | None = None
) -> Aftermath:
    """Kill that many workers in the middle of sweeps, each at a call of the store up to `calls`; `restart`: called
    once, half way.
    """
    chance = random.Random(seed)
    async with AsyncRemembrancer.open(
        settings=settings_for(url), preset=BUSY, agent="ana", embedder=HashEmbedder(64), llm=ScriptedModel(rates)
    ) as rem:
        crew = Crew(url)
        try:
            used = await _used(rem)
            enough = asyncio.Event()
            writing = asyncio.create_task(_write(rem, enough))
            alive = [crew.start(chance.randint(5, calls)) for _ in range(workers)]
            left = kills
            while left:
                await asyncio.sleep(0.02)
                for pid in [pid for pid in alive if not lives(pid)]:
                    alive.remove(pid)
                    left -= 1
                    if restart is not None and left == kills // 2:
                        await asyncio.to_thread(restart)
                    alive.append(crew.start(chance.randint(5, calls) if left > workers - 1 else 0))
                    if not left:
                        break
            enough.set()
            observed = await writing
            began = datetime.now(UTC)
            silent = began + SILENCE
            async with asyncio.timeout(PATIENCE_S):
                # Twice: the states of the jobs are not read in one snapshot.
                while not (await _is_idle(rem, silent) and await _is_idle(rem, silent)):  # noqa: ASYNC110  other processes
                    await asyncio.sleep(0.05)
            settled = (datetime.now(UTC) - began).total_seconds()
            await asyncio.to_thread(crew.stop, alive)
            return await _looked_at(rem, crew, observed, used, kills=kills, settled=settled)
        finally:
            crew.close()


async def _used(rem: AsyncRemembrancer) -> list[str]:
    """Memories whose use is to be reviewed, by their ids."""
    yesterday = datetime.now(UTC) - timedelta(days=1)
    used = [await rem.remember(text, kind="note", occurred_at=yesterday) for text in USED]
    for number, memory in enumerate(used):
        one = rem.scoped(session=f"used{number % 2}")
        await one.mark([memory.id], "retrieved", query="what is so?")
        await one.observe(f"Then I know what to do about {number}")
    return [str(memory.id) for memory in used]


async def _write(rem: AsyncRemembrancer, enough: asyncio.Event) -> Counter[str]:
    """Write rounds of turns, and each note twice. Returns the ids of acknowledged events."""
    observed: Counter[str] = Counter()
    number = 0
    while number < 2 * len(NOTES) or not enough.is_set():
        began = datetime.now(UTC) - timedelta(days=2) + number * timedelta(hours=3)
        with suppress(StoreUnavailable):  # not acknowledged: while the server restarts
            if number < 2 * len(NOTES):
                text = NOTES[number % len(NOTES)] + "!" * (number // len(NOTES))
                await rem.remember(text, kind="note", tier="semantic", key=f"note {number}")
            for session in range(SESSIONS):
                events = [
                    {"text": f"Turn {turn} of {number}: the saw binds", "occurred_at": began + turn * MINUTE}
                    for turn in range(TURNS)
                ]
                written = await rem.scoped(session=f"s{session}").observe_many(events)
                observed.update(str(event.id) for event in written)
                await asyncio.sleep(0.03)
            number += 1
    return observed


async def _is_idle(rem: AsyncRemembrancer, since: datetime) -> bool:
    """Whether no work is pending, and each job has started again since then."""
    states = await rem.jobs.list()
    begun = all(state.last is not None and state.last.started_at > since for state in states)
    return begun and not any(state.backlog or state.failures for state in states)


async def _looked_at(
    rem: AsyncRemembrancer, crew: Crew, observed: Counter[str], used: list[str], *, kills: int, settled: float
) -> Aftermath:
    store, now = rem.context.store, datetime.now(UTC)
    rows = [row async for row in store.export(Scope(workspace=WORKSPACE))]
    events = Counter(str(row["id"]) for row in rows if row["record"] == "event")
    reviews = Counter(str(row["memory_id"]) for row in rows if row["record"] == "review")
    where = Filter(current_at=now, kinds=frozenset({"note"}))
    notes = await store.workspace_memories(Scope(workspace=WORKSPACE), where, limit=100)
    streams = [Scope(workspace=WORKSPACE, agent="ana", session=f"s{number}") for number in range(SESSIONS)]
    states = {state.job: state for state in await rem.jobs.list()}
    return Aftermath(
        kills=kills,
        runs=dict(crew.runs),
        taken_over=crew.taken_over,
        events=len(observed),
        lost=len(observed - events),
        doubled=sum(count > 1 for count in events.values()),
        unembedded=states[Job.INDEX].backlog or 0,
        misplaced=await misplaced(store, BUSY, streams, at=now),
        merged=[
            (note.revision, len(str(note.metadata[MERGED_FROM]).split(",")))
            for note in notes
            if MERGED_FROM in note.metadata
        ],
        reviews=[reviews[identifier] for identifier in used],
        broke_off=crew.broke_off,
        settled=settled,
    )


def crash(url: str) -> None:
    """Let the server crash and recover: it ends all connections if one of its processes is killed."""
    with suppress(psycopg.OperationalError), psycopg.connect(url) as connection:
        os.kill(connection.info.backend_pid, signal.SIGKILL)
        connection.execute("SELECT 1")


# -- how fast ---------------------------------------------------------------------------------------------------------

ARRIVALS: Final = 40
SCHEDULED: Final = 3
"""Arrivals that wait for the schedule, about 15 seconds each."""
TENANTS: Final = 100


@dataclass(frozen=True, slots=True)
class Speed:
    """`arrival`: median milliseconds from the acknowledged arrival to its vector; `slowest`: the longest. `sweeps`: of
    the index, each over one new memory of another workspace, a second.
    """

    who: str
    arrival: float
    slowest: float
    sweeps: float


async def measured(schemas: Schemas) -> list[Speed]:
    local: dict[str, Any] = {"embedder": "local", "background_index": False}
    shared: dict[str, Any] = {"embedder": "local", "jobs": "distributed"}
    speeds: list[Speed] = []
    url = schemas.take()
    async with AsyncRemembrancer.open(url, settings={"embedder": "local"}) as rem:
        times = await _arrivals(rem, ARRIVALS)
    async with AsyncRemembrancer.open(url, settings=local) as rem:
        speeds.append(_speed("the process that writes", times, await _sweeps(rem, _one_after_another)))
        with _workers(url, 1):
            await _ready(rem)
            speeds.append(_speed("1 worker, embedded", await _arrivals(rem, SCHEDULED), speeds[0].sweeps))
    for count in (1, 2):
        url = schemas.take()
        async with AsyncRemembrancer.open(url, settings=shared) as rem:
            await rem.observe("The first event")
            with _workers(url, count, jobs="distributed"):
                await _ready(rem)
                times = await _arrivals(rem, ARRIVALS)
                who = f"{count} worker{'s' * (count > 1)}, distributed"
                speeds.append(_speed(who, times, await _sweeps(rem, partial(_put, url))))
    return speeds


def _speed(who: str, times: Sequence[float], sweeps: float) -> Speed:
    return Speed(who, median(times) * 1000, max(times) * 1000, sweeps)


@contextmanager
def _workers(url: str, count: int, jobs: str = "embedded") -> Generator[None]:
    command = [sys.executable, "-m", "remembrancer", "worker", "--embedder", "local", "--db", url]
    started = [
        subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "REMEMBRANCER_JOBS": jobs})
        for _ in range(count)
    ]
    try:
        yield
    finally:
        for process in started:
            process.terminate()
            process.wait(PATIENCE_S)


async def _ready(rem: AsyncRemembrancer) -> None:
    """Wait until the workers have run all jobs, and then for those that are started last."""
    while any(state.last is None for state in await rem.jobs.list()):  # noqa: ASYNC110  of other processes
        await asyncio.sleep(0.1)
    await asyncio.sleep(5)


async def _embedded(rem: AsyncRemembrancer, workspace: str) -> None:
    ctx, scope = rem.context, Scope(workspace=workspace)
    assert ctx.embedder is not None
    later = ctx.clock() + timedelta(days=2)
    while await ctx.store.pending(  # noqa: ASYNC110  nobody is told
        scope, ctx.embedder.model_id, limit=1, now=later, token_embeddings=False
    ):
        await asyncio.sleep(0.002)


async def _arrivals(rem: AsyncRemembrancer, count: int) -> list[float]:
    times: list[float] = []
    for number in range(count):
        await rem.observe(f"Deploy {number} of checkout failed in the night")
        began = time.perf_counter()
        await _embedded(rem, rem.scope.workspace)
        times.append(time.perf_counter() - began)
        await asyncio.sleep(0.1)
    return times


async def _sweeps(rem: AsyncRemembrancer, run: Callable[[Context, list[str]], Awaitable[None]]) -> float:
    """Index sweeps a second, each of another workspace with one new memory."""
    ctx, tenants = rem.context, [f"tenant{number}" for number in range(TENANTS)]
    for tenant in tenants:
        await observe(ctx, Scope(workspace=tenant), [EventDraft(text=f"The oven of {tenant} is hot")])
    began = time.perf_counter()
    await run(ctx, tenants)
    for tenant in tenants:
        await _embedded(rem, tenant)
    return TENANTS / (time.perf_counter() - began)


async def _one_after_another(ctx: Context, tenants: list[str]) -> None:
    for tenant in tenants:
        scope = Scope(workspace=tenant)
        await run_job(Sweeper(ctx, scope, Indexer(ctx, scope)), Job.INDEX)


async def _put(url: str, ctx: Context, tenants: list[str]) -> None:
    queue = compose.choose_job_queue(Settings(db=url, jobs="distributed"))(ctx)
    for tenant in tenants:
        queue.announce(tenant, Job.INDEX)
    await queue.close()


def _table(speeds: Sequence[Speed]) -> Table:
    table = Table(title="Who embeds, and how fast", title_justify="left")
    table.add_column("who")
    for heading in ("arrival to vector, ms", "slowest, ms", "index sweeps a second"):
        table.add_column(heading, justify="right")
    for one in speeds:
        table.add_row(one.who, f"{one.arrival:,.0f}", f"{one.slowest:,.0f}", f"{one.sweeps:,.0f}")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.workers", description=__doc__)
    parser.add_argument("part", nargs="?", choices=("kill", "measure"), default="kill")
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        _start_workers(options.work)
        return
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as schemas:
        if options.part == "measure":
            speeds = asyncio.run(measured(schemas))
            console = Console(width=120)
            console.print(machine_line())
            console.print(_table(speeds))
            return
        url = schemas.take()
        with psycopg.connect(schemas.url, autocommit=True) as server:  # a crash is to lose no commit
            server.execute("ALTER SYSTEM SET synchronous_commit = on")
            server.execute("SELECT pg_reload_conf()")
        restart = partial(crash, schemas.url)
        found = asyncio.run(
            killed(url, kills=options.kills, workers=options.workers, seed=options.seed, restart=restart)
        )
    print(json.dumps(asdict(found), indent=None if options.json else 2))


if __name__ == "__main__":
    main()
