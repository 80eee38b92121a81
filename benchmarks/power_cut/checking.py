"""Open the images that a power cut may leave with the ordinary product, and compare them with what was acknowledged.

The committed states of the database are those that were there when nothing was lost: the contents of all tables after
each commit. An image must hold one of them, not one before the last acknowledged step if each commit is synced, and
never one that lacks an acknowledged erasure, backup or restoration. It must be sound, have no trace of an erased text
after the receipt, answer alike with the index file and without, finish an erasure that was cut off, and take writes.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import shutil
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import apsw

from benchmarks.power_cut.disk import (
    LOG,
    POLICIES,
    Create,
    Disk,
    Image,
    Mark,
    Operation,
    Recording,
    Rename,
    Sync,
    SyncFolder,
    Truncate,
    Unlink,
    Write,
)
from benchmarks.power_cut.workload import BACKUP, SECRET, STORE, TOGETHER, opened
from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.errors import RemembrancerError
from remembrancer.index.resident import ResidentIndex
from remembrancer.domain.job import Job
from remembrancer.testing.doubles import NOW, FixedClock

QUESTIONS: Final = ("where did the kestrel sit?", "wren in the wall", "who hid behind the barn?")
_FRAME: Final = 24
_LOG_HEADER: Final = 32
EMPTY: Final = "empty"
"""The state of a store that does not exist, or has no tables."""


@dataclass(frozen=True, slots=True)
class Required:
    """What an image must hold at some point of the recording. `least`, `most`: the committed states that are allowed,
    by their numbers; `absent`: bytes that no file may contain; `whole`: files by name, with digests of their contents;
    `step`: the step that was running, or acknowledged last.
    """

    step: str
    least: int
    most: int
    acknowledged: int
    absent: tuple[bytes, ...] = ()
    whole: tuple[tuple[str, str], ...] = ()
    backed_up_from: int | None = None
    """From this state on, the file was migrated: the copy of before must be there."""


@dataclass(frozen=True, slots=True)
class Fault:
    kind: str
    step: str
    policy: str
    detail: str


@dataclass(slots=True)
class Counts:
    """The result of a run. `faults` by kind: "lost", "half written", "resurrected", "unsound", "wrong answer"."""

    sync_points: int = 0
    images: int = 0
    distinct: int = 0
    acknowledged: int = 0
    lost_turns: Counter[int] = field(default_factory=Counter[int])
    """Images by the number of commits that they lack, where commits are not synced."""
    faults: list[Fault] = field(default_factory=list[Fault])

    @property
    def by_kind(self) -> Counter[str]:
        return Counter(fault.kind for fault in self.faults)


LOST: Final = "lost"
HALF: Final = "half written"
RESURRECTED: Final = "resurrected"
UNSOUND: Final = "unsound"
WRONG: Final = "wrong answer"
FAULTS: Final = (LOST, HALF, RESURRECTED, UNSOUND, WRONG)


class Checker:
    """Checks the images of one recording. `folder`: an empty one for temporary files."""

    def __init__(self, recording: Recording, folder: Path, *, full_sync: bool, seed: int = 1) -> None:
        self._recording = recording
        self._folder = folder
        self._full_sync = full_sync
        self._seed = seed
        self._states, self._since = self._committed()
        self._checked: dict[str, tuple[str, list[tuple[str, str]]]] = {}
        self.counts = Counts(sync_points=sum(isinstance(one, Sync | SyncFolder) for one in recording.operations))

    @property
    def states(self) -> int:
        """The number of committed states."""
        return len(self._states)

    def points(self) -> list[int]:
        """The operations before which the power may be cut: all syncs, what follows each sync, and acknowledgements."""
        found: set[int] = set()
        for at, operation in enumerate(self._recording.operations):
            if isinstance(operation, Sync | SyncFolder):
                found |= {at, at + 1}
            if isinstance(operation, Mark) and operation.done:
                found.add(at + 1)
            if isinstance(operation, Rename | Unlink | Truncate):
                found |= {at, at + 1}
        return sorted(found)

    async def check(self, points: Sequence[int], policies: Sequence[str], *, times: int = 1) -> Counts:
        """Check images at these points under these policies; those with chance `times` times."""
        wanted = set(points)
        for at, disk, required in self._replayed():
            if at not in wanted:
                continue
            self.counts.acknowledged = max(self.counts.acknowledged, required.acknowledged)
            seen: set[str] = set()
            for policy in ("all kept",) if disk.is_certain else policies:
                for time in range(times):
                    chance = random.Random(f"{self._seed}/{at}/{policy}/{time}")
                    image = POLICIES[policy](disk, chance)
                    self.counts.images += 1
                    digest = _digest(image)
                    if digest not in seen:
                        seen.add(digest)
                        await self._check(image, digest, required, policy)
        self.counts.distinct = len(self._checked)
        return self.counts

    async def _check(self, image: Image, digest: str, required: Required, policy: str) -> None:
        def fault(kind: str, detail: str) -> None:
            self.counts.faults.append(Fault(kind, required.step, policy, detail))

        for name, content in image.items():
            for secret in required.absent:
                if secret in content:
                    fault(RESURRECTED, f"{secret!r} in {name}")
        for name, expected in required.whole:
            if name not in image:
                fault(LOST, f"{name} is absent")
            elif _digest_of(image[name]) != expected:
                fault(HALF, f"{name} is not as it was")
        if digest not in self._checked:
            self._checked[digest] = await self._open(image)
        state, problems = self._checked[digest]
        for kind, detail in problems:
            fault(kind, detail)
        numbers = [number for number, one in enumerate(self._states) if one == state]
        allowed = [number for number in numbers if required.least <= number <= required.most]
        if not state:
            return  # it cannot be opened, which is a problem already
        if not [number for number in numbers if number <= required.most]:
            fault(HALF, "the tables are not those of any commit")
        elif not allowed:
            lacking = required.least - max(number for number in numbers if number <= required.most)
            fault(LOST, f"{lacking} commits before the last acknowledged one")
        elif not self._full_sync:
            self.counts.lost_turns[required.most - max(allowed)] += 1
        if required.backed_up_from is not None and allowed and max(allowed) >= required.backed_up_from:
            name = f"{STORE}.v1.backup"
            if _digest_of(image.get(name, b"")) != self._content_at_the_end(name):
                fault(LOST, f"the file is migrated, and {name} is {'damaged' if name in image else 'absent'}")

    async def _open(self, image: Image) -> tuple[str, list[tuple[str, str]]]:
        """The state of the database ("" if it cannot be read), and what is wrong in it."""
        folder = self._folder / "image"
        _write(image, folder)
        try:
            try:
                state = tables_of(folder / STORE)
            except apsw.Error as error:
                return "", [(UNSOUND, f"cannot be read: {error}")]
            try:
                return state, [problem async for problem in self._problems(folder)]
            except (RemembrancerError, apsw.Error, OSError) as error:
                return state, [(UNSOUND, f"{type(error).__name__}: {error}")]
        finally:
            shutil.rmtree(folder)

    async def _problems(self, folder: Path) -> Any:
        clock = FixedClock(NOW + timedelta(days=1))
        rem = await opened(folder, full_sync=False, clock=clock)
        try:
            for finding in await rem.health.doctor():
                if not finding.ok and not finding.warning:
                    yield UNSOUND, f"{finding.check}: {finding.detail}"
            events = [event.text.split()[0] for event in await rem.journal.list(limit=1_000)]
            for name, count in Counter(word for word in events if word.startswith("batch")).items():
                if count != TOGETHER:
                    yield HALF, f"{count} of the {TOGETHER} events of {name}"
            answers = [[(hit.id, hit.score) for hit in await rem.recall(question)] for question in QUESTIONS]
            if not all(0 <= score <= 1 for answer in answers for _, score in answer):
                yield WRONG, "a score is not in [0, 1]"
        finally:
            await rem.close()
        # Without the file of the index: derived from the records.
        rem = await opened(folder, full_sync=False, clock=clock, index=ResidentIndex())
        try:
            derived = [[(hit.id, hit.score) for hit in await rem.recall(question)] for question in QUESTIONS]
            if derived != answers:
                yield WRONG, "the index file and the records give different answers"
            erased = await rem.erasures()
            if any(receipt.purged_at is None for receipt in erased):
                await rem.maintain([Job.HEALTH], force=True)
                if any(receipt.purged_at is None for receipt in await rem.erasures()):
                    yield UNSOUND, "an erasure that was cut off is not finished by the next maintenance"
            events = [event.text.split()[0] for event in await rem.journal.list(limit=1_000)]
            after = await rem.observe("after the cut the plover came back")
            if after.id not in [hit.memory.id for hit in await rem.recall("plover came back")] and not [
                hit for hit in await rem.recall("plover came back") if "plover" in hit.cue.text
            ]:
                yield WRONG, "what is written after the cut is not found"
        finally:
            await rem.close()
        if erased:
            # Secrets that are in no event any more, in files of the store; a backup of before keeps them, as documented.
            for path in folder.iterdir():
                found = path.read_bytes() if _is_of_the_store(path.name) else b""
                words = {word for word in _secrets_in(found) if word.decode() not in events}
                if words:
                    yield RESURRECTED, f"{words} in {path.name} after the next maintenance"

    def _committed(self) -> tuple[list[str], list[int]]:
        """The digests of the committed states, in order, and the number of operations after which each is there."""
        disk, last = Disk(self._recording.before), b""
        states, since = [self._state_of(disk.kept())], [0]
        commit = _Commits()
        for at, operation in enumerate(self._recording.operations, start=1):
            disk.apply(operation)
            if not commit.may_follow(operation):
                continue
            image = {name: data for name, data in disk.kept().items() if name.startswith(STORE)}
            content = _digest(image).encode()
            if content == last:
                continue
            last = content
            state = self._state_of(image)
            if state != states[-1]:
                states.append(state)
                since.append(at)
        return states, since

    def _state_of(self, image: Image) -> str:
        folder = self._folder / "state"
        _write({name: data for name, data in image.items() if _is_the_database(name)}, folder)
        try:
            return tables_of(folder / STORE)
        finally:
            shutil.rmtree(folder)

    def _replayed(self) -> Iterator[tuple[int, Disk, Required]]:
        """The disk before each operation, and after the last, with what is required there."""
        disk = Disk(self._recording.before)
        step, least, acknowledged = "", 0, 0
        absent: list[bytes] = []
        whole: dict[str, str] = {}
        migrated: int | None = None
        operations: list[Operation | None] = [*self._recording.operations, None]
        for at, operation in enumerate(operations):
            now = bisect_right(self._since, at) - 1
            yield (
                at,
                disk,
                Required(step, least, now, acknowledged, tuple(absent), tuple(whole.items()), migrated),
            )
            if operation is None:
                return
            disk.apply(operation)
            if isinstance(operation, Rename) and operation.new == f"{STORE}.v1.backup":
                migrated = now + 1
            if isinstance(operation, Mark):
                step = f"{operation.step}, done" if operation.done else operation.step
                if not operation.done:
                    if operation.step == "restore":  # what is restored may contain what was erased after the backup
                        absent.clear()
                    if operation.step in {"restore"}:
                        whole.pop(EMPTY, None)
                    continue
                acknowledged += 1
                if self._full_sync or operation.step in {"erase", "restore"}:
                    least = self._settled(operation.step, now)
                absent += operation.details.get("absent", ())
                if name := operation.details.get("whole"):
                    whole[name] = _digest_of(disk.kept()[name])

    def _settled(self, step: str, now: int) -> int:
        """The first state that may be found after a step. After an erasure without synced commits, the note that the
        files were purged may be missing, which is the last commit.
        """
        return now if self._full_sync or step != "erase" else now - 1

    def _content_at_the_end(self, name: str) -> str:
        disk = Disk(self._recording.before)
        for operation in self._recording.operations:
            disk.apply(operation)
        return _digest_of(disk.kept().get(name, b""))


class _Commits:
    """Which operations may end a transaction."""

    def __init__(self) -> None:
        self._logs: dict[int, bool] = {}
        self._ends = False

    def may_follow(self, operation: Operation) -> bool:
        match operation:
            case Create(name, file):
                self._logs[file] = name.endswith(LOG)
            case Unlink() | Rename() | Truncate():
                return True
            case Write(file, offset, data) if self._logs.get(file):
                # The header of a frame ends a transaction if it has the size of the database; the page follows.
                if len(data) == _FRAME and offset >= _LOG_HEADER:
                    self._ends = data[4:8] != bytes(4)
                elif len(data) > _LOG_HEADER:
                    return self._ends
            case _:
                pass
        return False


def tables_of(path: Path) -> str:
    """A digest of all rows of all tables, as they are after recovery; EMPTY: there are none. Raises apsw.Error."""
    if not path.exists():
        return EMPTY
    found = hashlib.sha256()
    with closing(connect(str(path), create=False)) as connection:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        tables = [
            name
            for (name,) in connection.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL %' ORDER BY name"
            )
        ]
        if not tables:
            return EMPTY
        found.update(str(connection.pragma("user_version")).encode())
        for table in tables:
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                found.update(repr((table, row)).encode())
    return found.hexdigest()


def _write(image: Image, folder: Path) -> None:
    folder.mkdir(parents=True)
    for name, content in image.items():
        (folder / name).write_bytes(content)


def _is_the_database(name: str) -> bool:
    return name in {STORE, f"{STORE}{LOG}", f"{STORE}-journal"}


def _is_of_the_store(name: str) -> bool:
    return _is_the_database(name) or name.endswith((".index", ".partial"))


def _secrets_in(content: bytes) -> set[bytes]:
    found: set[bytes] = set()
    at = content.find(SECRET.encode())
    while at >= 0:
        end = at + len(SECRET)
        while content[end : end + 1].isdigit():
            end += 1
        found.add(content[at:end])
        at = content.find(SECRET.encode(), end)
    return found


def _digest(image: Image) -> str:
    found = hashlib.blake2b(digest_size=16)
    for name in sorted(image):
        found.update(f"{name}\0{len(image[name])}\0".encode())
        found.update(image[name])
    return found.hexdigest()


def _digest_of(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
