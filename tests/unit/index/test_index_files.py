"""The files of the resident index: what a process begins with, what is refused, and what is deleted."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import struct
import threading
import zlib
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import numpy as np
import pytest
from searched import SearchedStore

from remembrancer.domain.erasure import Removal
from remembrancer.index import file, workspace
from remembrancer.index.files import IndexFolder
from remembrancer.index.resident import ResidentIndex
from remembrancer.testing.contract.base import MODEL, give_vectors
from remembrancer.testing.contract.erasing import a_receipt
from remembrancer.testing.contract.finding import assert_same_answer, request
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory, a_vector, indexed

T = TypeVar("T")
TEXTS = [f"the kestrel number {number} sat on wire {number % 7}" for number in range(40)]
ASKED = replace(request("kestrel", "wire", model=MODEL), vector=a_vector(1, 0))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "LEAST_WRITTEN", 1)


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "notes.db"


def opened(db: Path) -> SearchedStore:
    return SearchedStore(str(db), index=ResidentIndex(files=IndexFolder(db)))


async def wrote(db: Path, *texts: str, searched: bool = True) -> None:
    """One process: writes memories, asks, and saves its index."""
    store = opened(db)
    for text in texts:
        await store.insert(SCOPE, indexed(a_memory(text)))
    await give_vectors(store, {text: a_vector(1, len(text) % 5) for text in texts})
    if searched:
        await store.search(READER, ASKED)
        await store.finder.index.save(store)
    await store.close()


async def ids_found(db: Path) -> tuple[UUID, ...]:
    """Another process: what it finds. It must be what an index without a file finds."""
    store, plain = opened(db), SearchedStore(str(db))
    found, expected = await store.search(READER, ASKED), await plain.search(READER, ASKED)
    assert_same_answer(found, expected)
    for one in (store, plain):
        await one.close()
    return tuple(found.ids)


def files_of(db: Path) -> list[Path]:
    return sorted(path for path in db.parent.iterdir() if ".index" in path.name)


def run(steps: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(steps)


def test_a_process_begins_with_the_file_that_another_one_left(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(wrote(db, *TEXTS))

    def derived(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(workspace.WorkspaceIndex, "_append", derived)
    store = opened(db)
    assert len(run(store.search(READER, ASKED)).ids) == len(TEXTS)
    run(store.close())


def test_what_was_written_after_the_file_is_found(db: Path) -> None:
    run(wrote(db, *TEXTS))
    run(wrote(db, "another kestrel", searched=False))
    assert a_memory("another kestrel").id in run(ids_found(db))


def test_revisions_and_vectors_that_came_after_the_file_replace_what_it_has(db: Path) -> None:
    async def steps() -> None:
        store = opened(db)
        changed = replace(a_memory(TEXTS[0]), text="no bird at all")
        await store.revise(SCOPE, indexed(changed), expected_revision=1, at=NOW)
        await give_vectors(store, {changed.text: a_vector(0, 1)})
        await store.close()

    run(wrote(db, *TEXTS))
    run(steps())
    run(ids_found(db))


def test_only_the_owner_can_read_the_file(db: Path) -> None:
    run(wrote(db, *TEXTS))
    (path,) = files_of(db)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_small_workspace_gets_no_file(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "LEAST_WRITTEN", len(TEXTS) + 1)
    run(wrote(db, *TEXTS))
    assert files_of(db) == []


@pytest.mark.parametrize("damage", ["truncated", "emptied", "header", "array", "length", "magic"])
def test_a_damaged_file_is_not_used(db: Path, damage: str) -> None:
    run(wrote(db, *TEXTS))
    (path,) = files_of(db)
    content = bytearray(path.read_bytes())
    place = {"magic": 0, "length": 9, "header": 40, "array": _a_byte_of_an_array(path)}
    match damage:
        case "truncated":
            del content[-5000:]
        case "emptied":
            content.clear()
        case _:
            content[place[damage]] ^= 1
    path.write_bytes(content)
    run(ids_found(db))
    assert files_of(db) == []


def test_every_flipped_bit_of_the_arrays_is_noticed(db: Path) -> None:
    run(wrote(db, *TEXTS))
    (path,) = files_of(db)
    for name, array in file.read(path).arrays.items():
        rows = array.values
        if rows.size:
            octets = rows.reshape(-1).view("u1")
            before = file.checksum(rows)
            for place in range(0, len(octets), max(1, len(octets) // 50)):
                octets[place] ^= 16
                assert file.checksum(rows) != before, (name, place)
                octets[place] ^= 16


def test_exchanged_rows_are_noticed() -> None:
    rows = np.arange(1_000, dtype=np.uint64)
    assert file.checksum(rows) != file.checksum(np.concatenate([rows[500:], rows[:500]]))


def test_the_file_of_another_store_is_not_used(db: Path) -> None:
    other = db.with_name("other.db")
    run(wrote(db, *TEXTS))
    run(wrote(other, *TEXTS[:3]))
    shutil.copy(files_of(db)[0], next(path for path in files_of(db) if path.name.startswith("other")))
    assert len(run(ids_found(other))) == 3


def test_the_file_of_records_that_were_replaced_by_an_older_copy_is_not_used(db: Path) -> None:
    run(wrote(db, *TEXTS[:30], searched=False))
    before = db.read_bytes()
    run(wrote(db, *TEXTS[30:]))
    db.write_bytes(before)
    for suffix in ("-wal", "-shm"):
        db.with_name(db.name + suffix).unlink(missing_ok=True)
    run(wrote(db, *(f"kestrel of another history {number}" for number in range(10)), searched=False))
    assert len(run(ids_found(db))) == 40


def test_an_erasure_deletes_the_files_from_before_it(db: Path) -> None:
    async def steps() -> tuple[str, list[Path]]:
        store = opened(db)
        gone = a_memory(TEXTS[0]).id
        await store.erase(SCOPE, Removal(memories=frozenset({gone})), a_receipt())
        files_of(db)[0].with_name(files_of(db)[0].name + ".ab.partial").write_bytes(b"kestrel")
        why = await store.finder.index.purge(store, SCOPE)
        left = files_of(db)
        await store.close()
        return why, left

    run(wrote(db, *TEXTS))
    assert run(steps()) == ("", [])


def test_an_index_from_before_an_erasure_is_not_written(db: Path) -> None:
    async def steps() -> None:
        store = opened(db)
        await store.search(READER, ASKED)
        await store.erase(SCOPE, Removal(memories=frozenset({a_memory(TEXTS[0]).id})), a_receipt())
        await store.finder.index.save(store)
        await store.close()

    run(wrote(db, *TEXTS, searched=False))
    run(steps())
    assert files_of(db) == []


def test_a_file_that_was_begun_is_finished_if_its_process_is_closed_meanwhile(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, write = threading.Event(), threading.Event(), file.write

    def waiting(*arguments: Any) -> None:
        begun.set()
        go_on.wait()
        write(*arguments)

    async def steps() -> None:
        store = opened(db)
        await store.search(READER, ASKED)
        saving = asyncio.create_task(store.finder.index.save(store))
        await asyncio.to_thread(begun.wait)
        saving.cancel()
        await asyncio.wait([saving])
        go_on.set()
        await store.finder.index.save(store)
        await store.close()

    run(wrote(db, *TEXTS, searched=False))
    monkeypatch.setattr(file, "write", waiting)
    run(steps())
    assert [path.suffix for path in files_of(db)] == [".index"]


def test_a_full_disk_leaves_no_part_of_a_file(
    db: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(path: Path, *_: object) -> None:
        path.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(file, "write", full)
    run(wrote(db, *TEXTS))
    assert files_of(db) == []
    assert "No space left on device" in caplog.text


def test_what_a_killed_process_left_is_deleted(db: Path) -> None:
    run(wrote(db, *TEXTS))
    left = [
        files_of(db)[0].with_name(f"{files_of(db)[0].name}.{name}.partial") for name in ("old", "of another process")
    ]
    for path in left:
        path.touch()
    os.utime(left[0], (0, 0))
    run(wrote(db, "another kestrel"))
    assert [path.exists() for path in left] == [False, True]


def _a_byte_of_an_array(path: Path) -> int:
    """The place of a byte in the first array."""
    content = path.read_bytes()
    first = next(iter(file.read(path).arrays.values())).values.tobytes()
    return next(place for place in range(4096, len(content), 4096) if content[place:].startswith(first))


@pytest.mark.parametrize(
    "header", [b"{}", b"[", b"\xff", b'{"format": 3, "size": "x"}', b'{"format": 3, "size": 0, "arrays": [1]}']
)
def test_a_header_of_another_form_is_refused_though_its_checksum_is_right(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "notes.index"
    path.write_bytes((struct.pack("<8sQI", b"RMBR-IDX", len(header), zlib.crc32(header)) + header).ljust(4096, b"\0"))
    with pytest.raises(file.BadIndexFile):
        file.read(path)
