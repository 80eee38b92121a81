"""Many processes on one file, and processes killed while they write: the benchmarks' own scripts, at a smaller size."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
Figures = dict[str, Any]


def figures_of(*command: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", *command, "--json"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def shared() -> Figures:
    """What became of a file that four processes wrote to and one read, all at once."""
    return figures_of("benchmarks.processes", "--writers", "4", "--writes", "60", "--readers", "1")


@pytest.fixture(scope="module")
def killed() -> list[Figures]:
    """What became of a file whose writer was killed three times."""
    return figures_of("benchmarks.kill", "--rounds", "3", "--seed", "4")


def test_no_process_meets_an_error(shared: Figures) -> None:
    assert [error for process in shared["processes"] for error in process["errors"]] == []


def test_every_row_of_every_process_is_there(shared: Figures) -> None:
    assert shared["rows"] == shared["expected"] == 240


def test_places_in_a_shared_stream_have_no_gap(shared: Figures) -> None:
    assert shared["gaps"] == []


def test_a_file_that_many_wrote_to_is_sound(shared: Figures) -> None:
    assert shared["faults"] == []


def test_a_reader_is_served_while_others_write(shared: Figures) -> None:
    assert [process["calls"] > 0 for process in shared["processes"] if process["role"] == "reader"] == [True]


def test_no_acknowledged_row_is_lost_by_a_kill(killed: list[Figures]) -> None:
    assert [(one["acknowledged"] >= 20, one["lost"]) for one in killed] == [(True, 0)] * 3


def test_rows_written_before_a_kill_are_found_by_their_words(killed: list[Figures]) -> None:
    assert [one["unworded"] for one in killed] == [0, 0, 0]


def test_rows_written_before_a_kill_get_their_vectors_from_the_next_sweep(killed: list[Figures]) -> None:
    assert [one["unvectored"] for one in killed] == [0, 0, 0]


def test_no_place_in_a_stream_is_skipped_or_given_twice_by_a_kill(killed: list[Figures]) -> None:
    assert [one["gaps"] for one in killed] == [0, 0, 0]


def test_a_file_whose_writer_was_killed_is_sound(killed: list[Figures]) -> None:
    assert [one["faults"] for one in killed] == [[], [], []]
