"""States of rows that the program never writes, which the contract of `states` cannot test."""

from __future__ import annotations

from pathlib import Path

import pytest

from remembrancer import Remembrancer, StoreUnavailable
from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.testing.doubles import FixedClock


def opened(path: Path) -> Remembrancer:
    return Remembrancer.open(str(path), embedder="none", settings={"background_index": False}, clock=FixedClock())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with opened(tmp_path / "a.db") as rem:
        rem.remember("The deploy failed")
    return tmp_path / "a.db"


def damage(path: Path, column: str, value: float | str | bytes) -> None:
    connection = connect(str(path))
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute(f"UPDATE memories SET {column} = ?", (value,))
    connection.close()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("stability", 1e300),
        ("importance_floor", -1e300),
        ("confidence", "much"),
        ("used", 2**40),
        ("occurred_to", "long ago"),
        ("id", b"short"),
    ],
)
def test_a_number_that_was_never_written_is_a_damaged_file(path: Path, column: str, value: float | str | bytes) -> None:
    damage(path, column, value)
    with opened(path) as rem, pytest.raises(StoreUnavailable, match="damaged"):
        rem.health.decay()


def test_recall_refuses_a_number_that_no_array_can_hold(path: Path) -> None:
    damage(path, "stability", 1e300)
    with opened(path) as rem, pytest.raises(StoreUnavailable, match="damaged"):
        rem.recall("deploy")
