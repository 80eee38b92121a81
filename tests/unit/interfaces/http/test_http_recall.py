"""Questions over HTTP."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from requests_made import Answer, Client, with_client
from served import QUIET

from remembrancer.domain.api_key import Right

KEPT: list[dict[str, Any]] = [
    {"text": "Checkout needs 2 GiB", "kind": "fact", "tags": ["checkout"], "source": "runbook", "metadata": {"n": 1}},
    {"text": "Checkout is slow", "tier": "working", "occurred_at": "2026-03-01T00:00:00Z", "visibility": "crew"},
]


async def kept(http: Client) -> list[str]:
    return [(await http.done("POST", "/v1/memories", one, params={"crew": "c"}))["id"] for one in KEPT]


def test_a_hit_has_the_parts_of_its_score_on_request_only() -> None:
    async def steps(http: Client) -> Any:
        await kept(http)
        asked = {"query": "how much does checkout need?"}
        return [await http.done("POST", "/v1/recall", {**asked, **one}) for one in ({"explain": True}, {})]

    told, plain = with_client(steps)
    assert told["hits"][0]["memory"]["text"] == "Checkout needs 2 GiB"
    assert told["hits"][0]["explanation"]["matched"]
    assert plain["hits"] == [{**hit, "explanation": None} for hit in told["hits"]]
    assert told["degraded"].keys() == {"dense"}
    assert told["rendered"] is None


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (["hits.memory.text"], {"hits": [{"memory": {"text": "Checkout needs 2 GiB"}}]}),
        (["hits.rank", "pinned", "query"], {"query": "checkout needs?", "hits": [{"rank": 1}], "pinned": []}),
        (
            ["hits.via", "hits.explanation", "rendered"],
            {"hits": [{"via": None, "explanation": None}], "rendered": None},
        ),
    ],
)
def test_an_answer_has_the_fields_that_were_asked_for(fields: list[str], expected: Any) -> None:
    async def steps(http: Client) -> Any:
        await kept(http)
        return await http.done("POST", "/v1/recall", {"query": "checkout needs?", "fields": fields})

    assert with_client(steps) == expected


def test_an_answer_leaves_out_what_is_seldom_used_unless_it_is_asked_for() -> None:
    async def steps(http: Client) -> Any:
        await kept(http)
        body = {"query": "how much does checkout need?"}
        return [await http.done("POST", "/v1/recall", {**body, **one}) for one in ({}, {"fields": ["*"]})]

    brief, whole = with_client(steps)
    [short], [long] = brief["hits"], whole["hits"]
    assert long["memory"].keys() - short["memory"].keys() == {
        "recorded_at",
        "superseded_by",
        "superseded_at",
        "retired_at",
        "consolidated_at",
        "status",
        "strength",
    }
    assert {**long, "memory": {name: long["memory"][name] for name in short["memory"]}} == short
    assert brief.keys() == whole.keys()


def test_a_kept_answer_has_the_fields_that_were_asked_for() -> None:
    async def steps(http: Client) -> Any:
        await kept(http)
        body = {"query": "how much does checkout need?", "keep": True, "fields": ["recall_id"]}
        path = f"/v1/recalls/{(await http.done('POST', '/v1/recall', body))['recall_id']}"
        return await http.done("GET", path, params={"fields": ["hits.score", "query"]})

    told = with_client(steps)
    assert (told.keys(), told["hits"][0].keys()) == ({"query", "hits"}, {"score"})


@pytest.mark.parametrize(
    ("field", "allowed"),
    [
        ("hits.colour", "one of hits.rank, hits.score, "),
        ("hits.memory.colour", "one of hits.memory.id, "),
        ("hits.score.value", "one of hits.rank, hits.score, "),
        ("colour", "one of *, query, asked_at, hits, "),
        (7, "one of *, query, "),
    ],
)
def test_an_unknown_field_of_the_answer_is_refused_with_those_beside_it(field: Any, allowed: str) -> None:
    async def steps(http: Client) -> Answer:
        return await http("POST", "/v1/recall", {"query": "x", "fields": ["query", field]})

    answer = with_client(steps)
    assert (answer.status, answer.body["argument"]) == (400, "fields[1]")
    assert answer.body["allowed"].startswith(allowed)


def test_a_recall_that_marks_counts_its_hits_and_any_other_reads_only() -> None:
    async def steps(http: Client) -> list[int]:
        counts: list[int] = []
        first, _ = await kept(http)
        for body in ({}, {"mark": True}, {"mark": False}):
            await http.done("POST", "/v1/recall", {"query": "how much does checkout need?", **body})
            counts.append((await http.memory.get(first)).strength.usage.retrieved)
        return counts

    assert with_client(steps) == [0, 1, 1]


def test_under_a_preset_whose_recall_counts_a_key_that_may_only_read_counts_nothing() -> None:
    async def steps(http: Client) -> tuple[int, int, int]:
        first, _ = await kept(http)
        body, reads = {"query": "how much does checkout need?"}, await http.key(Right.READ)
        writes = await http.key(Right.WRITE)
        await http.done("POST", "/v1/recall", body, headers=reads)
        before = (await http.memory.get(first)).strength.usage.retrieved
        refused = await http("POST", "/v1/recall", {**body, "mark": True}, headers=reads)
        await http.done("POST", "/v1/recall", body, headers=writes)
        return before, refused.status, (await http.memory.get(first)).strength.usage.retrieved

    assert with_client(steps, settings=replace(QUIET, preset="engram")) == (0, 403, 1)


@pytest.mark.parametrize(
    ("asked", "texts"),
    [
        ({}, [0, 1]),
        ({"limit": 1}, [0]),
        ({"kinds": ["fact"]}, [0]),
        ({"tiers": ["working"]}, [1]),
        ({"tags": ["checkout"]}, [0]),
        ({"source": "runbook"}, [0]),
        ({"session": "monday"}, []),
        ({"metadata": {"n": 1}}, [0]),
        ({"metadata": {"n": True}}, []),
        ({"visibilities": ["crew"]}, [1]),
        ({"since": "2026-03-02T00:00:00Z"}, [0]),
        ({"until": "2026-03-02T00:00:00Z"}, [1]),
        ({"as_of": "2026-03-01T00:00:00Z"}, []),
        ({"min_score": 1}, []),
        ({"floor": "off", "min_score": 1}, []),
        ({"floor": "off"}, [0, 1]),
    ],
    ids=str,
)
def test_each_filter_selects_its_memories(asked: dict[str, Any], texts: list[int]) -> None:
    async def steps(http: Client) -> set[str]:
        await kept(http)
        told = await http.done("POST", "/v1/recall", {"query": "checkout needs", **asked}, params={"crew": "c"})
        return {hit["memory"]["text"] for hit in told["hits"]}

    assert with_client(steps) == {KEPT[place]["text"] for place in texts}


def test_a_block_is_rendered_within_its_length() -> None:
    async def steps(http: Client) -> Any:
        await kept(http)
        sent = {"query": "checkout", "render": True, "max_chars": 300, "detail": "none"}
        return await http.done("POST", "/v1/recall", sent, params={"crew": "c"})

    told = with_client(steps)
    assert "UNTRUSTED" in told["rendered"]
    assert len(told["rendered"]) <= 300
    assert told["rendered_pinned"] == ""


def test_a_question_is_measured() -> None:
    async def steps(http: Client) -> str:
        await http.done("POST", "/v1/recall", {"query": "checkout"})
        return (await http.served.http.get("/metrics")).text

    assert 'stage="' in with_client(steps)


@pytest.mark.parametrize(
    ("asked", "argument"),
    [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": "x", "limit": 0}, "limit"),
        ({"query": "x", "limit": True}, "limit"),
        ({"query": "x", "limit": 1.5}, "limit"),
        ({"query": "x", "since": "2026-03-01"}, "since"),
        ({"query": "x", "since": 1772355600}, "since"),
        ({"query": "x", "ranking": "none such"}, "ranking"),
        ({"query": "x", "metadata": {"n": [1]}}, "metadata.n"),
        ({"query": "x", "walk_depth": 2}, "walk_depth"),
        ({"query": "x", "render": "yes"}, "render"),
        ({"query": "x", "limits": 3}, "limits"),
    ],
    ids=str,
)
def test_a_question_that_is_not_allowed_is_refused_by_name(asked: dict[str, Any], argument: str) -> None:
    async def steps(http: Client) -> Answer:
        return await http("POST", "/v1/recall", asked)

    answer = with_client(steps)
    assert answer.status == 400
    assert answer.body["argument"].startswith(argument)


def test_an_unknown_field_is_answered_with_the_one_that_is_meant() -> None:
    async def steps(http: Client) -> Answer:
        return await http("POST", "/v1/recall", {"q": "checkout"})

    detail = with_client(steps).body["detail"]
    assert detail.startswith("q: 'checkout' is not allowed; expected the field query, or another of query, mode, ")


def test_shown_memories_are_counted() -> None:
    async def steps(http: Client) -> tuple[Answer, int]:
        ids = await kept(http)
        sent = {"memories": ids, "exposure": "shown", "query": "checkout"}
        answer = await http("POST", "/v1/exposures", sent, params={"crew": "c"})
        return answer, (await http.memory.get(ids[0])).strength.usage.shown

    answer, shown = with_client(steps)
    assert (answer.status, answer.body, shown) == (204, None, 1)


def test_nothing_is_counted_where_one_is_not_there() -> None:
    async def steps(http: Client) -> tuple[int, int]:
        ids = await kept(http)
        nobody = "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"
        answer = await http("POST", "/v1/exposures", {"memories": [ids[0], nobody], "exposure": "used"})
        return answer.status, (await http.memory.get(ids[0])).strength.usage.used

    assert with_client(steps) == (404, 0)


def test_presets_are_compared_by_name() -> None:
    async def steps(http: Client) -> Any:
        await kept(http)
        return await http.done("POST", "/v1/compare", {"query": "checkout", "presets": ["crewship", "default"]})

    assert [answer["preset"] for answer in with_client(steps)["answers"]] == ["crewship", "default"]


@pytest.mark.parametrize("name", ["/etc/passwd", "pyproject.toml", "none such"])
def test_no_client_has_the_server_read_a_file(name: str) -> None:
    async def steps(http: Client) -> Answer:
        return await http("POST", "/v1/compare", {"query": "checkout", "presets": [name]})

    answer = with_client(steps)
    assert (answer.status, answer.body["argument"]) == (400, "presets")
    assert answer.body["allowed"].startswith("one of default, ")


@pytest.mark.parametrize(
    "body",
    [
        {"query": "how much does checkout need?", "limit": 3, "render": True, "explain": True},
        {"query": "checkout", "kinds": ["fact"], "since": "2026-01-01T00:00:00Z"},
        {"query": "checkout", "limit": 0},
        {"query": "checkout", "kind": "fact"},
        {"question": "checkout"},
        ["checkout"],
        b"",
        b"null",
        b'{"query": ',
        b'{"query": "checkout", "query": "payment"}',
    ],
)
def test_a_request_that_fastapi_takes_apart_and_one_that_it_does_not_get_the_same_answer(body: Any) -> None:
    async def steps(http: Client) -> list[tuple[int, Any]]:
        await kept(http)
        answers: list[tuple[int, Any]] = []
        for headers in ({}, {"Idempotency-Key": "again"}):
            answer = await http("POST", "/v1/recall", body, headers=headers)
            answers.append((answer.status, {**answer.body, "recall_id": None, "timings_ms": None, "asked_at": None}))
        return answers

    brief, whole = with_client(steps)
    assert brief == whole
