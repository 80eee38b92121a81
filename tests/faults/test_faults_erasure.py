"""Erased text is in no byte of the database's files, with every kind of row, other readers and any failure."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, cast
from uuid import UUID

import apsw
import pytest

from remembrancer import Remembrancer
from remembrancer.adapters.relational import tracing
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.sqlite import file as sqlite_file
from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.domain.erasure import Erasure
from remembrancer.domain.scope import Scope
from remembrancer.errors import RemembrancerError
from remembrancer.language.cues import analysed
from remembrancer.language.lexical import analyse
from remembrancer.policies.segmentation.dual_channel import DualChannel
from remembrancer.policies.segmentation.segmentation import Segmentation
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import NOW, HashEmbedder, WordHashEmbedder

SCRIPT: Final = Path(__file__).parents[1] / "fixtures" / "killed_erasure.py"
SCOPE: Final = Scope(workspace="default")
TOLD: Final = "Quokkas juggle vermilion zithers beneath Ouagadougou"
LONG: Final = " ".join(f"{TOLD} {number}x{number * 7919}" for number in range(700))
"""Of several pages, and of tokens that nothing else has."""
FULL_TEXTS: Final = ("cues", "events", "archive")
LEAST: Final = 6
"""Words of so many letters and more are looked for: shorter ones stand in files by chance."""
AT: Final = NOW
LAST: Final = 16
STEP: Final = 97
"""Of the statements of an erasure, the last ones are each cut off, and one in so many of those before."""
PRESET: Final = replace(DEFAULT, segmentation=Segmentation(segmenter=DualChannel(), least=2))


def opened(path: Path) -> Remembrancer:
    settings = {"background_index": False}
    return Remembrancer.open(str(path), session="monday", preset=PRESET, embedder=HashEmbedder(), settings=settings)


def words_of(text: str) -> frozenset[str]:
    """The words that only this text has: those of at least six letters."""
    return frozenset(word.casefold() for word in re.findall(rf"\w{{{LEAST},}}", text))


def in_files(path: Path, wanted: Mapping[str, bytes]) -> dict[str, set[str]]:
    """Which of the wanted texts are in which of the database's files, ignoring case."""
    found: dict[str, set[str]] = {}
    for file in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        held = file.read_bytes().lower() if file.exists() else b""
        names = {name for name, data in wanted.items() if data.lower() in held}
        if names:
            found[file.name] = names
    return found


def texts(*several: str) -> dict[str, bytes]:
    """Each text itself, its words, and their stems."""
    wanted = {f"text {number}": text.encode() for number, text in enumerate(several)}
    for text in several:
        wanted |= {word: word.encode() for word in words_of(text)}
        wanted |= {term: term.encode() for term in analyse(text).terms if len(term) >= LEAST}
    return wanted


def vocabulary(path: Path) -> set[str]:
    """Every word of the full-text indexes, which store words in pieces that a search for bytes would not find."""
    connection = connect(str(path))
    try:
        found: set[str] = set()
        for table in FULL_TEXTS:
            connection.execute(f"CREATE VIRTUAL TABLE temp.{table}_words USING fts5vocab(main, {table}_fts, row)")
            found.update(word for (word,) in connection.execute(f"SELECT term FROM temp.{table}_words"))
        return found
    finally:
        connection.close()


def vectors_of(path: Path) -> dict[str, bytes]:
    """The vectors and token embeddings of every cue that contains the secret, as stored in the file."""
    connection = connect(str(path))
    try:
        telling = "IN (SELECT n FROM cues WHERE text LIKE '%Quokkas%')"
        rows = [*connection.execute(f"SELECT vector FROM embeddings WHERE cue {telling}")]
        rows += connection.execute(f"SELECT signs FROM word_vectors WHERE cue {telling}")
        return {f"vector {number}": data for number, (data,) in enumerate(rows)}
    finally:
        connection.close()


@dataclass(frozen=True)
class Lived:
    """A file in which the secret got into whatever it can get into. `events`: those that say it; `note`: a memory that
    once said it.
    """

    path: Path
    events: tuple[UUID, ...]
    note: UUID
    vectors: Mapping[str, bytes]

    def erase(self, memory: Remembrancer) -> tuple[Erasure, Erasure]:
        return memory.erase(ids=[self.note]), memory.erase(events=self.events)

    def traces(self) -> dict[str, set[str]]:
        """The places in which the secret is found."""
        found = in_files(self.path, texts(TOLD, LONG) | dict(self.vectors))
        spoken = vocabulary(self.path) & {token for token in analyse(LONG).tokens if len(token) >= LEAST}
        return found | ({"the full-text index": spoken} if spoken else {})


def lived_in(path: Path) -> Lived:
    """A conversation with the secret that became an episode, and an updated note; both were shown and marked."""
    with opened(path) as memory:
        before = [memory.observe(f"We spoke of the harvest, part {n}") for n in range(20)]
        secret = memory.observe(TOLD, priority="high", payload={"again": LONG[:9_000]}, key="secret")
        long = memory.observe(LONG)
        for n in range(20):
            memory.observe(f"And of the weather, part {n}")
        memory.end_session()
        memory.remember(f"First {TOLD}", topic_key="told anew")
        note = memory.remember("Of the harvest again", topic_key="told anew")
        memory.jobs.index_now()
        hits = memory.recall(f"do {TOLD.lower()}?").hits
        assert hits
        memory.mark([*hits, note.id], "shown", query=f"do {TOLD.lower()}?")
        memory.scoped(role="LEAD").journal.set_priority(before[0].id, "pin", f"right before {TOLD}")
        memory.maintain(force=True)
        path_vectors = vectors_of(path)
    return Lived(path, (secret.id, long.id), note.id, path_vectors)


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    return lived_in(tmp_path_factory.mktemp("life") / "life.db")


@pytest.fixture
def lived(life: Lived, tmp_path: Path) -> Lived:
    """A copy of its own."""
    copy = tmp_path / "life.db"
    shutil.copy(life.path, copy)
    return replace(life, path=copy)


def test_it_was_there_before(lived: Lived) -> None:
    """Shows that the search finds the secret before the erasure, so that the other tests are meaningful."""
    found = lived.traces()
    assert set(found) == {"life.db", "the full-text index"}
    assert {"text 0", "quokkas", "zithers", "zither", "vector 0", "vector 1"} <= found["life.db"]


def test_erased_text_is_in_no_byte_of_the_files(lived: Lived) -> None:
    with opened(lived.path) as memory:
        lived.erase(memory)
        assert lived.traces() == {}
    assert lived.traces() == {}


def test_remaining_data_is_consistent_and_usable(lived: Lived) -> None:
    with opened(lived.path) as memory:
        lived.erase(memory)
        assert all(finding.ok for finding in memory.health.doctor())
        memory.observe("And then of the harvest once more")
        memory.end_session()
        memory.maintain(force=True)
        assert memory.recall("the harvest").hits
        assert memory.recall("zithers").hits == ()
    assert lived.traces() == {}


def test_a_receipt_holds_none_of_it(lived: Lived) -> None:
    with opened(lived.path) as memory:
        lived.erase(memory)
        told = str(memory.erasures())
    assert not [word for word in words_of(TOLD) if word in told.casefold()]


def test_everything_formed_in_a_session_is_erased_with_it(lived: Lived) -> None:
    with opened(lived.path) as memory:
        memory.erase(session="monday")
        assert (memory.health.stats().events, dict(memory.health.stats().memories)) == (0, {})
    assert lived.traces() == {}


def test_another_open_store_no_longer_finds_it(lived: Lived) -> None:
    with opened(lived.path) as one, opened(lived.path) as other:
        assert other.recall("zithers").hits
        lived.erase(one)
        assert other.recall("zithers").hits == ()
        assert other.recall("harvest").hits


def test_while_another_program_reads_the_receipt_says_that_the_files_may_still_hold_the_text(
    lived: Lived, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing, "PATIENCE_S", 0.05)
    with opened(lived.path) as memory:
        memory.observe("Something for the log")
        reader = connect(str(lived.path))
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM events").get
        receipts = lived.erase(memory)
        assert [one.purged_at for one in (*receipts, *memory.erasures())] == [None] * 4
        assert receipts[0].left[-1].why.endswith("another reader is using the file's log")
        assert memory.recall("zithers").hits == ()
        reader.close()
        memory.maintain(only=["health"], force=True)
        assert all(one.purged_at is not None for one in memory.erasures())
        assert lived.traces() == {}


def test_a_backup_next_to_the_file_is_named(lived: Lived) -> None:
    (lived.path.parent / "life.db.v3.backup").write_bytes(b"before")
    with opened(lived.path) as memory:
        receipt = memory.erase(events=lived.events)
    assert [left.why for left in receipt.left if left.what == "a backup"] == [
        "life.db.v3.backup is a copy of the whole database, made before the erasure"
    ]


class _Statements:
    """Fails the statement at `at`, counted from when it is armed."""

    def __init__(self) -> None:
        self.at = self.count = 0

    def trace(self, _cursor: object, _statement: str, _bindings: object) -> bool:
        self.count += 1
        if self.at and self.count == self.at:
            raise apsw.FullError("injected")
        return True


def test_a_purge_that_fails_at_any_statement_is_done_by_the_next(lived: Lived, monkeypatch: pytest.MonkeyPatch) -> None:
    statements = _Statements()

    def watching(path: str, *, create: bool) -> Connection:
        connection = connect(path, create=create)
        cast("apsw.Connection", connection).exec_trace = statements.trace
        return connection

    with opened(lived.path) as memory:
        monkeypatch.setattr(RelationalStore, "purge", _not_now)
        lived.erase(memory)
        monkeypatch.undo()
    monkeypatch.setattr(sqlite_file, "connect", watching)
    failed = 0
    for at in range(1, 1_000):
        copy = lived.path.with_name(f"{at}.db")
        shutil.copy(lived.path, copy)
        struck = asyncio.run(_purged(copy, statements, at))
        assert replace(lived, path=copy).traces() == {}, f"statement {at}"
        if not struck:
            break
        failed += 1
    assert failed > 5


async def _not_now(_store: RelationalStore, _scope: Scope, *, at: object) -> str:
    return f"not at {at}"


async def _purged(path: Path, statements: _Statements, at: int) -> bool:
    """Whether the first purge failed; the second one must succeed."""
    store = RelationalStore(SqliteFile(str(path)), analyse=analysed)
    try:
        statements.at, statements.count = at, 0
        try:
            why = await store.purge(SCOPE, at=AT)
        except RemembrancerError:
            why = "failed"
        struck = statements.count >= at
        assert bool(why) == struck
        statements.at = 0
        assert await store.purge(SCOPE, at=AT) == ""
        assert all(finding.ok for finding in await store.check(SCOPE, None))
        return struck
    finally:
        await store.close()


@pytest.fixture(scope="module")
def killer() -> Generator[Callable[..., str], None, None]:
    """Erases an event in a process that is killed right before a statement."""
    with subprocess.Popen(
        [sys.executable, str(SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None

        def order(path: Path, event: UUID, at: int) -> str:
            stdin.write(json.dumps({"path": str(path), "event": str(event), "at": at}) + "\n")
            stdin.flush()
            return json.loads(stdout.readline())

        yield order
        stdin.close()


def test_a_process_killed_anywhere_leaves_all_of_it_or_nothing_and_the_next_ends_it(
    life: Lived, tmp_path: Path, killer: Callable[..., str]
) -> None:
    def copied(name: str) -> Path:
        shutil.copy(life.path, tmp_path / name)
        return tmp_path / name

    with opened(copied("expected.db")) as memory:
        before = counted(memory)
        memory.erase(events=life.events[:1])
        after = counted(memory)
    statements = int(killer(copied("whole.db"), life.events[0], 0))
    outcomes: set[bool] = set()
    # Every statement from the commit on, and some of those before, which differ in nothing that could be seen.
    for at in [*range(1, statements - LAST, STEP), *range(statements - LAST, statements + 1)]:
        path = copied(f"{at}.db")
        if (answer := killer(path, life.events[0], at)) != "killed":
            assert int(answer) < at  # a reader that is one thread's first has statements of its own, and some runs none
            break
        with opened(path) as memory:
            now = counted(memory)
            assert now in (before, after), f"statement {at}"
            outcomes.add(now == after)
            if now == before:
                memory.erase(events=life.events[:1])
            memory.erase(events=life.events[1:])
            memory.erase(ids=[life.note])
            assert all(one.purged_at is not None for one in memory.erasures()), f"statement {at}"
        assert replace(life, path=path).traces() == {}, f"statement {at}"
    assert outcomes == {True, False}


def counted(memory: Remembrancer) -> tuple[Any, ...]:
    stats = memory.health.stats()
    return stats.events, dict(stats.memories), stats.cues, stats.relations, len(memory.erasures())


def test_the_words_of_late_interaction_are_erased_too(tmp_path: Path) -> None:
    path = tmp_path / "life.db"
    with Remembrancer.open(str(path), embedder=WordHashEmbedder(), settings={"background_index": False}) as memory:
        memory.remember("Of the harvest")
        secret = memory.remember(TOLD)
        memory.jobs.index_now()
        assert memory.recall("Quokkas juggle").hits
        vectors = vectors_of(path)
        memory.erase(ids=[secret.id])
        assert {name for name, data in vectors.items() if len(data) < 1_000}
        assert in_files(path, texts(TOLD) | vectors) == {}
