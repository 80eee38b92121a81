"""Many processes on one file or server, and processes killed while they write: the benchmarks' own scripts, at a
smaller size.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benchmarks import kill
from postgres_server import Schemas

from remembrancer import Remembrancer

ROOT = Path(__file__).parents[2]
Figures = dict[str, Any]


def figures_of(*command: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", *command, "--json"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> Callable[[], tuple[str, ...]]:
    """The option that names a new database; none: a file."""
    if request.param == "sqlite":
        return tuple
    schemas: Schemas = request.getfixturevalue("server_of_postgres")
    return lambda: ("--db", schemas.take())


@pytest.fixture(scope="module")
def shared(database: Callable[[], tuple[str, ...]]) -> Figures:
    """The result for a database that four processes wrote to and one read at the same time."""
    return figures_of("benchmarks.processes", "--writers", "4", "--writes", "60", "--readers", "1", *database())


@pytest.fixture(scope="module")
def killed(database: Callable[[], tuple[str, ...]]) -> list[Figures]:
    """The result for a database with three concurrent writers that were all killed, three times over."""
    return figures_of("benchmarks.kill", "--rounds", "3", "--seed", "4", *database())


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


def test_no_acknowledged_write_is_lost_or_half_done_by_a_kill(killed: list[Figures]) -> None:
    assert [(one["acknowledged"] >= 60, one["lost"]) for one in killed] == [(True, 0)] * 3


def test_writers_are_killed_in_writes_of_every_kind(killed: list[Figures]) -> None:
    assert {kind for one in killed for kind in one["kinds"]} == {
        "erase",
        "helpful",
        "link",
        "observe",
        "observe_many",
        "priority",
        "remember",
        "restore",
        "retire",
        "supersede",
        "topic",
        "update",
        "used",
    }
    assert all(one["in_flight"] > 0 for one in killed)


@pytest.mark.parametrize(
    ("acknowledged", "in_flight", "lost"),
    [
        ([("observe", "kestrel0x0x0x1")], None, 0),
        ([("observe", "kestrel0x0x0x1"), ("observe", "kestrel0x0x0x2")], None, 1),
        ([], ("observe", "kestrel0x0x0x1"), 0),
        ([], ("observe_many", "kestrel0x0x0x1"), 1),
        ([("observe", "kestrel0x0x0x1"), ("priority", "kestrel0x0x0x1")], None, 2),
        ([], None, 1),
    ],
)
def test_a_write_that_a_kill_had_lost_or_left_half_done_would_be_counted(
    tmp_path: Path, acknowledged: list[kill.Write], in_flight: kill.Write | None, lost: int
) -> None:
    """The file has one event; the acknowledged writes are that one, none or more."""
    with Remembrancer.open(str(tmp_path / "k.db"), workspace="killed", agent="ana", embedder="none") as rem:
        rem.observe(kill.event_text("kestrel0x0x0x1"))
    caller = kill.Caller(in_flight=in_flight)
    for write in acknowledged:
        caller.rows.apply(write)
    assert kill.check(str(tmp_path / "k.db"), 0, {"0x0x0": caller}, {}).lost == lost


def test_rows_written_before_a_kill_are_found_by_their_words(killed: list[Figures]) -> None:
    assert [one["unworded"] for one in killed] == [0, 0, 0]


def test_rows_written_before_a_kill_get_their_vectors_from_the_next_sweep(killed: list[Figures]) -> None:
    assert [one["unvectored"] for one in killed] == [0, 0, 0]


def test_no_place_in_a_stream_is_skipped_or_given_twice_by_a_kill(killed: list[Figures]) -> None:
    assert [one["gaps"] for one in killed] == [0, 0, 0]


def test_a_file_whose_writer_was_killed_is_sound(killed: list[Figures]) -> None:
    assert [one["faults"] for one in killed] == [[], [], []]


def test_a_process_killed_while_it_writes_the_file_of_an_index_changes_no_answer() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.kill_index", "--rounds", "3"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.startswith("3 processes killed, ")
    assert done.stdout.endswith("; 0 answers differ\n")
