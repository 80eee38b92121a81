"""Erased text is in no byte of the database's files, with every kind of row, other readers and any failure: of a file,
and of a server's tables, indexes and statistics (not of its write-ahead log, which a receipt names).
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import urlsplit
from uuid import UUID

import apsw
import psycopg
import pytest
from postgres_server import USER, Schemas

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
from remembrancer.index import workspace
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


def opened(db: Path | str) -> Remembrancer:
    settings = {"background_index": False}
    return Remembrancer.open(str(db), session="monday", preset=PRESET, embedder=HashEmbedder(), settings=settings)


def words_of(text: str) -> frozenset[str]:
    """The words that only this text has: those of at least six letters."""
    return frozenset(word.casefold() for word in re.findall(rf"\w{{{LEAST},}}", text))


def in_files(files: Iterable[Path], wanted: Mapping[str, bytes]) -> dict[str, set[str]]:
    """Which of the wanted texts are in which of the files, ignoring case."""
    found: dict[str, set[str]] = {}
    for file in files:
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


THAT_TELL: Final = (
    "IN (SELECT c.n FROM cues c LEFT JOIN events e ON e.n = c.event"
    " WHERE c.text LIKE '%Quokkas%' OR e.text LIKE '%Quokkas%')"
)


FIRST_OF_OURS: Final = 16_384
"""Objects that PostgreSQL makes with a database itself have smaller numbers."""


@dataclass(frozen=True)
class InAFile:
    """A database in a file."""

    path: Path

    @property
    def db(self) -> str:
        return str(self.path)

    def copy(self, folder: Path, name: str) -> InAFile:
        for index in self.indexes():
            shutil.copy(index, folder / index.name.replace(self.path.name, f"{name}.db", 1))
        return InAFile(Path(shutil.copy(self.path, folder / f"{name}.db")))

    def files(self) -> Iterable[Path]:
        return self.path, Path(f"{self.path}-wal"), Path(f"{self.path}-shm"), *self.indexes()

    def indexes(self) -> list[Path]:
        """The files of the resident index, complete or not."""
        return [path for path in self.path.parent.iterdir() if path.name.startswith(f"{self.path.name}.")]

    def vocabulary(self) -> set[str]:
        """Every word of the full-text indexes, which store words in pieces that a search for bytes would not find."""
        connection = connect(str(self.path))
        try:
            found: set[str] = set()
            for table in FULL_TEXTS:
                connection.execute(f"CREATE VIRTUAL TABLE temp.{table}_words USING fts5vocab(main, {table}_fts, row)")
                found.update(word for (word,) in connection.execute(f"SELECT term FROM temp.{table}_words"))
            return found
        finally:
            connection.close()

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        connection = connect(str(self.path))
        try:
            return list(connection.execute(query))
        finally:
            connection.close()


@dataclass(frozen=True)
class OnAServer:
    """A database of its own on a server, which stores texts uncompressed, so that a search for bytes finds them."""

    schemas: Schemas
    name: str

    @classmethod
    def made(cls, schemas: Schemas, name: str) -> OnAServer:
        home = cls(schemas, name)
        home.admin(f"CREATE DATABASE {name} OWNER {USER}", database="postgres")
        with opened(home.db):
            pass
        home.admin(
            "DO $$ DECLARE one record; BEGIN FOR one IN SELECT attrelid::regclass AS of, attname FROM pg_attribute a"
            " JOIN pg_class c ON c.oid = attrelid AND relkind = 'r' AND relnamespace = 'public'::regnamespace"
            " WHERE attnum > 0 AND attstorage <> 'p'"
            " LOOP EXECUTE format('ALTER TABLE %s ALTER %I SET STORAGE EXTERNAL', one.of, one.attname);"
            " END LOOP; END $$"
        )
        return home

    @property
    def db(self) -> str:
        parts = urlsplit(self.schemas.url)
        return f"postgresql://{USER}@/{self.name}?{parts.query}"

    def admin(self, statement: str, *, database: str = "") -> list[tuple[Any, ...]]:
        parts = urlsplit(self.schemas.url)
        url = f"postgresql://{parts.username}@/{database or self.name}?{parts.query}"
        with psycopg.connect(url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def copy(self, folder: Path, name: str) -> OnAServer:
        made = OnAServer(self.schemas, f"{self.name}_{folder.name}_{name}".replace("-", "_").lower()[-60:])
        self.admin(f"CREATE DATABASE {made.name} TEMPLATE {self.name}", database="postgres")
        return made

    def files(self) -> Iterable[Path]:
        """Those of our tables and indexes, and of samples of columns, as they are on the disk after a checkpoint."""
        self.admin("CHECKPOINT")
        [(folder, number, samples)] = self.admin(
            "SELECT current_setting('data_directory'), oid::text, pg_relation_filenode('pg_statistic')::text"
            " FROM pg_database WHERE datname = current_database()"
        )
        every = {file: file.name.split("_")[0].split(".")[0] for file in (Path(folder) / "base" / number).iterdir()}
        return [
            file for file, name in every.items() if name.isdecimal() and (int(name) >= FIRST_OF_OURS or name == samples)
        ]

    def vocabulary(self) -> set[str]:
        return {
            word
            for table in FULL_TEXTS
            for (word,) in self.rows(f"SELECT DISTINCT unnest(tsvector_to_array(words)) FROM {table}_words")
        }

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return self.admin(query)


Home = InAFile | OnAServer


def vectors_of(home: Home) -> dict[str, bytes]:
    """The vectors and token embeddings of every cue that contains the secret, as they are stored."""
    vectors = home.rows(f"SELECT vector FROM embeddings WHERE cue {THAT_TELL}")
    signs = home.rows(f"SELECT signs FROM word_vectors WHERE cue {THAT_TELL}")
    # The index has the components of a vector only, without the scale behind them.
    stored = [*(bytes(data)[:-4] for (data,) in vectors), *(bytes(data) for (data,) in signs)]
    return {f"vector {number}": data for number, data in enumerate(stored)}


@dataclass(frozen=True)
class Lived:
    """A database in which the secret got into whatever it can get into. `events`: those that say it; `note`: a memory
    that once said it.
    """

    home: Home
    events: tuple[UUID, ...]
    note: UUID
    vectors: Mapping[str, bytes]

    def erase(self, memory: Remembrancer) -> tuple[Erasure, Erasure]:
        return memory.erase(ids=[self.note]), memory.erase(events=self.events)

    def traces(self) -> dict[str, set[str]]:
        """The places in which the secret is found."""
        wanted = texts(TOLD, LONG) | dict(self.vectors)
        if isinstance(self.home, OnAServer):  # 80 files are searched
            few = set(list(wanted)[:: len(wanted) // 60])
            wanted = {name: data for name, data in wanted.items() if name in few or name in texts(TOLD)}
        found = in_files(self.home.files(), wanted)
        spoken = self.home.vocabulary() & {token for token in analyse(LONG).tokens if len(token) >= LEAST}
        return found | ({"the full-text index": spoken} if spoken else {})


def lived_in(home: Home) -> Lived:
    """A conversation with the secret that became an episode, and an updated note; both were shown and marked."""
    with opened(home.db) as memory:
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
        vectors = vectors_of(home)
    if isinstance(home, OnAServer):
        home.admin("ANALYZE")  # as the server does from time to time: samples of the columns go into its catalogue
    return Lived(home, (secret.id, long.id), note.id, vectors)


@pytest.fixture(scope="module", autouse=True)
def small_workspaces_have_index_files() -> Generator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workspace, "LEAST_WRITTEN", 1)
        yield


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def life(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Lived:
    if request.param == "sqlite":
        return lived_in(InAFile(tmp_path_factory.mktemp("life") / "life.db"))
    return lived_in(OnAServer.made(request.getfixturevalue("server_of_postgres"), "life"))


@pytest.fixture
def lived(life: Lived, tmp_path: Path) -> Lived:
    """A copy of its own."""
    return replace(life, home=life.home.copy(tmp_path, "life"))


@pytest.fixture
def file(lived: Lived) -> Path:
    """The file of that copy. Tests that need one are not run on a server."""
    return cast("InAFile", lived.home).path


in_a_file = pytest.mark.parametrize("life", ["sqlite"], indirect=True)


def test_it_was_there_before(lived: Lived) -> None:
    """Shows that the search finds the secret before the erasure, so that the other tests are meaningful."""
    found = lived.traces()
    assert "the full-text index" in found
    in_any = {name for names in found.values() for name in names}
    assert {"text 0", "quokkas", "zithers", "zither"} <= in_any
    assert {name for name in in_any if name.startswith("vector")}
    if isinstance(lived.home, InAFile):
        in_index = {name for file, names in found.items() if file.endswith(".index") for name in names}
        assert {name for name in in_index if name.startswith("vector")}


def test_erased_text_is_in_no_byte_of_the_files(lived: Lived) -> None:
    with opened(lived.home.db) as memory:
        lived.erase(memory)
        assert lived.traces() == {}
    assert lived.traces() == {}


def test_remaining_data_is_consistent_and_usable(lived: Lived) -> None:
    with opened(lived.home.db) as memory:
        lived.erase(memory)
        assert all(finding.ok for finding in memory.health.doctor())
        memory.observe("And then of the harvest once more")
        memory.end_session()
        memory.maintain(force=True)
        assert memory.recall("the harvest").hits
        assert memory.recall("zithers").hits == ()
    assert lived.traces() == {}


def test_a_receipt_holds_none_of_it(lived: Lived) -> None:
    with opened(lived.home.db) as memory:
        lived.erase(memory)
        told = str(memory.erasures())
    assert not [word for word in words_of(TOLD) if word in told.casefold()]


def test_everything_formed_in_a_session_is_erased_with_it(lived: Lived) -> None:
    with opened(lived.home.db) as memory:
        memory.erase(session="monday")
        assert (memory.health.stats().events, dict(memory.health.stats().memories)) == (0, {})
    assert lived.traces() == {}


def test_another_open_store_no_longer_finds_it(lived: Lived) -> None:
    with opened(lived.home.db) as one, opened(lived.home.db) as other:
        assert other.recall("zithers").hits
        lived.erase(one)
        assert other.recall("zithers").hits == ()
        assert other.recall("harvest").hits


@in_a_file
def test_while_another_program_reads_the_receipt_says_that_the_files_may_still_hold_the_text(
    lived: Lived, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing, "PATIENCE_S", 0.05)
    with opened(lived.home.db) as memory:
        memory.observe("Something for the log")
        reader = connect(str(file))
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


@in_a_file
def test_a_backup_next_to_the_file_is_named(lived: Lived, file: Path) -> None:
    (file.parent / "life.db.v3.backup").write_bytes(b"before")
    with opened(lived.home.db) as memory:
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


@in_a_file
def test_a_purge_that_fails_at_any_statement_is_done_by_the_next(
    lived: Lived, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements = _Statements()

    def watching(path: str, **given: Any) -> Connection:
        connection = connect(path, **given)
        cast("apsw.Connection", connection).exec_trace = statements.trace
        return connection

    with opened(lived.home.db) as memory:
        monkeypatch.setattr(RelationalStore, "purge", _not_now)
        lived.erase(memory)
        monkeypatch.undo()
    monkeypatch.setattr(sqlite_file, "connect", watching)
    failed = 0
    for at in range(1, 1_000):
        copy = file.with_name(f"{at}.db")
        shutil.copy(file, copy)
        struck = asyncio.run(_purged(copy, statements, at))
        assert replace(lived, home=InAFile(copy)).traces() == {}, f"statement {at}"
        if not struck:
            break
        failed += 1
    assert failed > 5


@in_a_file
def test_purges_at_the_same_time_write_the_file_anew_once(
    lived: Lived, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(lived.home.db) as memory:
        monkeypatch.setattr(RelationalStore, "purge", _not_now)
        lived.erase(memory)
        monkeypatch.undo()
    times: list[Connection] = []

    class Counting(SqliteFile):
        def purge(self, connection: Connection) -> str:
            times.append(connection)
            return super().purge(connection)

    async def purged() -> list[str]:
        store = RelationalStore(Counting(str(file)), analyse=analysed)
        try:
            return await asyncio.gather(*(store.purge(SCOPE, at=AT) for _ in range(8)))
        finally:
            await store.close()

    assert (asyncio.run(purged()), len(times)) == ([""] * 8, 1)
    assert lived.traces() == {}


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
def killer(tmp_path_factory: pytest.TempPathFactory) -> Generator[Callable[..., str], None, None]:
    """Erases an event in a process that is killed right before a statement."""
    with subprocess.Popen(
        [sys.executable, str(SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None

        answers = str(tmp_path_factory.mktemp("killed") / "answer")

        def order(db: str, event: UUID, at: int) -> str:
            stdin.write(json.dumps({"db": db, "event": str(event), "at": at, "answers": answers}) + "\n")
            stdin.flush()
            return json.loads(stdout.readline())

        yield order
        stdin.close()


def test_a_process_killed_anywhere_leaves_all_of_it_or_nothing_and_the_next_ends_it(
    life: Lived, tmp_path: Path, killer: Callable[..., str]
) -> None:
    def copied(name: str) -> Home:
        return life.home.copy(tmp_path, name)

    with opened(copied("expected").db) as memory:
        before = counted(memory)
        memory.erase(events=life.events[:1])
        after = counted(memory)
    statements = int(killer(copied("whole").db, life.events[0], 0))
    outcomes: set[bool] = set()
    # Every statement from the commit on, and some of those before, which differ in nothing that could be seen. On a
    # server, where each copy takes a second, fewer.
    last, step = (LAST, STEP) if isinstance(life.home, InAFile) else (3, statements // 3)
    for at in [*range(1, statements - last, step), *range(statements - last, statements + 1)]:
        home = copied(f"{at}")
        if (answer := killer(home.db, life.events[0], at)) != "killed":
            assert int(answer) < at  # a reader that is one thread's first has statements of its own, and some runs none
            break
        with opened(home.db) as memory:
            now = counted(memory)
            assert now in (before, after), f"statement {at}"
            outcomes.add(now == after)
            if now == before:
                memory.erase(events=life.events[:1])
            memory.erase(events=life.events[1:])
            memory.erase(ids=[life.note])
            assert all(one.purged_at is not None for one in memory.erasures()), f"statement {at}"
        assert replace(life, home=home).traces() == {}, f"statement {at}"
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
        vectors = vectors_of(InAFile(path))
        memory.erase(ids=[secret.id])
        assert {name for name, data in vectors.items() if len(data) < 1_000}
        assert in_files(InAFile(path).files(), texts(TOLD) | vectors) == {}
