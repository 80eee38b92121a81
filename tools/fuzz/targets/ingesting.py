"""Targets: files of conversations and of other memory systems."""

from __future__ import annotations

import io
import json
import sqlite3
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from fuzz.target import Check, Target
from remembrancer.domain.event import EventDraft
from remembrancer.domain.learning import Learning
from remembrancer.domain.memory import MemoryDraft
from remembrancer.errors import RemembrancerError
from remembrancer.ingest import Format, Problem, detect, imported, learnings, read
from remembrancer.ingest.formats import FORMATS_OF_SYSTEMS

_FIXTURES: Final = Path(__file__).parents[3] / "tests" / "fixtures"
_MAX_KEY: Final = 200


def _read(path: Path, source: Format) -> None:
    with suppress(RemembrancerError):
        detect(path)
    if source is Format.LEARNINGS:
        assert all(isinstance(item, Learning | Problem) for item in learnings(path))
    elif source in FORMATS_OF_SYSTEMS:
        for record in imported(path, format=source):
            assert isinstance(record, Problem) or isinstance(record.draft, MemoryDraft | EventDraft)
            assert isinstance(record, Problem) or (record.draft.key and len(record.draft.key) <= _MAX_KEY)
    else:
        for item in read(path, format=source):
            assert isinstance(item, EventDraft | Problem)
            assert isinstance(item, Problem) or (item.key and len(item.key) <= _MAX_KEY)


def _of_files(
    write: Callable[[Path, bytes], object], source: Format | None, suffix: str
) -> AbstractContextManager[Check]:
    """`write` makes the file of an input. `source` None: the format that is detected."""

    @contextmanager
    def opened() -> Generator[Check]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"file{suffix}")

            def check(data: bytes) -> None:
                write(path, data)
                _read(path, source or detect(path))

            yield check

    return opened()


def _bytes(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def _zip(path: Path, data: bytes) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("export/conversations.json", data)


def _tar(path: Path, data: bytes) -> None:
    """A backup of Engram; the input is an object of its files."""
    parts = _object(data)
    contents = {name: json.dumps(value).encode() for name, value in parts.items()} or {"episodic.json": data}
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name, content in contents.items():
            entry = tarfile.TarInfo(name.encode("utf-8", "replace").decode()[:90].replace("\x00", ""))
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))


def _object(data: bytes) -> dict[str, Any]:
    """The JSON object of an input; empty for any other input."""
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


_TABLES: Final = {
    "history": "id, memory_id, old_memory, new_memory, event, created_at, updated_at, is_deleted, actor_id, role",
    "memories": "id INTEGER PRIMARY KEY, content_hash, content, tags, memory_type, metadata, created_at, updated_at,"
    " created_at_iso, updated_at_iso, deleted_at, superseded_by",
    "sdk_sessions": "id INTEGER PRIMARY KEY, content_session_id, memory_session_id, project",
    "observations": "id INTEGER PRIMARY KEY, memory_session_id, project, text, type, title, subtitle, facts, narrative,"
    " concepts, files_read, files_modified, prompt_number, created_at, created_at_epoch",
    "session_summaries": "id INTEGER PRIMARY KEY, memory_session_id, project, request, learned, next_steps,"
    " created_at_epoch",
    "user_prompts": "id INTEGER PRIMARY KEY, content_session_id, prompt_number, prompt_text, created_at_epoch",
    "journal_entries": "id, workspace_id, crew_id, agent_id, mission_id, ts, entry_type, severity, priority, actor_type,"
    " actor_id, summary, payload, refs, trace_id, span_id",
    "journal_entries_archived": "id, workspace_id, ts, entry_type, severity, summary, payload, archived_at",
    "working_memory": "id, content, source, timestamp, session_id, importance, metadata_json, summary_of, valid_until,"
    " superseded_by, scope",
    "episodic_memory": "id, content, source, timestamp, session_id, importance, metadata_json, summary_of, valid_until,"
    " superseded_by, scope",
}


def _database(path: Path, data: bytes) -> None:
    """An SQLite file; the input is an object of its tables, each a list of objects of columns."""
    path.unlink(missing_ok=True)
    tables = _object(data)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in ("journal_mode = OFF", "synchronous = OFF", "page_size = 1024"):
            connection.execute(f"PRAGMA {statement}")
        connection.execute("BEGIN")
        for name in tables.keys() & _TABLES.keys():
            connection.execute(f"CREATE TABLE {name} ({_TABLES[name]})")
            rows: object = tables[name]
            for row in cast("list[object]", rows) if isinstance(rows, list) else []:
                _insert(connection, name, row)
        connection.execute("COMMIT")


def _insert(connection: sqlite3.Connection, table: str, row: object) -> None:
    columns = {part.split()[0] for part in _TABLES[table].split(",")}
    given = cast("dict[str, Any]", row) if isinstance(row, dict) else {}
    known = {name: value for name, value in given.items() if name in columns}
    values = [value if isinstance(value, str | int | float | None) else json.dumps(value) for value in known.values()]
    places = ", ".join("?" * len(known))
    if known:
        with suppress(sqlite3.Error, OverflowError, UnicodeEncodeError):  # not a value of SQLite
            connection.execute(f"INSERT INTO {table} ({', '.join(known)}) VALUES ({places})", values)


def _file_of(table: str, row: dict[str, Any]) -> bytes:
    """The bytes of a small SQLite file."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("PRAGMA page_size = 512")
        connection.execute(f"CREATE TABLE {table} ({_TABLES[table]})")
        _insert(connection, table, row)
        connection.commit()
        return connection.serialize()


def _file(name: str) -> bytes:
    return (_FIXTURES / name).read_bytes()


def _zipped(content: bytes, method: int) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.writestr("conversations.json", content)
    return stream.getvalue()


def _archived(parts: dict[str, object]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        _tar(path, json.dumps(parts).encode())
        return path.read_bytes()


_AT: Final = "2026-03-01T09:00:00.000Z"
_NOTE: Final = {"id": "w1", "content": "Ana takes the aisle seat", "source": "user", "timestamp": "2026-03-01T09:00:00",
                "session_id": "s1", "importance": 0.9, "metadata_json": '{"trip": 1}', "superseded_by": "w2"}  # fmt: skip
_ROWS: Final[dict[str, list[dict[str, Any]]]] = {
    "history": [
        {"id": "h1", "memory_id": "m1", "new_memory": "Lives in Kiel", "event": "ADD", "created_at": _AT, "role": "user"},
        {"id": "h2", "memory_id": "m1", "old_memory": "Lives in Kiel", "new_memory": "Lives in Bremen",
         "event": "UPDATE", "updated_at": "2026-02-01", "is_deleted": 0, "actor_id": "ana"},
    ],
    "memories": [
        {"content_hash": "aa", "content": "Port 8080", "tags": "infra, api", "memory_type": "reference",
         "metadata": '{"project": "shop"}', "created_at": 1772439300.5, "superseded_by": "bb"},
        {"content_hash": "bb", "content": "Port 9090", "created_at": 1774000000.0, "updated_at": 1774000000.0},
    ],
    "sdk_sessions": [{"content_session_id": "cc-1", "memory_session_id": "mem-1", "project": "shop"}],
    "observations": [{"memory_session_id": "mem-1", "project": "shop", "type": "bugfix", "title": "Fixed the cart",
                      "narrative": "The cart rounded each line.", "facts": '["Totals"]', "concepts": '["gotcha"]',
                      "created_at_epoch": 1772439400000}],
    "session_summaries": [{"memory_session_id": "mem-1", "project": "shop", "request": "Fix the cart",
                           "learned": "Round once", "created_at_epoch": 1772439500000}],
    "user_prompts": [{"content_session_id": "cc-1", "prompt_number": 1, "prompt_text": "The total is wrong",
                      "created_at_epoch": 1772439300000}],
    "journal_entries": [{"id": "j_1", "workspace_id": "w", "crew_id": "ops", "agent_id": "vera", "ts": _AT,
                         "entry_type": "peer.escalation", "severity": "warn", "priority": "pin", "actor_type": "agent",
                         "actor_id": "vera", "summary": "Checkout is down", "payload": '{"state": 1}', "refs": "{}"}],
    "journal_entries_archived": [{"id": "j_0", "workspace_id": "w", "ts": _AT, "entry_type": "run.failed",
                                  "severity": "error", "summary": "Run 1 failed", "payload": '{"log": "abc',
                                  "archived_at": _AT}],
    "working_memory": [_NOTE, {**_NOTE, "id": "w2", "valid_until": "2027-01-01", "superseded_by": None}],
    "episodic_memory": [{**_NOTE, "id": "e1", "summary_of": "w1,w2", "superseded_by": None}],
}  # fmt: skip
_GROUPS: Final = (
    *(("history",), ("memories",), ("sdk_sessions", "observations", "session_summaries", "user_prompts")),
    *(("journal_entries", "journal_entries_archived"), ("working_memory", "episodic_memory")),
)
_ENGRAM: Final[dict[str, object]] = {
    "episodic.json": {
        "ids": ["m1"],
        "documents": ["Ana takes the aisle seat"],
        "metadatas": [{"memory_type": "preference", "priority": 8, "confidence": 0.75, "timestamp": _AT,
                       "tags": '["travel"]', "entities": '["Ana"]', "expires_at": "2027-01-01T00:00:00+00:00"}],
    },
    "semantic.json": {"nodes": [{"name": "Ana"}], "edges": []},
}  # fmt: skip
_MNEMOSYNE: Final = {"mnemosyne_export": {"version": "1"}, "working_memory": [_NOTE], "episodic": [_NOTE]}
_PLASTMEM: Final = {
    "episodic": [{"id": "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f", "conversation_id": "c1", "title": "Seats",
                  "messages": [{"role": "user", "content": "I take the aisle seat", "timestamp": _AT}],
                  "summary": "The user takes aisle seats.", "stability": 2.5, "difficulty": 2.1, "surprise": 0.9,
                  "start_at": _AT, "end_at": _AT}],
    "semantic": [{"id": "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e60", "conversation_id": "c1", "category": "preference",
                  "fact": "The user takes aisle seats", "keywords": ["seat"], "valid_at": _AT, "invalid_at": None}],
}  # fmt: skip
_LEARNING: Final = b"""---
id: 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f
type: procedural
domain: team
importance: 0.7
reinforcement_count: 3
last_reinforced: '2026-03-01'
status: active
tags: [deploys, friday]
created_at: 2026-03-01T09:00:00Z
valid_until: 2027-01-01
merged_from: []
---
Never deploy on Fridays.

\\---
note: not a header
"""
_SEEDS: Final[dict[Format, list[bytes]]] = {
    Format.JSONL: [_file("ingest/events.jsonl"), _file("ingest/turns.jsonl")],
    Format.CHATGPT: [_file("ingest/chatgpt.json")],
    Format.CLAUDE: [_file("ingest/claude.json")],
    Format.CLAUDE_CODE: [_file("ingest/claude-code.jsonl")],
    Format.MARKDOWN: [_file("ingest/chat.md")],
    Format.LEARNINGS: [_LEARNING],
    Format.MEM0: [_file("systems/mem0.json")],
    Format.MCP_MEMORY_SERVICE: [_file("systems/mcp-memory-service.json")],
    Format.BASIC_MEMORY: [_file("systems/basic-memory/coffee.md"), _file("systems/basic-memory/broken.md")],
    Format.ZEP: [_file("systems/zep.json")],
    Format.LETTA: [_file("systems/letta.af")],
    Format.LANGMEM: [_file("systems/langmem.jsonl")],
    Format.ENGRAM: [json.dumps([{"id": "m1", "content": "x", "memory_type": "fact", "priority": 5}]).encode()],
    Format.MNEMOSYNE: [json.dumps(_MNEMOSYNE).encode()],
    Format.PLASTMEM: [json.dumps(_PLASTMEM).encode()],
}
_WORDS: Final = (
    *("mapping", "chat_messages", "message", "parent", "current_node", "author", "role", "content", "parts", "text"),
    *("content_type", "create_time", "created_at", "uuid", "parent_message_uuid", "sender", "human", "attachments"),
    *("sessionId", "timestamp", "type", "tool_use", "tool_result", "thinking", "image", "key", "payload", "refs"),
    *("results", "memories", "agents", "items", "edges", "facts", "episodes", "metadata", "tags", "id", "memory"),
    *("2026-03-02T09:00:00Z", "0001-01-01T00:00+23:59", "\n", "Ana: hi", "**Ben**: x", "### Ana", "## 2026-03-02"),
    *(
        "```",
        "[09:14] Ana: x",
        "---\n",
        "id: ",
        "type: ",
        "tags: [",
        "&a ",
        "*a",
        "!!python/object",
        "<<: ",
        "? ",
        "- [x] ",
    ),
    *(
        "(tag)",
        "#tag",
        "relates_to [[x]]",
        "2001-02-30",
        "12:30:45",
        "!!timestamp 2001-13-45",
        "!!int 0x",
        "~",
        "|\n",
        "{",
        "}",
    ),
    *("title: ", "permalink: ", "valid_from: ", "1e999", ".inf", ".nan", "0o17", "=", "!!binary x", "[[[[[[[[", "\t"),
)


def _target(
    name: str,
    seeds: list[bytes],
    *,
    source: Format | None = None,
    write: Callable[[Path, bytes], object] = _bytes,
    suffix: str = "",
    cases: int = 4_000,
) -> Target:
    return Target(f"ingest-{name}", partial(_of_files, write, source, suffix), seeds, _WORDS, cases, 25)


def _targets() -> Iterator[Target]:
    for source, seeds in _SEEDS.items():
        suffix = {Format.MARKDOWN: ".md", Format.LEARNINGS: ".md", Format.BASIC_MEMORY: ".md"}.get(source, "")
        yield _target(source.value, seeds, source=source, suffix=suffix)
    yield _target("zip", _SEEDS[Format.CHATGPT] + _SEEDS[Format.CLAUDE], write=_zip)
    zips = [
        _zipped(content, method)
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        for content in (b"[]", *_SEEDS[Format.CLAUDE])
    ]
    yield _target("zip-bytes", zips, source=Format.CLAUDE)
    yield _target("tar", [json.dumps(_ENGRAM).encode()], write=_tar)
    yield _target("tar-bytes", [_archived(_ENGRAM)], source=Format.ENGRAM)
    databases = [json.dumps({name: _ROWS[name] for name in names}).encode() for names in _GROUPS]
    yield _target("database", databases, write=_database)
    files = [_file_of(name, _ROWS[name][0]) for name in ("history", "memories", "observations", "working_memory")]
    yield _target("database-bytes", files)


TARGETS: Final = tuple(_targets())
