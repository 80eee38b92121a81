"""Memories over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from requests_made import Answer, Client, with_client

from remembrancer.domain.api_key import Right

NOBODY = "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"
EVERY_FIELD: dict[str, Any] = {
    "text": "Checkout needs 2 GiB",
    "title": "Memory",
    "kind": "fact",
    "tier": "episodic",
    "source": "runbook",
    "origin": "import",
    "importance": 0.75,
    "priority": 7,
    "confidence": 0.625,
    "surprise": 1,
    "tags": ["a", "b"],
    "metadata": {"host": "db-1", "n": [1, None, 2.5]},
    "topic_key": "memory",
    "valid_from": "2026-03-01T00:00:00Z",
    "valid_until": "2030-01-01T00:00:00Z",
    "occurred_at": "2026-03-04T00:00:00Z",
    "visibility": "crew",
    "key": "k1",
}


def test_a_memory_is_kept_with_every_field() -> None:
    async def steps(http: Client) -> Answer:
        return await http("POST", "/v1/memories", EVERY_FIELD, params={"crew": "platform"})

    answer = with_client(steps)
    told, strength = answer.body, answer.body["strength"]
    assert answer.status == 201
    assert answer.headers["location"] == f"/v1/memories/{told['id']}"
    of_strength = {"importance", "priority", "confidence", "surprise"}
    same = EVERY_FIELD.keys() - of_strength - {"occurred_at"}
    assert {name: told[name] for name in same} == {name: EVERY_FIELD[name] for name in same}
    assert {name: strength[name] for name in of_strength} == {name: EVERY_FIELD[name] for name in of_strength}
    assert told["occurred_to"] == EVERY_FIELD["occurred_at"]


def test_an_episode_is_kept_with_its_turns() -> None:
    async def steps(http: Client) -> list[str]:
        told = await http.done("POST", "/v1/events", {"events": [{"text": "It broke"}, {"text": "We mended it"}]})
        turns = [event["id"] for event in told["events"]]
        episode = await http.done("POST", "/v1/memories", {"text": "About checkout", "events": turns})
        details = await http.done("GET", f"/v1/memories/{episode['id']}")
        return [event["text"] for event in details["events"]]

    assert with_client(steps) == ["It broke", "We mended it"]


def test_pages_end_to_end_are_the_whole_list() -> None:
    async def steps(http: Client) -> list[list[str]]:
        for day in (1, 2, 3):
            await http.done("POST", "/v1/memories", {"text": f"{day}", "occurred_at": f"2026-03-0{day}T00:00:00Z"})
        first = await http.done("GET", "/v1/memories", params={"limit": 2})
        await http.done("POST", "/v1/memories", {"text": "newer"})
        second = await http.done("GET", "/v1/memories", params={"limit": 2, "after": first["next"]})
        assert second["next"] is None
        return [[memory["text"] for memory in page["memories"]] for page in (first, second)]

    assert with_client(steps) == [["3", "2"], ["1"]]


@pytest.mark.parametrize(
    ("chosen", "texts"),
    [
        ("", ["both", "one"]),
        ("oldest_first=true", ["one", "both"]),
        ("kinds=fact", ["both"]),
        ("tiers=working&tiers=episodic", ["both"]),
        ("tags=a&tags=b", ["both"]),
        ("tags=a", ["both", "one"]),
        ("source=runbook", ["both"]),
        ("in_session=monday", []),
        ("metadata=ticket=7", ["both"]),
        ("metadata=ticket=7&metadata=env=prod", ["both"]),
        ("metadata=ticket=7&metadata=env=test", []),
        ("visibilities=own", []),
        ("since=2026-03-02T00:00:00Z", ["both"]),
        ("until=2026-03-02T00:00:00Z", ["one"]),
        ("as_of=2026-03-03T00:00:00Z", []),
    ],
)
def test_each_filter_selects_its_memories(chosen: str, texts: list[str]) -> None:
    async def steps(http: Client) -> list[str]:
        both: dict[str, Any] = {"kind": "fact", "tier": "working", "tags": ["a", "b"], "source": "runbook"}
        both["metadata"] = {"ticket": 7, "env": "prod"}
        await http.done("POST", "/v1/memories", {"text": "both", **both, "occurred_at": "2026-03-03T00:00:00Z"})
        await http.done("POST", "/v1/memories", {"text": "one", "tags": ["a"], "occurred_at": "2026-03-01T00:00:00Z"})
        return [memory["text"] for memory in (await http.done("GET", f"/v1/memories?{chosen}"))["memories"]]

    assert with_client(steps) == texts


def test_a_memory_is_updated() -> None:
    async def steps(http: Client) -> Any:
        kept = await http.done("POST", "/v1/memories", {"text": "2 GiB", "title": "Size", "source": "runbook"})
        path = f"/v1/memories/{kept['id']}"
        changed = await http.done("PATCH", path, {"text": "3 GiB", "title": None, "expected_revision": 1})
        stale = await http("PATCH", path, {"text": "4 GiB", "expected_revision": 1})
        return changed, stale, await http.done("GET", path)

    changed, stale, details = with_client(steps)
    assert (changed["text"], changed["title"], changed["source"], changed["revision"]) == ("3 GiB", None, "runbook", 2)
    assert (stale.status, stale.body["type"]) == (409, "urn:remembrancer:problem:conflict")
    assert details["memory"] == changed
    assert [revision["text"] for revision in details["revisions"]] == ["2 GiB"]


@pytest.mark.parametrize(
    ("body", "argument"),
    [
        ({}, "changes"),
        ({"expected_revision": 1}, "changes"),
        ({"text": None}, "text"),
        ({"text": ""}, "text"),
        ({"kind": "No Slug"}, "kind"),
        ({"topic_key": "t"}, "topic_key"),
        ({"expected_revision": True, "text": "x"}, "expected_revision"),
    ],
)
def test_a_change_that_is_not_allowed_is_refused_by_name(body: dict[str, Any], argument: str) -> None:
    async def steps(http: Client) -> Answer:
        kept = await http.done("POST", "/v1/memories", {"text": "2 GiB"})
        return await http("PATCH", f"/v1/memories/{kept['id']}", body)

    answer = with_client(steps)
    assert (answer.status, answer.body["argument"]) == (400, argument)


def test_forgetting_can_be_undone() -> None:
    async def steps(http: Client) -> list[tuple[str, int]]:
        kept = await http.done("POST", "/v1/memories", {"text": "2 GiB"})
        path = f"/v1/memories/{kept['id']}"
        told: list[tuple[str, int]] = []
        for method, suffix in (("DELETE", ""), ("POST", "/restore")):
            memory = await http.done(method, f"{path}{suffix}")
            told.append((memory["status"], len((await http.done("GET", "/v1/memories"))["memories"])))
        return told

    assert with_client(steps) == [("retired", 0), ("active", 1)]


def test_one_memory_supersedes_another() -> None:
    async def steps(http: Client) -> tuple[Any, str, Answer]:
        old, new = [(await http.done("POST", "/v1/memories", {"text": text}))["id"] for text in ("Rabbit", "Kafka")]
        ended = await http.done("POST", f"/v1/memories/{old}/supersede", {"by": new})
        return ended, new, await http("POST", f"/v1/memories/{new}/supersede", {"by": old})

    ended, new, back = with_client(steps)
    assert ended["superseded_by"] == new
    assert back.status == 409


def test_a_memory_is_ended() -> None:
    async def steps(http: Client) -> tuple[Any, Any, str]:
        first, second, third = [
            (await http.done("POST", "/v1/memories", {"text": text}))["id"] for text in ("one", "two", "three")
        ]
        alone = await http.done("POST", f"/v1/memories/{first}/invalidate", {})
        replaced = await http.done("POST", f"/v1/memories/{second}/invalidate", {"replacement": third})
        return alone, replaced, third

    alone, replaced, third = with_client(steps)
    assert alone["valid_until"] == "2026-03-04T09:00:00Z"
    assert replaced["superseded_by"] == third


def test_feedback_moves_its_strength() -> None:
    async def steps(http: Client) -> Any:
        kept = await http.done("POST", "/v1/memories", {"text": "2 GiB"})
        return await http.done("POST", f"/v1/memories/{kept['id']}/feedback", {"verdict": "helpful"})

    told = with_client(steps)
    assert (told["strength"]["usage"]["helped"], told["status"]) == (1, "active")


def test_two_memories_are_related() -> None:
    async def steps(http: Client) -> tuple[Answer, Any]:
        ids = [(await http.done("POST", "/v1/memories", {"text": text}))["id"] for text in ("one", "two")]
        sent = {"source": ids[0], "target": ids[1], "kind": "supports", "weight": 0.5}
        answer = await http("POST", "/v1/relations", sent)
        return answer, (await http.done("GET", f"/v1/memories/{ids[1]}"))["relations"]

    answer, relations = with_client(steps)
    assert answer.status == 201
    assert relations == [answer.body]
    assert (answer.body["kind"], answer.body["weight"]) == ("supports", 0.5)


def test_its_curve_begins_and_ends_where_it_should() -> None:
    async def steps(http: Client) -> Any:
        kept = await http.done("POST", "/v1/memories", {"text": "2 GiB"})
        return await http.done("GET", f"/v1/memories/{kept['id']}/curve", params={"days": 10, "points": 11})

    told = with_client(steps)
    assert len(told["points"]) == 11
    assert told["points"][-1]["at"] == "2026-03-14T09:00:00Z"


def test_why_a_memory_does_not_answer_is_reported() -> None:
    async def steps(http: Client) -> list[Any]:
        kept = await http.done("POST", "/v1/memories", {"text": "Checkout needs 2 GiB", "tags": ["a"]})
        path = f"/v1/memories/{kept['id']}/why-not"
        return [
            await http.done("GET", path, params={"query": "checkout"}),
            await http.done("GET", path, params={"query": "checkout", "tags": "b"}),
        ]

    found, left_out = with_client(steps)
    assert (found["returned"], found["rank"]) == (True, 1)
    assert (left_out["returned"], "tag" in left_out["reason"]) == (False, True)


def test_why_a_memory_does_not_answer_where_its_metadata_differ_is_reported() -> None:
    async def steps(http: Client) -> list[Any]:
        kept = await http.done("POST", "/v1/memories", {"text": "Checkout needs 2 GiB", "metadata": {"ticket": 7}})
        path = f"/v1/memories/{kept['id']}/why-not"
        return [
            await http.done("GET", path, params={"query": "checkout", "metadata": pair})
            for pair in ("ticket=7", "ticket=8")
        ]

    found, left_out = with_client(steps)
    assert (found["returned"], found["rank"]) == (True, 1)
    assert (left_out["returned"], "metadata" in left_out["reason"]) == (False, True)


def test_metadata_that_are_no_pair_are_refused() -> None:
    async def steps(http: Client) -> Answer:
        return await http("GET", "/v1/memories", params={"metadata": "ticket"})

    refused = with_client(steps)
    assert (refused.status, refused.body["argument"]) == (400, "metadata")


@pytest.mark.parametrize(
    ("method", "suffix", "body"),
    [
        ("GET", "", None),
        ("PATCH", "", {"text": "x"}),
        ("DELETE", "", None),
        ("POST", "/restore", None),
        ("POST", "/supersede", {"by": "01981c0f-11d2-7aa0-8c3b-5f6e7d8c9b0a"}),
        ("POST", "/invalidate", {}),
        ("POST", "/feedback", {"verdict": "helpful"}),
        ("GET", "/curve", None),
        ("GET", "/why-not?query=x", None),
    ],
)
def test_an_unknown_memory_is_not_found(method: str, suffix: str, body: Any) -> None:
    async def steps(http: Client) -> Answer:
        return await http(method, f"/v1/memories/{NOBODY}{suffix}", body)

    assert with_client(steps).status == 404


def test_a_private_memory_of_another_agent_is_not_found() -> None:
    async def steps(http: Client) -> list[int]:
        theirs = await http.done("POST", "/v1/memories", {"text": "x", "visibility": "own"}, params={"agent": "bob"})
        path = f"/v1/memories/{theirs['id']}"
        return [(await http("GET", path, params={"agent": agent})).status for agent in ("bob", "ana")]

    assert with_client(steps) == [200, 404]


WRITING: list[tuple[str, str, Any]] = [
    ("POST", "/v1/memories", {"text": "x"}),
    ("POST", "/v1/events", {"events": [{"text": "x"}]}),
    ("PATCH", f"/v1/memories/{NOBODY}", {"text": "x"}),
    ("DELETE", f"/v1/memories/{NOBODY}", None),
    ("POST", f"/v1/memories/{NOBODY}/restore", None),
    ("POST", f"/v1/memories/{NOBODY}/supersede", {"by": NOBODY}),
    ("POST", f"/v1/memories/{NOBODY}/invalidate", {}),
    ("POST", f"/v1/memories/{NOBODY}/feedback", {"verdict": "helpful"}),
    ("POST", f"/v1/events/{NOBODY}/priority", {"priority": "pin"}),
    ("POST", "/v1/relations", {"source": NOBODY, "target": NOBODY, "kind": "similar"}),
    ("POST", "/v1/exposures", {"memories": [NOBODY], "exposure": "shown"}),
    ("POST", "/v1/sleep", {}),
    ("POST", "/v1/consolidate", {}),
    ("POST", "/v1/maintain", {}),
    ("POST", "/v1/sessions/monday/end", None),
    ("POST", "/v1/promotions", {"memory_id": NOBODY}),
]
ADMINISTERING: list[tuple[str, str, Any]] = [
    ("POST", "/v1/erasures", {"ids": [NOBODY]}),
    ("GET", "/v1/erasures", None),
    ("POST", "/v1/keys", {"name": "x"}),
    ("GET", "/v1/keys", None),
    ("DELETE", f"/v1/keys/{NOBODY}", None),
]


@pytest.mark.parametrize(
    ("right", "method", "path", "body"),
    [(Right.READ, *asked) for asked in WRITING] + [(Right.WRITE, *asked) for asked in ADMINISTERING],
    ids=str,
)
def test_a_key_that_may_less_is_refused(right: Right, method: str, path: str, body: Any) -> None:
    async def steps(http: Client) -> Answer:
        return await http(method, path, body, headers=await http.key(right))

    answer = with_client(steps)
    assert (answer.status, answer.body["type"]) == (403, "urn:remembrancer:problem:permission_denied")
