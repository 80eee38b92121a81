from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from remembrancer import InvalidInput, Remembrancer, Settings
from remembrancer.jobs.indexer import IndexReport
from remembrancer.jobs.maintenance import HealthReport
from remembrancer.testing.doubles import FailingEmbedder, FixedClock, HashEmbedder

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
    assert list(rem.maintain()) == ["index", "health"]


@pytest.mark.parametrize("only", [["index"], ["health"], []])
def test_only_the_jobs_that_are_named_run(rem: Remembrancer, only: list[str]) -> None:
    assert list(rem.maintain(only)) == only


def test_jobs_run_in_their_order_however_they_are_named(rem: Remembrancer) -> None:
    assert list(rem.maintain(["health", "index", "health"])) == ["index", "health"]


def test_health_is_taken_of_what_was_indexed_just_before(rem: Remembrancer) -> None:
    rem.maintain()
    assert [snapshot.metrics.coverage for snapshot in rem.health_history()] == [100.0]


def test_a_report_holds_the_snapshots_the_workspace_s_first(rem: Remembrancer) -> None:
    assert crews_taken(rem.maintain()["health"]) == [None, "sales"]


def test_a_report_says_why_nothing_was_taken(rem: Remembrancer) -> None:
    rem.maintain()
    assert rem.maintain()["health"] == HealthReport(taken=(), reason="taken today already")


def test_what_is_not_due_runs_when_it_is_forced(rem: Remembrancer) -> None:
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
        assert [snapshot.metrics.coverage for snapshot in rem.health_history()] == [0.0]


@pytest.mark.parametrize(("only", "said"), [(["sleepwalk"], "one of index, health"), ("health", "a list")])
def test_a_job_that_nobody_knows_is_refused(rem: Remembrancer, only: list[str], said: str) -> None:
    with pytest.raises(InvalidInput, match=rf"^only: .*{said}"):
        rem.maintain(only)


def test_a_slip_in_the_name_of_a_job_runs_none_of_them(rem: Remembrancer) -> None:
    with pytest.raises(InvalidInput):
        rem.maintain(["health", "sleepwalk"])
    assert rem.health() is None
