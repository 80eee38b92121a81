"""Copies of SQLite files, made page by page."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from remembrancer import Remembrancer
from remembrancer.adapters.relational.schema import current_version, migrations
from remembrancer.adapters.relational.sqlite import checksums, schema
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
