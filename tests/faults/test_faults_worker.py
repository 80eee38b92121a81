"""Several workers on one file: all work is done once, no worker meets an error, and all stop on request."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import Any, Final

import pytest
from job_worlds import WORLDS, WRITES, done_on, filled, misplaced, parted

from remembrancer import Remembrancer
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.domain.job import Job, Run
from remembrancer.domain.memory import Memory, Status
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader, Scope
from remembrancer.jobs.maintenance import run_job
from remembrancer.language.cues import analysed
from remembrancer.policies.consolidation.compacting import MERGED_FROM
from remembrancer.policies.consolidation.compaction import Compaction
from remembrancer.policies.forgetting.retaining import Retention
from remembrancer.policies.schedule import Schedule
from remembrancer.policies.segmentation.dual_channel import DualChannel
from remembrancer.policies.segmentation.segmentation import Segmentation
from remembrancer.ports.journal import EventFilter
from remembrancer.ports.store import Store
from remembrancer.presets.plastmem import PLASTMEM
from remembrancer.presets.text import text_of
from remembrancer.testing.doubles import FixedClock

# ── two at the same moment ───────────────────────────────────────────────────────────────────────────────────────────

PATIENCE: Final = 60.0
"""Seconds that one waits for the other to come as far, on a machine that does other things too."""
IN_ANY_ORDER: Final = [name for name in WORLDS if name not in {"index with edges", "facts"}]
"""Worlds where it makes no difference which of several pieces of work is done first."""


class Together:
    """Wraps a store: before its first write each worker waits until the other one is about to write too."""

    def __init__(self, store: Store, both: threading.Barrier) -> None:
        self._store = store
        self._both = both
        self._waited = False

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        @wraps(method)
        async def call(*args: object, **kwargs: object) -> object:
            if not self._waited:
                self._waited = True
                await asyncio.to_thread(self._meet)
            return await method(*args, **kwargs)

        return call

    def _meet(self) -> None:
        try:
            self._both.wait(PATIENCE)
        except threading.BrokenBarrierError:
            return


@pytest.mark.parametrize("name", IN_ANY_ORDER)
def test_two_who_do_the_same_job_at_the_same_moment_do_it_once(name: str, tmp_path: Path) -> None:
    world, clean, shared = WORLDS[name], tmp_path / "clean.db", tmp_path / "shared.db"
    acknowledged = asyncio.run(filled(world, clean))
    shared.write_bytes(clean.read_bytes())
    both = threading.Barrier(2)

    async def work() -> tuple[Run, bool]:
        store = RelationalStore(SqliteFile(str(shared)), analyse=analysed)
        try:
            together: Any = Together(store, both)
            meeting = parted(store, together, WRITES)
            clock = FixedClock(world.now)
            await run_job(world.sweeper(meeting, clock, llm=world.model, embedder=world.embedder), world.job)
            return (await store.runs(Scope(workspace="acme")))[world.job.value], both.broken
        finally:
            await store.close()

    with ThreadPoolExecutor(2) as threads:
        outcomes = [future.result() for future in [threads.submit(asyncio.run, work()) for _ in range(2)]]
    assert [(run.error, broken) for run, broken in outcomes] == [("", False)] * 2
    assert asyncio.run(done_on(shared, world, acknowledged)) == asyncio.run(done_on(clean, world, acknowledged))


# ── the command, twice, beside a writer ──────────────────────────────────────────────────────────────────────────────

SECONDS_TO_STOP: Final = 20.0
SESSIONS: Final = 4
ROUNDS: Final = 8
TURNS: Final = 5
OFTEN: Final = 0.3 / 3600
"""A third of a second, in hours."""
BUSY: Final = replace(
    PLASTMEM,
    name="busy",
    description="Everything at once, and all the time.",
    segmentation=Segmentation(segmenter=DualChannel(), replaces=True, least=5, idle_minutes=0.02),
    review=None,
    facts=None,
    compaction=Compaction(above=0.9),
    retention=Retention(types=("exec.output_chunk",), after_days=1.0),
    admission=replace(PLASTMEM.admission, never=("exec.output_chunk",)),
    schedule=Schedule(hours=dict.fromkeys(Job, OFTEN)),
)
NOTES: Final = (
    "Run the linter before you commit, and fix what it finds",
    "Ask before the branch of somebody else is rebased",
    "Tell the support before the shop is closed for the night",
)


@dataclass(frozen=True)
class Aftermath:
    """The result of two workers that ran during writes. `told`: the printed lines of each, one for each run."""

    path: Path
    observed: Counter[str]
    told: list[list[dict[str, Any]]]
    exits: list[int]
    complaints: list[str]


def a_worker(path: Path, preset: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "remembrancer", "worker", "--json", "--embedder", "none"]
    command += ["--db", str(path), "--preset", str(preset), "--workspace", "acme"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def next_run_of(worker: subprocess.Popen[str]) -> dict[str, Any]:
    assert worker.stdout is not None
    line = worker.stdout.readline()
    assert line, "the worker has ended"
    return json.loads(line)


def write_a_round(rem: Remembrancer, number: int) -> Counter[str]:
    """Write turns of each session hours after those of the previous round, old telemetry, and a repeated note."""
    began = datetime.now(UTC) - timedelta(days=2) + number * timedelta(hours=3)
    observed: Counter[str] = Counter()
    for session in range(SESSIONS):
        events = [
            {"text": f"Turn {turn} of {number}: the saw binds", "occurred_at": began + turn * timedelta(minutes=1)}
            for turn in range(TURNS)
        ]
        events.append({"text": f"line {number}", "type": "exec.output_chunk", "occurred_at": began})
        observed.update(str(event.id) for event in rem.scoped(session=f"s{session}").observe_many(events))
    if number < 2 * len(NOTES):
        rem.remember(NOTES[number % len(NOTES)] + "!" * (number // len(NOTES)), kind="note", tier="semantic")
    return observed


def idle(rem: Remembrancer, since: datetime) -> bool:
    """Whether no work is pending, and each job has started again since then."""
    states = rem.jobs.list()
    begun = all(state.last is not None and state.last.started_at > since for state in states)
    return begun and not any(state.backlog for state in states)


@pytest.fixture(scope="module")
def aftermath(tmp_path_factory: pytest.TempPathFactory) -> Aftermath:
    folder = tmp_path_factory.mktemp("workers")
    path, preset = folder / "shared.db", folder / "busy.toml"
    preset.write_text(text_of(BUSY), encoding="utf-8")
    with Remembrancer.open(
        str(path), preset=BUSY, workspace="acme", agent="ana", embedder="none", settings={"background_index": False}
    ) as rem:
        workers = [a_worker(path, preset) for _ in range(2)]
        try:
            told = [[next_run_of(worker)] for worker in workers]
            observed: Counter[str] = Counter()
            for number in range(ROUNDS):
                observed += write_a_round(rem, number)
                for worker, lines in zip(workers, told, strict=True):  # they work meanwhile
                    lines.append(next_run_of(worker))
            written = datetime.now(UTC)
            while not idle(rem, written):
                for worker, lines in zip(workers, told, strict=True):
                    lines.append(next_run_of(worker))
            for worker in workers:
                worker.send_signal(signal.SIGTERM)
            ends = [worker.communicate(timeout=SECONDS_TO_STOP) for worker in workers]
        finally:
            for worker in workers:
                worker.kill()
    for (out, _), lines in zip(ends, told, strict=True):
        lines += [json.loads(line) for line in out.splitlines()]
    return Aftermath(path, observed, told, [worker.returncode for worker in workers], [err for _, err in ends])


def on_its_file(aftermath: Aftermath, look: Callable[[Store], Any]) -> Any:
    async def looked() -> Any:
        store = RelationalStore(SqliteFile(str(aftermath.path)), analyse=analysed)
        try:
            return await look(store)
        finally:
            await store.close()

    return asyncio.run(looked())


EVERYBODY: Final = Reader(Scope(workspace="acme"))


def test_workers_that_are_asked_to_stop_end_with_success(aftermath: Aftermath) -> None:
    assert aftermath.exits == [0, 0]


def test_workers_on_one_file_both_work(aftermath: Aftermath) -> None:
    assert all({line["job"] for line in lines} >= {"segment", "compact", "retain"} for lines in aftermath.told)


def test_workers_on_one_file_meet_no_error(aftermath: Aftermath) -> None:
    runs: dict[str, Run] = on_its_file(aftermath, lambda store: store.runs(EVERYBODY.scope))
    assert [run.error for run in runs.values() if run.error] == []
    assert not any("Traceback" in complaint for complaint in aftermath.complaints)


def test_workers_on_one_file_put_nothing_off(aftermath: Aftermath) -> None:
    assert [line for lines in aftermath.told for line in lines if line["failed"]] == []


def test_an_event_observed_while_workers_run_is_stored_once(aftermath: Aftermath) -> None:
    async def events(store: Store) -> Counter[str]:
        found = await store.events(EVERYBODY, EventFilter(archived=True), limit=10_000)
        return Counter(str(event.id) for event in found)

    assert on_its_file(aftermath, events) == aftermath.observed


def test_each_turn_is_in_one_episode_in_order(aftermath: Aftermath) -> None:
    streams = [Scope(workspace="acme", agent="ana", session=f"s{number}") for number in range(SESSIONS)]

    async def gaps_and_tails(store: Store) -> object:
        found = await misplaced(store, BUSY, streams, at=datetime.now(UTC))
        return found, [await store.tail(stream) for stream in streams]

    assert on_its_file(aftermath, gaps_and_tails) == ([], [None] * SESSIONS)


def test_duplicate_notes_are_merged_once(aftermath: Aftermath) -> None:
    async def notes(store: Store) -> list[tuple[int, int]]:
        where = Filter(current_at=datetime.now(UTC), kinds=frozenset({"note"}))
        found: tuple[Memory, ...] = await store.workspace_memories(EVERYBODY.scope, where, limit=100)
        return [(one.revision, len(str(one.metadata[MERGED_FROM]).split(","))) for one in found]

    assert on_its_file(aftermath, notes) == [(2, 1)] * len(NOTES)


def test_old_telemetry_is_archived_once(aftermath: Aftermath) -> None:
    async def telemetry(store: Store) -> tuple[int, int]:
        of_that_type = EventFilter(types=frozenset({"exec.output_chunk"}))
        left = await store.events(EVERYBODY, of_that_type, limit=10_000)
        both = await store.events(EVERYBODY, replace(of_that_type, archived=True), limit=10_000)
        return len(left), len(both)

    left, both = on_its_file(aftermath, telemetry)
    assert both == SESSIONS * ROUNDS
    assert left < both


def test_a_file_that_workers_shared_is_sound(aftermath: Aftermath) -> None:
    findings = on_its_file(aftermath, lambda store: store.check(EVERYBODY.scope, None))
    assert [finding for finding in findings if not finding.ok] == []


def test_turns_are_hidden_behind_their_episode_once(aftermath: Aftermath) -> None:
    async def statuses(store: Store) -> Counter[Status]:
        rows = [row async for row in store.export(EVERYBODY.scope)]
        turns = [row for row in rows if row["record"] == "memory" and row["kind"] == "message"]
        return Counter(Status(str(row["status"])) for row in turns)

    assert on_its_file(aftermath, statuses) == {Status.COMPACTED: SESSIONS * ROUNDS * TURNS}
