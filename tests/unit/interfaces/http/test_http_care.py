"""State, background work, erasures and keys over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from requests_made import Answer, Client, with_client

from remembrancer.domain.api_key import Right


def test_the_timeline_has_events_in_their_order() -> None:
    async def steps(http: Client) -> list[str]:
        for day in (3, 1, 2):
            await http.done("POST", "/v1/memories", {"text": f"{day}", "occurred_at": f"2026-03-0{day}T00:00:00Z"})
        told = await http.done("GET", "/v1/timeline", params={"since": "2026-03-02T00:00:00Z", "kinds": "note"})
        return [memory["text"] for memory in told["memories"]]

    assert with_client(steps) == ["2", "3"]


@pytest.mark.parametrize("path", ["/v1/fading?days=36500", "/v1/decay"])
def test_fading_memories_are_reported_with_their_times(path: str) -> None:
    async def steps(http: Client) -> Any:
        await http.done("POST", "/v1/memories", {"text": "x", "importance": 1})
        return (await http.done("GET", path))["memories"]

    (told,) = with_client(steps)
    assert (told["memory"]["text"], told["faded"]) == ("x", False)
    assert told["falls_at"] is not None


def test_counts_match_the_stored_rows() -> None:
    async def steps(http: Client) -> Any:
        await http.done("POST", "/v1/events", {"events": [{"text": "It broke"}]})
        return await http.done("GET", "/v1/stats")

    told = with_client(steps)
    assert (told["events"], told["memories"]) == (1, {"active": 1})


def test_health_is_reported_once_it_was_taken() -> None:
    async def steps(http: Client) -> list[Any]:
        before = await http.done("GET", "/v1/health/memory")
        await http.done("POST", "/v1/memories", {"text": "x"}, params={"crew": "c"})
        done = await http.done("POST", "/v1/maintain", {"only": ["health"], "force": True})
        after = await http.done("GET", "/v1/health/memory", params={"history": 5})
        of_crew = await http.done("GET", "/v1/health/memory", params={"of_crew": "c"})
        return [before, done, after, of_crew]

    before, done, after, of_crew = with_client(steps)
    assert before == {"crew": None, "latest": None, "history": None}
    assert list(done["jobs"]) == ["health"]
    assert after["history"] == [after["latest"]]
    assert (of_crew["crew"], of_crew["latest"]["crew"]) == ("c", "c")


def test_jobs_spending_and_presets_are_reported() -> None:
    async def steps(http: Client) -> list[Any]:
        return [await http.done("GET", f"/v1/{noun}") for noun in ("jobs", "spending", "presets", "promotions")]

    jobs, spending, presets, promotions = with_client(steps)
    assert jobs["jobs"][0]["job"] == "index"
    assert spending == {"since": None, "spent": []}
    assert [preset["name"] for preset in presets["presets"] if preset["in_use"]] == ["default"]
    assert promotions == {"candidates": []}


@pytest.mark.parametrize(
    ("path", "body", "part"), [("/v1/sleep", {"dry_run": True}, "slept"), ("/v1/consolidate", {"limit": 5}, "facts")]
)
def test_the_effect_on_the_memory_can_be_requested(path: str, body: dict[str, Any], part: str) -> None:
    async def steps(http: Client) -> Any:
        return await http.done("POST", path, body)

    assert part in with_client(steps)["details"]


@pytest.mark.parametrize("session", ["monday", "a/b", "größe 1"])
def test_a_session_of_any_name_is_ended(session: str) -> None:
    async def steps(http: Client) -> Any:
        await http.done("POST", "/v1/events", {"events": [{"text": "It broke", "session": session}]})
        quoted = "".join(f"%{byte:02X}" for byte in session.encode())
        return await http.done("POST", f"/v1/sessions/{quoted}/end")

    told = with_client(steps)
    assert told["details"]["session"] == session
    assert told["details"]["segmented"]["stream"]["session"] == session


def test_a_wider_scope_is_reported() -> None:
    async def steps(http: Client) -> Answer:
        scope = {"project": "shop", "agent": "coder"}
        kept = await http.done("POST", "/v1/memories", {"text": "Checkout needs 2 GiB"}, params=scope)
        return await http("POST", "/v1/promotions", {"memory_id": kept["id"], "to": "workspace"}, params=scope)

    answer = with_client(steps)
    assert answer.status == 201
    assert answer.headers["location"] == f"/v1/memories/{answer.body['id']}"
    assert (answer.body["scope"]["project"], answer.body["scope"]["agent"]) == (None, None)


def test_an_erased_memory_is_not_found_and_has_a_receipt() -> None:
    async def steps(http: Client) -> list[Any]:
        kept = await http.done("POST", "/v1/memories", {"text": "The door's code is xyzzy"})
        path = f"/v1/memories/{kept['id']}"
        dry = await http.done("POST", "/v1/erasures", {"ids": [kept["id"]], "dry_run": True})
        still = (await http("GET", path)).status
        receipt = await http.done("POST", "/v1/erasures", {"ids": [kept["id"]]})
        gone = (await http("GET", path)).status
        return [kept["id"], dry, still, receipt, gone, await http.done("GET", "/v1/erasures")]

    kept, dry, still, receipt, gone, listed = with_client(steps)
    assert (dry["dry_run"], still) == (True, 200)
    assert (receipt["memories"], receipt["dry_run"], gone) == ([kept], False, 404)
    assert [one["id"] for one in listed["erasures"]] == [receipt["id"]]


def test_everything_is_never_erased_by_a_body_that_chooses_nothing() -> None:
    async def steps(http: Client) -> tuple[Answer, int]:
        await http.done("POST", "/v1/memories", {"text": "x"})
        answer = await http("POST", "/v1/erasures", {}, params={"agent": "coder"})
        return answer, len(await http.memory.recent())

    answer, left = with_client(steps)
    assert (answer.status, left) == (400, 1)


def test_a_key_is_made_used_listed_and_revoked() -> None:
    async def steps(http: Client) -> list[Any]:
        admin = await http.key(Right.ADMIN)
        made = await http.done("POST", "/v1/keys", {"name": "ci", "right": "write", "expires_in": 3600}, headers=admin)
        theirs = {"Authorization": f"Bearer {made['token']}"}
        before = (await http("POST", "/v1/memories", {"text": "x"}, headers=theirs)).status
        listed = await http.done("GET", "/v1/keys", headers=admin)
        revoked = await http.done("DELETE", f"/v1/keys/{made['key']['id']}", headers=admin)
        after = (await http("POST", "/v1/memories", {"text": "x"}, headers=theirs)).status
        return [made, before, listed, revoked, after]

    made, before, listed, revoked, after = with_client(steps)
    assert (made["key"]["right"], made["key"]["expires_at"]) == ("write", "2026-03-04T10:00:00Z")
    assert (before, after) == (201, 401)
    assert {key["name"] for key in listed["keys"]} == {"ci", "test"}
    assert made["token"] not in str(listed)
    assert (revoked["id"], revoked["usable"]) == (made["key"]["id"], False)


def test_keys_of_another_workspace_are_out_of_reach() -> None:
    async def steps(http: Client) -> tuple[list[str], int]:
        admin = await http.key(Right.ADMIN)
        rival = await http.memory.of_workspace("rival").keys.create("theirs", Right.ADMIN)
        listed = await http.done("GET", "/v1/keys", headers=admin)
        revoked = await http("DELETE", f"/v1/keys/{rival.key.id}", headers=admin)
        return [key["name"] for key in listed["keys"]], revoked.status

    assert with_client(steps) == (["test"], 404)
