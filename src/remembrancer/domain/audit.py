"""The audit trail: who did what, when, as a chain of hashes.

An entry is stored as its canonical bytes: a JSON object in ASCII, with sorted keys and without blanks. Its hash is
SHA-256(hash of the entry before it + these bytes); before the first entry stands `first_hash`. So an entry that is
changed, removed, inserted or moved breaks the chain there. Who has noted the last hash elsewhere also detects a shorter
chain, and one that was computed again.

An entry holds no text. Names of agents, sessions and so on stand in it as pseudonyms, SHA-256(salt + name), shortened;
name and salt are stored beside the chain, where an erasure deletes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final, cast
from uuid import UUID

from remembrancer.domain.instants import micros, moment
from remembrancer.domain.scope import SCOPE_PARTS
from remembrancer.errors import InvalidInput
from remembrancer.patterns import pattern
from remembrancer.values import dataclass

PROCESS: Final = "process"
"""The principal of a call without a key: whoever runs this process, or this machine's own client of a server."""
NAMES: Final = ("principal", *SCOPE_PARTS)
"""The names that an entry may have: of the principal, and the parts of the scope that was acted in."""
PSEUDONYM_BYTES: Final = 16
SALT_BYTES: Final = 16
_BEFORE_ALL: Final = "remembrancer audit 1\n"
_HEAD: Final = pattern(r"(\d{1,18}):([0-9a-f]{64})")


class Door(StrEnum):
    """The way by which a call came in. `job`: background work."""

    PYTHON = "python"
    CLI = "cli"
    HTTP = "http"
    MCP = "mcp"
    JOB = "job"


@dataclass(frozen=True, slots=True, kw_only=True)
class Touched:
    """The rows that an act changed or read: ids by kind, counts, and the embedding model it was about. No texts."""

    ids: Mapping[str, tuple[UUID, ...]] = field(default_factory=lambda: MappingProxyType[str, tuple[UUID, ...]]({}))
    counts: Mapping[str, int] = field(default_factory=lambda: MappingProxyType[str, int]({}))
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """An act to be recorded. `principal`: `process`, `key:ID` or `oauth`. `names`: by the words of `NAMES`."""

    at: datetime
    principal: str
    door: Door
    verb: str
    names: Mapping[str, str]
    touched: Touched


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One entry of the audit trail.

    `at`: by the clock of the process that acted. `principal`: `process` (nobody had to show a key), `key:ID`, or
    `oauth`, whose name is in `names`. `door`: python, cli, http, mcp or job. `verb`: the public call, such as
    `keys.create`, or the job. `names`: the principal's and those of the scope: project, crew, agent, session;
    None: erased. `ids`: the rows it is about, by kind: memories, events, keys, recalls, derived. `counts`: how many of
    what, where ids are not listed. `hash`: of the chain up to here, as 64 hexadecimal digits.
    """

    seq: int
    at: datetime
    principal: str
    door: str
    verb: str
    names: Mapping[str, str | None]
    ids: Mapping[str, tuple[UUID, ...]]
    counts: Mapping[str, int]
    model: str | None
    hash: str


@dataclass(frozen=True, slots=True)
class ChainedEntry:
    """A stored entry: its number in the workspace, from 1; its canonical bytes; its hash."""

    seq: int
    entry: bytes
    hash: bytes


@dataclass(frozen=True, slots=True)
class AuditName:
    """A name that entries refer to by its pseudonym."""

    pseudonym: bytes
    salt: bytes
    name: bytes


@dataclass(frozen=True, slots=True)
class AuditHead:
    """The number `seq` and the `hash` of the last entry, written SEQ:HASH. Noted elsewhere, it proves later that no
    entry up to it was changed or removed. Without entries: 0, and the hash before the first one.

    >>> str(AuditHead(0, "ab" * 32))[:8]
    '0:ababab'
    """

    seq: int
    hash: str

    def __str__(self) -> str:
        return f"{self.seq}:{self.hash}"

    @classmethod
    def of(cls, text: str) -> AuditHead:
        """Raises InvalidInput for a text that is not SEQ:HASH."""
        found = _HEAD.fullmatch(text.strip())
        if found is None:
            raise InvalidInput("head", text, "SEQ:HASH as `remembrancer audit head` prints it")
        return cls(int(found[1]), found[2])


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditCheck:
    """The result of checking a chain.

    `entries`: their number; `head`: of the last one that is right. `broken_at`: the number of the first entry that is
    wrong; None: all are right, or what is wrong concerns no entry. `problem`: what is wrong; empty: nothing is.
    `names`, `erased`: how many names the entries refer to, and how many of these an erasure deleted. `is_whole`: no
    problem was found.
    """

    entries: int
    head: AuditHead
    names: int
    erased: int
    broken_at: int | None = None
    problem: str = ""

    @property
    def is_whole(self) -> bool:
        return not self.problem


def first_hash(workspace: str) -> bytes:
    """The hash before the first entry of a workspace."""
    return sha256((_BEFORE_ALL + workspace).encode("utf-8", "surrogatepass")).digest()


def next_hash(previous: bytes, entry: bytes) -> bytes:
    return sha256(previous + entry).digest()


def pseudonym_of(salt: bytes, name: bytes) -> bytes:
    return sha256(salt + name).digest()[:PSEUDONYM_BYTES]


_text: Final = json.encoder.encode_basestring_ascii
_object: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def canonical(seq: int, act: Act, pseudonyms: Mapping[str, bytes], blanked: Sequence[bytes] = ()) -> bytes:
    """The bytes of an entry. `pseudonyms`: for each of its names. `blanked`: pseudonyms whose names it deletes.

    >>> act = Act(at=moment(5), principal="process", door=Door.CLI, verb="pin", names={}, touched=Touched())
    >>> canonical(1, act, {})
    b'{"at":5,"door":"cli","principal":"process","seq":1,"verb":"pin"}'
    """
    # Put together here, in the order of the keys: an encoder takes three times as long, and each write waits for it.
    touched, parts = act.touched, [f'"at":{micros(act.at)}']
    if blanked:
        parts.append(f'"blanked":{_listed([one.hex() for one in blanked])}')
    if touched.counts and (counts := {kind: count for kind, count in touched.counts.items() if count}):
        parts.append(f'"counts":{_object(counts)}')
    parts.append(f'"door":"{act.door}"')
    if ids := [f'"{kind}":{_listed(touched.ids[kind])}' for kind in sorted(touched.ids) if touched.ids[kind]]:
        parts.append(f'"ids":{{{",".join(ids)}}}')
    if touched.model:
        parts.append(f'"model":{_text(touched.model)}')
    if act.names:
        names = [f'"{what}":"{pseudonyms[what].hex()}"' for what in sorted(act.names)]
        parts.append(f'"names":{{{",".join(names)}}}')
    parts.append(f'"principal":{_text(act.principal)},"seq":{seq},"verb":{_text(act.verb)}')
    return f"{{{','.join(parts)}}}".encode()


def _listed(ids: Iterable[UUID | str]) -> str:
    return '["' + '","'.join(map(str, ids)) + '"]'


def entry_of(chained: ChainedEntry, names: Mapping[bytes, AuditName]) -> AuditEntry:
    """The entry with its names. Raises ValueError, TypeError or KeyError for bytes that this program never writes."""
    told = cast("dict[str, Any]", json.loads(chained.entry))
    return AuditEntry(
        seq=told["seq"],
        at=moment(told["at"]),
        principal=told["principal"],
        door=told["door"],
        verb=told["verb"],
        names={what: _name(names.get(bytes.fromhex(one))) for what, one in told.get("names", {}).items()},
        ids={kind: tuple(map(UUID, ids)) for kind, ids in told.get("ids", {}).items()},
        counts=told.get("counts", {}),
        model=told.get("model"),
        hash=chained.hash.hex(),
    )


def _name(found: AuditName | None) -> str | None:
    return None if found is None else found.name.decode("utf-8", "surrogatepass")


def _follows(chained: ChainedEntry, previous: bytes) -> bool:
    try:
        return next_hash(previous, chained.entry) == chained.hash
    except TypeError:  # somebody wrote another kind of value than bytes
        return False


class ChainChecker:
    """Checks the entries of one workspace, given in ascending order, without keeping them."""

    def __init__(self, workspace: str, heads: Iterable[AuditHead] = ()) -> None:
        """`heads`: noted before; each must be on the chain."""
        self._hash = first_hash(workspace)
        self._seq = 0
        self._noted = sorted(heads, key=lambda head: head.seq)
        self._used: dict[bytes, int] = {}
        self._blanked: set[bytes] = set()
        self._broken_at: int | None = None
        self._problem = ""
        self._compare()

    def add(self, chained: ChainedEntry) -> None:
        """Check the next entry. After the first wrong one, the others are only counted."""
        expected = self._seq + 1
        if not self._problem:
            if chained.seq != expected:
                self._break(expected, f"entry {expected} is missing")
            elif not _follows(chained, self._hash):
                self._break(expected, f"entry {expected}, or its hash, was changed, or it was inserted here")
        self._seq = expected
        if not self._problem:
            self._hash = chained.hash
            self._read(chained)
            self._compare()

    def result(self, names: Mapping[bytes, AuditName]) -> AuditCheck:
        """The result, once all entries were added. `names`: the names that are still stored."""
        left = [head for head in self._noted if head.seq > self._seq]
        if left and not self._problem:
            self._break(self._seq + 1, f"the chain ends at entry {self._seq}; entry {left[-1].seq} was noted before")
        gone = [one for one in self._used if one not in names]
        for one in names.values():
            if not self._problem and pseudonym_of(one.salt, one.name) != one.pseudonym:
                self._break(self._used.get(one.pseudonym), f"the name of pseudonym {one.pseudonym.hex()} was changed")
        for one in gone:
            if not self._problem and one not in self._blanked:
                self._break(self._used[one], f"the name of pseudonym {one.hex()} was removed, but by no erasure")
        return AuditCheck(
            entries=self._seq,
            head=AuditHead(self._seq, self._hash.hex()),
            names=len(self._used),
            erased=len(gone),
            broken_at=self._broken_at,
            problem=self._problem,
        )

    def _read(self, chained: ChainedEntry) -> None:
        try:
            told = cast("dict[str, Any]", json.loads(chained.entry))
            seq = told["seq"]
            for one in told.get("names", {}).values():
                self._used.setdefault(bytes.fromhex(one), chained.seq)
            self._blanked.update(map(bytes.fromhex, told.get("blanked", ())))
        except (ValueError, TypeError, KeyError, AttributeError):
            seq = None
        if seq != chained.seq:
            self._break(chained.seq, f"entry {chained.seq} is not one that this program writes")

    def _compare(self) -> None:
        for head in self._noted:
            if head.seq == self._seq and head.hash != self._hash.hex() and not self._problem:
                self._break(
                    self._seq, f"the chain up to entry {self._seq} was written anew: its hash is not the one noted"
                )

    def _break(self, at: int | None, problem: str) -> None:
        self._broken_at, self._problem = at, problem
