"""Workers on one PostgreSQL database, killed in the middle of sweeps while others write: nothing is lost or done twice.

`python -m benchmarks.workers kill` does the same at length, and lets the server crash meanwhile.
"""

from __future__ import annotations

import asyncio

import pytest
from benchmarks.workers import NOTES, USED, Aftermath, killed
from postgres_server import Schemas


@pytest.fixture(scope="module")
def aftermath(server_of_postgres: Schemas) -> Aftermath:
    return asyncio.run(killed(server_of_postgres.take(), kills=2, workers=2, seed=5, calls=40))


def test_every_acknowledged_event_is_stored_once(aftermath: Aftermath) -> None:
    assert aftermath.events > 0
    assert (aftermath.lost, aftermath.doubled) == (0, 0)


def test_every_cue_is_embedded(aftermath: Aftermath) -> None:
    assert aftermath.unembedded == 0


def test_each_turn_is_in_one_episode_in_order(aftermath: Aftermath) -> None:
    assert aftermath.misplaced == []


def test_near_duplicates_are_merged_once(aftermath: Aftermath) -> None:
    assert aftermath.merged == [(2, 1)] * len(NOTES)


def test_the_use_of_a_memory_is_reviewed_once(aftermath: Aftermath) -> None:
    assert aftermath.reviews == [1] * len(USED)


def test_workers_take_over_the_sweeps_of_killed_ones(aftermath: Aftermath) -> None:
    assert aftermath.taken_over > 0
    assert set(aftermath.runs) >= {"index", "segment", "review", "compact", "health"}


def test_no_worker_meets_an_error(aftermath: Aftermath) -> None:
    assert aftermath.broke_off == []
