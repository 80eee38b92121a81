"""Which jobs `maintain` runs, their reports, and the recorded runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Final

import pytest
from contexts import a_context, say

from remembrancer import InvalidInput, Remembrancer, Settings
from remembrancer.adapters.reference import ReferenceStore
from remembrancer.domain.job import Job, Run
from remembrancer.engine.compact import CompactionReport
from remembrancer.errors import Conflict, ModelUnavailable, RemembrancerError, StoreUnavailable
from remembrancer.jobs import sweeps
from remembrancer.jobs.indexer import Indexer, IndexReport
from remembrancer.jobs.maintenance import maintain, run_job
from remembrancer.jobs.sweeps import BrokenOff, HealthReport, JobReport, NotDue, Sweeper, counted
from remembrancer.policies.schedule import AFTER_FAILURE
from remembrancer.ports.store import Store
from remembrancer.presets.default import DEFAULT
from remembrancer.presets.mnemosyne import MNEMOSYNE
from remembrancer.testing.doubles import NOW, SCOPE, FailingEmbedder, FixedClock, HashEmbedder
from remembrancer.testing.faults import Faults

QUIET = Settings(db=":memory:", workspace="acme", background_index=False)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def rem(clock: FixedClock) -> Iterator[Remembrancer]:
    with Remembrancer.open(settings=QUIET, embedder=HashEmbedder(), clock=clock) as opened:
        opened.scoped(crew="sales").remember("The customer called")
        yield opened


def crews_taken(report: object) -> list[str | None]:
    assert isinstance(report, HealthReport)
    return [snapshot.crew for snapshot in report.taken]


def test_all_jobs_run_in_their_order_unless_some_are_named(rem: Remembrancer) -> None:
    assert list(rem.maintain()) == ["index", "segment", "compact", "retain", "health"]


@pytest.mark.parametrize("only", [["index"], ["health"], []])
def test_only_the_jobs_that_are_named_run(rem: Remembrancer, only: list[str]) -> None:
    assert list(rem.maintain(only)) == only


def test_jobs_run_in_their_order_however_they_are_named(rem: Remembrancer) -> None:
    assert list(rem.maintain(["health", "index", "health"])) == ["index", "health"]


def test_health_includes_memories_indexed_in_the_same_round(rem: Remembrancer) -> None:
    rem.maintain()
    assert [snapshot.metrics.coverage for snapshot in rem.health.history()] == [100.0]


def test_a_report_holds_the_snapshots_the_workspace_s_first(rem: Remembrancer) -> None:
    assert crews_taken(rem.maintain()["health"]) == [None, "sales"]


def test_a_report_has_the_reason_for_no_snapshot(rem: Remembrancer) -> None:
    rem.maintain()
    assert rem.maintain()["health"] == HealthReport(taken=(), reason="taken today already")


def test_a_job_that_is_not_due_runs_when_it_is_forced(rem: Remembrancer) -> None:
    rem.maintain()
    assert crews_taken(rem.maintain(force=True)["health"]) == [None, "sales"]


def test_health_is_due_again_the_next_day(rem: Remembrancer, clock: FixedClock) -> None:
    rem.maintain()
    clock.advance(timedelta(days=1))
    assert crews_taken(rem.maintain()["health"]) == [None, "sales"]


def test_health_is_taken_when_the_embedder_is_down(clock: FixedClock) -> None:
    with Remembrancer.open(settings=QUIET, embedder=FailingEmbedder(), clock=clock) as rem:
        rem.remember("The deploy failed")
        reports = rem.maintain()
        assert reports["index"] == IndexReport(indexed=0, deferred=0, reason="the model does not answer", down=True)
        assert [snapshot.metrics.coverage for snapshot in rem.health.history()] == [0.0]


@pytest.mark.parametrize(("only", "said"), [(["sleepwalk"], "one of index, segment, .*health"), ("health", "a list")])
def test_an_unknown_job_is_refused(rem: Remembrancer, only: list[str], said: str) -> None:
    with pytest.raises(InvalidInput, match=rf"^only: .*{said}"):
        rem.maintain(only)


def test_a_slip_in_the_name_of_a_job_runs_none_of_them(rem: Remembrancer) -> None:
    with pytest.raises(InvalidInput):
        rem.maintain(["health", "sleepwalk"])
    assert rem.health.latest() is None


# ── what is due ──────────────────────────────────────────────────────────────────────────────────────────────────────

DAY: Final = timedelta(days=1)
EVERY_JOB: Final = (*Job,)


def a_sweeper(store: Store | None = None, clock: FixedClock | None = None) -> Sweeper:
    """A sweeper over the default preset, without models."""
    ctx = a_context(ReferenceStore() if store is None else store, DEFAULT, clock=clock or FixedClock())
    return Sweeper(ctx, SCOPE, Indexer(ctx, SCOPE))


def test_a_job_that_reads_many_rows_runs_on_its_interval(clock: FixedClock) -> None:
    async def rounds() -> list[JobReport]:
        sweeper = a_sweeper(clock=clock)
        first = await maintain(sweeper)
        clock.advance(DAY / 2)
        second = await maintain(sweeper)
        clock.advance(DAY / 2)
        third = await maintain(sweeper)
        return [reports["compact"] for reports in (first, second, third)]

    done = CompactionReport(reason="there are no near-duplicates")
    assert asyncio.run(rounds()) == [done, NotDue(next_run=NOW + DAY), done]


def test_a_job_that_reads_pending_work_runs_whenever_it_is_requested() -> None:
    async def rounds() -> list[bool]:
        sweeper = a_sweeper()
        reports = [await maintain(sweeper) for _ in range(2)]
        return [isinstance(report["segment"], NotDue) for report in reports]

    assert asyncio.run(rounds()) == [False, False]


def test_a_job_that_has_its_time_waits_for_it_though_it_is_named() -> None:
    async def rounds() -> JobReport:
        sweeper = a_sweeper()
        await maintain(sweeper)
        return (await maintain(sweeper, [Job.COMPACT]))["compact"]

    assert asyncio.run(rounds()) == NotDue(next_run=NOW + DAY)


def test_with_force_a_job_does_not_wait_for_its_time() -> None:
    async def rounds() -> JobReport:
        sweeper = a_sweeper()
        await maintain(sweeper)
        return (await maintain(sweeper, [Job.COMPACT], force=True))["compact"]

    assert isinstance(asyncio.run(rounds()), CompactionReport)


def test_a_job_that_is_not_due_reports_its_next_time() -> None:
    assert NotDue(next_run=NOW).reason == "not due before 2026-03-04T09:00+00:00"


def test_a_job_that_is_not_due_keeps_the_record_of_its_last_run() -> None:
    async def rounds() -> tuple[Run, Run]:
        clock = FixedClock()
        sweeper = a_sweeper(clock=clock)
        await maintain(sweeper)
        before = (await sweeper.ctx.store.runs(SCOPE))["compact"]
        clock.advance(timedelta(hours=1))
        await maintain(sweeper)
        return before, (await sweeper.ctx.store.runs(SCOPE))["compact"]

    before, after = asyncio.run(rounds())
    assert before == after


def test_a_named_job_that_the_preset_does_not_have_reports_it(rem: Remembrancer) -> None:
    assert rem.maintain(["sleep"])["sleep"].reason == "preset default does not consolidate working memory"


def test_each_job_of_a_preset_that_has_it_all_can_be_run() -> None:
    async def reports() -> list[str]:
        sweeper = a_sweeper()
        return list(await maintain(sweeper, EVERY_JOB))

    assert asyncio.run(reports()) == [job.value for job in Job]


# ── what breaks off ──────────────────────────────────────────────────────────────────────────────────────────────────


def breaking(monkeypatch: pytest.MonkeyPatch, job: str, error: Exception) -> None:
    async def sweep(*_: object, **__: object) -> object:
        raise error

    monkeypatch.setattr(sweeps, job, sweep)


@pytest.mark.parametrize(
    ("error", "said"),
    [(Conflict("it was changed"), "it was changed"), (ModelUnavailable("it is down"), "it is down")],
)
def test_a_failed_job_is_recorded_with_its_error(
    monkeypatch: pytest.MonkeyPatch, error: RemembrancerError, said: str
) -> None:
    breaking(monkeypatch, "segment", error)

    async def round_of() -> tuple[JobReport, Run]:
        sweeper = a_sweeper()
        report = await run_job(sweeper, Job.SEGMENT)
        return report, (await sweeper.ctx.store.runs(SCOPE))["segment"]

    run = Run(job="segment", started_at=NOW, ended_at=NOW, reason=said, error=said)
    assert asyncio.run(round_of()) == (BrokenOff(reason=said), run)


@pytest.mark.parametrize("error", [Conflict("it was changed"), ZeroDivisionError("a fault of ours")])
def test_a_job_that_fails_keeps_none_of_the_others_from_running(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    breaking(monkeypatch, "segment", error)

    async def round_of() -> list[str]:
        reports = await maintain(a_sweeper())
        return [job for job, report in reports.items() if not isinstance(report, BrokenOff)]

    assert asyncio.run(round_of()) == ["index", "compact", "retain", "health"]


def test_a_fault_of_ours_is_named_and_logged_with_where_it_happened(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    breaking(monkeypatch, "compact", ZeroDivisionError("a fault of ours"))
    with caplog.at_level(logging.ERROR, "remembrancer"):
        report = asyncio.run(run_job(a_sweeper(), Job.COMPACT))
    assert report == BrokenOff(reason="ZeroDivisionError: a fault of ours")
    [record] = caplog.records
    assert record.exc_info is not None


def test_a_failed_job_is_due_again_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    breaking(monkeypatch, "compact", Conflict("it was changed"))

    async def rounds() -> list[type[JobReport]]:
        clock = FixedClock()
        sweeper = a_sweeper(clock=clock)
        kinds: list[type[JobReport]] = []
        for wait in (timedelta(0), AFTER_FAILURE / 2, AFTER_FAILURE / 2):
            clock.advance(wait)
            kinds.append(type((await maintain(sweeper))["compact"]))
        return kinds

    assert asyncio.run(rounds()) == [BrokenOff, NotDue, BrokenOff]


def test_without_the_store_no_job_can_run() -> None:
    async def round_of() -> None:
        await maintain(a_sweeper(Faults(3).around(ReferenceStore())))

    with pytest.raises(StoreUnavailable, match="injected"):
        asyncio.run(round_of())


def test_a_run_that_the_store_failed_in_is_not_noted() -> None:
    async def round_of() -> list[str]:
        store = ReferenceStore()
        with pytest.raises(StoreUnavailable):
            await maintain(a_sweeper(Faults(2).around(store)), [Job.SEGMENT])
        return list(await store.runs(SCOPE))

    assert asyncio.run(round_of()) == []


# ── what is noted ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_is_recorded_with_its_counts() -> None:
    async def round_of() -> Run:
        store, clock = ReferenceStore(), FixedClock(NOW + DAY)
        await say(store, *(f"Turn {n}" for n in range(9)))
        await maintain(a_sweeper(store, clock), [Job.SEGMENT])
        return (await store.runs(SCOPE))["segment"]

    assert asyncio.run(round_of()) == Run(job="segment", started_at=NOW + DAY, ended_at=NOW + DAY, done=1)


def test_a_run_never_ends_before_it_began() -> None:
    times = iter([NOW, NOW, NOW, NOW - DAY])

    async def round_of() -> Run:
        store = ReferenceStore()
        ctx = replace(a_context(store, MNEMOSYNE), clock=lambda: next(times, NOW - DAY))
        await run_job(Sweeper(ctx, SCOPE, Indexer(ctx, SCOPE)), Job.SLEEP)
        return (await store.runs(SCOPE))["sleep"]

    run = asyncio.run(round_of())
    assert (run.started_at, run.ended_at) == (NOW, NOW)


def test_memories_formed_in_a_round_are_indexed_in_the_same_round() -> None:
    with Remembrancer.open(embedder=HashEmbedder(), settings=QUIET) as rem:
        for number in range(60):
            rem.observe(f"We talked of topic {number // 30} for the {number}th time", session="standup")
        rem.jobs.index_now()
        reports = rem.maintain(force=True)
        stats = rem.health.stats()
    assert counted(reports["segment"]).done
    assert stats.cues == sum(stats.vectors.values())
