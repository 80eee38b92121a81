"""From any older file to this version's tables, without losing a row, and never a step too far."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TypeVar, cast
from uuid import UUID

import apsw
import pytest
from searched import SearchedStore

from remembrancer import Remembrancer
from remembrancer.adapters.relational.columns import insert_into
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.memories import next_change
from remembrancer.adapters.relational.rows import EVENTS, MEMORIES
from remembrancer.adapters.relational.schema import Migration, current_version, migrations, schema_sql
from remembrancer.adapters.relational.sqlite import schema
from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.adapters.relational.sqlite.schema import APPLICATION_ID
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.domain.event import Role
from remembrancer.domain.instants import micros
from remembrancer.domain.memory import Memory
from remembrancer.domain.relation import RelationKind
from remembrancer.domain.reply import Claimed, ClaimOutcome
from remembrancer.domain.review import Evidence
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.strength import Adjustment, Exposed, Exposure, Strength, Usage
from remembrancer.errors import StoreUnavailable, Unsupported
from remembrancer.language.lexical import analyse, every_word
from remembrancer.ports.changes import packed_terms
from remembrancer.ports.journal import Aged, Entry, EventFilter
from remembrancer.testing.contract.base import EVERYTHING, exported
from remembrancer.testing.contract.finding import request
from remembrancer.testing.contract.strength import LIVED
from remembrancer.testing.contract.world import a_claim, a_key
from remembrancer.testing.doubles import NOW, a_memory, a_vector, an_event, indexed

T = TypeVar("T")

FIRST_TEXTS = ["The deploy failed", "Rolled it back"]


def tables(connection: Connection) -> set[tuple[str, str, str]]:
    """The schema of a database without differences in blanks and comments."""
    rows = connection.execute("SELECT type, name, ifnull(sql, '') FROM sqlite_schema")
    return {(kind, name, " ".join(re.sub(r"--[^\n]*", "", sql).split())) for kind, name, sql in rows}


def in_memory(*scripts: str) -> Connection:
    connection = connect(":memory:")
    for script in scripts:
        connection.execute(script)
    return connection


def of_version(path: Path, number: int) -> Connection:
    """An empty file as created by the release with that version."""
    connection = connect(str(path))
    connection.pragma("journal_mode", "wal")
    for step in migrations()[:number]:
        connection.execute(step.sql)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {number}")
    return connection


@pytest.fixture
def first_file(tmp_path: Path) -> Path:
    """A file of version 1 with two memories, one of which has a vector."""
    path = tmp_path / "first.db"
    connection = of_version(path, 1)
    for n, text in enumerate(FIRST_TEXTS, start=1):
        terms = " ".join(analyse(text).tokens)
        connection.execute(
            "INSERT INTO memories (n, workspace, id, project, crew, agent, session, visibility, tier, kind, text,"
            " origin, occurred_from, occurred_to, recorded_at, revision, tags, metadata, status, importance, priority,"
            " confidence, surprise, retrieved, shown, used, helped, harmed, change)"
            " VALUES (?, 'acme', ?, '', '', '', '', 'workspace', 'episodic', 'note', ?, 'user', 0, 0, 0, 1, '[]', '{}',"
            " 'active', 0.5, 5, 0.5, 0, 0, 0, 0, 0, 0, ?)",
            (n, n.to_bytes(16, "big"), text, n),
        )
        connection.execute(
            "INSERT INTO cues (n, workspace, memory, ordinal, heading, text, terms, length)"
            " VALUES (?, 'acme', ?, 0, '', ?, x'', 0)",
            (n, n, text),
        )
        connection.execute("INSERT INTO cues_fts (rowid, words) VALUES (?, ?)", (n, terms))
    connection.execute("UPDATE sequence SET change = 2")
    connection.execute("INSERT INTO embeddings (cue, model, dim, truncated, vector) VALUES (1, 'm', 1, 0, x'0000803F')")
    connection.close()
    return path


def opened(path: Path, *, workspace: str = "acme") -> Remembrancer:
    return Remembrancer.open(str(path), workspace=workspace, embedder="none")


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


KESTREL = replace(
    a_memory(
        "a kestrel on the roof", memory_id=UUID(int=1), scope=Scope(workspace="acme", crew="platform", agent="ana")
    ),
    topic_key="bird",
    tags=("deploy",),
    metadata={"run": 7},
    superseded_by=UUID(int=2),
    superseded_at=NOW,
    strength=Strength(importance=0.9, priority=8, usage=Usage(used=3, harmed=1, last_used_at=NOW)),
)
OWL = a_memory("an owl in the barn", memory_id=UUID(int=2), scope=KESTREL.scope)
OF_FOUR = {"consolidated_at", "importance_floor", "stability", "difficulty", "last_reviewed_at", "unhelpful"}
"""What memories have since version 4."""


def add_memory(connection: Connection, memory: Memory, *, change: int) -> None:
    """Insert a row into `memories`, with the columns that the table has in this version."""
    values = {**dict(zip(MEMORIES.names, MEMORIES.bindings(memory), strict=True)), "change": change}
    present = {name for (name,) in connection.execute("SELECT name FROM pragma_table_info('memories')")}
    kept = [column for column in values if column in present]
    connection.execute(insert_into("memories", kept), [values[column] for column in kept])


@pytest.fixture
def third_file(tmp_path: Path) -> Path:
    """A file of version 3 with two memories with vectors, one superseded by the other, and their edge."""
    path = tmp_path / "third.db"
    connection = of_version(path, 3)
    for number, memory in enumerate((KESTREL, OWL), start=1):
        add_memory(connection, memory, change=number)
        tokens, terms = analyse(memory.text).tokens, analyse(memory.text).terms
        connection.execute(
            "INSERT INTO cues (n, workspace, memory, ordinal, heading, text, terms, length)"
            " VALUES (?, 'acme', ?, 0, '', ?, ?, ?)",
            (number, number, memory.text, packed_terms(terms), len(terms)),
        )
        connection.execute("INSERT INTO cues_fts (rowid, words) VALUES (?, ?)", (number, " ".join(tokens)))
        connection.execute(
            "INSERT INTO embeddings (cue, model, dim, truncated, vector) VALUES (?, 'm', 1, 0, x'0000803F')", (number,)
        )
    connection.execute("UPDATE sequence SET change = 2; INSERT INTO vector_models VALUES ('acme', 'm', 1)")
    connection.execute("INSERT INTO relations VALUES ('acme', 2, 1, 'supersedes', 1, 0)")
    connection.close()
    return path


def with_store(path: Path, work: Callable[[SearchedStore], Awaitable[T]]) -> T:
    async def whole() -> T:
        store = SearchedStore(str(path))
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(whole())


ANA = Reader(KESTREL.scope)


def test_the_schema_is_the_sum_of_the_migrations() -> None:
    assert tables(in_memory(schema_sql())) == tables(in_memory(*(step.sql for step in migrations())))


def test_migrations_are_numbered_from_one_without_a_gap() -> None:
    assert [step.number for step in migrations()] == list(range(1, current_version() + 1))


def test_a_new_file_is_of_the_current_version(tmp_path: Path) -> None:
    opened(tmp_path / "new.db").close()
    connection = connect(str(tmp_path / "new.db"))
    assert (connection.pragma("application_id"), connection.pragma("user_version")) == (
        APPLICATION_ID,
        current_version(),
    )
    connection.close()


@pytest.mark.parametrize("number", range(1, current_version()))
def test_every_older_version_becomes_the_current_one(tmp_path: Path, number: int) -> None:
    of_version(tmp_path / "old.db", number).close()
    opened(tmp_path / "old.db").close()
    connection = connect(str(tmp_path / "old.db"))
    assert tables(connection) == tables(in_memory(schema_sql()))
    connection.close()


def test_a_file_of_the_first_version_keeps_its_rows(first_file: Path) -> None:
    with opened(first_file) as rem:
        assert {memory.text for memory in rem.recent()} == set(FIRST_TEXTS)


def test_a_migrated_file_is_sound(first_file: Path) -> None:
    with opened(first_file) as rem:
        assert [finding for finding in rem.health.doctor() if not finding.ok] == []


def test_a_migrated_file_knows_how_long_its_vectors_are(first_file: Path) -> None:
    opened(first_file).close()
    connection = connect(str(first_file))
    assert list(connection.execute("SELECT workspace, model, dim FROM vector_models")) == [("acme", "m", 1)]
    connection.close()


def test_a_migration_leaves_a_valid_copy_of_the_old_version(first_file: Path) -> None:
    opened(first_file).close()
    backup = connect(f"{first_file}.v1.backup")
    texts = [text for (text,) in backup.execute("SELECT text FROM memories ORDER BY n")]
    checked = backup.execute("PRAGMA integrity_check").get
    assert (backup.pragma("user_version"), texts, checked) == (1, FIRST_TEXTS, "ok")
    backup.close()


def test_the_copy_left_by_a_migration_can_replace_the_migrated_file(first_file: Path) -> None:
    opened(first_file).close()
    Path(f"{first_file}.v1.backup").rename(first_file)
    with opened(first_file) as rem:
        assert {memory.text for memory in rem.recent()} == set(FIRST_TEXTS)


def test_no_half_written_backup_is_left(first_file: Path) -> None:
    opened(first_file).close()
    assert sorted(path.name for path in first_file.parent.iterdir()) == ["first.db", "first.db.v1.backup"]


def test_opening_a_current_file_makes_no_backup(tmp_path: Path) -> None:
    for _ in range(2):
        opened(tmp_path / "new.db").close()
    assert [path.name for path in tmp_path.iterdir()] == ["new.db"]


class TestAFileOfTheThirdVersion:
    def test_keeps_its_memories_whole(self, third_file: Path) -> None:
        kept = with_store(third_file, lambda store: store.get(ANA, [KESTREL.id, OWL.id]))
        # What was not there before has the values of a memory that is made now.
        assert kept == {KESTREL.id: KESTREL, OWL.id: OWL}

    def test_is_sound(self, third_file: Path) -> None:
        findings = with_store(third_file, lambda store: store.check(KESTREL.scope, "m"))
        assert [finding for finding in findings if not finding.ok] == []

    def test_has_the_tables_of_a_new_one(self, third_file: Path) -> None:
        opened(third_file).close()
        connection = connect(str(third_file))
        assert tables(connection) == tables(in_memory(schema_sql()))
        connection.close()

    def test_leaves_a_backup_of_its_version(self, third_file: Path) -> None:
        opened(third_file).close()
        backup = connect(f"{third_file}.v3.backup")
        assert (backup.pragma("user_version"), backup.execute("SELECT count(*) FROM memories").get) == (3, 2)
        backup.close()

    def test_is_searched_by_words_and_by_meaning(self, third_file: Path) -> None:
        async def search(store: SearchedStore) -> tuple[tuple[UUID, ...], float]:
            words = await store.search(ANA, request("owl", "kestrel"))
            meaning = await store.search(ANA, request(vector=a_vector(1), model="m"))
            return tuple(words.ids), float(meaning.similarity[0])

        assert with_store(third_file, search) == ((OWL.id,), pytest.approx(1.0))

    def test_has_no_times_of_its_vectors(self, third_file: Path) -> None:
        rows = with_store(third_file, lambda store: exported(store, KESTREL.scope))
        assert [row["indexed_at"] for row in rows if row["record"] == "vector"] == [None, None]

    def test_has_neither_marks_nor_words_of_its_texts(self, third_file: Path) -> None:
        async def read(store: SearchedStore) -> tuple[list[int], int]:
            found = await store.search(ANA, request("owl", context_features=True))
            assert found.context_features is not None
            return found.context_features.flags.tolist(), len(
                await store.token_embeddings(ANA, "m", found.ref.tolist())
            )

        assert with_store(third_file, read) == ([0], 0)

    def test_keeps_its_edges(self, third_file: Path) -> None:
        (edge,) = with_store(third_file, lambda store: store.relations(ANA, [OWL.id]))
        assert (edge.source, edge.target, edge.kind) == (OWL.id, KESTREL.id, RelationKind.SUPERSEDES)

    def test_removes_the_topic_of_a_superseded_memory(self, third_file: Path) -> None:
        async def tell(store: RelationalStore) -> tuple[tuple[Memory, ...], bool]:
            before = await store.by_topic(KESTREL.scope, "bird")
            told = replace(a_memory("a heron", scope=KESTREL.scope), topic_key="bird")
            _, created = await store.insert(KESTREL.scope, indexed(told))
            return before, created

        assert with_store(third_file, tell) == ((), True)

    def test_accepts_new_learnings(self, third_file: Path) -> None:
        async def learn(store: RelationalStore) -> tuple[Strength, tuple[float, ...]]:
            exposed = [Exposed(OWL.id, Exposure.SHOWN, NOW, 0.5)]
            await store.adjust(ANA, [OWL.id], lambda _: Adjustment(LIVED), at=NOW, exposed=exposed)
            kept = await store.get(ANA, [OWL.id])
            return kept[OWL.id].strength, (await store.health_inputs(ANA, EVERYTHING, model="m", shown_since=NOW)).shown

        assert with_store(third_file, learn) == (LIVED, (0.5,))

    def test_can_be_exported_into_a_new_one(self, third_file: Path, tmp_path: Path) -> None:
        async def copy(store: RelationalStore) -> None:
            assert await store.import_rows(KESTREL.scope, rows) == len(rows)
            assert await exported(store, KESTREL.scope) == rows

        rows = with_store(third_file, lambda store: exported(store, KESTREL.scope))
        with_store(tmp_path / "new.db", copy)


SPOKEN = [
    an_event(text, event_id=UUID(int=number), scope=KESTREL.scope, key=f"k-{number}")
    for number, text in enumerate(("a kestrel on the roof", "an owl in the barn"), start=1)
]


@pytest.fixture
def fifth_file(tmp_path: Path) -> Path:
    """A file of version 5: two events of one stream, the first remembered and shown."""
    path = tmp_path / "fifth.db"
    connection = of_version(path, 5)
    connection.execute("INSERT INTO streams VALUES (1, 'acme', '', 'platform', 'ana', '', 2)")
    for seq, event in enumerate(SPOKEN, start=1):
        connection.execute(insert_into("events", EVENTS.names), EVENTS.bindings(replace(event, seq=seq)))
    memory = replace(KESTREL, superseded_by=None, superseded_at=None)
    add_memory(connection, memory, change=1)
    connection.execute(
        "INSERT INTO memory_events VALUES (1, 0, 1); UPDATE sequence SET change = 1;"
        " INSERT INTO cues (workspace, memory, ordinal, event, heading, text, terms, length)"
        " VALUES ('acme', 1, 0, 1, '', 'a kestrel on the roof', x'', 0);"
        " INSERT INTO cues_fts (rowid, words) VALUES (1, 'a kestrel on the roof')"
    )
    connection.execute("INSERT INTO exposures VALUES (1, 'shown', ?, 0.5)", (micros(NOW),))
    connection.close()
    return path


class TestAFileOfTheFifthVersion:
    def test_has_streams_without_a_cursor(self, fifth_file: Path) -> None:
        tail = with_store(fifth_file, lambda store: store.tail(KESTREL.scope))
        assert tail is not None
        assert (tail.cursor, tail.events, tail.last_seq, tail.note) == (0, 2, 2, {})

    def test_has_no_questions_of_its_exposures(self, fifth_file: Path) -> None:
        evidence = with_store(fifth_file, lambda store: store.unreviewed(KESTREL.scope, Exposure.SHOWN, limit=9))
        assert evidence == (Evidence(memory_id=KESTREL.id, at=(NOW,), queries=("",)),)

    def test_keeps_its_events_in_the_journal(self, fifth_file: Path) -> None:
        events = with_store(fifth_file, lambda store: store.stream_events(KESTREL.scope, after=0, limit=9))
        assert list(events) == [replace(event, seq=seq) for seq, event in enumerate(SPOKEN, start=1)]

    def test_archives_only_events_without_a_memory(self, fifth_file: Path) -> None:
        everything = Aged(types=frozenset({"*"}), keep=frozenset(), before=NOW + timedelta(days=1))
        moved = with_store(fifth_file, lambda store: store.archive(KESTREL.scope, everything, at=NOW, limit=9))
        left = with_store(fifth_file, lambda store: store.stream_events(KESTREL.scope, after=0, limit=9))
        assert (moved, [event.text for event in left]) == (1, ["a kestrel on the roof"])

    def test_finds_its_events_by_their_words(self, fifth_file: Path) -> None:
        where = EventFilter(words=every_word("owls"))
        found = with_store(fifth_file, lambda store: store.events(Reader(KESTREL.scope), where, limit=9))
        assert [event.text for event in found] == ["an owl in the barn"]

    def test_has_its_events_in_the_order_they_were_recorded(self, fifth_file: Path) -> None:
        async def follow(store: RelationalStore) -> list[tuple[int, str]]:
            await store.append(
                KESTREL.scope, [Entry(an_event("a heron", scope=KESTREL.scope, at=SPOKEN[0].occurred_at))]
            )
            page = await store.recorded(Reader(KESTREL.scope), EventFilter(), after=0, limit=9)
            return [(one.position, one.event.text) for one in page.entries]

        texts = [event.text for event in SPOKEN] + ["a heron"]
        assert with_store(fifth_file, follow) == list(enumerate(texts, start=1))

    def test_is_sound(self, fifth_file: Path) -> None:
        findings = with_store(fifth_file, lambda store: store.check(KESTREL.scope, None))
        assert [finding for finding in findings if not finding.ok] == []


def test_archived_events_in_a_file_of_the_sixth_version_are_found_by_their_words(tmp_path: Path) -> None:
    path = tmp_path / "sixth.db"
    connection = of_version(path, 6)
    archived = (*EVENTS.bindings(replace(SPOKEN[1], seq=1)), micros(NOW))
    connection.execute(insert_into("archive", (*EVENTS.names, "archived_at")), archived)
    connection.close()
    where = EventFilter(words=every_word("owls"), archived=True)
    assert with_store(path, lambda store: store.count_events(Reader(KESTREL.scope), where)) == 1


def test_a_file_of_the_seventh_version_takes_keys_and_claims(tmp_path: Path) -> None:
    async def steps(store: RelationalStore) -> tuple[bool, bool, ClaimOutcome]:
        before = await store.has_keys(at=NOW)
        await store.put_key(KESTREL.scope, a_key())
        outcome = await store.claim(KESTREL.scope, a_claim(), forget_before=NOW)
        return before, await store.has_keys(at=NOW), outcome

    of_version(tmp_path / "seventh.db", 7).close()
    assert with_store(tmp_path / "seventh.db", steps) == (False, True, Claimed(a_claim()))


def test_the_workspaces_of_a_file_of_the_ninth_version_go_on_from_its_last_change(tmp_path: Path) -> None:
    connection = of_version(tmp_path / "ninth.db", 9)
    for number, workspace in enumerate(("acme", "acme", "other"), start=1):
        add_memory(connection, a_memory(memory_id=UUID(int=number), scope=Scope(workspace=workspace)), change=number)
    connection.execute("UPDATE sequence SET change = 9")
    connection.close()
    opened(tmp_path / "ninth.db").close()
    connection = connect(str(tmp_path / "ninth.db"))
    assert [next_change(connection, workspace) for workspace in ("acme", "acme", "other", "new")] == [10, 11, 10, 1]
    connection.close()


def test_the_memories_of_a_file_of_the_tenth_version_name_who_spoke(tmp_path: Path) -> None:
    connection = of_version(tmp_path / "tenth.db", 10)
    said = replace(an_event("The deploy failed", scope=KESTREL.scope), actor="grafana", role=Role.TOOL)
    connection.execute(insert_into("events", [*EVENTS.names, "position"]), [*EVENTS.bindings(said), 1])
    formed = replace(KESTREL, id=UUID(int=1), kind="message", text=said.text)
    drawn = replace(KESTREL, id=UUID(int=2), kind="fact", text="Deploys fail")
    for number, memory in enumerate((formed, drawn), start=1):
        add_memory(connection, memory, change=number)
        connection.execute("INSERT INTO memory_events VALUES (?, 0, 1)", (number,))
    connection.execute("INSERT INTO changes VALUES ('acme', 2)")
    connection.close()
    with opened(tmp_path / "tenth.db") as rem:
        told = [(one.actor, one.role) for one in (rem.get(formed.id), rem.get(drawn.id))]
    assert told == [("grafana", "tool"), (None, None)]


A_TURN = replace(KESTREL, kind="message", role=Role.USER, topic_key=None, key=None, tags=())


def tags_after_migration(file: Path, version: int, *turns: Memory) -> list[tuple[str, ...]]:
    """The tags of these turns after a file of that version that has them was opened."""
    connection = of_version(file, version)
    turns = tuple(replace(turn, id=UUID(int=number)) for number, turn in enumerate(turns, start=1))
    for number, memory in enumerate(turns, start=1):
        add_memory(connection, memory, change=number)
    connection.execute(f"INSERT INTO changes VALUES ('acme', {len(turns)})")
    connection.close()
    with opened(file) as rem:
        return [rem.get(memory.id).tags for memory in turns]


def test_the_turns_of_a_file_of_the_25th_version_state_preferences(tmp_path: Path) -> None:
    instruction = replace(A_TURN, text="Always answer in French.")
    assert tags_after_migration(
        tmp_path / "old.db",
        25,
        instruction,
        replace(A_TURN, tags=("checkout",), text="I prefer aisle seats."),
        replace(instruction, role=Role.ASSISTANT),
        replace(A_TURN, text="The deploy failed."),
    ) == [("preference", "instruction", "always"), ("checkout", "preference"), (), ()]


def test_the_turns_of_a_file_of_the_31st_version_say_names(tmp_path: Path) -> None:
    named = replace(A_TURN, text="I prefer to be called Moss.")
    assert tags_after_migration(
        tmp_path / "old.db",
        31,
        named,
        replace(named, tags=("checkout",), role=Role.ASSISTANT),
        replace(named, role=Role.TOOL),
        replace(A_TURN, text="I prefer aisle seats."),
    ) == [("alias",), ("checkout", "alias"), (), ()]


TOLD_ANEW = replace(KESTREL, text="a heron on the roof", revision=2, superseded_by=None, superseded_at=None)
LATER = NOW + timedelta(hours=1)


@pytest.fixture
def tenth_file(tmp_path: Path) -> Path:
    """A file of version 10: an updated memory with a vector, and one whose embedding failed."""
    path = tmp_path / "tenth.db"
    connection = of_version(path, 10)
    for number, memory in enumerate((TOLD_ANEW, OWL), start=1):
        add_memory(connection, memory, change=number)
        found = analyse(memory.text)
        connection.execute(
            "INSERT INTO cues (n, workspace, memory, ordinal, heading, text, terms, length, marks)"
            " VALUES (?, 'acme', ?, 0, '', ?, ?, ?, 8)",
            (number, number, memory.text, packed_terms(found.terms), len(found.terms)),
        )
        connection.execute("INSERT INTO cues_fts (rowid, words) VALUES (?, ?)", (number, " ".join(found.tokens)))
    connection.execute(
        "INSERT INTO embeddings (cue, model, dim, truncated, vector) VALUES (1, 'm', 1, 0, x'0000803F');"
        " INSERT INTO word_vectors VALUES (1, 'm', x'80'); INSERT INTO vector_models VALUES ('acme', 'm', 1);"
        " INSERT INTO vector_retries VALUES (2, 'm', 3, 0, 'no answer'); INSERT INTO changes VALUES ('acme', 2)"
    )
    connection.execute("INSERT INTO revisions VALUES (1, 1, 'Bird', 'a kestrel on the roof', ?)", (micros(LATER),))
    connection.close()
    return path


class TestAFileOfTheTenthVersion:
    def test_keeps_its_memories_with_their_cues_and_vectors(self, tenth_file: Path) -> None:
        async def read(store: SearchedStore) -> tuple[object, ...]:
            rows = await exported(store, KESTREL.scope)
            vectors = [(row["ordinal"], row["token_embeddings"]) for row in rows if row["record"] == "vector"]
            waiting = await store.pending(KESTREL.scope, "m", limit=9, now=NOW)
            found = await store.search(ANA, request("heron", context_features=True))
            assert found.context_features is not None
            flags = found.context_features.flags.tolist()
            return await store.get(ANA, [KESTREL.id, OWL.id]), vectors, [cue.text for cue in waiting], flags

        memories, vectors, waiting, flags = with_store(tenth_file, read)
        assert memories == {KESTREL.id: TOLD_ANEW, OWL.id: OWL}
        assert (vectors, flags) == ([(0, "gA==")], [8])
        assert waiting == ["Bird\na kestrel on the roof", "an owl in the barn"]

    def test_is_found_as_of_then_by_what_it_said_then(self, tenth_file: Path) -> None:
        async def ask(store: SearchedStore) -> list[set[str]]:
            return [await replace(store.finder, at=at).found("kestrel", "heron", reader=ANA) for at in (NOW, LATER)]

        assert with_store(tenth_file, ask) == [{"a kestrel on the roof"}, {"a heron on the roof"}]

    def test_takes_what_it_does_not_know_of_a_revision_from_the_memory(self, tenth_file: Path) -> None:
        then = with_store(tenth_file, lambda store: store.read(lambda view: view.as_of(NOW).get(ANA, [KESTREL.id])))
        assert then[KESTREL.id] == replace(TOLD_ANEW, title="Bird", text="a kestrel on the roof", revision=1)

    def test_knows_when_its_memories_were_last_written(self, tenth_file: Path) -> None:
        rows = with_store(tenth_file, lambda store: exported(store, KESTREL.scope))
        changed = [row["changed_at"] for row in rows if row["record"] == "memory"]
        assert changed == [LATER.isoformat(timespec="microseconds"), NOW.isoformat(timespec="microseconds")]

    def test_is_sound(self, tenth_file: Path) -> None:
        findings = with_store(tenth_file, lambda store: store.check(KESTREL.scope, None))
        assert [finding for finding in findings if not finding.ok] == []


class TestAnExportOfTheFirstVersion:
    @pytest.fixture
    def export(self, tmp_path: Path) -> Path:
        """An export from before memories had a stability: without newer fields and records."""
        with opened(tmp_path / "source.db") as rem:
            rem.remember("a kestrel on the roof", tags=["bird"])
            rem.export(tmp_path / "now.jsonl")
        rows = [json.loads(line) for line in (tmp_path / "now.jsonl").read_text(encoding="utf-8").splitlines()]
        first = [{key: value for key, value in row.items() if key not in OF_FOUR} for row in rows]
        first[0]["version"] = 1
        path = tmp_path / "first.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in first), encoding="utf-8")
        return path

    def test_is_taken_over(self, export: Path, tmp_path: Path) -> None:
        with opened(tmp_path / "new.db") as rem:
            assert rem.import_(export, dry_run=False).new == 2
            (memory,) = rem.recent()
        assert (memory.text, memory.strength) == ("a kestrel on the roof", Strength())

    def test_is_taken_over_once(self, export: Path, tmp_path: Path) -> None:
        with opened(tmp_path / "new.db") as rem:
            rem.import_(export, dry_run=False)
            assert rem.import_(export, dry_run=False).new == 0

    def test_is_exported_in_the_current_version(self, export: Path, tmp_path: Path) -> None:
        with opened(tmp_path / "new.db") as rem:
            rem.import_(export, dry_run=False)
            rem.export(tmp_path / "again.jsonl")
        header, *_ = (tmp_path / "again.jsonl").read_text(encoding="utf-8").splitlines()
        assert json.loads(header)["version"] == 5


class TestAMigrationThatFails:
    @pytest.fixture(autouse=True)
    def broken(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The last step works for a while, then fails."""
        steps = (
            *migrations()[:-1],
            Migration(current_version(), "CREATE TABLE half (n); INSERT INTO missing VALUES (1)"),
        )
        monkeypatch.setattr(schema, "migrations", lambda: steps)

    def test_raises_store_unavailable(self, first_file: Path) -> None:
        with pytest.raises(StoreUnavailable, match=re.escape(str(first_file))):
            opened(first_file)

    def test_leaves_the_file_unchanged(self, first_file: Path) -> None:
        def content() -> tuple[object, ...]:
            connection = connect(str(first_file))
            try:
                rows = list(connection.execute("SELECT * FROM memories"))
                return connection.pragma("user_version"), tables(connection), rows
            finally:
                connection.close()  # an open connection would hold up the migration

        before = content()
        with pytest.raises(StoreUnavailable, match="missing"):
            opened(first_file)
        assert content() == before
        assert before[0] == 1


def test_a_backup_that_cannot_be_written_stops_the_migration(first_file: Path) -> None:
    Path(f"{first_file}.v1.backup").mkdir()  # nothing can take its place
    with pytest.raises(StoreUnavailable, match="backup"):
        opened(first_file)
    connection = connect(str(first_file))
    assert connection.pragma("user_version") == 1
    connection.close()


class TestANewerFile:
    @pytest.fixture
    def newer(self, tmp_path: Path) -> Path:
        path = tmp_path / "newer.db"
        connection = connect(str(path))
        connection.execute(
            f"CREATE TABLE later (n); PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 99"
        )
        connection.close()
        return path

    def test_is_refused_by_both_versions_names(self, newer: Path) -> None:
        with pytest.raises(Unsupported, match=rf"newer\.db.* version 99.* up to {current_version()}\b"):
            opened(newer)

    def test_is_not_touched(self, newer: Path) -> None:
        before = digest(newer)
        with pytest.raises(Unsupported):
            opened(newer)
        assert digest(newer) == before


class TestAnotherProgramsFile:
    @pytest.fixture(params=["PRAGMA user_version = 0", "PRAGMA user_version = 3", "PRAGMA application_id = 77"])
    def foreign(self, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
        path = tmp_path / "theirs.db"
        connection = connect(str(path))
        connection.execute("CREATE TABLE theirs (n); " + str(request.param))
        connection.close()
        return path

    def test_is_refused(self, foreign: Path) -> None:
        with pytest.raises(StoreUnavailable, match=r"theirs\.db: another program's"):
            opened(foreign)

    def test_is_not_touched(self, foreign: Path) -> None:
        before = digest(foreign)
        with pytest.raises(StoreUnavailable):
            opened(foreign)
        assert digest(foreign) == before


OPENING = """
import logging, sys
from remembrancer import Remembrancer
logging.disable()  # that there is no embedder is not what is asked here
print(flush=True)
sys.stdin.readline()
with Remembrancer.open(sys.argv[1], workspace="acme", embedder="none") as rem:
    rem.observe("kept")
"""


def open_at_once(path: Path, count: int) -> list[str]:
    """The stderr of processes that open the file at the same moment and write to it."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", OPENING, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(count)
    ]
    for process in started:
        assert process.stdout is not None
        process.stdout.readline()  # it has imported all it needs
    for process in started:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    return [process.communicate(timeout=60)[1] for process in started]


def test_processes_that_make_a_file_at_the_same_moment_all_succeed(tmp_path: Path) -> None:
    assert open_at_once(tmp_path / "new.db", 4) == [""] * 4
    with opened(tmp_path / "new.db") as rem:
        assert rem.health.stats().events == 4


def test_processes_that_migrate_a_file_at_the_same_moment_all_succeed(first_file: Path) -> None:
    assert open_at_once(first_file, 4) == [""] * 4
    backup = connect(f"{first_file}.v1.backup")
    assert (backup.pragma("user_version"), backup.execute("SELECT count(*) FROM memories").get) == (1, 2)
    backup.close()


def test_tables_made_between_two_looks_are_not_another_programs(tmp_path: Path) -> None:
    path = str(tmp_path / "new.db")
    looking, making = connect(path), connect(path)
    made: list[str] = []

    def make(_cursor: object, statement: str, _bindings: object) -> bool:
        if "user_version" in statement:
            with suppress(apsw.BusyError):  # the look may hold the file
                schema.prepare(making, path)
            made.append(statement)
        return True

    cast("apsw.Connection", looking).exec_trace = make
    schema.version_of(looking, path)
    looking.close()
    making.close()
    assert made
