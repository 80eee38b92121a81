"""The audit trail under hostile hands: every kind of tampering by SQL is found, on both databases; writers in several
processes make one chain; erased names are in no byte of the file.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Protocol

import psycopg
import pytest
from postgres_server import Schemas

from remembrancer import Remembrancer, restore_backup
from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.domain.audit import (
    AuditCheck,
    AuditHead,
    AuditName,
    ChainChecker,
    ChainedEntry,
    first_hash,
    next_hash,
)
from remembrancer.errors import InvalidInput

SESSIONS: Final = ("monday", "tuesday", "wednesday")
TAMPERINGS: Final = 200


def opened(db: str, session: str = "monday", **settings: Any) -> Remembrancer:
    return Remembrancer.open(
        db, agent="ana", session=session, embedder="none", settings={"background_index": False, **settings}
    )


def lived(db: str) -> list[AuditHead]:
    """Write entries of several kinds. Returns the head after each session."""
    heads: list[AuditHead] = []
    for session in SESSIONS:
        with opened(db, session) as memory:
            for number in range(4):
                memory.observe(f"turn {number} of {session}")
            memory.pin(memory.remember(f"a note of {session}").id)
            heads.append(memory.audit.head())
    return heads


class Hostile(Protocol):
    """A store that somebody changes behind its back."""

    db: str

    def run(self, statement: str, *bindings: Any) -> list[Any]: ...


class HostileFile:
    def __init__(self, path: Path) -> None:
        self.db = str(path)

    def run(self, statement: str, *bindings: Any) -> list[Any]:
        connection = connect(self.db, create=False)  # it knows the checksums of pages
        try:
            return list(connection.execute(statement, bindings))
        finally:
            connection.close()


class HostileServer:
    def __init__(self, url: str) -> None:
        self.db = url

    def run(self, statement: str, *bindings: Any) -> list[Any]:
        with psycopg.connect(self.db, autocommit=True) as connection:
            connection.execute("SELECT set_config('remembrancer.workspace', 'default', false)")
            cursor = connection.execute(statement.replace("?", "%s"), bindings)  # pyright: ignore[reportArgumentType]
            return cursor.fetchall() if cursor.description else []


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[AuditHead]]:
    path = tmp_path_factory.mktemp("audit") / "filled.db"
    return path, lived(str(path))


@pytest.fixture(params=["sqlite", "postgresql"])
def hostile(
    request: pytest.FixtureRequest, tmp_path: Path, filled: tuple[Path, list[AuditHead]]
) -> tuple[Hostile, list[AuditHead]]:
    if request.param == "sqlite":
        copy = tmp_path / "memory.db"
        shutil.copy(filled[0], copy)
        return HostileFile(copy), filled[1]
    schemas: Schemas = request.getfixturevalue("postgres")
    url = schemas.take()
    return HostileServer(url), lived(url)


def check(db: str, *heads: AuditHead | str) -> AuditCheck:
    with Remembrancer.open(db, embedder="none", settings={"background_index": False}) as memory:
        return memory.audit.verify(list(heads))


Tampering = Callable[[Hostile], object]
SEEN: Final[dict[str, tuple[Tampering, str]]] = {
    "changed": (
        lambda it: it.run("UPDATE audit_trail SET entry = ? WHERE seq = 7", b'{"seq":7,"verb":"recall"}'),
        "entry 7, or its hash, was changed",
    ),
    "changed hash": (lambda it: it.run("UPDATE audit_trail SET hash = ? WHERE seq = 3", b"0" * 32), "entry 3, or its"),
    "removed": (lambda it: it.run("DELETE FROM audit_trail WHERE seq = 5"), "entry 5 is missing"),
    "removed first": (lambda it: it.run("DELETE FROM audit_trail WHERE seq = 1"), "entry 1 is missing"),
    "removed and closed up": (
        lambda it: [
            it.run("DELETE FROM audit_trail WHERE seq = 5"),
            *(it.run("UPDATE audit_trail SET seq = ? WHERE seq = ?", one - 1, one) for one in range(6, 19)),
        ],
        "entry 5, or its hash, was changed, or it was inserted",
    ),
    "inserted": (
        lambda it: [
            *(it.run("UPDATE audit_trail SET seq = ? WHERE seq = ?", one + 1, one) for one in range(18, 8, -1)),
            it.run("INSERT INTO audit_trail SELECT workspace, 9, entry, hash FROM audit_trail WHERE seq = 2"),
        ],
        "entry 9, or its hash, was changed, or it was inserted",
    ),
    "reordered": (
        lambda it: [
            it.run("UPDATE audit_trail SET seq = ? WHERE seq = ?", new, old) for old, new in ((4, 99), (8, 4), (99, 8))
        ],
        "entry 4, or its hash, was changed",
    ),
    "changed name": (
        lambda it: it.run("UPDATE audit_names SET name = ? WHERE name = ?", b"bo", b"ana"),
        "was changed",
    ),
    "removed name": (lambda it: it.run("DELETE FROM audit_names WHERE name = ?", b"ana"), "but by no erasure"),
}
"""Kinds of tampering that are seen without a head, and what is said of them."""


@pytest.mark.parametrize("kind", SEEN)
def test_a_changed_trail_is_found_and_the_first_wrong_entry_named(
    hostile: tuple[Hostile, list[AuditHead]], kind: str
) -> None:
    target, heads = hostile
    tamper, words = SEEN[kind]
    assert check(target.db, *heads).is_whole
    tamper(target)
    assert words in check(target.db).problem


def test_a_trail_that_was_cut_is_found_by_a_head_and_only_by_it(hostile: tuple[Hostile, list[AuditHead]]) -> None:
    target, heads = hostile
    target.run("DELETE FROM audit_trail WHERE seq > 12")
    assert check(target.db).is_whole
    found = check(target.db, *heads)
    assert (found.broken_at, found.problem) == (13, "the chain ends at entry 12; entry 18 was noted before")


def test_a_trail_that_was_computed_again_is_found_by_a_head_and_only_by_it(
    hostile: tuple[Hostile, list[AuditHead]],
) -> None:
    target, heads = hostile
    rewritten(target, 4)
    assert check(target.db).is_whole
    found = check(target.db, heads[0])
    assert (found.broken_at, "written anew" in found.problem) == (heads[0].seq, True)


def test_an_entry_that_this_program_does_not_write_is_found_although_its_hash_is_right(
    hostile: tuple[Hostile, list[AuditHead]],
) -> None:
    target, _ = hostile
    rewritten(target, 18, b"not JSON")
    assert check(target.db).problem == "entry 18 is not one that this program writes"


def test_the_doctor_finds_a_changed_trail(hostile: tuple[Hostile, list[AuditHead]]) -> None:
    target, _ = hostile
    target.run("DELETE FROM audit_trail WHERE seq = 5")
    with opened(target.db) as memory:
        [finding] = [one for one in memory.health.doctor() if one.check == "audit trail"]
    assert (finding.ok, finding.detail) == (False, "entry 5 is missing")


def rewritten(target: Hostile, at: int, entry: bytes | None = None) -> None:
    """Change an entry, and compute all hashes from there on again."""
    rows = [(seq, bytes(stored)) for seq, stored in target.run("SELECT seq, entry FROM audit_trail ORDER BY seq")]
    previous = first_hash("default")
    for seq, stored in rows:
        kept = (entry or stored.replace(b'"verb":"', b'"verb":"x')) if seq == at else stored
        previous = next_hash(previous, kept)
        target.run("UPDATE audit_trail SET entry = ?, hash = ? WHERE seq = ?", kept, previous, seq)


def chain_of(path: Path) -> list[ChainedEntry]:
    rows = HostileFile(path).run("SELECT seq, entry, hash FROM audit_trail ORDER BY seq")
    return [ChainedEntry(*row) for row in rows]


def names_of(path: Path) -> dict[bytes, AuditName]:
    rows = HostileFile(path).run("SELECT pseudonym, salt, name FROM audit_names")
    return {row[0]: AuditName(*row) for row in rows}


@pytest.mark.parametrize("seed", range(TAMPERINGS // 20))
def test_random_tampering_is_always_found_with_a_head(filled: tuple[Path, list[AuditHead]], seed: int) -> None:
    chain, names, head = chain_of(filled[0]), names_of(filled[0]), filled[1][-1]
    untouched = ChainChecker("default", [head])
    for one in chain:
        untouched.add(one)
    assert untouched.result(names).is_whole
    chance = random.Random(seed)
    for _ in range(20):
        changed = tampered(chain, chance)
        checker = ChainChecker("default", [head])
        for one in changed:
            checker.add(one)
        assert checker.result(names).problem


def tampered(chain: list[ChainedEntry], chance: random.Random) -> list[ChainedEntry]:
    """The chain after one random change: of a bit, of an entry, of the order, or of the length."""
    changed, place = list(chain), chance.randrange(len(chain))
    one = changed[place]
    match chance.choice(["entry bit", "hash bit", "remove", "swap", "copy", "cut", "rewrite"]):
        case "entry bit":
            changed[place] = ChainedEntry(one.seq, flipped(one.entry, chance), one.hash)
        case "hash bit":
            changed[place] = ChainedEntry(one.seq, one.entry, flipped(one.hash, chance))
        case "remove":
            del changed[place]
        case "swap":
            other = (place + 1 + chance.randrange(len(chain) - 1)) % len(chain)
            changed[place] = ChainedEntry(one.seq, chain[other].entry, chain[other].hash)
            changed[other] = ChainedEntry(chain[other].seq, one.entry, one.hash)
        case "copy":
            changed.insert(place, one)
        case "cut":
            del changed[place:]
        case _:
            previous = first_hash("default") if place == 0 else changed[place - 1].hash
            entry = one.entry.replace(b'"principal":"process"', b'"principal":"key:00"')
            for number in range(place, len(chain)):
                entry = entry if number == place else changed[number].entry
                previous = next_hash(previous, entry)
                changed[number] = ChainedEntry(number + 1, entry, previous)
    return changed


def flipped(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data))
    return data[:place] + bytes([data[place] ^ (1 << chance.randrange(8))]) + data[place + 1 :]


WRITER: Final = """
import sys
from remembrancer import Remembrancer
db, agent = sys.argv[1:]
with Remembrancer.open(db, agent=agent, embedder="none", settings={"background_index": False}) as memory:
    for number in range(40):
        memory.observe(f"{agent} says {number}")
"""


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_writers_in_two_processes_make_one_chain(request: pytest.FixtureRequest, tmp_path: Path, database: str) -> None:
    db = str(tmp_path / "memory.db") if database == "sqlite" else request.getfixturevalue("postgres").take()
    with opened(db) as memory:
        memory.observe("the first")
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, db, agent]) for agent in ("bo", "cleo")]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    with opened(db) as memory:
        entries = memory.audit.list(limit=1_000).entries
        assert [one.seq for one in entries] == list(range(1, 82))
        assert {one.names["agent"] for one in entries} == {"ana", "bo", "cleo"}
        assert memory.audit.verify().is_whole


def test_another_program_can_check_an_exported_trail(tmp_path: Path) -> None:
    db = str(tmp_path / "memory.db")
    head = lived(db)[-1]
    with opened(db) as memory:
        assert memory.audit.export(tmp_path / "trail.jsonl") == head.seq
        with pytest.raises(InvalidInput):
            memory.audit.export(tmp_path / "trail.jsonl")
    digest = hashlib.sha256(b"remembrancer audit 1\ndefault").digest()
    for line in (tmp_path / "trail.jsonl").read_text().splitlines():
        told = json.loads(line)
        digest = hashlib.sha256(digest + told["entry"].encode()).digest()
        assert digest.hex() == told["hash"]
    assert digest.hex() == head.hash


def test_erased_names_are_in_no_byte_of_the_file_and_the_trail_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    name, session = "quokkaherder", "zithernight"
    with Remembrancer.open(str(path), agent=name, session=session, embedder="none") as memory:
        memory.observe("hello")
        memory.remember("a note")
        before = memory.audit.head()
    assert any(name.encode() in file.read_bytes() for file in tmp_path.iterdir())
    with Remembrancer.open(str(path), embedder="none") as memory:
        ids = [one.id for one in memory.memories(limit=100).memories]
        events = [one.id for one in memory.journal.list(limit=100)]
        memory.erase(ids=ids)
        if left := [one for one in events if one in {event.id for event in memory.journal.list(limit=100)}]:
            memory.erase(events=left)
        found = memory.audit.verify(before)
        assert (found.problem, found.erased) == ("", 2)
        listed = memory.audit.list().entries
    assert listed[0].names == {"agent": None, "session": None}
    held = {
        file.name: [one for one in (name, session) if one.encode() in file.read_bytes()] for file in tmp_path.iterdir()
    }
    assert {file: names for file, names in held.items() if names} == {}


def test_a_backup_has_the_trail_and_a_later_head_shows_that_it_was_restored(tmp_path: Path) -> None:
    db = str(tmp_path / "memory.db")
    with opened(db) as memory:
        memory.observe("before")
        memory.backup(tmp_path / "backup.db")
        kept = memory.audit.head()
        memory.observe("after")
        later = memory.audit.head()
    restored = str(tmp_path / "restored.db")
    restore_backup(tmp_path / "backup.db", restored)
    assert check(restored, kept).is_whole
    assert check(restored, later).broken_at == later.seq


def test_an_export_is_imported_as_one_entry_of_the_other_store(tmp_path: Path) -> None:
    with opened(str(tmp_path / "one.db")) as memory:
        memory.observe("said")
        rows = memory.export(tmp_path / "rows.jsonl")
        assert [one.verb for one in memory.audit.list().entries] == ["observe", "export"]
    with opened(str(tmp_path / "other.db")) as memory:
        memory.import_(tmp_path / "rows.jsonl")
        memory.import_(tmp_path / "rows.jsonl", dry_run=False)
        [entry] = memory.audit.list().entries
    assert (entry.verb, entry.counts) == ("import", {"rows": rows})
