"""A model of a disk: which contents of a folder a power cut may leave, given the operations until then.

A file system may keep, drop and reorder what was not synced. Data is certain after a sync of the file, a name (created,
replaced or deleted) after a sync of the folder. Renaming is atomic; a write is not: each sector of it may be missing.
Bytes outside a write do not change, as SQLite assumes too (SQLITE_IOCAP_POWERSAFE_OVERWRITE).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

SECTOR: Final = 512
PAGE: Final = 4096
LOG: Final = "-wal"
"""The end of the name of a write-ahead log."""


@dataclass(frozen=True, slots=True)
class Write:
    file: int
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Truncate:
    """Set the length of a file; bytes that it gains are zero."""

    file: int
    size: int


@dataclass(frozen=True, slots=True)
class Sync:
    """Data and length of a file are on the disk."""

    file: int


@dataclass(frozen=True, slots=True)
class Create:
    name: str
    file: int


@dataclass(frozen=True, slots=True)
class Rename:
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Unlink:
    name: str


@dataclass(frozen=True, slots=True)
class SyncFolder:
    """The names of the folder are on the disk."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A step of the workload begins, or was acknowledged (`done`), with details of it."""

    step: str
    done: bool = False
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])


DataOperation = Write | Truncate
NameOperation = Create | Rename | Unlink
Operation = DataOperation | NameOperation | Sync | SyncFolder | Mark
Image = dict[str, bytes]
"""The files of a folder by name."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What was done to a folder. `before`: its files at the beginning."""

    before: Image
    operations: Sequence[Operation]


class Disk:
    """The files after the operations so far: what is certain, and what is not yet."""

    def __init__(self, image: Mapping[str, bytes] | None = None) -> None:
        """`image`: files that are on the disk already. Their numbers are -1, -2 …, in the order of their names."""
        names = sorted(image or {})
        self._data = {-number: (image or {})[name] for number, name in enumerate(names, start=1)}
        self._names = {name: -number for number, name in enumerate(names, start=1)}
        self._now = {file: bytearray(data) for file, data in self._data.items()}
        self._now_names = dict(self._names)
        self._pending: dict[int, list[DataOperation]] = {}
        self._pending_names: list[NameOperation] = []

    def apply(self, operation: Operation) -> None:
        match operation:
            case Write(file) | Truncate(file):
                _change(self._now.setdefault(file, bytearray()), operation)
                self._pending.setdefault(file, []).append(operation)
            case Sync(file):
                self._data[file] = bytes(self._now.setdefault(file, bytearray()))
                self._pending.pop(file, None)
            case Create() | Rename() | Unlink():
                _rename(self._now_names, operation)
                self._pending_names.append(operation)
            case SyncFolder():
                self._names = dict(self._now_names)
                self._pending_names.clear()
            case Mark():
                pass

    @property
    def is_certain(self) -> bool:
        """Whether a power cut can leave only one image."""
        return not self._pending_names and not any(self._pending.values())

    def kept(self) -> Image:
        """Everything reached the disk, as when only the process is killed."""
        return {name: bytes(self._now.get(file, b"")) for name, file in self._now_names.items()}

    def image(
        self, names: Sequence[NameOperation], data: Callable[[str, bytes, list[DataOperation], bytes], bytes]
    ) -> Image:
        """The files if these of the pending changes of names reached the disk. `data` decides the content of each file,
        from its name, what is certain, the pending operations, and the content if all of them are applied.
        """
        now = dict(self._names)
        for operation in names:
            _rename(now, operation)
        return {
            name: data(name, self._data.get(file, b""), self._pending.get(file, []), bytes(self._now.get(file, b"")))
            for name, file in now.items()
        }

    @property
    def pending_names(self) -> tuple[NameOperation, ...]:
        return tuple(self._pending_names)


def _change(content: bytearray, operation: DataOperation) -> None:
    match operation:
        case Write(_, offset, data):
            if len(content) < offset:
                content.extend(bytes(offset - len(content)))
            content[offset : offset + len(data)] = data
        case Truncate(_, size):
            if size < len(content):
                del content[size:]
            else:
                content.extend(bytes(size - len(content)))


def _rename(names: dict[str, int], operation: NameOperation) -> None:
    match operation:
        case Create(name, file):
            names[name] = file
        case Rename(old, new):
            if old in names:  # its creation may not have reached the disk
                names[new] = names.pop(old)
        case Unlink(name):
            names.pop(name, None)


def _applied(content: bytes, operations: Iterable[DataOperation]) -> bytes:
    changed = bytearray(content)
    for operation in operations:
        _change(changed, operation)
    return bytes(changed)


def _torn(operation: DataOperation, unit: int, chance: random.Random) -> Iterator[DataOperation]:
    """The parts of a write that reached the disk, cut at multiples of `unit` bytes in the file."""
    if isinstance(operation, Truncate):
        yield operation
        return
    at, end = operation.offset, operation.offset + len(operation.data)
    while at < end:
        until = min((at // unit + 1) * unit, end)
        if chance.random() < 0.5:
            yield Write(operation.file, at, operation.data[at - operation.offset : until - operation.offset])
        at = until


Policy = Callable[[Disk, random.Random], Image]


def _dropped(disk: Disk, _: random.Random) -> Image:
    return disk.image((), lambda _n, certain, _p, _all: certain)


def _kept(disk: Disk, _: random.Random) -> Image:
    return disk.kept()


def _names_only(disk: Disk, _: random.Random) -> Image:
    return disk.image(disk.pending_names, lambda _n, certain, _p, _all: certain)


def _data_only(disk: Disk, _: random.Random) -> Image:
    return disk.image((), lambda _n, _c, _p, whole: whole)


def _subset(disk: Disk, chance: random.Random) -> Image:
    def some(_name: str, certain: bytes, pending: list[DataOperation], _whole: bytes) -> bytes:
        return _applied(certain, [one for one in pending if chance.random() < 0.5])

    return disk.image([one for one in disk.pending_names if chance.random() < 0.5], some)


def _reordered(disk: Disk, chance: random.Random) -> Image:
    def shuffled(_name: str, certain: bytes, pending: list[DataOperation], _whole: bytes) -> bytes:
        return _applied(certain, chance.sample(pending, chance.randint(0, len(pending))))

    return disk.image(disk.pending_names[: chance.randint(0, len(disk.pending_names))], shuffled)


def _prefix(disk: Disk, chance: random.Random) -> Image:
    def beginning(_name: str, certain: bytes, pending: list[DataOperation], _whole: bytes) -> bytes:
        return _applied(certain, pending[: chance.randint(0, len(pending))])

    return disk.image(disk.pending_names[: chance.randint(0, len(disk.pending_names))], beginning)


def _torn_at(unit: int) -> Policy:
    def torn(disk: Disk, chance: random.Random) -> Image:
        def parts(_name: str, certain: bytes, pending: list[DataOperation], _whole: bytes) -> bytes:
            return _applied(certain, (part for one in pending for part in _torn(one, unit, chance)))

        return disk.image(disk.pending_names, parts)

    return torn


def _last_torn(disk: Disk, chance: random.Random) -> Image:
    """All but the last write to each file, and a part of that one."""

    def parts(_name: str, certain: bytes, pending: list[DataOperation], _whole: bytes) -> bytes:
        before, last = pending[:-1], pending[-1:]
        return _applied(certain, (*before, *(part for one in last for part in _torn(one, SECTOR, chance))))

    return disk.image(disk.pending_names, parts)


def _old_length(disk: Disk, _: random.Random) -> Image:
    """The data reached the disk, but not the new length of the file."""

    def cut(_name: str, certain: bytes, _pending: list[DataOperation], whole: bytes) -> bytes:
        return whole[: len(certain)].ljust(len(certain), b"\0")

    return disk.image(disk.pending_names, cut)


def _only_length(disk: Disk, _: random.Random) -> Image:
    """The new length of each file reached the disk, but not its data, of which what is new reads as zeros."""

    def zeros(_name: str, certain: bytes, _pending: list[DataOperation], whole: bytes) -> bytes:
        return certain[: len(whole)].ljust(len(whole), b"\0")

    return disk.image(disk.pending_names, zeros)


def _log_lost(disk: Disk, _: random.Random) -> Image:
    return disk.image(disk.pending_names, lambda name, certain, _p, whole: certain if name.endswith(LOG) else whole)


def _log_only(disk: Disk, _: random.Random) -> Image:
    return disk.image(disk.pending_names, lambda name, certain, _p, whole: whole if name.endswith(LOG) else certain)


POLICIES: Final[dict[str, Policy]] = {
    "all dropped": _dropped,
    "all kept": _kept,
    "names without data": _names_only,
    "data without names": _data_only,
    "a subset": _subset,
    "a subset, reordered": _reordered,
    "a prefix of each file": _prefix,
    "torn at sectors": _torn_at(SECTOR),
    "torn at pages": _torn_at(PAGE),
    "the last write torn": _last_torn,
    "length not updated": _old_length,
    "length without data": _only_length,
    "log lost": _log_lost,
    "log kept alone": _log_only,
}
"""What becomes of the pending operations, by a name."""
