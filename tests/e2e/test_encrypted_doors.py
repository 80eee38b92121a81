"""An encrypted store behind the server, MCP and the worker, with the key given as the documentation says; and what each
says without the key, or with another.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import httpx
import pytest
from driver import Cli
from forked_program import ForkedProgram
from mcp_clients import over_stdio
from server_process import serving

KEY, OTHER = "00112233445566778899aabbccddeeff" * 2, "ffeeddccbbaa99887766554433221100" * 2
PATIENCE: Final = 60
UNAVAILABLE, WRONG_SETTING = 3, 2
"""Exit codes."""
WRONG: Final[dict[str, tuple[dict[str, str], int, str]]] = {
    "no key": ({}, UNAVAILABLE, "is encrypted, and no key is set"),
    "another key": ({"REMEMBRANCER_ENCRYPTION_KEY": OTHER}, UNAVAILABLE, "the key"),
    "a file that is not there": ({"REMEMBRANCER_ENCRYPTION_KEY_FILE": "nothing.key"}, WRONG_SETTING, "nothing.key"),
}


@pytest.fixture
def store(cli: Cli, folder: Path) -> Path:
    """An encrypted store with one memory."""
    for name, key in (("memory.key", KEY), ("other.key", OTHER)):
        (folder / name).write_text(f"{key}\n", encoding="ascii")
    cli.done("remember", "the canary sang", "--encryption-key-file", "memory.key")
    path = folder / "remembrancer.db"
    assert not path.read_bytes().startswith(b"SQLite format 3")
    return path


def environment(more: Mapping[str, str]) -> dict[str, str]:
    return {**os.environ, **more}


def test_the_server_answers_from_an_encrypted_store(store: Path) -> None:
    with serving(store, "--encryption-key-file", "memory.key") as server, httpx.Client(base_url=server.url) as http:
        kept = http.post("v1/memories", json={"text": "the wren slept"})
        found = [http.post("v1/recall", json={"query": query}).json()["hits"] for query in ("canary", "wren")]
    assert kept.status_code == 201
    assert [hits[0]["memory"]["text"] for hits in found] == ["the canary sang", "the wren slept"]
    assert b"wren" not in b"".join(path.read_bytes() for path in store.parent.glob(f"{store.name}*"))


def test_mcp_answers_from_an_encrypted_store(store: Path) -> None:
    async def talk() -> str:
        async with over_stdio("--db", str(store), "--encryption-key-command", "cat memory.key") as call:
            await call.done("remember", text="the wren slept")
            return (await call.done("recall", query="what did the canary do?")).text

    assert "the canary sang" in asyncio.run(talk())


def test_a_worker_runs_its_jobs_over_an_encrypted_store(store: Path) -> None:
    variables = {"REMEMBRANCER_ENCRYPTION_KEY": KEY}
    with ForkedProgram("worker", "--db", str(store), env=environment(variables)) as running:
        try:
            assert running.stdout.readline().startswith("index: ")
        finally:
            running.kill()


def refused(command: str, db: str, variables: Mapping[str, str]) -> tuple[int, str]:
    """The exit code, and the only line on stderr; nothing is on stdout, and no key in the line."""
    with ForkedProgram(command, "--db", db, env=environment(variables)) as running:
        running.stdin.close()
        out, err = running.communicate(timeout=PATIENCE)
        code = running.wait()
    [line] = err.splitlines()
    assert (out, line.startswith("error: "), KEY in line, OTHER in line) == ("", True, False, False)
    return code, line


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("command", ["serve", "mcp", "worker"])
def test_without_the_right_key_it_ends_with_one_line_that_says_so(
    store: Path, command: str, wrong: tuple[dict[str, str], int, str]
) -> None:
    variables, expected, said = wrong
    before = store.read_bytes()
    code, line = refused(command, str(store), variables)
    assert (code, said in line) == (expected, True)
    assert store.read_bytes() == before


@pytest.mark.parametrize("command", ["serve", "mcp", "worker"])
def test_a_key_for_a_store_on_postgresql_is_refused_before_it_connects(folder: Path, command: str) -> None:
    code, line = refused(command, "postgresql://127.0.0.1:1/nothing", {"REMEMBRANCER_ENCRYPTION_KEY": KEY})
    assert (code, "expected no key for a database at an address" in line) == (WRONG_SETTING, True), line
