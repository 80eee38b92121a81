"""Anthropic's memory tool, called as the SDK calls it, on a real file. Where it should answer as the SDK's own tool on
the file system, both are called.
"""

from __future__ import annotations

import asyncio
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaLocalFilesystemMemoryTool

from remembrancer import Memory, Remembrancer
from remembrancer.integrations.anthropic import FILE, AsyncRemembrancerMemoryTool, RemembrancerMemoryTool

EXAMPLE = Path(__file__).parents[2] / "examples" / "anthropic_memory_tool.py"
NOTES = "/memories/notes.md"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Remembrancer]:
    with Remembrancer.open(str(tmp_path / "memory.db"), embedder="none") as memory:
        yield memory


@pytest.fixture
def tool(memory: Remembrancer) -> RemembrancerMemoryTool:
    return RemembrancerMemoryTool(memory)


def call(tool: Any, command: str, **arguments: object) -> str:
    """What the model reads: the answer, or the message of the error."""
    try:
        return tool.call({"command": command, **arguments})
    except ToolError as error:
        return f"error: {error}"


def create(tool: Any, path: str = NOTES, text: str = "one\ntwo\nthree\n") -> str:
    return call(tool, "create", path=path, file_text=text)


def shown(tool: Any, path: str = NOTES) -> list[str]:
    return call(tool, "view", path=path).splitlines()[1:]


SESSION: list[dict[str, Any]] = [
    {"command": "create", "path": NOTES, "file_text": "one\ntwo\nthree\nfour\nfive\n"},
    {"command": "create", "path": NOTES, "file_text": "again"},
    {"command": "view", "path": NOTES},
    {"command": "view", "path": NOTES, "view_range": [2, 3]},
    {"command": "view", "path": NOTES, "view_range": [4, -1]},
    {"command": "view", "path": NOTES, "view_range": [0, 99]},
    {"command": "view", "path": NOTES, "view_range": [5, 2]},
    {"command": "view", "path": "/memories/none.md"},
    {"command": "str_replace", "path": NOTES, "old_str": "four", "new_str": "4\n4b"},
    {"command": "view", "path": NOTES},
    {"command": "str_replace", "path": NOTES, "old_str": "none", "new_str": "x"},
    {"command": "str_replace", "path": NOTES, "old_str": "e\n", "new_str": "x"},
    {"command": "str_replace", "path": "/memories/none.md", "old_str": "a", "new_str": "b"},
    {"command": "str_replace", "path": "/memories", "old_str": "a", "new_str": "b"},
    {"command": "insert", "path": NOTES, "insert_line": 0, "insert_text": "zero\n"},
    {"command": "insert", "path": NOTES, "insert_line": 7, "insert_text": "last\n\n"},
    {"command": "insert", "path": NOTES, "insert_line": 99, "insert_text": "x"},
    {"command": "insert", "path": NOTES, "insert_line": -1, "insert_text": "x"},
    {"command": "insert", "path": "/memories/none.md", "insert_line": 0, "insert_text": "x"},
    {"command": "view", "path": NOTES},
    {"command": "create", "path": "/memories/empty.md", "file_text": ""},
    {"command": "view", "path": "/memories/empty.md"},
    {"command": "insert", "path": "/memories/empty.md", "insert_line": 0, "insert_text": "no longer\nempty"},
    {"command": "view", "path": "/memories/empty.md"},
    {"command": "create", "path": "/memories/bare.md", "file_text": "no newline\r\nat the end"},
    {"command": "insert", "path": "/memories/bare.md", "insert_line": 2, "insert_text": "more"},
    {"command": "view", "path": "/memories/bare.md"},
    {"command": "rename", "old_path": NOTES, "new_path": "/memories/bare.md"},
    {"command": "rename", "old_path": "/memories/none.md", "new_path": "/memories/some.md"},
    {"command": "rename", "old_path": "/memories", "new_path": "/memories/some.md"},
    {"command": "rename", "old_path": NOTES, "new_path": "/memories/kept/notes.md"},
    {"command": "view", "path": NOTES},
    {"command": "view", "path": "/memories/kept/notes.md"},
    {"command": "rename", "old_path": "/memories/kept", "new_path": "/memories/moved/deep"},
    {"command": "view", "path": "/memories/moved/deep/notes.md"},
    {"command": "delete", "path": "/memories/none.md"},
    {"command": "delete", "path": "/memories"},
    {"command": "delete", "path": "/memories/moved"},
    {"command": "view", "path": "/memories/moved"},
    {"command": "view", "path": "/elsewhere"},
    {"command": "view", "path": "/memories/../elsewhere"},
]


def test_a_session_has_the_answers_and_the_errors_of_the_sdks_own_tool(
    tool: RemembrancerMemoryTool, tmp_path: Path
) -> None:
    files = BetaLocalFilesystemMemoryTool(str(tmp_path))
    for command in SESSION:
        assert call(tool, **command) == call(files, **command), command


def test_the_tool_tells_the_api_what_it_is(memory: Remembrancer) -> None:
    tool = RemembrancerMemoryTool(memory, cache_control={"type": "ephemeral"})
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory", "cache_control": {"type": "ephemeral"}}


def test_a_directory_is_listed_two_levels_deep_without_hidden_files(tool: RemembrancerMemoryTool) -> None:
    for path in ("b.md", "a/one.md", "a/deep/two.md", "a/deep/er/three.md", ".hidden", "a-b.md"):
        create(tool, f"/memories/{path}", "x" * 1024)
    assert shown(tool, "/memories/") == [
        "5K\t/memories",
        "3K\t/memories/a/",
        "2K\t/memories/a/deep/",
        "1K\t/memories/a/one.md",
        "1K\t/memories/a-b.md",
        "1K\t/memories/b.md",
    ]
    assert shown(tool, "/memories/a/deep")[2] == "1K\t/memories/a/deep/er/three.md"


def test_the_empty_memory_is_a_directory(tool: RemembrancerMemoryTool) -> None:
    assert shown(tool, "/memories") == ["0B\t/memories"]


def test_a_file_is_found_by_recall(tool: RemembrancerMemoryTool, memory: Remembrancer) -> None:
    create(tool, "/memories/deploys.md", "Checkout needs 2 GiB in production")
    (hit,) = memory.recall("How much does checkout need in production?")
    assert (hit.memory.text, hit.memory.topic_key) == ("Checkout needs 2 GiB in production", "/memories/deploys.md")


def test_every_edit_is_a_revision_of_the_file(tool: RemembrancerMemoryTool, memory: Remembrancer) -> None:
    create(tool)
    call(tool, "str_replace", path=NOTES, old_str="two", new_str="2")
    call(tool, "insert", path=NOTES, insert_line=0, insert_text="zero")
    assert memory.get(topic_key=NOTES).revision == 3


def test_a_deleted_file_can_be_created_again_or_restored(tool: RemembrancerMemoryTool, memory: Remembrancer) -> None:
    create(tool)
    deleted = memory.get(topic_key=NOTES)
    call(tool, "delete", path=NOTES)
    assert memory.recall("three").hits == ()
    memory.restore(deleted.id)
    assert shown(tool)[2] == "     3\tthree"
    call(tool, "delete", path=NOTES)
    assert create(tool, text="new").startswith("File created")
    assert shown(tool) == ["     1\tnew"]


def test_clearing_retires_all_files_and_nothing_else(tool: RemembrancerMemoryTool, memory: Remembrancer) -> None:
    create(tool)
    create(tool, "/memories/a/b.md")
    memory.remember("Checkout needs 2 GiB")
    assert tool.clear_all_memory() == "All memory cleared"
    assert [one.text for one in memory.memories().memories] == ["Checkout needs 2 GiB"]


def test_a_file_is_no_directory(tool: RemembrancerMemoryTool) -> None:
    create(tool)
    create(tool, "/memories/a/b.md")
    assert create(tool, f"{NOTES}/under.md") == f"error: The path {NOTES} is not a directory."
    assert create(tool, "/memories/a") == "error: File /memories/a already exists"
    said = call(tool, "rename", old_path="/memories/a", new_path="/memories/a/b")
    assert said == "error: Cannot rename /memories/a to /memories/a/b, which is inside it"


@pytest.mark.parametrize(
    "path",
    [
        "/memories/../etc/passwd",
        "/memories/a/../../x",
        "/memories/./x",
        "/memories/%2e%2e/x",
        "/memories/%252e%252e%252fx",
        "/memories/..%2fx",
        "/memories/a%2fb",
        "/memories/..\\x",
        "/memories/%5c..%5cx",
    ],
)
def test_a_path_that_leaves_the_root_is_refused(tool: RemembrancerMemoryTool, path: str) -> None:
    assert create(tool, path) == f"error: Path {path} would escape /memories directory"


@pytest.mark.parametrize("path", ["/etc/passwd", "memories/x", "/memoriesx", "", "/"])
def test_a_path_elsewhere_is_refused(tool: RemembrancerMemoryTool, path: str) -> None:
    assert create(tool, path) == f"error: Path must start with /memories, got: {path}"


def test_a_percent_sign_in_a_name_is_allowed(tool: RemembrancerMemoryTool) -> None:
    assert create(tool, "/memories/100%.md") == "File created successfully at: /memories/100%.md"


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("/memories/" + "x" * 200, "x", "1 to 200 characters"),
        ("/memories/a\nb", "x", "1 to 200 characters"),
        (NOTES, "x" * 65_537, "at most 65,536 bytes"),
        (NOTES, "a\0b", "without NUL characters"),
    ],
)
def test_what_exceeds_a_limit_is_refused_and_not_written(
    tool: RemembrancerMemoryTool, memory: Remembrancer, path: str, text: str, said: str
) -> None:
    assert said in create(tool, path, text)
    assert memory.memories().memories == ()


def test_a_directory_whose_files_would_have_too_long_paths_is_not_renamed(
    tool: RemembrancerMemoryTool, memory: Remembrancer
) -> None:
    create(tool, "/memories/a/b.md")
    create(tool, "/memories/a/" + "x" * 150)
    said = call(tool, "rename", old_path="/memories/a", new_path="/memories/" + "y" * 100)
    assert "1 to 200 characters" in said
    assert len(memory.memories(kinds=[FILE]).memories) == 2


def test_an_edit_of_a_file_that_changed_meanwhile_is_refused(
    tool: RemembrancerMemoryTool, memory: Remembrancer, monkeypatch: pytest.MonkeyPatch
) -> None:
    create(tool)
    before = memory.get(topic_key=NOTES)
    call(tool, "insert", path=NOTES, insert_line=0, insert_text="another writer's")

    def read_before(_: str) -> Memory:
        return before

    monkeypatch.setattr(tool, "_stored", read_before)
    assert "changed meanwhile" in call(tool, "str_replace", path=NOTES, old_str="two", new_str="2")


def test_another_agents_files_are_not_listed(tool: RemembrancerMemoryTool, memory: Remembrancer) -> None:
    create(RemembrancerMemoryTool(memory.scoped(agent="other")))
    assert shown(tool, "/memories") == ["0B\t/memories"]
    assert create(tool).startswith("File created")


def test_the_asynchronous_tool_does_the_same(memory: Remembrancer, tool: RemembrancerMemoryTool) -> None:
    awaited = AsyncRemembrancerMemoryTool(memory)

    async def every() -> list[Any]:
        commands: list[dict[str, object]] = [
            {"command": "create", "path": "/memories/a.md", "file_text": "one"},
            {"command": "str_replace", "path": "/memories/a.md", "old_str": "one", "new_str": "1"},
            {"command": "insert", "path": "/memories/a.md", "insert_line": 1, "insert_text": "2"},
            {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"},
            {"command": "view", "path": "/memories/b.md"},
            {"command": "delete", "path": "/memories/b.md"},
        ]
        return [*[await awaited.call(one) for one in commands], await awaited.clear_all_memory()]

    told = asyncio.run(every())
    assert told[4] == "Here's the content of /memories/b.md with line numbers:\n     1\t1\n     2\t2\n     3\t"
    assert told[5:] == ["Successfully deleted /memories/b.md", "All memory cleared"]


def test_the_example_recalls_what_the_model_wrote(tmp_path: Path) -> None:
    told = runpy.run_path(str(EXAMPLE))["main"](str(tmp_path / "anthropic.db"))
    assert told[-1] == "Checkout needs 2 GiB in production.\n"
