from __future__ import annotations

import json
from pathlib import Path

import pytest
from driver import Cli

from remembrancer.adapters.embedders.local.weights import SHA256


def test_stats_counts(cli: Cli) -> None:
    cli.done("observe", "The deploy failed")
    assert "1 active" in cli.done("stats").out
    counted = cli.done("stats", "--json").json
    assert (counted["events"], counted["memories"], counted["cues"]) == (1, {"active": 1}, 1)


def test_doctor_finds_nothing_in_a_sound_file(cli: Cli) -> None:
    cli.done("remember", "anything")
    assert "✓ file" in cli.done("doctor").out
    assert cli.done("doctor", "--json").json["ok"] is True


def test_doctor_ends_with_1_on_a_finding(cli: Cli, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    cli.done("remember", "anything")
    (folder / "weights").mkdir()
    for name in SHA256:
        (folder / "weights" / name).write_bytes(b"not a model")
    monkeypatch.setenv("REMEMBRANCER_WEIGHTS", str(folder / "weights"))
    monkeypatch.setenv("REMEMBRANCER_EMBEDDER", "local")
    ran = cli("doctor")
    assert ran.code == 1
    assert "✗ embedder" in ran.out
    assert "to mend it: " in ran.out
    broken = cli("doctor", "--json")
    assert (broken.code, broken.json["ok"]) == (1, False)


def test_maintain_reports_why_it_did_nothing(cli: Cli) -> None:
    cli.done("remember", "anything")
    assert "index: no embedder" in cli.done("maintain").out
    told = cli.done("maintain", "--json").json["jobs"]["index"]
    assert (told["done"], told["reason"].startswith("no embedder")) == (0, True)


def test_an_export_comes_back_whole_and_only_once(cli: Cli, folder: Path) -> None:
    memory = cli.done("remember", "Checkout needs 2 GiB", "--json").json
    assert "to backup.jsonl." in cli.done("export", "backup.jsonl").out
    rows = cli.done("export", "again.jsonl", "--json").json["rows"]
    assert cli("export", "backup.jsonl").code == 2

    dry = cli.done("import", "backup.jsonl", "--dry-run", "--db", "other.db", "--json").json
    assert dry == {"rows": rows, "new": rows, "dry_run": True}
    assert not (folder / "other.db").exists()
    assert "were new" in cli.done("import", "backup.jsonl", "--db", "other.db").out
    assert "0 would be new" in cli.done("import", "backup.jsonl", "--dry-run", "--db", "other.db").out
    assert cli.done("import", "backup.jsonl", "--db", "other.db", "--json").json["new"] == 0
    assert cli.done("show", memory["id"], "--db", "other.db", "--json").json["memory"] == memory


def test_an_import_that_is_not_an_export_is_refused(cli: Cli, folder: Path) -> None:
    (folder / "other.jsonl").write_text(json.dumps({"text": "hello"}) + "\n", encoding="utf-8")
    ran = cli("import", "other.jsonl")
    assert ran.code == 2
    assert ran.err.startswith("error: other.jsonl:1: ")


READING = (
    ("recall", "x"),
    ("recent",),
    ("timeline",),
    ("show", "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"),
    ("why-not", "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f", "x"),
    ("feedback", "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f", "helpful"),
    ("forget", "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"),
    ("stats",),
    ("health",),
    ("doctor",),
    ("maintain",),
    ("end-session", "monday"),
    ("sleep",),
    ("consolidate",),
    ("promote",),
    ("worker",),
    ("jobs",),
    ("spending",),
    ("export", "out.jsonl"),
)


@pytest.mark.parametrize("arguments", READING, ids=lambda arguments: arguments[0])
def test_a_missing_file_is_reported_and_not_created(cli: Cli, folder: Path, arguments: tuple[str, ...]) -> None:
    ran = cli(*arguments)
    assert (ran.code, ran.out) == (3, "")
    assert "no such file" in ran.err
    assert list(folder.iterdir()) == []


def test_a_file_that_is_no_database_is_reported(cli: Cli, folder: Path) -> None:
    (folder / "remembrancer.db").write_text("something else\n" * 1000, encoding="utf-8")
    ran = cli("stats")
    assert ran.code == 3
    assert ran.err.startswith("error: remembrancer.db: ")


def test_settings_come_from_options_then_variables_then_the_file(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "memory.toml").write_text(
        'workspace = "of-file"\nagent = "of-file"\ncrew = "of-file"\n', encoding="utf-8"
    )
    monkeypatch.setenv("REMEMBRANCER_AGENT", "of-variable")
    monkeypatch.setenv("REMEMBRANCER_CREW", "of-variable")
    ran = cli.done("remember", "x", "--config", "memory.toml", "--crew", "of-option", "--json")
    scope = ran.json["scope"]
    assert (scope["workspace"], scope["agent"], scope["crew"]) == ("of-file", "of-variable", "of-option")
    monkeypatch.setenv("REMEMBRANCER_COLOUR", "red")
    assert cli("stats").code == 2


def test_a_restored_backup_replaces_the_store(cli: Cli, folder: Path) -> None:
    cli.done("remember", "Checkout needs 2 GiB", "--db", "memory.db")
    assert "to backup.db, and checked them." in cli.done("backup", "backup.db", "--db", "memory.db").out
    cli.done("remember", "Checkout needs 4 GiB", "--db", "memory.db")
    refused = cli("restore", "backup.db", "--db", "memory.db")
    assert (refused.code, "a file that does not exist yet" in refused.err) == (2, True)
    told = cli.done("restore", "backup.db", "--db", "memory.db", "--replace", "--json").json
    assert (told["path"], told["set_aside"]) == ("memory.db", "memory.db.replaced-1")
    assert [one["text"] for one in cli.done("recent", "--db", "memory.db", "--json").json["memories"]] == [
        "Checkout needs 2 GiB"
    ]
    assert (folder / "memory.db.replaced-1").exists()
