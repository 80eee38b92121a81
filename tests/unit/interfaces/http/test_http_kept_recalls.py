"""Kept answers over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from requests_made import Client, with_client

from remembrancer.domain.api_key import Right

TEXT = "Jackets can be returned within 14 days"
QUESTION = {"query": "how long can a jacket be returned?"}
UNKNOWN = "/v1/recalls/0192f0c1-7a44-7d0c-9f3e-0a1b2c3d4e61"
GIVEN_AGAIN = ("query", "asked_at", "hits", "pinned", "degraded", "rendered", "rendered_pinned", "recall_id")


async def remembered(http: Client) -> str:
    return (await http.done("POST", "/v1/memories", {"text": TEXT}))["id"]


async def kept(http: Client, **sent: Any) -> Any:
    return await http.done("POST", "/v1/recall", {**QUESTION, "keep": True}, **sent)


def test_an_answer_is_kept_only_on_request() -> None:
    async def steps(http: Client) -> list[bool]:
        await remembered(http)
        asked: tuple[dict[str, bool], ...] = ({}, {"keep": False}, {"keep": True})
        answers = [await http.done("POST", "/v1/recall", {**QUESTION, **one}) for one in asked]
        return [answer["recall_id"] is not None for answer in answers]

    assert with_client(steps) == [False, False, True]


@pytest.mark.parametrize(
    "block",
    [{}, {"render": True}, {"render": True, "max_chars": 400, "detail": "high"}],
    ids=["none", "block", "short"],
)
def test_a_kept_answer_has_the_same_hits_scores_and_blocks_after_an_update(block: dict[str, Any]) -> None:
    async def steps(http: Client) -> tuple[Any, Any]:
        memory = await remembered(http)
        answer = await http.done("POST", "/v1/recall", {**QUESTION, "explain": True, "keep": True, **block})
        await http.done("PATCH", f"/v1/memories/{memory}", {"text": "Nothing can be returned"})
        return answer, await http.done("GET", f"/v1/recalls/{answer['recall_id']}", params={"explain": True, **block})

    answer, again = with_client(steps)
    assert [hit["memory"]["text"] for hit in answer["hits"]] == [TEXT]
    assert {name: again[name] for name in GIVEN_AGAIN} == {name: answer[name] for name in GIVEN_AGAIN}
    assert (answer["rendered"] is None) == (not block)


def test_a_kept_answer_says_how_many_of_its_memories_are_gone() -> None:
    async def steps(http: Client) -> Any:
        memory = await remembered(http)
        # Shares the words of the question: it would quote the erased text if it alone had them, and be erased with it.
        await http.done("POST", "/v1/memories", {"text": "A jacket can be returned by post, however long it was worn"})
        answer = await kept(http)
        await http.done("POST", "/v1/erasures", {"ids": [memory]})
        return memory, answer["hits"], await http.done("GET", f"/v1/recalls/{answer['recall_id']}")

    memory, hits, again = with_client(steps)
    assert len(hits) == 2
    assert again["hits"] == [hit for hit in hits if hit["memory"]["id"] != memory]
    assert again["degraded"]["replay"] == "1 of 2 memories were erased, or are out of reach"


def test_a_key_that_may_only_read_cannot_keep_an_answer() -> None:
    async def steps(http: Client) -> tuple[int, str]:
        refused = await http("POST", "/v1/recall", {**QUESTION, "keep": True}, headers=await http.key(Right.READ))
        return refused.status, refused.body["detail"]

    assert with_client(steps) == (403, "keep: only a key that may write can keep an answer")


def test_a_key_that_may_only_read_is_given_a_kept_answer_and_cannot_delete_it() -> None:
    async def steps(http: Client) -> list[int]:
        await remembered(http)
        path = f"/v1/recalls/{(await kept(http))['recall_id']}"
        reads = await http.key(Right.READ)
        return [(await http(method, path, headers=reads)).status for method in ("GET", "DELETE", "GET")]

    assert with_client(steps) == [200, 403, 200]


def test_a_deleted_answer_is_not_found() -> None:
    async def steps(http: Client) -> list[int]:
        await remembered(http)
        path = f"/v1/recalls/{(await kept(http))['recall_id']}"
        return [(await http(method, path)).status for method in ("DELETE", "GET", "DELETE")]

    assert with_client(steps) == [204, 404, 404]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_an_unknown_answer_is_not_found(method: str) -> None:
    async def steps(http: Client) -> int:
        return (await http(method, UNKNOWN)).status

    assert with_client(steps) == 404


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_key_that_is_bound_to_a_session_reaches_the_answers_kept_in_that_session_alone(method: str) -> None:
    async def steps(http: Client) -> list[int]:
        made = await http.memory.keys.create("bound", Right.WRITE, session="monday")
        bound = {"Authorization": f"Bearer {made.token}"}
        writes = await http.key(Right.WRITE)
        answers = [await kept(http, params={"session": one}, headers=writes) for one in ("monday", "tuesday")]
        return [(await http(method, f"/v1/recalls/{one['recall_id']}", headers=bound)).status for one in answers]

    monday, tuesday = with_client(steps)
    assert (monday < 300, tuesday) == (True, 404)
