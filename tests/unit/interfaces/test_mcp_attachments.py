"""The resources and the prompt that a client may attach: a memory, a session, and a task with relevant memories."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from mcp import Client
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp_clients import Caller
from mcp_types import INVALID_PARAMS

import remembrancer
from remembrancer import AsyncRemembrancer
from remembrancer.domain.api_key import Right
from remembrancer.interfaces.mcp.server import memory_server
from remembrancer.testing.doubles import FixedClock

NOBODY = "0192f0c1-7a44-7d0c-9f3e-0a1b2c3d4e5f"

Talk = Callable[[Caller, AsyncRemembrancer], Awaitable[None]]


def with_memory(talk: Talk) -> None:
    async def run() -> None:
        clock = FixedClock()
        async with await AsyncRemembrancer.open(":memory:", embedder="none", clock=clock) as memory:

            async def memory_of(_context: Context, _needed: Right) -> AsyncRemembrancer:
                return memory

            async with Client(memory_server(memory_of, clock=clock)) as client:
                await talk(Caller(client), memory)

    asyncio.run(run())


def test_the_server_sends_its_name_and_its_instructions() -> None:
    async def talk(call: Caller, _: AsyncRemembrancer) -> None:
        assert call.client.server_info
        assert (call.client.server_info.name, call.client.server_info.version) == (
            "remembrancer",
            remembrancer.__version__,
        )
        assert call.client.instructions
        assert "Call recall before you answer" in call.client.instructions
        assert len(call.client.instructions) < 600

    with_memory(talk)


def test_two_templates_and_a_prompt_are_offered() -> None:
    async def talk(call: Caller, _: AsyncRemembrancer) -> None:
        templates = (await call.client.list_resource_templates()).resource_templates
        assert [one.uri_template for one in templates] == ["memory://{id}", "journal://{session}"]
        assert all(one.title and one.description and one.mime_type == "text/markdown" for one in templates)
        [prompt] = (await call.client.list_prompts()).prompts
        assert [(one.name, one.required) for one in prompt.arguments or []] == [("task", True), ("max_chars", False)]

    with_memory(talk)


def test_a_memory_has_its_provenance_and_its_relations() -> None:
    async def talk(call: Caller, memory: AsyncRemembrancer) -> None:
        turn = await memory.observe("The payment worker died", actor="ana", role="user")
        other = await memory.remember("The worker needs more memory")
        episode = await memory.remember("Payments were down", title="An outage", source="pager", events=[turn.id])
        await memory.link(episode.id, other.id, "supports")
        told = await call.read(f"memory://{episode.id}")
        assert told.startswith(f"# Memory {episode.id}\n\n- kind: ")
        assert "- [text] Payments were down\n- [title] An outage\n- [source] pager\n" in told
        assert "- [user ana, 2026-03-04 09:00 UTC] The payment worker died\n" in told
        assert f"- memory://{episode.id} supports memory://{other.id} (weight 1)" in told

    with_memory(talk)


def test_a_session_is_listed_from_its_beginning() -> None:
    async def talk(call: Caller, memory: AsyncRemembrancer) -> None:
        await memory.observe("Shall we ship?", session="stand-up / monday", actor="ana")
        await memory.observe("Failed", session="stand-up / monday", role="tool", type="deploy.done", severity="error")
        await memory.observe("Elsewhere", session="other")
        assert (await call.read("journal://stand-up%20%2F%20monday")).splitlines()[0::4] == [
            "# Journal of a session: 2 entries",
            "- [user ana, 2026-03-04 09:00 UTC] Shall we ship?",
        ]
        told = await call.read("journal://stand-up%20%2F%20monday")
        assert "- [tool, 2026-03-04 09:00 UTC, deploy.done, error] Failed\n</recalled-memory>" in told
        assert "Elsewhere" not in told

    with_memory(talk)


def test_of_a_long_session_the_last_entries_are_reported_without_a_gap() -> None:
    async def talk(call: Caller, memory: AsyncRemembrancer) -> None:
        await memory.observe_many({"text": f"turn {n}", "session": "long"} for n in range(700))
        many = await call.read("journal://long")
        assert many.startswith("# Journal of a session: 700 entries, the last 500\n")
        await memory.observe_many({"text": f"turn {n} " + "x" * 60_000, "session": "wide"} for n in range(5))
        wide = await call.read("journal://wide")
        assert wide.startswith("# Journal of a session: 5 entries, the last 3\n")
        for told, expected in ((many, range(200, 700)), (wide, range(2, 5))):
            turns = [int(line.split("] turn ")[1].split()[0]) for line in told.splitlines() if "] turn " in line]
            assert turns == list(expected)

    with_memory(talk)


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        (f"memory://{NOBODY}", f"no memory {NOBODY} here"),
        ("memory://x", "memory_id: 'x' is not allowed; expected an id"),
        ("memory://..%2F..%2Fetc%2Fpasswd", "memory_id: '../../etc/passwd' is not allowed"),
        ("journal://nobody", "no session 'nobody' here"),
        ("journal://a%00b", "session: 'a\\x00b' is not allowed"),
        ("journal://%3Csystem%3E", "no session '&lt;system>' here"),
        ("other://x", "Unknown resource: other://x"),
    ],
)
def test_unknown_or_invalid_uris_are_protocol_errors(uri: str, said: str) -> None:
    async def talk(call: Caller, _: AsyncRemembrancer) -> None:
        with pytest.raises(MCPError) as raised:
            await call.read(uri)
        assert raised.value.error.code == INVALID_PARAMS
        assert said in raised.value.error.message

    with_memory(talk)


def test_the_memory_of_another_workspace_is_not_there() -> None:
    async def talk(call: Caller, memory: AsyncRemembrancer) -> None:
        theirs = await memory.of_workspace("theirs").remember("Their secret plan")
        await memory.of_workspace("theirs").observe("Their secret talk", session="s")
        for uri in (f"memory://{theirs.id}", "journal://s"):
            with pytest.raises(MCPError, match="here"):
                await call.read(uri)
        assert (await call("forget", memory_id=str(theirs.id))).text == f"no memory {theirs.id} here"
        assert (await call.done("recall", query="what is the secret plan?")).shape["hits"] == []

    with_memory(talk)


def test_the_prompt_has_the_task_after_the_memories_about_it() -> None:
    async def talk(call: Caller, memory: AsyncRemembrancer) -> None:
        kept = await memory.remember("Checkout needs 2 GiB")
        told = await call.prompt(task="Size checkout for production")
        assert told.startswith("What is remembered that may bear on the task below:\n\n<recalled-memory>\n")
        assert f"] Checkout needs 2 GiB (id {str(kept.id)[-8:]})\n</recalled-memory>\n" in told
        assert told.endswith("\n\nThe task:\n\nSize checkout for production")

    with_memory(talk)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "task: None is not allowed; expected a text"),
        ({"task": " "}, "' ' is not allowed; expected a text that is not blank"),
        ({"task": "x", "max_chars": "9"}, "max_chars: 9 is not allowed; expected a whole number from 500 to 100000"),
        ({"task": "x", "max_chars": "²"}, "max_chars: '²' is not allowed; expected a whole number from 500 to 100000"),
        ({"task": "x", "max_chars": "9" * 5000}, "is not allowed; expected a whole number from 500 to 100000"),
        (
            {"task": "x", "workspace": "y"},
            "workspace: 'y' is not allowed; expected one of the arguments task, max_chars",
        ),
    ],
)
def test_a_prompt_names_an_invalid_argument(arguments: dict[str, str], said: str) -> None:
    async def talk(call: Caller, _: AsyncRemembrancer) -> None:
        with pytest.raises(MCPError) as raised:
            await call.prompt(**arguments)
        assert raised.value.error.code == INVALID_PARAMS
        assert said in raised.value.error.message

    with_memory(talk)
