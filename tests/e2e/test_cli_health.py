from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from driver import Cli

from remembrancer import Remembrancer
from remembrancer.domain.job import Job
from remembrancer.testing.doubles import NOW, FixedClock, HashEmbedder

NAMES = ["freshness", "coverage", "coherence", "efficiency", "reachability"]

Fill = Callable[..., None]


@pytest.fixture
def fill(folder: Path) -> Fill:
    """Writes a database as of March 2026 from the texts of each day, with a health snapshot each evening."""

    def write(
        *days: list[str], crew: str | None = None, embedder: HashEmbedder | str = "none", preset: str = "default"
    ) -> None:
        clock, db = FixedClock(), str(folder / "remembrancer.db")
        with Remembrancer.open(db, preset=preset, crew=crew, embedder=embedder, clock=clock) as memory:
            for texts in days:
                for text in texts:
                    memory.remember(text)
                memory.maintain()
                clock.advance(timedelta(days=1))

    return write


def test_without_a_snapshot_health_prints_how_to_take_one(cli: Cli) -> None:
    cli.done("remember", "anything")
    assert "No health snapshot has been taken yet. `remembrancer maintain` takes one a day." in cli.done("health").out


def test_without_a_snapshot_the_json_says_so_too(cli: Cli) -> None:
    cli.done("remember", "anything")
    assert cli.done("health", "--json").json == {"crew": None, "latest": None, "history": None}


def test_maintain_takes_the_snapshot_that_health_shows(cli: Cli) -> None:
    cli.done("remember", "anything")
    assert "health: took 1 snapshot: 100.0, green" in cli.done("maintain", "--only", "health").out
    assert "100.0 green" in cli.done("health").out


def test_health_draws_each_metric_with_its_number_and_the_word_for_it(cli: Cli, fill: Fill) -> None:
    fill(["The deploy failed", "The deploy failed again"], embedder=HashEmbedder())
    lines = cli.done("health").out.splitlines()
    drawn = [line.split()[0] for line in lines if any(line.startswith(name) for name in NAMES)]
    assert drawn == NAMES
    [covered] = [line.split() for line in lines if line.startswith("coverage")]
    assert covered == ["coverage", "█" * 20, "100.0", "green", "weighs", "36%"]


def test_health_prints_missing_metrics_with_reasons(cli: Cli, fill: Fill) -> None:
    fill(["The deploy failed"])
    said = " ".join(cli.done("health").out.split())
    assert "no coverage, coherence, reachability: there was no embedder" in said
    assert "no efficiency: no memory found by its vector was shown in the last 7 days" in said


def test_health_prints_advice_for_the_weakest_metric(cli: Cli, fill: Fill) -> None:
    fill(["The deploy failed", "The disk is full"], embedder=HashEmbedder(), preset="crewship")
    assert "weakest: reachability. Few memories have relations" in " ".join(cli.done("health").out.split())


def test_where_all_is_well_there_is_nothing_to_do(cli: Cli, fill: Fill) -> None:
    fill(["The deploy failed"])
    assert "weakest" not in cli.done("health").out


def test_an_empty_memory_has_no_data_and_is_not_called_bad(cli: Cli, fill: Fill) -> None:
    fill([])
    said = cli.done("health").out
    assert ("no data  on 2026-03-04" in said, "red" in said.split()) == (True, False)


def test_history_draws_a_column_a_day_and_a_dot_where_there_was_none(cli: Cli, fill: Fill) -> None:
    fill([], ["The deploy failed"], ["It works"])
    drawn = f"{'·' * 28}██\n2026-02-05 to 2026-03-06: 2 scores, from 98.9 to 100.0\n"
    assert cli.done("health", "--history").out.endswith(drawn)


def test_history_as_json_is_newest_first(cli: Cli, fill: Fill) -> None:
    fill(["The deploy failed"], ["It works"])
    told = cli.done("health", "--history", "--json").json
    assert [one["day"] for one in told["history"]] == ["2026-03-05", "2026-03-04"]
    assert told["latest"] == told["history"][0]


def test_the_json_has_each_metric_with_its_band_its_weight_and_why_it_is_missing(cli: Cli, fill: Fill) -> None:
    fill(["The deploy failed"])
    latest = cli.done("health", "--json").json["latest"]
    assert (latest["score"], latest["band"], latest["weakest"], latest["advice"]) == (100.0, "green", "freshness", "")
    assert latest["metrics"]["freshness"] == {"value": 100.0, "band": "green", "weight": 1.0, "absent": ""}
    missing = {"value": None, "band": None, "weight": 0.0, "absent": "there was no embedder"}
    assert latest["metrics"]["coverage"] == missing


def test_a_crew_has_a_health_of_its_own(cli: Cli, fill: Fill) -> None:
    fill(["The customer called"], crew="sales")
    assert "crew sales" in cli.done("health", "--crew", "sales").out
    assert cli.done("health", "--crew", "sales", "--json").json["latest"]["crew"] == "sales"


def test_the_crew_may_come_from_the_environment(cli: Cli, fill: Fill, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(["The customer called"], crew="sales")
    monkeypatch.setenv("REMEMBRANCER_CREW", "sales")
    assert cli.done("health", "--json").json["crew"] == "sales"


def test_a_crew_that_remembers_nothing_has_no_snapshot(cli: Cli, fill: Fill) -> None:
    fill(["The customer called"], crew="sales")
    said = " ".join(cli.done("health", "--crew", "nobody").out.split())
    assert "crew nobody No health snapshot has been taken yet." in said
    assert "of each crew that has memories" in said


def test_reading_health_takes_no_snapshot(cli: Cli) -> None:
    cli.done("remember", "anything")
    cli.done("health")
    assert cli.done("health", "--json").json["latest"] is None


def test_health_is_taken_once_a_day_unless_it_is_forced(cli: Cli) -> None:
    cli.done("remember", "anything")
    cli.done("maintain")
    assert "health: taken today already" in cli.done("maintain").out
    assert "health: took 1 snapshot: " in cli.done("maintain", "--force").out


def test_maintain_runs_only_the_named_jobs(cli: Cli) -> None:
    cli.done("remember", "anything")
    assert list(cli.done("maintain", "--only", "index", "--json").json["jobs"]) == ["index"]
    taken = cli.done("maintain", "--only", "health", "--json").json["jobs"]
    assert [one["crew"] for one in taken["health"]["details"]["taken"]] == [None]


def test_maintain_names_the_jobs_there_are(cli: Cli) -> None:
    cli.done("remember", "anything")
    ran = cli("maintain", "--only", "sleepwalk")
    named = ", ".join(Job)
    assert (ran.code, ran.err) == (2, f"error: only: 'sleepwalk' is not allowed; expected one of {named}\n")


@pytest.mark.parametrize("columns", ["40", "80"])
def test_health_fits_a_narrow_terminal(cli: Cli, fill: Fill, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    fill(["The deploy failed"])
    monkeypatch.setenv("COLUMNS", columns)
    lines = cli.done("health").out.splitlines()
    [fresh] = [line.split() for line in lines if line.startswith("freshness")]
    assert (fresh[2:], max(map(len, lines)) <= int(columns)) == (["100.0", "green", "weighs", "100%"], True)


def test_the_day_is_the_day_it_was_taken(cli: Cli, fill: Fill) -> None:
    fill(["The deploy failed"])
    assert f"on {NOW.date()}" in cli.done("health").out


def test_maintain_reports_that_there_was_no_data(cli: Cli) -> None:
    memory = cli.done("remember", "anything", "--json").json
    cli.done("forget", memory["id"])
    assert "health: took 1 snapshot: no data" in cli.done("maintain").out
