"""A recalled block that comes back in a message is not learned again, through whatever door the message comes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest
from doors import Asked, Call, Service, staged
from driver import Cli

from remembrancer import Remembrancer
from remembrancer.domain.recalled import UNTRUSTED

FIXTURES: Final = Path(__file__).parents[1] / "fixtures"
SHIP: Final = "zeppelin"
BLOCK: Final = (
    f"<recalled-memory>\n{UNTRUSTED}\n"
    f"- [ana, Wednesday 4 March 2026, 3 hours ago] The {SHIP} is moored at the west tower\n"
    f"- [ben, Tuesday 3 March 2026, 1 day ago] The {SHIP} needs new ropes\n</recalled-memory>"
)
SAID: Final = "The printer is in the hall."
TEXT: Final = f"{BLOCK}\n\n{SAID}"


def remembered(path: Path, workspace: str = "default") -> list[str]:
    with Remembrancer.open(str(path), workspace=workspace, embedder="none") as rem:
        return [memory.text for memory in rem.memories(limit=500, state="any").memories]


def learned(texts: list[str]) -> tuple[bool, bool]:
    """Whether the memories have what was said beside the block, and whether they have the block."""
    return any(SAID in text for text in texts), any(SHIP in text for text in texts)


# ── HTTP and MCP ─────────────────────────────────────────────────────────────────────────────────────────────────────

TALK: Final = {"conversation_id": "0192f0c1-7a44-7d0c-9f3e-0a1b2c3d4e5f"}
MESSAGE: Final = {"role": "user", "content": TEXT, "timestamp": 1_772_532_000_000}
SERVED: Final[dict[str, Asked | Call]] = {
    "http events": Asked("POST", "/v1/events", body={"events": [{"text": TEXT}, {"text": TEXT, "role": "tool"}]}),
    "http memory": Asked("POST", "/v1/memories", body={"text": TEXT}),
    "http memories": Asked("POST", "/v1/memories/batch", body={"memories": [{"text": TEXT}]}),
    "plastmem message": Asked("POST", "/api/v0/add_message", body={**TALK, "message": MESSAGE}),
    "plastmem import": Asked("POST", "/api/v0/import_batch_messages", body={**TALK, "messages": [MESSAGE]}),
    "mcp observe": Call("observe", {"text": TEXT}),
    "mcp remember": Call("remember", {"text": TEXT}),
}


@pytest.mark.parametrize("door", SERVED.values(), ids=SERVED)
def test_a_block_that_comes_over_http_or_mcp_is_not_learned(folder: Path, door: Asked | Call) -> None:
    with staged(folder) as stage, Service(folder / "memory.db", stage) as service:
        if isinstance(door, Asked):
            assert service.http(door).status_code < 300
        else:
            assert not service.mcp(door).failed
        found = service.http(Asked("GET", "/v1/memories", query={"state": "any"})).json()["memories"]
    assert learned([memory["text"] for memory in found]) == (True, False)


# ── the command line ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("verb", ["observe", "remember"])
@pytest.mark.parametrize("by_stdin", [False, True])
def test_a_block_given_to_a_command_is_not_learned(cli: Cli, folder: Path, verb: str, by_stdin: bool) -> None:
    if by_stdin:
        cli.done(verb, "--stdin", stdin=json.dumps({"text": TEXT}).encode())
    else:
        cli.done(verb, TEXT)
    assert learned(remembered(folder / "remembrancer.db")) == (True, False)


# ── importers ────────────────────────────────────────────────────────────────────────────────────────────────────────

QUOTED: Final = json.dumps(TEXT)[1:-1]
FILES: Final[dict[str, tuple[str, str]]] = {
    "events.jsonl": ("ingest", "The deploy key expires in May."),
    "turns.jsonl": ("ingest", "Shall we ship on Friday?"),
    "chatgpt.json": ("ingest", "Which tram is this?"),
    "claude.json": ("ingest", "When can I leave?"),
    "claude-code.jsonl": ("ingest", "Why do the tests fail?"),
    "chat.md": ("ingest", "Repaired."),
    "mem0.json": ("systems", "Is vegetarian and allergic to nuts"),
    "mcp-memory-service.json": ("systems", "The API runs on port 8080"),
    "zep.json": ("systems", "I started at Northwind this week."),
    "langmem.jsonl": ("systems", "Prefers dark mode"),
}
"""Files of each format, and a text in each that the block takes the place of."""


@pytest.mark.parametrize("name", FILES)
def test_a_block_in_an_imported_file_is_not_learned(cli: Cli, folder: Path, name: str) -> None:
    where, text = FILES[name]
    written = (FIXTURES / where / name).read_text(encoding="utf-8")
    assert text in written
    (folder / name).write_text(written.replace(text, TEXT if name.endswith(".md") else QUOTED), encoding="utf-8")
    cli("ingest", name, "--no-index")
    assert learned(remembered(folder / "remembrancer.db")) == (True, False)


def test_a_block_in_a_learning_is_not_learned(cli: Cli, folder: Path) -> None:
    (folder / "MEMORY.md").write_text(f"---\nid: 6f1d2c0e-6f0e-4d0b-9a55-0a4b5b2f6b11\n---\n{TEXT}\n", encoding="utf-8")
    cli.done("ingest", "MEMORY.md", "--format", "learnings", "--no-index")
    assert learned(remembered(folder / "remembrancer.db")) == (True, False)


def test_a_block_in_a_note_of_a_vault_is_not_learned(cli: Cli, folder: Path) -> None:
    (folder / "notes").mkdir()
    (folder / "notes" / "one.md").write_text(f"# Hall\n\n{TEXT}\n", encoding="utf-8")
    cli.done("vault", "sync", "notes")
    assert learned(remembered(folder / "remembrancer.db")) == (True, False)
