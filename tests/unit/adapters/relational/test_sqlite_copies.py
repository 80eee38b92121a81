"""Copies of SQLite files, made page by page, and the size of the pages."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from remembrancer import Remembrancer
from remembrancer.adapters.encryption import EncryptionKey, FileKey
from remembrancer.adapters.relational.schema import current_version, migrations
from remembrancer.adapters.relational.sqlite import checksums, ciphers, schema
from remembrancer.adapters.relational.sqlite.dialect import SqliteConnection, connect, connect_immutable, copy_pages


def a_file(path: Path, *, pages: int, reserved: int) -> SqliteConnection:
    """A connection to a new file with some `pages` pages."""
    with closing(connect(str(path))) as made:
        checksums.reserved(made, reserved)
        made.execute("CREATE TABLE texts (text)")
    connection = connect(str(path))
    connection.executemany("INSERT INTO texts VALUES (?)", [(f"{number}" * 1_000,) for number in range(pages)])
    return connection


@pytest.mark.parametrize("reserved", [8, 0])
@pytest.mark.parametrize("pages", [10, 2_000])
def test_each_page_of_a_copy_has_a_checksum_if_the_source_has_them(tmp_path: Path, pages: int, reserved: int) -> None:
    with closing(a_file(tmp_path / "source.db", pages=pages, reserved=reserved)) as source:
        expected = list(source.execute("SELECT text FROM texts"))
        copy_pages(source, str(tmp_path / "copy.db"))
    with closing(connect_immutable(tmp_path / "copy.db")) as copy:
        assert checksums.are_on(copy) == bool(reserved)
        assert copy.execute("PRAGMA integrity_check").get == "ok"
        assert list(copy.execute("SELECT text FROM texts")) == expected
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["copy.db", "source.db"]


def test_the_copy_that_a_migration_leaves_of_a_large_file_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "memory.db")
    with Remembrancer.open(path, embedder="none") as rem:
        rem.observe_many([{"text": "The pump leaks. " * 5_000} for _ in range(40)])
    version = current_version()
    monkeypatch.setattr(schema, "current_version", lambda: version + 1)
    monkeypatch.setattr(schema, "migrations", lambda: [*migrations(), replace(migrations()[-1], sql="SELECT 1")])
    with closing(connect(path)) as connection:
        schema.prepare(connection, path)
    with closing(connect_immutable(tmp_path / f"memory.db.v{version}.backup")) as copy:
        assert (copy.execute("PRAGMA integrity_check").get, checksums.are_on(copy)) == ("ok", True)


def page_size(path: Path, key: FileKey | None = None) -> int:
    with closing(connect(str(path), key=key)) as connection:
        return connection.execute("PRAGMA page_size").get


def test_a_new_file_and_its_backup_have_pages_of_2048_bytes(tmp_path: Path) -> None:
    with Remembrancer.open(str(tmp_path / "memory.db"), embedder="none") as rem:
        rem.observe("The pump leaks.")
        rem.backup(tmp_path / "backup.db")
    assert [page_size(tmp_path / name) for name in ("memory.db", "backup.db")] == [2_048] * 2


def test_a_new_encrypted_file_has_pages_of_2048_bytes(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    with Remembrancer.open(path, embedder="none", encryption_key="0" * 64) as rem:
        rem.observe("The pump leaks.")
    assert page_size(tmp_path / "memory.db", ciphers.file_key(path, EncryptionKey("0" * 64), path)) == 2_048


def test_a_file_of_an_older_version_keeps_the_size_of_its_pages(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(connect(str(path))) as connection:
        checksums.turn_on(connection)
        schema.prepare(connection, str(path))
    with Remembrancer.open(str(path), embedder="none") as rem:
        rem.observe("The pump leaks.")
        rem.backup(tmp_path / "backup.db")
        rem.erase(ids=[hit.id for hit in rem.recall("pump")])
        assert all(finding.ok for finding in rem.health.doctor())
    assert [page_size(tmp_path / name) for name in ("memory.db", "backup.db")] == [4_096] * 2
