"""Backups and their restoration: exact, whole or not at all, and never mixed with what lies there."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from remembrancer import Remembrancer, restore_backup
from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.errors import InvalidInput, StoreUnavailable, Unsupported
from remembrancer.testing.doubles import HashEmbedder

MANY = 101_000


def opened(path: Path | str, *, create: bool = True, workspace: str = "acme") -> Remembrancer:
    return Remembrancer.open(
        str(path),
        workspace=workspace,
        agent="ana",
        embedder=HashEmbedder(16),
        settings={"background_index": False},
        create=create,
    )


def texts(path: Path, workspace: str = "acme") -> list[str]:
    with opened(path, create=False, workspace=workspace) as rem:
        return [event.text for event in rem.journal.list(limit=10_000, oldest_first=True)]


def digest(path: Path | str) -> str:
    """A hash of every row of every table, in the order of the rows."""
    found = hashlib.sha256()
    connection = connect(str(path))
    tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL %' ORDER BY name"
    for (table,) in list(connection.execute(tables)):
        for row in connection.execute(f'SELECT * FROM "{table}"'):
            found.update(repr((table, row)).encode())
    connection.close()
    return found.hexdigest()


def killed_after_writing(path: Path, text: str) -> None:
    """Kill a process after it wrote to the store, so that its writes are only in the log next to the file."""
    program = (
        "import logging, os, sys; logging.disable()\n"
        "from remembrancer import Remembrancer\n"
        "settings = {'background_index': False}\n"
        "rem = Remembrancer.open(sys.argv[1], workspace='acme', agent='ana', embedder='none', settings=settings)\n"
        "rem.observe(sys.argv[2])\n"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, str(path), text], check=False)
    assert Path(f"{path}-wal").stat().st_size


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def backup(path: Path, tmp_path: Path) -> Path:
    """The backup of a store that was written to afterwards, and whose last process was killed."""
    with opened(path) as rem:
        rem.observe("in the backup")
        rem.jobs.index_now()
        rem.backup(tmp_path / "backup.db")
    killed_after_writing(path, "after the backup")
    return tmp_path / "backup.db"


class TestABackup:
    def test_holds_all_workspaces_of_the_store(self, path: Path, tmp_path: Path) -> None:
        with opened(path) as rem, opened(path, workspace="other") as other:
            rem.observe("ours")
            other.observe("theirs")
            rem.backup(tmp_path / "backup.db")
        assert (texts(tmp_path / "backup.db"), texts(tmp_path / "backup.db", "other")) == (["ours"], ["theirs"])

    def test_is_one_file(self, backup: Path) -> None:
        assert [file.name for file in backup.parent.glob("backup.db*")] == ["backup.db"]

    def test_of_a_store_in_memory_is_a_file(self, tmp_path: Path) -> None:
        with opened(":memory:") as rem:
            rem.observe("kept in memory")
            rem.backup(tmp_path / "backup.db")
        assert texts(tmp_path / "backup.db") == ["kept in memory"]

    def test_reports_its_size_and_its_rows(self, path: Path, tmp_path: Path) -> None:
        with opened(path) as rem:
            rem.observe("one")
            report = rem.backup(tmp_path / "backup.db")
        assert (report.path, report.bytes) == (str(tmp_path / "backup.db"), (tmp_path / "backup.db").stat().st_size)
        assert report.rows > 3

    def test_replaces_no_file(self, path: Path, tmp_path: Path) -> None:
        (tmp_path / "taken").write_bytes(b"mine")
        with opened(path) as rem, pytest.raises(InvalidInput, match="a file that does not exist yet"):
            rem.backup(tmp_path / "taken")
        assert (tmp_path / "taken").read_bytes() == b"mine"

    def test_is_not_written_next_to_a_log_that_sqlite_would_apply_to_it(self, path: Path, tmp_path: Path) -> None:
        (tmp_path / "backup.db-wal").write_bytes(b"of another file")
        with opened(path) as rem, pytest.raises(InvalidInput, match=r"a path without backup\.db-wal beside it"):
            rem.backup(tmp_path / "backup.db")

    def test_of_a_damaged_store_is_none(self, path: Path, tmp_path: Path) -> None:
        with opened(path) as rem:
            rem.observe_many([{"text": f"note {n}"} for n in range(50)])
        damaged = bytearray(path.read_bytes())
        damaged[damaged.index(b"note 17")] ^= 1
        path.write_bytes(damaged)
        with opened(path) as rem, pytest.raises(StoreUnavailable, match="does not match its checksum"):
            rem.backup(tmp_path / "backup.db")
        assert [file.name for file in tmp_path.iterdir()] == ["store.db"]

    def test_that_cannot_be_written_leaves_nothing(self, path: Path, tmp_path: Path) -> None:
        with opened(path) as rem, pytest.raises(StoreUnavailable):
            rem.backup(tmp_path / "missing" / "backup.db")
        assert [file.name for file in tmp_path.iterdir()] == ["store.db"]


class TestARestoration:
    def test_of_a_backup_restores_its_state(self, backup: Path, tmp_path: Path) -> None:
        restore_backup(backup, str(tmp_path / "new.db"))
        assert texts(tmp_path / "new.db") == ["in the backup"]

    def test_refuses_a_path_where_a_store_lies(self, backup: Path, path: Path) -> None:
        with pytest.raises(InvalidInput, match="a file that does not exist yet"):
            restore_backup(backup, str(path))
        assert texts(path) == ["in the backup", "after the backup"]

    def test_refuses_a_path_next_to_a_stale_log(self, backup: Path, path: Path) -> None:
        path.unlink()
        with pytest.raises(InvalidInput, match=r"a path without store\.db-wal beside it"):
            restore_backup(backup, str(path))

    def test_ignores_a_stale_log(self, backup: Path, path: Path) -> None:
        restore_backup(backup, str(path), replace=True)
        assert texts(path) == ["in the backup"]

    def test_keeps_the_replaced_store_complete(self, backup: Path, path: Path) -> None:
        report = restore_backup(backup, str(path), replace=True)
        assert report.set_aside == f"{path}.replaced-1"
        assert texts(path.with_name("store.db.replaced-1")) == ["in the backup", "after the backup"]

    def test_that_is_made_twice_keeps_both(self, backup: Path, path: Path) -> None:
        first = restore_backup(backup, str(path), replace=True)
        second = restore_backup(backup, str(path), replace=True)
        assert (first.set_aside, second.set_aside) == (f"{path}.replaced-1", f"{path}.replaced-2")

    def test_replaces_a_damaged_store(self, backup: Path, path: Path) -> None:
        path.write_bytes(os.urandom(9000))
        restore_backup(backup, str(path), replace=True)
        assert texts(path) == ["in the backup"]

    def test_is_refused_while_a_process_has_the_store_open(self, backup: Path, path: Path) -> None:
        with opened(path) as rem:
            with pytest.raises(StoreUnavailable, match="is open in another process"):
                restore_backup(backup, str(path), replace=True)
            rem.observe("and goes on")
        assert texts(path) == ["in the backup", "after the backup", "and goes on"]

    def test_of_a_damaged_backup_is_refused_and_changes_nothing(self, backup: Path, path: Path) -> None:
        damaged = bytearray(backup.read_bytes())
        damaged[damaged.index(b"in the backup")] ^= 1
        backup.write_bytes(damaged)
        with pytest.raises(StoreUnavailable, match="does not match its checksum"):
            restore_backup(backup, str(path), replace=True)
        assert texts(path) == ["in the backup", "after the backup"]

    def test_of_a_store_copied_with_its_log_is_refused(self, backup: Path, path: Path) -> None:
        with pytest.raises(InvalidInput, match=r"a backup; store\.db-wal beside it shows a store in use"):
            restore_backup(path, str(path.with_name("new.db")))

    @pytest.mark.parametrize("content", [b"", b"Dear diary, today I saw a kestrel. " * 400])
    def test_of_another_file_is_refused(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "diary").write_bytes(content)
        with pytest.raises((InvalidInput, StoreUnavailable), match="diary"):
            restore_backup(tmp_path / "diary", str(tmp_path / "new.db"))
        assert [file.name for file in tmp_path.iterdir()] == ["diary"]

    def test_of_a_missing_file_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput, match="backup"):
            restore_backup(tmp_path / "missing", str(tmp_path / "new.db"))

    @pytest.mark.parametrize("url", [":memory:", "postgresql://host/db"])
    def test_to_a_url_that_is_no_file_is_unsupported(self, backup: Path, url: str) -> None:
        with pytest.raises(Unsupported, match="is not a file"):
            restore_backup(backup, url)

    def test_is_the_store_that_an_erasure_names_as_a_copy(self, backup: Path, path: Path) -> None:
        restore_backup(backup, str(path), replace=True)
        with opened(path) as rem:
            (memory,) = rem.recent()
            left = " ".join(f"{one.what} {one.why}" for one in rem.erase(ids=[memory.id]).left)
        assert "store.db.replaced-1" in left


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with 101,000 events, multiplied in the database from one that was observed."""
    path = tmp_path_factory.mktemp("large") / "large.db"
    with opened(path) as rem:
        rem.observe("the first kestrel")
    connection = connect(str(path))
    columns = [str(row[1]) for row in connection.execute("PRAGMA table_info(events)")]
    made = {"n": "i", "id": "randomblob(16)", "seq": "i", "position": "i", "text": "'kestrel ' || i", "key": "'k' || i"}
    values = ", ".join(made.get(column, column) for column in columns)
    connection.execute(
        f"WITH RECURSIVE more (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM more WHERE i < {MANY})"
        f" INSERT INTO events ({', '.join(columns)}) SELECT {values} FROM more, events WHERE n = 1"
    )
    connection.execute(f"UPDATE streams SET last_seq = {MANY}; UPDATE positions SET last = {MANY}")
    connection.close()
    return path


@dataclass(frozen=True)
class Restored:
    """A store that was backed up and restored, and the reported progress."""

    path: Path
    told: list[tuple[int, int]]


@pytest.fixture(scope="module")
def restored(large: Path, tmp_path_factory: pytest.TempPathFactory) -> Restored:
    folder = tmp_path_factory.mktemp("restored")
    told: list[tuple[int, int]] = []
    with opened(large) as rem:
        rem.backup(folder / "backup.db", on_pages=lambda done, total: told.append((done, total)))
    restore_backup(folder / "backup.db", str(folder / "store.db"))
    return Restored(folder / "store.db", told)


class TestAStoreOfMoreThanAHundredThousandRows:
    def test_comes_back_exactly(self, large: Path, restored: Restored) -> None:
        assert digest(restored.path) == digest(large)

    def test_reports_its_progress(self, restored: Restored) -> None:
        done = [done for done, _ in restored.told]
        assert len(done) > 5
        assert done == sorted(done)
        assert restored.told[-1][0] == restored.told[-1][1]

    def test_is_backed_up_as_of_one_moment_while_others_write(self, large: Path, tmp_path: Path) -> None:
        with opened(large) as rem, opened(large) as other:
            before = rem.health.stats().events
            rem.backup(tmp_path / "backup.db", on_pages=lambda done, _: other.observe(f"meanwhile {done}") and None)
            assert rem.health.stats().events > before + 5
        with opened(tmp_path / "backup.db") as copied:
            assert copied.health.stats().events == before
