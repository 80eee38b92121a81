"""A file that is deleted, moved or replaced while a process has it open: writes are refused, and nothing is created."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from served import QUIET, Served, asked

from remembrancer import Remembrancer
from remembrancer.errors import StoreUnavailable
from remembrancer.index import workspace


def opened(path: Path | str) -> Remembrancer:
    return Remembrancer.open(
        str(path), workspace="acme", agent="ana", embedder="none", settings={"background_index": False}
    )


def everything_deleted(path: Path) -> None:
    for name in ("", "-wal", "-shm"):
        Path(f"{path}{name}").unlink()


def moved(path: Path) -> None:
    path.rename(path.with_name("moved.db"))


def replaced(path: Path) -> None:
    copy = path.with_name("copy.db")
    shutil.copy(path, copy)
    copy.replace(path)


def log_deleted(path: Path) -> None:
    Path(f"{path}-wal").unlink()


def shared_memory_deleted(path: Path) -> None:
    Path(f"{path}-shm").unlink()


LOSSES = (everything_deleted, moved, replaced, log_deleted, shared_memory_deleted)
Loss = Callable[[Path], None]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.mark.parametrize("lose", LOSSES)
def test_a_write_to_a_file_that_is_gone_is_refused(path: Path, lose: Loss) -> None:
    with opened(path) as rem:
        rem.observe("before")
        lose(path)
        with pytest.raises(StoreUnavailable, match=r"store\.db(-wal|-shm)?: was deleted, moved or replaced"):
            rem.observe("after")


@pytest.mark.parametrize("lose", [log_deleted, shared_memory_deleted])
def test_nothing_of_a_refused_write_is_kept(path: Path, lose: Loss) -> None:
    with opened(path) as rem:
        rem.observe("before")
        lose(path)
        with pytest.raises(StoreUnavailable):
            rem.observe("after")
    with opened(path) as rem:
        assert [event.text for event in rem.journal.list()] == ["before"]


def test_a_reader_that_opens_late_creates_no_file(path: Path) -> None:
    with opened(path) as rem:
        everything_deleted(path)
        with pytest.raises(StoreUnavailable, match="was deleted, moved or replaced"):
            rem.recent()
    assert list(path.parent.iterdir()) == []


def test_a_reader_that_opens_late_reads_no_other_file(path: Path, tmp_path: Path) -> None:
    with opened(tmp_path / "other.db") as other:
        other.remember("of another file")
    with opened(path) as rem:
        (tmp_path / "other.db").replace(path)
        with pytest.raises(StoreUnavailable, match="was deleted, moved or replaced"):
            rem.recent()


def test_a_reader_that_opens_late_reads_its_file_after_a_change_of_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    with opened("store.db") as rem:
        rem.remember("kept here")
        os.chdir(tmp_path / "elsewhere")
        rem.remember("kept here too")
        assert [memory.text for memory in rem.recent()] == ["kept here too", "kept here"]


def test_an_export_of_a_file_that_is_gone_is_refused(path: Path, tmp_path: Path) -> None:
    with opened(path) as rem:
        rem.observe("before")
        everything_deleted(path)
        with pytest.raises(StoreUnavailable, match="was deleted, moved or replaced"):
            rem.export(tmp_path / "export.jsonl")
    assert not path.exists()


@pytest.mark.parametrize("lose", [everything_deleted, moved, replaced])
def test_closing_after_the_file_is_gone_closes_every_part(
    path: Path, lose: Loss, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(workspace, "LEAST_WRITTEN", 1)
    before = {*threading.enumerate()}
    rem = opened(path)
    rem.remember("the kestrel")
    rem.recall("kestrel")
    lose(path)
    rem.close()
    assert not [one for one in threading.enumerate() if one not in before and one.name.startswith("remembrancer")]
    assert "was deleted, moved or replaced" in caplog.text


def test_closing_leaves_the_files_of_the_one_that_took_its_place(path: Path, tmp_path: Path) -> None:
    rem = opened(path)
    rem.observe("before")
    everything_deleted(path)
    with opened(path) as other:
        other.observe("of the new file")
        rem.close()
        other.observe("of the new file too")
    with opened(path) as other:
        assert [event.text for event in other.journal.list()] == ["of the new file too", "of the new file"]


def test_a_server_whose_file_is_gone_is_not_ready(path: Path) -> None:
    async def steps(served: Served) -> tuple[httpx.Response, httpx.Response]:
        before = await served.http.get("/readyz")
        everything_deleted(path)
        return before, await served.http.get("/readyz")

    before, after = asked(steps, settings=replace(QUIET, db=str(path)))
    assert (before.status_code, after.status_code) == (200, 503)
    assert after.json() == {"status": "not ready", "reasons": ["the store cannot be written to now"]}
