from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from driver import Cli

from remembrancer.adapters.vault import watching
from remembrancer.adapters.vault.folder import FolderVault
from remembrancer.errors import StoreUnavailable

ONE = "6f1d2c0e-6f0e-4d0b-9a55-0a4b5b2f6b11"
ENTRY = f"---\nid: {ONE}\ntype: corrective\ncreated_at: 2026-02-01\n---\nRun the migrations before the deploy.\n"


@pytest.fixture
def notes(folder: Path) -> Path:
    root = folder / "notes"
    root.mkdir()
    return root


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_a_vault_is_synced_and_its_learnings_are_recalled(cli: Cli, notes: Path) -> None:
    write(notes / "checkout" / "MEMORY.md", ENTRY)
    ran = cli.done("vault", "sync", "notes", "--preset", "teaparty")
    assert ran.out.splitlines() == ["notes: 1 file, 1 learning", "1 memory added"]
    hits = cli.done("recall", "migrations deploy", "--preset", "teaparty", "--json").json["hits"]
    assert [hit["memory"]["id"] for hit in hits] == [ONE]


def test_a_second_sync_reports_no_changes(cli: Cli, notes: Path) -> None:
    write(notes / "MEMORY.md", ENTRY)
    cli.done("vault", "sync", "notes")
    assert cli.done("vault", "sync", "notes").out.splitlines()[1] == "nothing had to change"


def test_with_a_project_the_folder_is_that_projects(cli: Cli, notes: Path) -> None:
    write(notes / "MEMORY.md", ENTRY)
    cli.done("vault", "sync", "notes", "--project", "checkout", "--name", "checkout-notes")
    shown = cli.done("show", ONE, "--json").json["memory"]
    assert (shown["scope"]["project"], shown["metadata"]["vault"]) == ("checkout", "checkout-notes")


def test_a_finding_is_reported_with_its_line_and_the_exit_code_is_1(cli: Cli, notes: Path) -> None:
    write(notes / "MEMORY.md", ENTRY + "\n---\nid: seven\n---\nWords.\n")
    for command in ("check", "sync", "rebuild"):
        ran = cli("vault", command, "notes")
        assert (ran.code, "MEMORY.md:9: id: 'seven' is not allowed" in ran.err) == (1, True), command


def test_a_check_names_the_file_line_and_field_of_a_type_with_a_typo(cli: Cli, notes: Path) -> None:
    write(notes / "deploys.md", "---\nimportance: 0.8\ntype: corective\n---\nRun the migrations first.\n")
    ran = cli("vault", "check", "notes")
    assert (ran.code, "deploys.md:3: type: 'corective' is not allowed" in ran.err) == (1, True), ran


def test_a_check_makes_no_database_and_writes_nothing(cli: Cli, notes: Path, folder: Path) -> None:
    write(notes / "MEMORY.md", "---\ntype: corrective\n---\nNo id.\n")
    ran = cli.done("vault", "check", "notes")
    assert "a sync would change: 1 memory added, 1 entry written" in ran.out
    assert sorted(path.name for path in folder.rglob("*")) == ["MEMORY.md", "notes"]


def test_a_check_of_a_synced_vault_finds_nothing(cli: Cli, notes: Path) -> None:
    write(notes / "MEMORY.md", ENTRY)
    cli.done("vault", "sync", "notes")
    assert "a sync would change nothing" in cli.done("vault", "check", "notes").out


def test_new_learnings_are_written_to_the_files(cli: Cli, notes: Path) -> None:
    cli.done("remember", "Ask before force-pushing.", "--kind", "directive", "--preset", "teaparty")
    ran = cli.done("vault", "sync", "notes", "--json").json
    assert (ran["written"], ran["changed"], ran["index"]["reason"] != "") == (1, 1, True)
    assert "Ask before force-pushing." in (notes / "MEMORY.md").read_text(encoding="utf-8")


def test_a_rebuild_gives_the_same_answers(cli: Cli, notes: Path, folder: Path) -> None:
    write(notes / "MEMORY.md", ENTRY)
    cli.done("vault", "sync", "notes")
    before = cli.done("recall", "migrations", "--json").json["hits"][0]["memory"]["text"]
    (folder / "remembrancer.db").unlink()
    assert cli.done("vault", "rebuild", "notes").out.splitlines()[1] == "1 memory added"
    assert cli.done("recall", "migrations", "--json").json["hits"][0]["memory"]["text"] == before


@pytest.mark.parametrize("command", [("check", "missing"), ("rebuild", "missing"), ("sync", "missing/notes")])
def test_a_path_that_is_no_folder_is_an_error(cli: Cli, folder: Path, command: tuple[str, str]) -> None:
    ran = cli("vault", *command)
    assert (ran.code, "expected a folder" in ran.err) == (2, True)
    assert list(folder.iterdir()) == []


def test_a_sync_makes_a_folder_that_is_not_there_and_writes_what_was_learned(cli: Cli, folder: Path) -> None:
    cli.done("remember", "Run the migrations before the deploy.", "--preset", "teaparty", "--kind", "procedural")
    cli.done("vault", "sync", "notes", "--preset", "teaparty")
    [written] = (folder / "notes").rglob("*.md")
    assert "Run the migrations before the deploy." in written.read_text(encoding="utf-8")


def test_a_sync_of_a_vault_whose_folder_is_gone_changes_nothing_and_says_what_to_do(
    cli: Cli, notes: Path, folder: Path
) -> None:
    write(notes / "MEMORY.md", ENTRY)
    cli.done("vault", "sync", "notes")
    notes.rename(folder / "elsewhere")
    ran = cli("vault", "sync", "notes")
    assert (ran.code, "make the folder yourself and sync again" in ran.err) == (2, True)
    assert not notes.exists()
    assert cli.done("show", ONE, "--json").json["memory"]["status"] == "active"


def test_watching_without_the_extra_names_the_package_to_install(
    cli: Cli, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    ran = cli("vault", "watch", "notes")
    assert (ran.code, "pip install 'remembrancer[vault]'" in ran.err, list(notes.iterdir())) == (3, True, [])


def test_watching_needs_a_number_of_seconds(cli: Cli, notes: Path) -> None:
    ran = cli("vault", "watch", str(notes), "--every", "0")
    assert (ran.code, "from 1 to 86400" in ran.err) == (2, True)


def test_watching_syncs_at_once_and_at_each_change_and_reports_it(
    cli: Cli, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(notes / "MEMORY.md", ENTRY)

    async def told(*_: object, **__: object) -> AsyncGenerator[bool]:
        yield False
        write(notes / "checkout" / "MEMORY.md", ENTRY.replace("b11", "b12"))
        yield True

    monkeypatch.setattr(watching, "changes", told)
    lines = cli.done("vault", "watch", "notes").out.splitlines()
    assert lines == ["notes: 1 file, 1 learning", "1 memory added", "notes: 2 files, 2 learnings", "1 memory added"]


def test_watching_continues_after_a_failed_sync(cli: Cli, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def told(*_: object, **__: object) -> AsyncGenerator[bool]:
        scan = FolderVault.scan

        async def fails(_files: FolderVault) -> None:
            raise StoreUnavailable("locked for a while")

        monkeypatch.setattr(FolderVault, "scan", fails)
        yield True
        monkeypatch.setattr(FolderVault, "scan", scan)
        write(notes / "MEMORY.md", ENTRY)
        yield True

    monkeypatch.setattr(watching, "changes", told)
    ran = cli.done("vault", "watch", "notes")
    assert "error: locked for a while" in ran.err
    assert ran.out.splitlines()[-1] == "1 memory added"


def test_a_watched_folder_is_synced_when_a_file_is_saved(cli: Cli, notes: Path, folder: Path) -> None:
    """Another process watches the folder; a saved file is in the database soon after."""

    async def saved() -> str:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "remembrancer",
            "vault",
            "watch",
            "notes",
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert process.stdout is not None
        told = ""
        try:
            async with asyncio.timeout(60):
                told += (await process.stdout.readline()).decode()  # the first sync
                number = 0
                line = asyncio.ensure_future(process.stdout.readuntil(b"memory added\n"))
                while not line.done():  # until the watch is set up, nobody hears of a change
                    number += 1
                    write(notes / "MEMORY.md", ENTRY + "\n" * (number % 2))
                    await asyncio.wait([line], timeout=1)
                told += line.result().decode()
        finally:
            process.terminate()
            await process.wait()
        return told

    assert "1 memory added" in asyncio.run(saved())
    assert cli.done("show", ONE, "--json").json["memory"]["source"] == "MEMORY.md"
