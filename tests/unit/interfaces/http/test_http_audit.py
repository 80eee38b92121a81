"""The audit trail says which key or job acted, through which door. Only administrators read it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from served import Served, asked
from test_http_mcp import called, running

from remembrancer import AsyncRemembrancer
from remembrancer.domain.api_key import Right
from remembrancer.domain.audit import AuditEntry
from remembrancer.interfaces.cli.main import run
from remembrancer.interfaces.http.access import Principal


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def entries(memory: AsyncRemembrancer, verb: str) -> Sequence[AuditEntry]:
    return (await memory.audit.list(verb=verb)).entries


def test_a_request_is_recorded_with_its_key_and_its_door() -> None:
    async def steps(served: Served) -> tuple[str, AuditEntry]:
        key = await served.memory.keys.create("ci", Right.WRITE, agent="coder")
        answer = await served.http.post(
            "/v1/memories", json={"text": "Checkout needs 2 GiB"}, headers=bearer(key.token)
        )
        assert answer.status_code == 201, answer.text
        return f"key:{key.key.id}", (await entries(served.memory, "remember"))[0]

    principal, entry = asked(steps)
    assert (entry.principal, entry.door, entry.names["agent"]) == (principal, "http", "coder")


def test_a_request_without_a_key_is_recorded_as_the_process_s() -> None:
    async def steps(served: Served) -> AuditEntry:
        await served.http.post("/v1/memories", json={"text": "Checkout needs 2 GiB"})
        return (await entries(served.memory, "remember"))[0]

    entry = asked(steps)
    assert (entry.principal, entry.door) == ("process", "http")


def test_a_tool_call_is_recorded_with_the_key_of_its_own_request() -> None:
    async def steps(served: Served) -> tuple[list[str], list[tuple[str, str]]]:
        keys = [await served.memory.keys.create(name, Right.WRITE) for name in ("one", "two")]
        for key in keys:
            await called(served, "remember", token=key.token, text=f"a note of {key.key.name}")
        told = await entries(served.memory, "remember")
        return [f"key:{key.key.id}" for key in keys], [(one.principal, one.door) for one in told]

    principals, told = running(steps)
    assert told == [(principal, "mcp") for principal in principals]


@pytest.mark.parametrize(("right", "status"), [(Right.READ, 403), (Right.WRITE, 403), (Right.ADMIN, 200)])
@pytest.mark.parametrize("path", ["/v1/audit", "/v1/audit/head", "/v1/audit/check", "/audit"])
def test_only_an_administrator_reads_the_trail(path: str, right: Right, status: int) -> None:
    async def steps(served: Served) -> int:
        key = await served.memory.keys.create("one", right)
        return (await served.http.get(path, headers=bearer(key.token))).status_code

    assert asked(steps) == status


def test_a_head_noted_before_is_compared() -> None:
    async def steps(served: Served) -> list[Any]:
        await served.memory.remember("one")
        head = (await served.http.get("/v1/audit/head")).json()["head"]
        await served.memory.remember("two")
        heads = [head, f"1:{'0' * 64}", "nonsense"]
        return [(await served.http.get("/v1/audit/check", params={"head": one})).json() for one in heads]

    right, wrong, refused = asked(steps)
    assert (right["whole"], right["entries"], wrong["whole"], wrong["broken_at"]) == (True, 2, False, 1)
    assert refused["status"] == 400


def test_the_holder_of_an_access_token_is_recorded_by_a_name_that_can_be_erased() -> None:
    async def steps(served: Served) -> Any:
        return Principal("oauth:0f3d7b6c8e5a1c2d", Right.WRITE, served.memory).actor

    assert asked(steps) == {"principal": "oauth", "name": "oauth:0f3d7b6c8e5a1c2d"}


def test_the_trail_is_filtered() -> None:
    async def steps(served: Served) -> list[list[int]]:
        memory = served.memory.scoped(agent="ana")
        note = await memory.remember("one")
        await served.memory.remember("two")
        await memory.forget(note.id)
        asked_for: list[dict[str, Any]] = [
            {"verb": "remember"},
            {"actor": "ana"},
            {"row": str(note.id)},
            {"after": 1, "limit": 1},
            {"until": "1999-01-01T00:00:00Z"},
        ]
        answers = [(await served.http.get("/v1/audit", params=one)).json() for one in asked_for]
        return [[entry["seq"] for entry in answer["entries"]] for answer in answers]

    assert asked(steps) == [[1, 2], [1, 3], [1, 3], [2], []]


def test_a_job_is_recorded_as_a_job_by_who_asked_for_it() -> None:
    async def steps() -> list[tuple[str, str, str]]:
        async with AsyncRemembrancer.open(":memory:", embedder="none", session="monday") as memory:
            for number in range(8):
                await memory.observe(f"We moved checkout to release {number}, which needs {number} GiB")
            await memory.maintain(force=True)
            return [(one.verb, one.door, one.principal) for one in (await memory.audit.list(after=8)).entries]

    told = asyncio.run(steps())
    assert {(door, principal) for _, door, principal in told} <= {("job", "process")}


def test_a_command_is_recorded_as_of_the_command_line(tmp_path: Any) -> None:
    db = str(tmp_path / "memory.db")
    assert run(["remember", "a note", "--db", db]) == 0

    async def steps() -> Sequence[AuditEntry]:
        async with AsyncRemembrancer.open(db, embedder="none") as memory:
            return await entries(memory, "remember")

    [entry] = asyncio.run(steps())
    assert entry.door == "cli"


def test_reads_are_recorded_only_if_they_are_to_be() -> None:
    async def steps(*, audit_reads: bool) -> list[tuple[str, Any]]:
        settings = {"audit_reads": audit_reads}
        async with AsyncRemembrancer.open(":memory:", embedder="none", settings=settings) as memory:
            note = await memory.remember("Checkout needs 2 GiB")
            await memory.recall("how much does checkout need?")
            await memory.show(note.id)
            await memory.memories()
            await memory.recall("zithers")
            reads = memory._opened.reads  # pyright: ignore[reportPrivateUsage]  # they are written later
            if reads is not None:
                await reads.close()
            told = (await memory.audit.list(after=1)).entries
            return [(one.verb, one.ids.get("memories") == (note.id,)) for one in told]

    assert asyncio.run(steps(audit_reads=False)) == []
    assert asyncio.run(steps(audit_reads=True)) == [
        ("recall", True),
        ("show", True),
        ("memories", True),
        ("recall", False),
    ]
