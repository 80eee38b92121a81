"""A key that is bound to an agent, a session or a role acts as these, and as no other."""

from __future__ import annotations

from typing import Any

import pytest
from requests_made import Client, with_client

from remembrancer.domain.api_key import Right
from remembrancer.domain.scope import Visibility


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def bound(client: Client, **parts: Any) -> dict[str, str]:
    """The headers of one who has a key that may write, with that binding."""
    return bearer((await client.memory.keys.create("bound", Right.WRITE, **parts)).token)


def test_memories_written_with_a_bound_key_belong_to_its_agent() -> None:
    async def steps(client: Client) -> Any:
        coder = await bound(client, agent="coder")
        return (await client.done("POST", "/v1/memories", {"text": "Checkout needs 2 GiB"}, headers=coder))["scope"]

    assert with_client(steps)["agent"] == "coder"


@pytest.mark.parametrize("part", ["project", "crew", "agent", "session"])
def test_a_bound_key_cannot_claim_another(part: str) -> None:
    async def steps(client: Client) -> list[int]:
        key = await bound(client, **{part: "mine"})
        return [
            (await client("GET", "/v1/memories", params={part: claimed}, headers=key)).status
            for claimed in ("mine", "theirs")
        ]

    assert with_client(steps) == [200, 403]


def test_the_scope_of_a_bound_key_is_returned_to_its_holder() -> None:
    async def steps(client: Client) -> Any:
        return (await client("GET", "/v1/memories?agent=reviewer", headers=await bound(client, agent="coder"))).body

    assert with_client(steps)["detail"] == "agent: this key is bound to 'coder'"


def test_a_bound_key_reads_the_memories_of_its_agent_and_not_private_ones_of_another() -> None:
    async def steps(client: Client) -> list[str]:
        for agent in ("coder", "reviewer"):
            await client.memory.scoped(agent=agent).remember(f"The {agent} likes tea", visibility=Visibility.OWN)
        answer = await client.done("GET", "/v1/memories", headers=await bound(client, agent="coder"))
        return [memory["text"] for memory in answer["memories"]]

    assert with_client(steps) == ["The coder likes tea"]


def test_a_bound_key_cannot_look_further_than_its_role_does() -> None:
    async def steps(client: Client) -> list[int]:
        key = await bound(client, agent="coder")
        asked = [{"query": "tea"}, {"query": "tea", "reach": "own"}, {"query": "tea", "reach": "workspace"}]
        return [(await client("POST", "/v1/recall", body, headers=key)).status for body in asked]

    assert with_client(steps) == [200, 200, 403]


def test_a_key_that_is_bound_to_a_session_reads_that_session_alone() -> None:
    async def steps(client: Client) -> list[str]:
        for session in ("monday", "tuesday"):
            await client.memory.observe(f"It rained on {session}", session=session)
        answer = await client.done("GET", "/v1/events", headers=await bound(client, session="monday"))
        return [event["text"] for event in answer["events"]]

    assert with_client(steps) == ["It rained on monday"]


@pytest.mark.parametrize(
    ("path", "body"),
    [("/v1/events", {"events": [{"text": "It rained", "session": "tuesday"}]}), ("/v1/sessions/tuesday/end", None)],
)
def test_a_key_that_is_bound_to_a_session_does_not_act_in_another(path: str, body: Any) -> None:
    async def steps(client: Client) -> int:
        return (await client("POST", path, body, headers=await bound(client, session="monday"))).status

    assert with_client(steps) == 403


def test_a_key_that_is_bound_to_a_role_reads_as_that_role_and_as_no_other() -> None:
    async def steps(client: Client) -> list[int]:
        lead = await bound(client, crew="ops", role="LEAD")
        return [
            (await client("GET", "/v1/memories", params=claimed, headers=lead)).status
            for claimed in ({}, {"role": "LEAD"}, {"role": "AGENT"})
        ]

    assert with_client(steps) == [200, 200, 403]


def test_a_bound_key_is_bound_over_mcp_too() -> None:
    async def steps(client: Client) -> int:
        return (await client("POST", "/mcp?agent=reviewer", {}, headers=await bound(client, agent="coder"))).status

    assert with_client(steps) == 403


def test_a_key_is_bound_over_http() -> None:
    async def steps(client: Client) -> tuple[Any, Any]:
        admin = await client.key(Right.ADMIN)
        body = {"name": "ci", "right": "write", "agent": "coder", "role": "AGENT"}
        made = await client.done("POST", "/v1/keys", body, headers=admin)
        listed = await client.done("GET", "/v1/keys", headers=admin)
        return made["key"], next(key for key in listed["keys"] if key["name"] == "ci")

    made, listed = with_client(steps)
    assert made == listed
    assert {part: made[part] for part in ("project", "crew", "agent", "session", "role")} == {
        "project": None,
        "crew": None,
        "agent": "coder",
        "session": None,
        "role": "AGENT",
    }


@pytest.mark.parametrize(
    ("body", "argument"),
    [
        ({"right": "admin", "agent": "coder"}, "right"),
        ({"role": "KING"}, "role"),
        ({"agent": " coder"}, "agent"),
    ],
)
def test_a_binding_that_cannot_be_is_refused(body: dict[str, Any], argument: str) -> None:
    async def steps(client: Client) -> Any:
        return (await client("POST", "/v1/keys", {"name": "ci", **body})).body

    assert with_client(steps)["argument"] == argument


async def _of_another(client: Client) -> tuple[str, str]:
    """The ids of a memory and an event of another agent, both visible in the workspace."""
    reviewer = client.memory.scoped(agent="reviewer", project="shop")
    memory = await reviewer.remember("The reviewer likes tea")
    return str(memory.id), str((await reviewer.observe("The reviewer likes tea")).id)


@pytest.mark.parametrize("over", ["why not", "promotion", "an episode", "several episodes"])
def test_rows_beyond_the_reach_of_a_bound_key_are_as_if_they_were_not_there(over: str) -> None:
    async def steps(client: Client) -> tuple[int, str]:
        coder = await bound(client, agent="coder")
        memory, event = await _of_another(client)
        note = {"text": "What was said about tea", "events": [event]}
        asked: dict[str, tuple[str, str, Any]] = {
            "why not": ("GET", f"/v1/memories/{memory}/why-not?query=tea", None),
            "promotion": ("POST", "/v1/promotions", {"memory_id": memory, "to": "project"}),
            "an episode": ("POST", "/v1/memories", note),
            "several episodes": ("POST", "/v1/memories/batch", {"memories": [note]}),
        }
        answer = await client(*asked[over], headers=coder)
        return answer.status, answer.body["detail"]

    status, detail = with_client(steps)
    assert status == 404
    assert detail.startswith(("no memory ", "no event "))
