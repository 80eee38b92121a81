"""Files of other memory systems: what is read, with which times, scopes and successors, and what is left out."""

from __future__ import annotations

import io
import json
import sqlite3
import tarfile
from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from remembrancer import Remembrancer
from remembrancer.domain.event import EventDraft
from remembrancer.domain.memory import Memory, MemoryDraft
from remembrancer.errors import InvalidInput
from remembrancer.ingest import Format, ImportedRecord, Problem, detect, imported
from remembrancer.interfaces.cli.recording import take_over

FIXTURES = Path(__file__).parents[2] / "fixtures" / "systems"
MEM0_HISTORY = (
    "CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT,"
    " created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT)"
)
MCP_MEMORIES = (
    "CREATE TABLE memories (id INTEGER PRIMARY KEY AUTOINCREMENT, content_hash TEXT UNIQUE NOT NULL,"
    " content TEXT NOT NULL, tags TEXT, memory_type TEXT, metadata TEXT, created_at REAL, updated_at REAL,"
    " created_at_iso TEXT, updated_at_iso TEXT, deleted_at REAL DEFAULT NULL, superseded_by TEXT DEFAULT NULL)"
)


def database(path: Path, *statements: tuple[str, Iterable[tuple[object, ...]]]) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        for sql, rows in statements:
            connection.executemany(sql, rows) if "?" in sql else connection.execute(sql)
    return path


def read(path: Path) -> tuple[list[ImportedRecord], list[str]]:
    found = list(imported(path))
    problems = [f"{item.record}: {item.message}" for item in found if isinstance(item, Problem)]
    return [item for item in found if isinstance(item, ImportedRecord)], problems


def session_of(record: ImportedRecord) -> str | None:
    return record.draft.session if isinstance(record.draft, EventDraft) else None


def notes(records: Iterable[ImportedRecord]) -> dict[str, MemoryDraft]:
    return {record.draft.text: record.draft for record in records if isinstance(record.draft, MemoryDraft)}


def kept(rem: Remembrancer, path: Path) -> tuple[dict[str, Memory], list[Problem]]:
    problems: list[Problem] = []
    stored = [one for one in take_over(rem, imported(path), on_problem=problems.append) if isinstance(one, Memory)]
    return {memory.text: rem.get(memory.id) for memory in stored}, problems


def mem0_history(path: Path) -> Path:
    rows = [
        ("h1", "m1", None, "Lives in Hamburg", "ADD", "2025-01-10T09:00:00+00:00", None, 0, "ana", "user"),
        (
            "h2",
            "m1",
            "Lives in Hamburg",
            "Lives in Kiel",
            "UPDATE",
            "2025-01-10T09:00:00+00:00",
            "2025-06-01",
            0,
            "",
            "",
        ),
        (
            "h3",
            "m1",
            "Lives in Kiel",
            "Lives in Bremen",
            "UPDATE",
            "2025-01-10T09:00:00+00:00",
            "2026-02-01",
            0,
            "",
            "",
        ),
        ("h4", "m2", None, "Has a dog", "ADD", "2025-03-01T09:00:00+00:00", None, 0, None, None),
        ("h5", "m2", "Has a dog", None, "DELETE", "2025-03-01T09:00:00+00:00", "2025-04-01", 1, None, None),
    ]
    return database(path, (MEM0_HISTORY, []), (f"INSERT INTO history VALUES ({', '.join('?' * 10)})", rows))


def mcp_database(path: Path) -> Path:
    rows = [
        ("aa", "Port 8080", "infra, api", "reference", '{"project": "shop"}', 1772439300.5, None, None, "bb"),
        ("bb", "Port 9090", "infra", "reference", "{}", 1774000000.0, 1774000000.0, None, None),
        ("cc", "A secret", "", "note", None, 1774000000.0, 1774000000.0, 1775000000.0, None),
        ("dd", "Broken", "", "note", "{not json", 1774000000.0, 1774000000.0, None, None),
    ]
    sql = (
        "INSERT INTO memories (content_hash, content, tags, memory_type, metadata, created_at, updated_at, deleted_at,"
        " superseded_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
    )
    return database(path, (MCP_MEMORIES, []), (sql, rows))


def test_memories_of_mem0_keep_their_ids_times_scope_and_metadata() -> None:
    [first, second], problems = read(FIXTURES / "mem0.json")
    assert (first.agent, first.session) == ("cook", "trip-7")
    assert isinstance(first.draft, MemoryDraft)
    assert first.draft.key == "mem0:892db2ae-06d9-49e5-8b3e-585ef9b85b8e"
    assert first.draft.occurred_at == datetime(2026, 3, 2, 16, 14, 0, 513570, UTC)
    assert first.draft.metadata == {
        "category": "food",
        "user_id": "alice",
        "updated_at": "2026-04-01T17:00:00+00:00",
    }
    assert isinstance(second.draft, MemoryDraft)
    assert second.draft.tags == ("car", "home")
    assert second.draft.valid_until == datetime(2026, 7, 1, tzinfo=UTC)
    assert [problem.split(":")[:2] for problem in problems] == [
        ["memory 3", " text"],
        ["memory 4", " id"],
        ["memory 5", " created_at"],
    ]


def test_earlier_versions_in_mem0s_history_ended_and_have_the_current_one_as_successor(tmp_path: Path) -> None:
    path = mem0_history(tmp_path / "history.db")
    with Remembrancer.open(str(tmp_path / "own.db"), embedder="none") as rem:
        memories, problems = kept(rem, path)
    current = memories["Lives in Bremen"]
    assert current.valid_until is None
    assert [memories[text].valid_until for text in ("Lives in Hamburg", "Lives in Kiel")] == [
        datetime(2025, 6, 1, tzinfo=UTC),
        datetime(2026, 2, 1, tzinfo=UTC),
    ]
    assert {memories[text].superseded_by for text in ("Lives in Hamburg", "Lives in Kiel")} == {current.id}
    assert ["was deleted in mem0" in problem.message for problem in problems] == [True]


def test_memories_of_mcp_memory_service_are_replaced_as_its_export_says(tmp_path: Path) -> None:
    with Remembrancer.open(str(tmp_path / "own.db"), embedder="none") as rem:
        memories, problems = kept(rem, FIXTURES / "mcp-memory-service.json")
    old, new = memories["The API runs on port 8080"], memories["The API runs on port 9090"]
    assert (old.superseded_by, old.valid_until) == (new.id, new.occurred_from)
    assert old.tags == ("infra", "api")
    assert old.occurred_from == datetime(2026, 3, 2, 8, 15, 0, 500000, UTC)
    assert memories["Deploys are frozen on Fridays"].tags == ()
    assert [problem.record for problem in problems] == ["memory 4"]


def test_deleted_and_broken_rows_of_mcp_memory_service_are_left_out_and_listed(tmp_path: Path) -> None:
    records, problems = read(mcp_database(tmp_path / "sqlite_vec.db"))
    found = notes(records)
    assert set(found) == {"Port 8080", "Port 9090"}
    assert found["Port 8080"].metadata == {"project": "shop", "type": "reference"}
    assert [problem.split(": ")[:2] for problem in problems] == [
        ["row 3", "it was deleted in mcp-memory-service; it is left out"],
        ["row 4", "metadata"],
    ]


CLAUDE_MEM = """
CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT, memory_session_id TEXT, project TEXT);
CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT, type TEXT,
    title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT,
    prompt_number INTEGER, created_at TEXT, created_at_epoch INTEGER);
CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, request TEXT,
    learned TEXT, next_steps TEXT, created_at_epoch INTEGER);
CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, content_session_id TEXT, prompt_number INTEGER, prompt_text TEXT,
    created_at_epoch INTEGER);
INSERT INTO sdk_sessions VALUES (1, 'cc-1', 'mem-1', 'shop');
INSERT INTO observations (memory_session_id, project, type, title, narrative, facts, concepts, created_at_epoch) VALUES
    ('mem-1', 'shop', 'bugfix', 'Fixed the cart', 'The cart rounded each line.', '["Totals were rounded twice"]',
        '["gotcha"]', 1772439400000),
    ('mem-1', 'shop', 'bugfix', 'Broken', 'x', '[not json', NULL, 1772439400000);
INSERT INTO session_summaries VALUES (1, 'mem-1', 'shop', 'Fix the cart', 'Round once', NULL, 1772439500000);
INSERT INTO user_prompts VALUES (1, 'cc-1', 1, 'The total is wrong', 1772439300000);
"""


def claude_mem_database(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(CLAUDE_MEM)
    return path


def test_observations_and_summaries_of_claude_mem_are_memories_and_prompts_are_turns(tmp_path: Path) -> None:
    records, problems = read(claude_mem_database(tmp_path / "claude-mem.db"))
    assert {(record.project, record.session or session_of(record)) for record in records} == {("shop", "cc-1")}
    found = notes(records)
    [observation] = [text for text in found if "rounded" in text]
    assert observation == "The cart rounded each line.\n\n- Totals were rounded twice"
    assert (found[observation].title, found[observation].tags) == ("Fixed the cart", ("gotcha",))
    assert found["Request: Fix the cart\nLearned: Round once"].occurred_at == datetime(
        2026, 3, 2, 8, 18, 20, tzinfo=UTC
    )
    assert [problem.split(":")[0] for problem in problems] == ["observations 2"]


def test_facts_of_zep_keep_their_validity_and_episodes_are_turns() -> None:
    records, problems = read(FIXTURES / "zep.json")
    [episode] = [record.draft for record in records if isinstance(record.draft, EventDraft)]
    assert (episode.actor, episode.session, episode.key) == ("Ana", "t-7", "zep:e1")
    found = notes(records)
    over = found["Ana works at Contoso"]
    assert (over.valid_from, over.valid_until) == (datetime(2025, 4, 1, tzinfo=UTC), datetime(2026, 1, 5, tzinfo=UTC))
    assert found["Ana works at Northwind"].valid_until is None
    assert over.metadata == {"relation": "WORKS_AT", "episodes": ["e0"], "source": "Ana", "target": "Contoso"}
    assert (found["An engineer in Kiel."].title, found["An engineer in Kiel."].tags) == ("Ana", ("Person",))
    assert [problem.split(":")[0] for problem in problems] == ["record 4", "record 6"]


def test_an_agent_of_letta_brings_its_messages_blocks_and_passages() -> None:
    records, problems = read(FIXTURES / "letta.af")
    said = [
        (record.draft.role, record.draft.type, record.draft.text)
        for record in records
        if isinstance(record.draft, EventDraft)
    ]
    assert said == [
        ("user", "message", "My cat is called Miso."),
        ("assistant", "message", "What a nice name."),
        ("tool", "tool.result", '{"status": "OK"}'),
    ]
    assert {record.agent for record in records} == {"helper"}
    assert {text: draft.tags for text, draft in notes(records).items()} == {
        "Has a cat called Miso.": ("block",),
        "The vet is Dr. Okafor in Elm Street.": ("pets",),
    }
    assert [problem.split(": ")[0] for problem in problems] == ["agent 1, message 5", "agent 1, block 2"]


def test_items_of_langmem_keep_their_namespace_and_a_profile_is_json() -> None:
    records, problems = read(FIXTURES / "langmem.jsonl")
    found = notes(records)
    assert found["Prefers dark mode"].metadata == {
        "kind": "Memory",
        "namespace": "memories/alice",
        "key": "m-1",
        "updated_at": "2026-03-02T08:00:00+00:00",
    }
    assert [draft.key for draft in found.values()] == ["langmem:memories/alice/m-1", "langmem:memories/alice/m-2"]
    assert any('"city": "Kiel"' in text for text in found)
    assert [problem.split(":")[0] for problem in problems] == ["item 3"]


def test_notes_of_basic_memory_are_split_into_prose_and_observations() -> None:
    found = list(imported(FIXTURES / "basic-memory"))
    drafts = notes(item for item in found if isinstance(item, ImportedRecord))
    observation = drafts["Pour over gives more clarity than French press #taste"]
    assert (observation.title, observation.tags) == ("Coffee Brewing", ("coffee", "brewing", "method", "taste"))
    assert observation.occurred_at == datetime(2026, 2, 3, tzinfo=UTC)
    assert observation.metadata["relations"] == ["requires Grinding Technique"]
    assert drafts["The launch is on 12 May"].tags == ("launch", "q3", "decision")
    [prose] = [text for text in drafts if "The grinder is from 2019." in text]
    assert "buy filters" in prose
    assert len(drafts) == 3
    assert [item.path.name for item in found if isinstance(item, Problem)] == ["broken.md"]


def test_a_note_with_a_permalink_is_one_of_basic_memory() -> None:
    assert detect(FIXTURES / "basic-memory" / "coffee.md") is Format.BASIC_MEMORY


def fixture(name: str) -> Callable[[Path], Path]:
    return lambda _: FIXTURES / name


SOURCES: dict[str, Callable[[Path], Path]] = {
    "mem0.json": fixture("mem0.json"),
    "mem0 history": mem0_history,
    "mcp-memory-service.json": fixture("mcp-memory-service.json"),
    "mcp-memory-service": mcp_database,
    "claude-mem": claude_mem_database,
    "zep.json": fixture("zep.json"),
    "letta.af": fixture("letta.af"),
    "langmem.jsonl": fixture("langmem.jsonl"),
    "basic-memory": fixture("basic-memory"),
}


@pytest.mark.parametrize("name", SOURCES)
def test_importing_a_file_again_adds_nothing(name: str, tmp_path: Path) -> None:
    path = SOURCES[name](tmp_path / "source.db")
    with Remembrancer.open(str(tmp_path / "own.db"), embedder="none") as rem:
        first, problems = kept(rem, path)
        before = rem.health.stats()
        again, same = kept(rem, path)
        assert (again, [one.message for one in same]) == (first, [one.message for one in problems])
        after = rem.health.stats()
        assert (after.memories, after.events) == (before.memories, before.events)


@pytest.mark.parametrize("successor", ["missing", "aa"])
def test_a_replaced_memory_whose_successor_is_unknown_ends_and_is_listed(successor: str, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    memory = f'{{"content": "Port 8080", "content_hash": "aa", "metadata": {{"superseded_by": "{successor}"}}}}'
    path.write_text(f'{{"memories": [{memory}]}}', encoding="utf-8")
    with Remembrancer.open(str(tmp_path / "own.db"), embedder="none") as rem:
        memories, [problem] = kept(rem, path)
    assert memories["Port 8080"].valid_until is not None
    assert "is not in the file; it ends without one" in problem.message


def test_a_changed_text_of_a_known_id_is_listed_and_not_stored(tmp_path: Path) -> None:
    path = tmp_path / "mem0.json"
    with Remembrancer.open(str(tmp_path / "own.db"), embedder="none") as rem:
        path.write_text('[{"id": "m1", "memory": "Lives in Kiel"}]', encoding="utf-8")
        kept(rem, path)
        path.write_text('[{"id": "m1", "memory": "Lives in Bremen"}]', encoding="utf-8")
        memories, [problem] = kept(rem, path)
    assert memories == {}
    assert "already remembered with another text" in problem.message


@pytest.mark.parametrize(
    ("text", "system"),
    [
        ('[{"id": "m1", "memory": "x"}]', Format.MEM0),
        ('{"count": 1, "next": null, "results": [{"id": "m1", "memory": "x", "categories": ["a"]}]}', Format.MEM0),
        ('{"memories": [{"content": "x", "content_hash": "a"}]}', Format.MCP_MEMORY_SERVICE),
        ('{"text": "an event", "payload": {"id": "m1", "memory": "x"}}', Format.JSONL),
    ],
)
def test_the_system_is_detected_from_the_first_record(text: str, system: Format, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(text, encoding="utf-8")
    assert detect(path) is system


def test_an_unknown_sqlite_file_is_refused(tmp_path: Path) -> None:
    path = database(tmp_path / "other.db", ("CREATE TABLE things (id INTEGER)", []))
    with pytest.raises(InvalidInput, match="an SQLite file of"):
        detect(path)


def test_a_long_text_becomes_several_memories(tmp_path: Path) -> None:
    path = tmp_path / "mem0.json"
    path.write_text('[{"id": "m1", "memory": "' + "word " * 20_000 + '"}]', encoding="utf-8")
    records, _ = read(path)
    assert [record.draft.key for record in records] == ["mem0:m1", "mem0:m1#2"]


CREWSHIP = (
    "CREATE TABLE journal_entries (id TEXT PRIMARY KEY, workspace_id TEXT, crew_id TEXT, agent_id TEXT,"
    " mission_id TEXT, ts TEXT, entry_type TEXT, severity TEXT, priority TEXT, actor_type TEXT, actor_id TEXT,"
    " summary TEXT,"
    " payload TEXT DEFAULT '{}', refs TEXT DEFAULT '{}', trace_id TEXT, span_id TEXT)"
)
CREWSHIP_ARCHIVED = (
    "CREATE TABLE journal_entries_archived (id TEXT PRIMARY KEY, workspace_id TEXT, ts TEXT, entry_type TEXT,"
    " severity TEXT, summary TEXT, payload TEXT, archived_at TEXT)"
)
MNEMOSYNE = (
    "CREATE TABLE {} (id TEXT, content TEXT, source TEXT, timestamp TEXT, session_id TEXT, importance REAL,"
    " metadata_json TEXT, summary_of TEXT, valid_until TEXT, superseded_by TEXT, scope TEXT)"
)


def crewship(path: Path) -> Path:
    at, ended = "2026-03-01T09:00:00.000Z", ("run.completed", "info", "normal", "system", None)
    pending = ("peer.escalation", "warn", "pin", "agent", "vera", "Checkout is down", '{"state": "pending"}', "{}")
    rows = [
        ("j_1", "w", "ops", "vera", "m1", at, *pending, "t1", None),
        ("j_2", "w", None, None, None, at, *ended, "Run 7 ended", "{}", "{}", None, None),
        ("j_3", "w", None, None, None, at, "run.failed", "loud", *ended[2:], "Run 8 ended", "{}", "{}", None, None),
    ]
    cut = ("j_0", "w", "2026-01-01T09:00:00.000Z", "run.failed", "error", "Run 1 failed", '{"log": "abc', at)
    return database(
        path,
        (CREWSHIP, ()),
        (CREWSHIP_ARCHIVED, ()),
        ("INSERT INTO journal_entries VALUES (" + ",".join("?" * 16) + ")", rows),
        ("INSERT INTO journal_entries_archived VALUES (?,?,?,?,?,?,?,?)", [cut]),
    )


def mnemosyne(path: Path) -> Path:
    row, at = "INSERT INTO {} VALUES (?,?,?,?,?,?,?,?,?,?,?)", "2026-03-01T09:00:00"
    until = "2027-01-01"
    working = [
        ("w1", "Ana takes the aisle seat", "user", at, "s1", 0.9, '{"trip": 1}', "", None, "w2", "session"),
        ("w2", "Ana takes the window seat", "user", "2026-03-02", "s1", 0.5, None, "", until, None, "global"),
        ("w3", "", "user", at, "s1", 0.5, None, "", None, None, "session"),
    ]
    episodic = [("e1", "[user] two seats", "sleep", at, "default", 0.6, None, "w1,w2", None, None, "global")]
    return database(
        path,
        (MNEMOSYNE.format("working_memory"), ()),
        (MNEMOSYNE.format("episodic_memory"), ()),
        ("CREATE TABLE scratchpad (id TEXT, content TEXT)", ()),
        (row.format("working_memory"), working),
        (row.format("episodic_memory"), episodic),
        ("INSERT INTO scratchpad VALUES (?, ?)", [("p1", "todo")]),
    )


def engram(path: Path) -> Path:
    told = {"memory_type": "preference", "priority": 8, "confidence": 0.75, "timestamp": "2026-03-01T09:00:00+00:00"}
    more = {"tags": '["travel"]', "entities": '["Ana"]', "topic_key": "seat", "expires_at": "2027-01-01T00:00:00+00:00"}
    parts = {
        "episodic.json": {
            "ids": ["m1", "m2"],
            "documents": ["Ana takes the aisle seat", "A fact with a wrong priority"],
            "metadatas": [{**told, **more}, {"priority": 11}],
            "embeddings": [[0.1], [0.2]],
        },
        "semantic.json": {"nodes": [{"name": "Ana"}], "edges": []},
        "manifest.json": {"version": "0.2.0"},
    }
    with tarfile.open(path, "w:gz") as archive:
        for name, value in parts.items():
            data = json.dumps(value).encode()
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return path


def plastmem(path: Path) -> Path:
    said = [
        {"role": "user", "content": "I take the aisle seat", "timestamp": "2026-03-01T09:00:00Z"},
        {"role": "Bo", "content": "Me too", "timestamp": "2026-03-01T09:01:00Z"},
    ]
    episode = {
        "id": "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f",
        "conversation_id": "c1",
        "messages": said,
        "title": "Seats",
        "summary": "The user and Bo take aisle seats.",
        "stability": 2.5,
        "difficulty": 2.1,
        "surprise": 0.9,
        "start_at": "2026-03-01T09:00:00Z",
        "end_at": "2026-03-01T09:01:00Z",
    }
    fact = {
        "id": "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e60",
        "conversation_id": "c1",
        "category": "preference",
        "fact": "The user takes aisle seats",
        "keywords": ["seat"],
        "valid_at": "2026-03-01T09:00:00Z",
        "invalid_at": None,
    }
    path.write_text(json.dumps({"episodic": [episode], "semantic": [fact, {"id": "x", "fact": 1}]}), encoding="utf-8")
    return path


PUBLISHED: dict[Format, Callable[[Path], Path]] = {
    Format.CREWSHIP: crewship,
    Format.MNEMOSYNE: mnemosyne,
    Format.ENGRAM: engram,
    Format.PLASTMEM: plastmem,
}


def events(records: Iterable[ImportedRecord]) -> dict[str, EventDraft]:
    return {record.draft.text: record.draft for record in records if isinstance(record.draft, EventDraft)}


@pytest.mark.parametrize("system", PUBLISHED)
def test_the_store_of_a_published_system_is_recognised(system: Format, tmp_path: Path) -> None:
    assert detect(PUBLISHED[system](tmp_path / "store")) is system


@pytest.mark.parametrize("system", PUBLISHED)
def test_a_second_import_of_a_published_system_adds_nothing(system: Format, tmp_path: Path) -> None:
    path = PUBLISHED[system](tmp_path / "store")
    with Remembrancer.open(str(tmp_path / "memory.db"), embedder="none") as rem:
        taken = list(take_over(rem, imported(path), on_problem=lambda _: None))
        counts = rem.health.stats()
        again = list(take_over(rem, imported(path), on_problem=lambda _: None))
        assert (len(again), rem.health.stats()) == (len(taken), counts)
    assert counts.events == len(events(read(path)[0]))
    assert sum(counts.memories.values()) >= len(taken) - counts.events > -1


def test_entries_of_crewship_are_events_of_their_crew_and_agent(tmp_path: Path) -> None:
    records, problems = read(crewship(tmp_path / "crewship.db"))
    drafts = events(records)
    down = drafts["Checkout is down"]
    assert [(one.crew, one.agent) for one in records] == [(None, None), ("ops", "vera"), (None, None)]
    assert (down.role, down.actor, down.type) == ("assistant", "vera", "peer.escalation")
    assert (down.severity, down.priority) == ("warn", "pin")
    assert (down.payload, down.refs) == ({"state": "pending"}, {"mission_id": "m1", "trace_id": "t1"})
    assert down.occurred_at == datetime(2026, 3, 1, 9, tzinfo=UTC)
    assert drafts["Run 7 ended"].role == "tool"
    assert drafts["Run 1 failed"].payload == {"cut": '{"log": "abc'}
    assert problems == [
        "journal_entries j_3: severity: 'loud' is not allowed; expected one of info, notice, warn, error"
    ]


def test_memories_of_mnemosyne_keep_importance_session_validity_and_successor(tmp_path: Path) -> None:
    path = mnemosyne(tmp_path / "mnemosyne.db")
    records, problems = read(path)
    drafts = notes(records)
    aisle = drafts["Ana takes the aisle seat"]
    assert (aisle.importance, aisle.occurred_at) == (0.9, datetime(2026, 3, 1, 9, tzinfo=UTC))
    assert aisle.metadata == {"trip": 1, "tier": "working", "source": "user", "scope": "session"}
    assert drafts["Ana takes the window seat"].valid_until == datetime(2027, 1, 1, tzinfo=UTC)
    assert drafts["[user] two seats"].metadata["summary_of"] == ["w1", "w2"]
    assert [record.session for record in records] == ["s1", None, None]
    assert problems == ["working_memory 3: text: it is empty", "scratchpad: 1 rows that are no memories are left out"]
    with Remembrancer.open(str(tmp_path / "memory.db"), embedder="none") as rem:
        stored, _ = kept(rem, path)
        assert stored["Ana takes the aisle seat"].superseded_by == stored["Ana takes the window seat"].id


def test_an_export_of_mnemosyne_is_read_as_its_file(tmp_path: Path) -> None:
    export = {
        "mnemosyne_export": {"version": "1.0"},
        "working_memory": [{"id": "w1", "content": "Ana takes the aisle seat", "metadata_json": None}],
        "episodic_memory": [],
        "triples": [{"subject": "Ana"}],
    }
    path = tmp_path / "export.json"
    path.write_text(json.dumps(export), encoding="utf-8")
    records, problems = read(path)
    assert list(notes(records)) == ["Ana takes the aisle seat"]
    assert problems == ["triples: 1 rows that are no memories are left out"]


def test_memories_of_an_engram_backup_keep_priority_confidence_and_expiry(tmp_path: Path) -> None:
    records, problems = read(engram(tmp_path / "engram.tar.gz"))
    (note,) = notes(records).values()
    assert (note.priority, note.confidence, note.tags) == (8, 0.75, ("travel",))
    assert note.occurred_at == datetime(2026, 3, 1, 9, tzinfo=UTC)
    assert note.valid_until == datetime(2027, 1, 1, tzinfo=UTC)
    assert note.metadata == {"topic_key": "seat", "type": "preference", "entities": ["Ana"]}
    assert problems == [
        "memory 2: priority: 11 is not allowed; expected a whole number from 1 to 10",
        "semantic.json: 1 nodes and 0 edges of the graph are left out",
    ]


def test_an_archive_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    path = engram(tmp_path / "engram.tar.gz")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InvalidInput):
        list(imported(path, format=Format.ENGRAM))


def test_an_episode_of_plastmem_is_its_turns_and_a_summary_and_a_fact_is_a_memory(tmp_path: Path) -> None:
    records, problems = read(plastmem(tmp_path / "plastmem.json"))
    turns = list(events(records).values())
    assert [(turn.text, turn.role, turn.actor, turn.session) for turn in turns] == [
        ("I take the aisle seat", "user", None, "c1"),
        ("Me too", "user", "Bo", "c1"),
    ]
    assert turns[0].occurred_at == datetime(2026, 3, 1, 9, tzinfo=UTC)
    summary, fact = (
        notes(records)[text] for text in ("The user and Bo take aisle seats.", "The user takes aisle seats")
    )
    assert (summary.title, summary.surprise) == ("Seats", 0.9)
    assert (summary.metadata["stability"], summary.metadata["difficulty"]) == (2.5, 2.1)
    assert (fact.tags, fact.valid_from) == (("preference", "seat"), datetime(2026, 3, 1, 9, tzinfo=UTC))
    (problem,) = problems
    assert problem.startswith("record 3: fact: 1 is not allowed")


def test_rows_of_plastmem_may_stand_on_lines(tmp_path: Path) -> None:
    whole = json.loads(plastmem(tmp_path / "plastmem.json").read_text(encoding="utf-8"))
    path = tmp_path / "rows.jsonl"
    rows = [*whole["episodic"], whole["semantic"][0]]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert detect(path) is Format.PLASTMEM
    assert len(read(path)[0]) == 4


def test_a_block_id_of_letta_that_is_no_text_is_no_block(tmp_path: Path) -> None:
    agent = {"id": "a", "block_ids": [["b"], {"x": 1}, "b"], "messages": []}
    path = tmp_path / "agent.af"
    path.write_text(json.dumps({"agents": [agent], "blocks": [{"id": "b", "label": "human", "value": "Ana"}]}))
    assert list(notes(read(path)[0])) == ["Ana"]
