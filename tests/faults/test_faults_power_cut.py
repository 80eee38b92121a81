"""Power cuts: what was not synced is dropped, reordered and torn. Cuts that are drawn by a seed from those that
`make test-power-cut` tries; and a check that syncs which are left out would be noticed.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.power_cut.__main__ import check, record
from benchmarks.power_cut.checking import FAULTS, LOST, RESURRECTED, Checker, Counts
from benchmarks.power_cut.disk import (
    POLICIES,
    SECTOR,
    Create,
    Disk,
    Mark,
    Recording,
    Rename,
    Sync,
    SyncFolder,
    Truncate,
    Unlink,
    Write,
)
from benchmarks.power_cut.workload import LIFE, VERSION_1

from remembrancer.index import workspace

DRAWN = 50


@pytest.fixture(scope="module", autouse=True)
def small_workspaces_have_index_files() -> Generator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workspace, "LEAST_WRITTEN", 1)
        yield


@pytest.fixture(scope="module")
def synced() -> Recording:
    """A life of a store that syncs each commit."""
    return record(LIFE, full_sync=True)


@pytest.fixture(scope="module")
def faults_of_synced(synced: Recording) -> Counts:
    return check(synced, full_sync=True, drawn=DRAWN)[1]


@pytest.mark.parametrize("kind", FAULTS)
def test_with_full_sync_a_power_cut_leaves_no_fault_of_this_kind(faults_of_synced: Counts, kind: str) -> None:
    assert [fault for fault in faults_of_synced.faults if fault.kind == kind] == []


def test_many_acknowledged_steps_were_compared(faults_of_synced: Counts) -> None:
    assert faults_of_synced.images == DRAWN
    assert faults_of_synced.acknowledged > 10 * DRAWN


def test_without_full_sync_a_power_cut_leaves_an_earlier_commit_and_no_fault() -> None:
    _, counts = check(record(LIFE, full_sync=False), full_sync=False, drawn=DRAWN)
    assert counts.faults == []
    assert max(counts.missing) > 0


def test_a_power_cut_during_a_migration_leaves_the_old_file_or_the_new_one_with_a_copy_of_the_old() -> None:
    _, counts = check(record(VERSION_1, full_sync=True), full_sync=True, drawn=DRAWN // 2)
    assert counts.faults == []


def test_a_power_cut_during_a_restoration_leaves_the_old_store_the_new_one_or_none(
    synced: Recording, tmp_path: Path
) -> None:
    checker = Checker(synced, tmp_path, full_sync=True)
    steps = [at for at, one in enumerate(synced.operations) if isinstance(one, Mark) and one.step == "restore"]
    chosen = range(max(steps[0], steps[1] - 12), steps[1] + 1)  # from where the old store is set aside
    cuts = [cut for cut in checker.cuts(times=4) if cut[0] in chosen and cut[1] in {"a subset", "names without data"}]
    assert asyncio.run(checker.check(cuts)).faults == []


def test_syncs_of_files_that_are_left_out_are_noticed(synced: Recording) -> None:
    assert check(_without(synced, Sync), full_sync=True, drawn=20)[1].by_kind[LOST] > 0


def test_syncs_of_the_folder_that_are_left_out_are_noticed(synced: Recording) -> None:
    found = check(_without(synced, SyncFolder), full_sync=True, drawn=DRAWN)[1].by_kind
    assert found[LOST] > 0
    assert found[RESURRECTED] > 0


def _without(recording: Recording, kind: type[Sync | SyncFolder]) -> Recording:
    return replace(recording, operations=[one for one in recording.operations if not isinstance(one, kind)])


class TestDisk:
    def test_what_is_synced_is_in_every_image(self) -> None:
        disk = _disk(Create("a", 1), Write(1, 0, b"whole"), Sync(1), SyncFolder())
        assert _images(disk) == [{"a": b"whole"}]

    def test_a_file_whose_name_is_not_synced_may_be_absent(self) -> None:
        assert {} in _images(_disk(Create("a", 1), Write(1, 0, b"whole"), Sync(1)))

    def test_a_deleted_file_may_come_back_until_the_folder_is_synced(self) -> None:
        begin = (Create("a", 1), Write(1, 0, b"whole"), Sync(1), SyncFolder(), Unlink("a"))
        assert {"a": b"whole"} in _images(_disk(*begin))
        assert _images(_disk(*begin, SyncFolder())) == [{}]

    def test_a_renamed_file_may_lack_its_data_until_it_is_synced(self) -> None:
        disk = _disk(Create("a", 1), SyncFolder(), Write(1, 0, b"whole"), Rename("a", "b"))
        assert {"b": b""} in _images(disk)
        assert {"a": b"whole"} in _images(disk)

    def test_a_write_is_torn_between_sectors_only(self) -> None:
        disk = _disk(
            Create("a", 1), Write(1, 0, b"." * SECTOR * 3), Sync(1), SyncFolder(), Write(1, 0, b"x" * SECTOR * 3)
        )
        torn = {image["a"] for image in _images(disk)}
        assert len(torn) > 2
        assert all(len(set(content[at : at + SECTOR])) == 1 for content in torn for at in range(0, SECTOR * 3, SECTOR))

    def test_writes_are_reordered(self) -> None:
        disk = _disk(Create("a", 1), Sync(1), SyncFolder(), Write(1, 0, b"1"), Write(1, 0, b"2"))
        assert {image["a"] for image in _images(disk)} >= {b"", b"1", b"2"}

    def test_a_file_may_have_its_old_length(self) -> None:
        begin = (Create("a", 1), Write(1, 0, b"whole"), Sync(1), SyncFolder())
        assert {"a": b"whole"} in _images(_disk(*begin, Truncate(1, 2)))
        assert {"a": b"whole"} in _images(_disk(*begin, Write(1, 5, b", and more")))


def _disk(*operations: Create | Write | Sync | SyncFolder | Rename | Unlink | Truncate) -> Disk:
    disk = Disk()
    for operation in operations:
        disk.apply(operation)
    return disk


def _images(disk: Disk) -> list[dict[str, bytes]]:
    """The different images, over all policies and 20 seeds."""
    found: list[dict[str, bytes]] = []
    for policy in POLICIES.values():
        for seed in range(20):
            image = policy(disk, random.Random(seed))
            if image not in found:
                found.append(image)
    return found
