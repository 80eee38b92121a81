"""The journal over HTTP."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from requests_made import Answer, Client, with_client
from served import QUIET

SAID = [
    {"text": "The deploy failed", "role": "tool", "type": "deploy", "severity": "error", "actor": "ci", "session": "a"},
    {"text": "It ran out of memory", "role": "assistant", "session": "a", "payload": {"mission": "checkout"}},
    {"text": "Give it more", "session": "b", "occurred_at": "2026-03-01T10:00:00+01:00", "key": "k"},
]


def test_a_batch_is_recorded_in_its_order() -> None:
    async def steps(http: Client) -> Any:
        answer = await http("POST", "/v1/events", {"events": SAID})
        return answer.status, answer.body["events"], await http.memory.journal.list(oldest_first=True)

    status, told, kept = with_client(steps)
    assert status == 201
    assert [event["text"] for event in told] == [said["text"] for said in SAID]
    assert [event.text for event in kept] == ["Give it more", "The deploy failed", "It ran out of memory"]
    assert told[0] | SAID[0] | {"session": "a"} == told[0] | {**SAID[0]}
    assert told[2]["occurred_at"] == "2026-03-01T09:00:00Z"


def test_a_batch_is_recorded_whole_or_not_at_all() -> None:
    async def steps(http: Client) -> tuple[Answer, int]:
        answer = await http("POST", "/v1/events", {"events": [*SAID, {"text": "\u0000"}]})
        return answer, await http.memory.journal.count()

    answer, count = with_client(steps)
    assert (answer.status, answer.body["argument"], count) == (400, "events[3].text", 0)


def test_a_key_used_with_another_event_is_a_conflict() -> None:
    async def steps(http: Client) -> list[int]:
        await http.done("POST", "/v1/events", {"events": SAID})
        again = await http("POST", "/v1/events", {"events": [SAID[2]]})
        other = await http("POST", "/v1/events", {"events": [SAID[2] | {"text": "Something else"}]})
        return [again.status, other.status, await http.memory.journal.count()]

    assert with_client(steps) == [201, 409, 3]


def test_events_belong_to_the_scope_of_the_address() -> None:
    async def steps(http: Client) -> Any:
        where = {"project": "shop", "crew": "platform", "agent": "coder", "session": "monday"}
        body = await http.done("POST", "/v1/events", {"events": [{"text": "It broke"}]}, params=where)
        return body["events"][0]["scope"]

    assert with_client(steps) == {
        "workspace": "default",
        "project": "shop",
        "crew": "platform",
        "agent": "coder",
        "session": "monday",
    }


def test_pages_end_to_end_are_the_whole_journal() -> None:
    async def steps(http: Client) -> list[list[str]]:
        await http.done("POST", "/v1/events", {"events": SAID})
        pages: list[list[str]] = []
        after: dict[str, str] = {}
        while True:
            page = await http.done("GET", "/v1/events", params={"limit": 2, **after})
            pages.append([event["text"] for event in page["events"]])
            if page["next"] is None:
                return pages
            after = {"after": page["next"]}

    assert with_client(steps) == [["It ran out of memory", "The deploy failed"], ["Give it more"]]


@pytest.mark.parametrize(
    ("chosen", "texts"),
    [
        ("query=memory", [1]),
        ("query=checkout", [1]),
        ("types=deploy", [0]),
        ("types=deploy&types=message", [1, 0, 2]),
        ("without_types=deploy", [1, 2]),
        ("severities=error", [0]),
        ("priorities=normal&limit=1", [1]),
        ("roles=tool&roles=user", [0, 2]),
        ("actor=ci", [0]),
        ("in_session=b", [2]),
        ("of_agent=bob", []),
        ("of_crew=x", []),
        ("of_project=x", []),
        ("until=2026-03-02T00:00:00Z", [2]),
        ("since=2026-03-02T00:00:00Z", [1, 0]),
        ("oldest_first=true", [2, 0, 1]),
        ("archived=true&types=deploy", [0]),
    ],
)
def test_each_filter_selects_its_events(chosen: str, texts: list[int]) -> None:
    async def steps(http: Client) -> tuple[list[str], int]:
        await http.done("POST", "/v1/events", {"events": SAID})
        page = await http.done("GET", f"/v1/events?{chosen}")
        uncounted = ("limit=", "oldest_first=")
        counted = "&".join(part for part in chosen.split("&") if not part.startswith(uncounted))
        count = await http.done("GET", f"/v1/events/count?{counted}")
        return [event["text"] for event in page["events"]], count["total"]

    found, count = with_client(steps)
    assert found == [SAID[place]["text"] for place in texts]
    assert count == (3 if "limit=" in chosen else len(texts))


def test_an_entry_is_reported_with_who_changed_its_priority() -> None:
    async def steps(http: Client) -> tuple[Any, Any]:
        told = (await http.done("POST", "/v1/events", {"events": SAID}))["events"][0]
        path = f"/v1/events/{told['id']}"
        changed = await http.done(
            "POST", f"{path}/priority", {"priority": "pin", "reason": "it matters"}, params={"role": "LEAD"}
        )
        return changed, await http.done("GET", path)

    changed, entry = with_client(steps)
    assert (changed["previous"], changed["priority"], changed["reason"]) == ("normal", "pin", "it matters")
    assert entry["event"]["priority"] == "pin"
    assert entry["priority_changes"] == [changed]


def test_an_entry_is_marked_by_an_operator_alone() -> None:
    async def steps(http: Client) -> Answer:
        told = (await http.done("POST", "/v1/events", {"events": SAID}))["events"][0]
        return await http("POST", f"/v1/events/{told['id']}/priority", {"priority": "pin"})

    answer = with_client(steps)
    assert (answer.status, answer.body["type"]) == (403, "urn:remembrancer:problem:permission_denied")


def test_an_entry_that_is_not_there_is_not_found() -> None:
    async def steps(http: Client) -> Answer:
        return await http("GET", "/v1/events/01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f")

    assert with_client(steps).status == 404


def test_sent_again_under_its_name_a_batch_is_recorded_once() -> None:
    async def steps(http: Client) -> tuple[list[Answer], int]:
        sent = {"headers": {"Idempotency-Key": "batch-1"}}
        answers = [await http("POST", "/v1/events", {"events": SAID}, **sent) for _ in range(2)]
        return answers, await http.memory.journal.count()

    (first, second), count = with_client(steps)
    assert (first.status, second.status, count) == (201, 201, 3)
    assert first.body == second.body
    assert [event["key"] is not None for event in first.body["events"]] == [True] * 3


def test_a_text_of_twelve_mebibytes_is_recorded_verbatim_and_no_other_body_may_be_as_large() -> None:
    text = "The build went on and on, and nobody looked. " * 280_000

    async def steps(http: Client) -> tuple[bool, int]:
        recorded = await http.done("POST", "/v1/events", {"events": [{"text": text, "type": "exec.output_chunk"}]})
        told = await http.done("GET", f"/v1/events/{recorded['events'][0]['id']}")
        refused = await http("POST", "/v1/memories", {"text": text})
        return told["event"]["text"] == text, refused.status

    assert with_client(steps) == (True, 413)


def test_a_text_above_the_bound_is_refused_with_it() -> None:
    async def steps(http: Client) -> Answer:
        return await http("POST", "/v1/events", {"events": [{"text": "x" * 1_048_577}]})

    refused = with_client(steps, settings=replace(QUIET, max_event_mb=1))
    assert (refused.status, refused.body["argument"], refused.body["allowed"]) == (
        400,
        "text",
        "at most 1,048,576 bytes of UTF-8",
    )
