from __future__ import annotations

from pathlib import Path

import pytest
from driver import Cli

FIXTURES = Path(__file__).parents[1] / "fixtures" / "ingest"


@pytest.mark.parametrize("name", sorted(path.name for path in FIXTURES.iterdir()))
def test_every_format_is_ingested_once(cli: Cli, name: str) -> None:
    first = cli("ingest", str(FIXTURES / name), "--json")
    assert first.code in {0, 1}
    assert first.json["files"][0]["events"] == first.json["new"] > 0
    again = cli("ingest", str(FIXTURES / name), "--json")
    assert again.json["new"] == 0
    assert again.json["files"] == first.json["files"]


def test_bad_records_are_reported_and_the_rest_is_ingested(cli: Cli, folder: Path) -> None:
    lines = ['{"text": "one"}', "nonsense", '{"text": "two", "colour": "red"}', '{"text": "three"}']
    (folder / "chat.jsonl").write_text("\n".join(lines), encoding="utf-8")
    ran = cli("ingest", "chat.jsonl")
    assert ran.code == 1
    assert [line.split(" ")[0] for line in ran.err.splitlines()] == ["chat.jsonl:2:", "chat.jsonl:3:"]
    assert "chat.jsonl: 2 events as jsonl, 2 problems" in ran.out
    assert "New in the journal: 2 events." in ran.out
    assert "no embedder" in ran.out


def test_learnings_are_counted_as_such_and_not_as_events(cli: Cli, folder: Path) -> None:
    good = "---\nid: 6f1d2c0e-6f0e-4d0b-9a55-0a4b5b2f6b11\n---\nRun the migrations before the deploy.\n"
    (folder / "good.md").write_text(good, encoding="utf-8")
    (folder / "bad.md").write_text("---\nid: nonsense\n---\nText.\n", encoding="utf-8")
    ran = cli("ingest", "good.md", "bad.md", "--format", "learnings")
    assert ran.out.splitlines()[:2] == ["good.md: 1 learning", "bad.md: 0 learnings, 1 problem"]
    assert "event" not in ran.out


def test_more_events_than_a_batch_are_ingested_except_one_with_a_conflicting_key(cli: Cli, folder: Path) -> None:
    cli.done("observe", "as it was", "--key", "k700")
    lines = [f'{{"text": "turn {number}", "key": "k{number}"}}' for number in range(1200)]
    (folder / "chat.jsonl").write_text("\n".join(lines), encoding="utf-8")
    ran = cli("ingest", "chat.jsonl", "--no-index", "--json")
    assert ran.code == 1
    assert ran.json["new"] == 1199
    assert [problem["record"] for problem in ran.json["files"][0]["problems"]] == ["key k700"]
    assert ran.json["index"] is None
    assert "chat.jsonl: key k700: " in ran.err


def test_a_refused_file_is_reported_and_the_others_are_ingested(cli: Cli, folder: Path) -> None:
    (folder / "empty.jsonl").touch()
    (folder / "chat.jsonl").write_text('{"text": "one"}\n', encoding="utf-8")
    ran = cli("ingest", "empty.jsonl", "chat.jsonl", "missing.md")
    assert ran.code == 2
    assert ran.err.count("error: ") == 2
    assert "empty.jsonl: left out" in ran.out
    assert "chat.jsonl: 1 event as jsonl" in ran.out


def test_a_file_that_turns_out_not_to_be_of_its_format_is_refused(cli: Cli, folder: Path) -> None:
    (folder / "chat.jsonl").write_text('{"text": "one"}\n{"text": "two"}\n', encoding="utf-8")
    ran = cli("ingest", "chat.jsonl", "--format", "chatgpt", "--json")
    assert ran.code == 2
    assert ran.json["files"][0]["refused"]


@pytest.mark.parametrize("arguments", [("missing.md",), ("missing.md", "--format", "morse")])
def test_nothing_to_read_makes_no_database(cli: Cli, folder: Path, arguments: tuple[str, ...]) -> None:
    ran = cli("ingest", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert list(folder.iterdir()) == []


SYSTEMS = Path(__file__).parents[1] / "fixtures" / "systems"


def test_a_dry_run_lists_what_would_be_stored_and_makes_no_database(cli: Cli, folder: Path) -> None:
    ran = cli("ingest", str(SYSTEMS / "mem0.json"), "--dry-run", "--json")
    assert ran.code == 1
    [file] = ran.json["files"]
    assert [one["text"] for one in file["would_store"]] == [
        "Is vegetarian and allergic to nuts",
        "Has a parking permit for the north garage",
    ]
    assert len(file["problems"]) == 3
    assert list(folder.iterdir()) == []


def test_memories_of_another_system_are_stored_once(cli: Cli) -> None:
    ran = [cli("ingest", str(SYSTEMS / "mcp-memory-service.json"), "--no-index").out for _ in range(2)]
    assert ["New: 3 memories." in ran[0], "New: 0 memories." in ran[1]] == [True, True]
