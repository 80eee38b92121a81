"""MCP over stdin and stdout, as a client starts it: the program, with the SDK's own client at it."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from importlib import util
from pathlib import Path
from typing import Any

import pytest
from driver import Cli
from forked_program import ForkedProgram
from mcp_clients import PATIENCE, over_stdio, recall_feedback_and_health, started

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "by hand", "version": "1"},
    },
}


def remembering(number: int) -> dict[str, object]:
    arguments = {"name": "remember", "arguments": {"text": f"fact {number}"}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": arguments}


def say(running: ForkedProgram, message: object) -> None:
    running.stdin.write(json.dumps(message) + "\n")
    running.stdin.flush()


def hear(running: ForkedProgram) -> dict[str, object]:
    return json.loads(running.stdout.readline())


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_a_remembered_text_is_recalled_and_rated(mode: str) -> None:
    async def talk() -> None:
        async with over_stdio(mode=mode) as call:
            await recall_feedback_and_health(call)

    asyncio.run(talk())


@pytest.mark.usefixtures("folder")
def test_two_clients_share_a_file_and_may_write_at_once() -> None:
    async def talk() -> None:
        async with over_stdio() as first, over_stdio() as second:
            both = (first, second)
            await asyncio.gather(
                *(one.done("observe", text=f"turn {n}", key=f"{n} {id(one)}") for n in range(20) for one in both),
                *(one.done("recall", query="which turn?") for _ in range(5) for one in both),
            )
            kept = await first.done("remember", text="The retro is on Thursday")
            assert kept.shape["id"][-8:] in (await second.done("recall", query="when is the retro?")).text
            assert (await second.done("memory_health")).shape["stats"]["events"] == 40

    asyncio.run(talk())


@pytest.mark.usefixtures("folder")
def test_the_options_choose_the_scope_of_the_memory(cli: Cli) -> None:
    async def talk() -> None:
        async with over_stdio("--workspace", "acme", "--agent", "coder", "--session", "monday") as call:
            await call.done("remember", text="Told in acme")
            assert (await call.done("observe", text="Said on Monday")).shape["session"] == "monday"
            assert "Said on Monday" in await call.read("journal://monday")
            assert (await call("remember", text="x", workspace="other")).failed

    asyncio.run(talk())
    assert cli.done("recent", "--json").json["memories"] == []
    found = cli.done("recent", "--json", "--workspace", "acme").json["memories"]
    assert {memory["scope"]["agent"] for memory in found} == {"coder"}


def test_it_ends_when_the_client_disconnects_and_stdout_has_only_protocol_messages(folder: Path) -> None:
    with started() as running:
        say(running, HELLO)
        assert hear(running)["id"] == 1
        out, err = running.communicate(timeout=PATIENCE)
    assert (running.returncode, out) == (0, "")
    assert err == "WARNING remembrancer: sparse-only: no embedder: lexical recall only, as asked for\n"
    assert (folder / "remembrancer.db").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_acknowledged_writes_are_kept(cli: Cli, number: signal.Signals) -> None:
    with started() as running:
        say(running, HELLO)
        hear(running)
        say(running, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        for request in range(2, 12):
            say(running, remembering(request))
        acknowledged = {hear(running)["id"] for _ in range(10)}
        running.send_signal(number)
        assert running.wait(PATIENCE) == 0
    assert acknowledged == set(range(2, 12))
    texts = {memory["text"] for memory in cli.done("recent", "--json", "--limit", "20").json["memories"]}
    assert texts == {f"fact {request}" for request in acknowledged}


@pytest.mark.usefixtures("folder")
def test_every_line_is_answered_also_one_that_is_no_message() -> None:
    with started() as running:
        running.stdin.write("no JSON\n\x00\x1b[31m\n[]\n\n")
        running.stdin.write('{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "\\ud800"}}\n')
        say(running, HELLO)
        answers = [hear(running) for _ in range(5)]
    errors: list[Any] = [(one["id"], one["error"]) for one in answers[:4]]
    assert [(request, error["code"]) for request, error in errors] == [
        (None, -32700),
        (None, -32700),
        (None, -32600),
        (7, -32600),
    ]
    assert (answers[4]["id"], "result" in answers[4]) == (1, True)


@pytest.mark.usefixtures("folder")
def test_a_client_that_stops_reading_is_no_error() -> None:
    with started() as running:
        running.stdout.close()
        say(running, HELLO)
        assert running.wait(PATIENCE) == 0


@pytest.mark.usefixtures("folder")
def test_with_the_option_work_the_jobs_run_in_the_same_process() -> None:
    async def talk() -> None:
        async with over_stdio("--work") as call:
            await call.done("observe", text="The deploy failed")
            deadline = time.monotonic() + PATIENCE
            while (await call.done("memory_health")).shape["latest"] is None:
                assert time.monotonic() < deadline

    asyncio.run(talk())


@pytest.mark.usefixtures("folder")
def test_without_work_no_job_runs() -> None:
    async def talk() -> None:
        async with over_stdio() as call:
            await call.done("observe", text="The deploy failed")
            assert (await call.done("memory_health")).shape["latest"] is None

    asyncio.run(talk())


@pytest.mark.usefixtures("folder")
def test_a_remembered_text_is_soon_found_by_its_meaning() -> None:
    async def talk() -> None:
        async with over_stdio("--embedder", "local") as call:
            await call.done("remember", text="The payment worker was killed: it ran out of memory")
            deadline = time.monotonic() + PATIENCE
            while not (await call.done("memory_health")).shape["stats"]["vectors"]:
                assert time.monotonic() < deadline
            found = await call.done("recall", query="why did billing crash?")
            assert len(found.shape["hits"]) == 1
            assert found.shape["degraded"] == {}

    asyncio.run(talk())


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--preset", "nonsense"), 2, "nonsense"),
        (("--json",), 2, "--json"),
        (("--port", "9000"), 2, "--http"),
        (("--db", "no/such/folder/x.db"), 3, "no/such/folder"),
    ],
)
def test_an_invalid_start_prints_one_line_and_returns_an_exit_code(
    cli: Cli, arguments: tuple[str, ...], code: int, said: str
) -> None:
    ran = cli("mcp", *arguments)
    assert (ran.code, ran.out) == (code, "")
    [line] = ran.err.splitlines()
    assert line.startswith("error: ")
    assert said in line


def test_without_the_package_it_names_the_extra_to_install(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def without_mcp(name: str) -> object:
        return None if name == "mcp" else util.find_spec(name)

    monkeypatch.setattr("remembrancer.interfaces.cli.serve.find_spec", without_mcp)
    ran = cli("mcp")
    assert (ran.code, ran.err) == (3, "error: serving MCP needs mcp: pip install 'remembrancer[mcp]'\n")
