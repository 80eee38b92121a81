from __future__ import annotations

from pathlib import Path

import pytest
from driver import Cli
from prepared import Prepare

from remembrancer import Remembrancer


@pytest.fixture
def notes(cli: Cli, prepared: Prepare) -> Cli:
    """A store of a few memories in notes.db, and an answer that was kept."""
    prepared(_fill)
    return cli


def _fill() -> None:
    with Remembrancer.open("notes.db", embedder="none", settings={"background_index": False}) as memory:
        for text in ("Checkout needs 2 GiB", "The offsite is in Lisbon", "Ana is vegetarian"):
            memory.remember(text)
        memory.recall("where is the offsite?", keep=True)


def test_a_store_moves_and_answers_the_same(notes: Cli) -> None:
    told = notes.done("migrate", "notes.db", "copy.db").out
    assert "Copied" in told
    assert "equal: " in told
    assert "answers equal to the last digit (4 questions, 4 with hits)" in told
    again = notes.done("migrate", "notes.db", "copy.db", "--verify-only", "--json", "--questions", "1").json
    assert (again["ok"], again["copied_rows"], again["answers"]["asked"]) == (True, 0, 1)
    assert {(one["rows"], one["digest"]) for one in again["tables"]} == {
        (one["target_rows"], one["target_digest"]) for one in again["tables"]
    }
    assert (
        notes.done("recall", "offsite", "--db", "copy.db").out
        == notes.done("recall", "offsite", "--db", "notes.db").out
    )


def test_a_dry_run_makes_nothing(notes: Cli, folder: Path) -> None:
    assert "Would copy" in notes.done("migrate", "notes.db", "copy.db", "--dry-run").out
    assert not (folder / "copy.db").exists()


def test_a_difference_ends_with_1_and_a_store_of_its_own_with_2(notes: Cli) -> None:
    notes.done("remember", "Something else", "--db", "other.db")
    differs = notes("migrate", "notes.db", "other.db", "--verify-only")
    assert (differs.code, "different: " in differs.out) == (1, True)
    refused = notes("migrate", "notes.db", "other.db")
    assert (refused.code, "give an empty database" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("absent.db", "copy.db"), 3, "absent.db: no such file"),
        (("notes.db", "copy.db", "--db", "notes.db"), 2, "no --db for this command"),
        (("notes.db", "copy.db", "--dry-run", "--verify-only"), 2, "either --dry-run or --verify-only"),
        (("notes.db", "copy.db", "--questions", "-1"), 2, "questions: "),
    ],
)
def test_what_cannot_be_moved_is_refused(notes: Cli, arguments: tuple[str, ...], code: int, told: str) -> None:
    ran = notes("migrate", *arguments)
    assert (ran.code, told in ran.err) == (code, True), ran
