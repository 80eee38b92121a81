from __future__ import annotations

from datetime import timedelta

import pytest

from remembrancer.domain.job import Job, Run
from remembrancer.errors import InvalidInput
from remembrancer.policies.schedule import AFTER_FAILURE, USUAL, Schedule
from remembrancer.testing.doubles import NOW

SECOND = timedelta(seconds=1)


def a_run(*, error: str = "") -> Run:
    return Run(job="clusters", started_at=NOW, ended_at=NOW + 9 * SECOND, error=error)


def test_every_job_has_a_usual_time() -> None:
    assert set(USUAL) == set(Job)


def test_a_job_that_never_ran_is_due_at_once() -> None:
    assert Schedule().next_run(Job.CLUSTERS, None) is None
    assert Schedule().is_due(Job.CLUSTERS, None, NOW)


def test_clusters_are_due_every_six_hours_from_beginning_to_beginning() -> None:
    assert Schedule().next_run(Job.CLUSTERS, a_run()) == NOW + timedelta(hours=6)


@pytest.mark.parametrize(("later", "due"), [(6 * 3600 - 1, False), (6 * 3600, True), (1e6, True)])
def test_a_job_is_due_from_its_time_on(later: float, due: bool) -> None:
    assert Schedule().is_due(Job.CLUSTERS, a_run(), NOW + later * SECOND) is due


def test_a_schedule_of_ones_own_counts() -> None:
    own = Schedule(hours={Job.CLUSTERS: 0.5})
    assert own.every(Job.CLUSTERS) == timedelta(minutes=30)
    assert own.every(Job.HEALTH) == USUAL[Job.HEALTH]


def test_a_run_that_broke_off_is_made_up_for_soon() -> None:
    assert Schedule().next_run(Job.CLUSTERS, a_run(error="no room")) == NOW + AFTER_FAILURE
    assert Schedule().next_run(Job.INDEX, a_run(error="no room")) == NOW + USUAL[Job.INDEX]


def test_a_run_noted_by_a_clock_that_was_set_back_does_not_hold_a_job_up() -> None:
    assert Schedule().is_due(Job.CLUSTERS, a_run(), NOW - SECOND)


@pytest.mark.parametrize("hours", [0, -1, float("nan"), float("inf"), 9e9])
def test_hours_that_are_none_are_refused(hours: float) -> None:
    with pytest.raises(InvalidInput, match=r"^hours\.index: .* a number greater than 0, at most 8,784"):
        Schedule(hours={Job.INDEX: hours})
