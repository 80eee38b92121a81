"""A worker runs due jobs despite failures, and stops when asked to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

import pytest
from contexts import a_context, say

from remembrancer.adapters.reference import ReferenceStore
from remembrancer.domain.event import EventDraft
from remembrancer.domain.job import Job, Run
from remembrancer.domain.scope import Scope
from remembrancer.engine.record import observe
from remembrancer.engine.segment import item_of
from remembrancer.errors import InvalidInput, ModelUnavailable, StoreUnavailable
from remembrancer.jobs import sweeps, worker
from remembrancer.jobs.indexer import Indexer
from remembrancer.jobs.sweeps import BrokenOff, JobReport, Sweeper
from remembrancer.jobs.worker import AFTER_TROUBLE, LONGEST_WAIT, Stop, work
from remembrancer.policies.schedule import USUAL, Schedule
from remembrancer.ports.language_model import LanguageModel, Task
from remembrancer.ports.store import Store
from remembrancer.presets.default import DEFAULT
from remembrancer.presets.plastmem import PLASTMEM
from remembrancer.presets.spec import Preset
from remembrancer.testing.doubles import NOW, SCOPE, FixedClock
from remembrancer.testing.faults import Faults
from remembrancer.testing.scripted_model import Scripted, ScriptedModel

PATIENCE: Final = 20.0
"""Seconds until a test that waits for what never happens gives up."""
DAY: Final = timedelta(days=1)
ALL: Final = ["index", "segment", "compact", "retain", "health"]
"""The jobs of the default preset."""


@dataclass
class Life:
    """A worker in a world whose clock moves on by as much as it waits. It is stopped after so many pauses."""

    sweeper: Sweeper
    clock: FixedClock
    pauses: int
    only: Sequence[Job] | None = None
    stop: Stop = field(default_factory=Stop)
    told: list[tuple[datetime, str]] = field(default_factory=list[tuple[datetime, str]])
    reports: list[JobReport] = field(default_factory=list[JobReport])
    waits: list[timedelta] = field(default_factory=list[timedelta])

    def on_run(self, job: Job, report: JobReport) -> None:
        self.told.append((self.clock(), job.value))
        self.reports.append(report)

    async def pause(self, stop: Stop, wait: timedelta, _: asyncio.Event) -> None:
        self.waits.append(wait)
        self.clock.advance(wait)
        if len(self.waits) == self.pauses:
            stop.set()

    async def live(self) -> None:
        await asyncio.wait_for(work(self.sweeper, self.stop, only=self.only, on_run=self.on_run), PATIENCE)

    @property
    def jobs(self) -> list[str]:
        return [job for _, job in self.told]


Make = Callable[..., Life]


@pytest.fixture
def life(monkeypatch: pytest.MonkeyPatch) -> Make:
    def make(
        store: Store | None = None,
        *,
        preset: Preset = DEFAULT,
        pauses: int = 1,
        only: Sequence[Job] | None = None,
        llm: LanguageModel | None = None,
        clock: FixedClock | None = None,
    ) -> Life:
        clock = clock or FixedClock()
        ctx = a_context(ReferenceStore() if store is None else store, preset, clock=clock, llm=llm)
        made = Life(Sweeper(ctx, SCOPE, Indexer(ctx, SCOPE)), clock, pauses, only)
        monkeypatch.setattr(worker, "_pause", made.pause)
        return made

    return make


# ── what is due ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_jobs_that_never_ran_run_at_once_in_their_order(life: Make) -> None:
    one = life()
    asyncio.run(one.live())
    assert one.told == [(NOW, job) for job in ALL]


def test_it_waits_until_the_next_is_due(life: Make) -> None:
    one = life()
    asyncio.run(one.live())
    assert one.waits == [USUAL[Job.INDEX]]


def test_each_runs_again_at_its_time_and_no_sooner(life: Make) -> None:
    one = life(pauses=5)
    asyncio.run(one.live())
    later = [(at - NOW, job) for at, job in one.told[len(ALL) :]]
    half, minute = timedelta(seconds=30), timedelta(minutes=1)
    assert later == [
        (half, "index"),
        (minute, "index"),
        (minute, "segment"),
        (3 * half, "index"),
        (2 * minute, "index"),
        (2 * minute, "segment"),
    ]


def test_it_never_sleeps_so_long_that_it_would_miss_work_of_others(life: Make) -> None:
    one = life(only=[Job.COMPACT])
    asyncio.run(one.live())
    assert one.waits == [LONGEST_WAIT]


def test_however_long_nothing_ran_one_run_makes_up_for_it(life: Make) -> None:
    one = life()

    async def after_a_week() -> None:
        for job in ALL:
            await one.sweeper.ctx.store.put_run(SCOPE, Run(job=job, started_at=NOW - 7 * DAY, ended_at=NOW - 7 * DAY))
        await one.live()

    asyncio.run(after_a_week())
    assert one.jobs == ALL


def test_a_job_run_by_another_worker_waits_for_its_next_time(life: Make) -> None:
    one = life()

    async def after_another() -> None:
        await one.sweeper.ctx.store.put_run(SCOPE, Run(job="compact", started_at=NOW, ended_at=NOW))
        await one.live()

    asyncio.run(after_another())
    assert one.jobs == ["index", "segment", "retain", "health"]


def test_a_clock_that_was_set_back_holds_up_nothing(life: Make) -> None:
    one = life()

    async def set_back() -> None:
        await one.sweeper.ctx.store.put_run(SCOPE, Run(job="compact", started_at=NOW + DAY, ended_at=NOW + DAY))
        await one.live()

    asyncio.run(set_back())
    assert one.jobs == ALL


def test_only_the_jobs_that_are_named_run(life: Make) -> None:
    one = life(only=[Job.HEALTH, Job.INDEX])
    asyncio.run(one.live())
    assert one.jobs == ["index", "health"]


@pytest.mark.parametrize("only", [[Job.SLEEP, Job.FACTS], []])
def test_a_worker_with_nothing_to_do_for_ever_is_refused(life: Make, only: list[Job]) -> None:
    with pytest.raises(InvalidInput, match=r"^only: .*jobs of the preset: index, segment, compact, retain, health"):
        asyncio.run(life(only=only).live())


def test_a_schedule_of_one_s_own_is_kept(life: Make) -> None:
    preset = replace(DEFAULT, schedule=Schedule(hours=dict.fromkeys(Job, 1 / 360)))
    one = life(preset=preset, pauses=3)
    asyncio.run(one.live())
    assert one.jobs == ALL * 3
    assert one.waits == [timedelta(seconds=10)] * 3


# ── what fails ───────────────────────────────────────────────────────────────────────────────────────────────────────


def breaking(monkeypatch: pytest.MonkeyPatch, job: str, error: Exception) -> None:
    async def sweep(*_: object, **__: object) -> object:
        raise error

    monkeypatch.setattr(sweeps, job, sweep)


@pytest.mark.parametrize("error", [ModelUnavailable("down"), ZeroDivisionError("a fault of ours")])
def test_a_job_that_always_fails_keeps_none_of_the_others_from_running(
    life: Make, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    breaking(monkeypatch, "segment", error)
    one = life(pauses=2)
    asyncio.run(one.live())
    assert one.jobs == [*ALL, "index"]


def test_a_job_that_broke_off_is_reported(life: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    breaking(monkeypatch, "segment", ModelUnavailable("it is down"))
    one = life(only=[Job.SEGMENT])
    asyncio.run(one.live())
    assert one.reports == [BrokenOff(reason="it is down")]


def test_a_store_that_is_away_for_a_while_is_waited_for(life: Make) -> None:
    one = life(Faults(1).around(ReferenceStore()), pauses=2)
    asyncio.run(one.live())
    assert one.waits[0] == AFTER_TROUBLE
    assert one.jobs == ["index", *ALL]


def test_a_job_that_finds_the_store_unavailable_reports_it(life: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    breaking(monkeypatch, "compact", StoreUnavailable("the disk is full"))
    one = life()
    asyncio.run(one.live())
    assert (one.jobs[-1], one.reports[-1]) == ("compact", BrokenOff(reason="the disk is full"))


@pytest.mark.parametrize("at", range(1, 21))
def test_the_worker_continues_after_any_failure_of_the_store(life: Make, at: int) -> None:
    faults = Faults(at)
    one = life(faults.around(ReferenceStore()), pauses=3)
    asyncio.run(one.live())
    assert faults.struck
    assert set(one.jobs) == set(ALL)
    assert sum(isinstance(report, BrokenOff) for report in one.reports) <= 1


def test_an_error_in_the_listener_ends_the_worker(life: Make) -> None:
    one = life()

    def fail(_: Job, __: JobReport) -> None:
        raise BrokenPipeError

    one.on_run = fail  # type: ignore[method-assign]
    with pytest.raises(BrokenPipeError):
        asyncio.run(one.live())


# ── what is poisoned ─────────────────────────────────────────────────────────────────────────────────────────────────

POISON: Final = "the poisoned talk"


def _refuses(task: Task) -> Scripted:
    """A model that never answers about one of the conversations, and joins the turns of each other one."""
    if POISON in task.material:
        raise ModelUnavailable("I cannot read this")
    count = sum(line.startswith("[") for line in task.material.splitlines())
    one: dict[str, Any] = {
        "first": 1,
        "last": count,
        "title": "A talk of a few turns",
        "summary": "It was said.",
        "surprise": "low",
    }
    return {"segments": [one]}


def test_a_poisoned_piece_of_work_never_blocks_those_after_it(life: Make) -> None:
    store = ReferenceStore()
    preset = replace(PLASTMEM, facts=None, review=None)
    one = life(store, preset=preset, pauses=4, only=[Job.SEGMENT], llm=ScriptedModel(_refuses))
    streams = [SCOPE.narrowed(session=name) for name in ("a", "b", "c")]

    async def with_poison() -> list[Scope]:
        for stream in streams:
            text = POISON if stream.session == "a" else "a talk"
            drafts = [EventDraft(text=f"{text} {n}", occurred_at=NOW - DAY) for n in range(3)]
            await observe(one.sweeper.ctx, stream, drafts)
        one.clock.advance(DAY)
        await one.live()
        return [stream for stream in streams if await store.tail(stream) is not None]

    assert asyncio.run(with_poison()) == streams[:1]
    assert [one.item for one in asyncio.run(store.deferrals(SCOPE, "segment"))] == [item_of(streams[0])]


def test_new_work_is_done_while_failing_work_is_pending(life: Make) -> None:
    store = ReferenceStore()
    preset = replace(PLASTMEM, facts=None, review=None)
    one = life(store, preset=preset, pauses=1, only=[Job.SEGMENT], llm=ScriptedModel(_refuses))
    new = SCOPE.narrowed(session="z")

    async def with_poison() -> bool:
        await say(store, *(f"{POISON} {n}" for n in range(3)))
        one.clock.advance(DAY)
        await one.live()
        await say(store, *(f"a talk {n}" for n in range(3)), scope=new, at=NOW + DAY)
        one.clock.advance(DAY)
        one.stop = Stop()
        one.waits.clear()
        await one.live()
        return await store.tail(new) is None

    assert asyncio.run(with_poison())


# ── when it stops ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_worker_that_was_stopped_before_it_began_does_nothing(life: Make) -> None:
    one = life()
    one.stop.set()
    asyncio.run(one.live())
    assert one.told == []


def test_the_run_under_way_is_finished_and_no_other_begun(life: Make) -> None:
    one = life()

    def stopping(job: Job, _: JobReport) -> None:
        one.told.append((NOW, job.value))
        one.stop.set()

    one.on_run = stopping  # type: ignore[method-assign]
    asyncio.run(one.live())
    assert one.jobs == ["index"]


def test_a_worker_that_waits_is_woken_to_stop() -> None:
    async def waiting() -> bool:
        ctx = a_context(ReferenceStore(), DEFAULT)
        sweeper, stop, ran = Sweeper(ctx, SCOPE, Indexer(ctx, SCOPE)), Stop(), asyncio.Event()

        def on_run(job: Job, _: JobReport) -> None:
            if job is Job.HEALTH:
                ran.set()

        task = asyncio.create_task(work(sweeper, stop, on_run=on_run))
        await asyncio.wait_for(ran.wait(), PATIENCE)
        await asyncio.sleep(0)
        stop.set()
        await asyncio.wait_for(task, PATIENCE)
        return task.exception() is None

    assert asyncio.run(waiting())
