"""Open the images that a power cut may leave with the ordinary product, and compare them with what was acknowledged.

The committed states of the database are those that were there when nothing was lost: the contents of all tables after
each commit. An image must hold one of them, not one before the last acknowledged step if each commit is synced, and
never one that lacks an acknowledged erasure, backup or restoration. It must be sound, have no trace of an erased text
after the receipt, answer alike with the index file and without, finish an erasure that was cut off, and take writes.
"""

from __future__ import annotations

import hashlib
import random
import shutil
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final
from uuid import UUID

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
from benchmarks.power_cut.workload import ERASED, STORE, TOGETHER, opened
from remembrancer import AsyncRemembrancer
from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.domain.job import Job
from remembrancer.errors import RemembrancerError
from remembrancer.index.resident import ResidentIndex
from remembrancer.testing.doubles import NOW, FixedClock

QUESTIONS: Final = ("where did the kestrel sit?", "wren in the wall", "who hid behind the barn?")
_FRAME: Final = 24
_LOG_HEADER: Final = 32
COPY_OF_VERSION_1: Final = f"{STORE}.v1.backup"
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
    """Acknowledged steps that the images were compared with, in all."""
    missing: Counter[int] = field(default_factory=Counter[int])
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


Cut = tuple[int, str, int]
"""The operation before which the power is cut, the policy, and which of several drawings by chance."""
Problem = tuple[str, str]
"""A kind of fault, and a detail."""


class Checker:
    """Checks the images of one recording. `folder`: an empty one for temporary files."""

    def __init__(self, recording: Recording, folder: Path, *, full_sync: bool, seed: int = 1) -> None:
        self._recording = recording
        self._folder = folder
        self._full_sync = full_sync
        self._seed = seed
        self._states, self._since = self._committed()
        self._copy_of_version_1 = _digest_of(self._at_the_end().get(COPY_OF_VERSION_1, b""))
        self._checked: dict[str, tuple[str, list[Problem]]] = {}
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

    def cuts(self, *, times: int = 1) -> list[Cut]:
        """Every point with every policy, those with chance `times` times."""
        return [(at, policy, time) for at in self.points() for policy in POLICIES for time in range(times)]

    async def check(self, cuts: Iterable[Cut]) -> Counts:
        wanted: dict[int, list[tuple[str, int]]] = {}
        for at, policy, time in cuts:
            wanted.setdefault(at, []).append((policy, time))
        for at, disk, required in self._replayed():
            seen: set[str] = set()
            for policy, time in wanted.get(at, []):
                image = POLICIES[policy](disk, random.Random(f"{self._seed}/{at}/{policy}/{time}"))
                self.counts.images += 1
                self.counts.acknowledged += required.acknowledged
                digest = _digest(image)
                if digest not in seen:
                    seen.add(digest)
                    await self._check(image, digest, required, policy)
        self.counts.distinct = len(self._checked)
        return self.counts

    async def _check(self, image: Image, digest: str, required: Required, policy: str) -> None:
        if digest not in self._checked:
            self._checked[digest] = await self._open(image)
        state, problems = self._checked[digest]
        found = [*_wrong_files(image, required), *problems]
        if state:  # otherwise it cannot be opened, which is one of the problems
            found += self._wrong_state(state, image, required)
        self.counts.faults += [Fault(kind, required.step, policy, detail) for kind, detail in found]

    def _wrong_state(self, state: str, image: Image, required: Required) -> Iterator[Problem]:
        numbers = [number for number, one in enumerate(self._states) if one == state and number <= required.most]
        if not numbers:
            yield HALF, "the tables are not those of any commit"
            return
        number = max(numbers)  # two commits may leave the same rows
        if number < required.least:
            yield LOST, f"{required.least - number} commits before the last acknowledged one"
        elif not self._full_sync:
            self.counts.missing[required.most - number] += 1
        if required.backed_up_from is not None and number >= required.backed_up_from:
            content = image.get(COPY_OF_VERSION_1, b"")
            if _digest_of(content) != self._copy_of_version_1:
                why = "damaged" if content else "absent"
                yield LOST, f"the file is migrated, and its copy from before is {why}"

    async def _open(self, image: Image) -> tuple[str, list[Problem]]:
        """The state of the database ("" if it cannot be read), and what is wrong in it."""
        folder = self._folder / "image"
        _write(image, folder)
        try:
            try:
                state = tables_of(folder / STORE)
            except apsw.Error as error:
                return "", [(UNSOUND, f"cannot be read: {error}")]
            try:
                return state, await self._problems(folder)
            except (RemembrancerError, apsw.Error, OSError) as error:
                return state, [(UNSOUND, f"{type(error).__name__}: {error}")]
        finally:
            shutil.rmtree(folder)

    async def _problems(self, folder: Path) -> list[Problem]:
        found: list[Problem] = []
        clock = FixedClock(NOW + timedelta(days=1))
        async with await opened(folder, full_sync=False, clock=clock) as rem:
            found += [
                (UNSOUND, f"{finding.check}: {finding.detail}")
                for finding in await rem.health.doctor()
                if not finding.ok and not finding.warning
            ]
            together = Counter(word for word in await _first_words(rem) if word.startswith("batch"))
            found += [(HALF, f"{n} of {TOGETHER} events of {name}") for name, n in together.items() if n != TOGETHER]
            answers = await _answers(rem)
        # Without the file of the index: derived from the records.
        async with await opened(folder, full_sync=False, clock=clock, index=ResidentIndex()) as rem:
            if await _answers(rem) != answers:
                found.append((WRONG, "the index file and the records give different answers"))
            await rem.observe("after the cut the plover came back")
            if not any("plover" in hit.cue.text for hit in await rem.recall("plover came back")):
                found.append((WRONG, "what is written after the cut is not found"))
            erased = await rem.erasures()
            if any(receipt.purged_at is None for receipt in erased):
                await rem.maintain([Job.HEALTH], force=True)
                if any(receipt.purged_at is None for receipt in await rem.erasures()):
                    found.append((UNSOUND, "an erasure that was cut off is not finished by the next maintenance"))
            words = set(await _first_words(rem))
        return found + (_traces_in(folder, words) if erased else [])

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

    def _at_the_end(self) -> Image:
        disk = Disk(self._recording.before)
        for operation in self._recording.operations:
            disk.apply(operation)
        return disk.kept()

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
            if isinstance(operation, Rename) and operation.new == COPY_OF_VERSION_1:
                migrated = now + 1
            if isinstance(operation, Mark):
                step = f"{operation.step}, done" if operation.done else operation.step
                if not operation.done:
                    if operation.step == "restore":  # what is restored may contain what was erased after the backup
                        absent.clear()
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


def _wrong_files(image: Image, required: Required) -> Iterator[Problem]:
    for name, content in image.items():
        for secret in required.absent:
            if secret in content and _is_of_the_store(name):
                yield RESURRECTED, f"{secret!r} in {name}"
    for name, expected in required.whole:
        if name not in image:
            yield LOST, f"{name} is absent"
        elif _digest_of(image[name]) != expected:
            yield HALF, f"{name} is not as it was"


async def _first_words(rem: AsyncRemembrancer) -> list[str]:
    return [event.text.split()[0] for event in await rem.journal.list(limit=1_000)]


async def _answers(rem: AsyncRemembrancer) -> list[list[tuple[UUID, float]]]:
    return [[(hit.id, hit.score) for hit in await rem.recall(question)] for question in QUESTIONS]


def _traces_in(folder: Path, words: set[str]) -> list[Problem]:
    """Words in the files of the store that are in no event any more. `words`: those that are in one."""
    found: list[Problem] = []
    for path in sorted(folder.iterdir()):
        if _is_of_the_store(path.name):
            left = {word.decode() for word in _secrets_in(path.read_bytes())} - words
            found += [(RESURRECTED, f"{word} in {path.name} after the next maintenance") for word in sorted(left)]
    return found


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
    """Whether erasures reach the file: not backups and exports, which their receipts name."""
    return _is_the_database(name) or ".index" in name


def _secrets_in(content: bytes) -> set[bytes]:
    found: set[bytes] = set()
    at = content.find(ERASED.encode())
    while at >= 0:
        end = at + len(ERASED)
        while content[end : end + 1].isdigit():
            end += 1
        found.add(content[at:end])
        at = content.find(ERASED.encode(), end)
    return found


def _digest(image: Image) -> str:
    found = hashlib.blake2b(digest_size=16)
    for name in sorted(image):
        found.update(f"{name}\0{len(image[name])}\0".encode())
        found.update(image[name])
    return found.hexdigest()


def _digest_of(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
