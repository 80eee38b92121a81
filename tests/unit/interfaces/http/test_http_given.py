"""Strict parsing of requests: bodies, parameters, times."""

from __future__ import annotations

from typing import Any

import pytest
from requests_made import Answer, Client, with_client

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.http.v1 import parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"a": [1, -2.5e3, true, null, "\\u00fc \\ud83d\\ude80"]}', {"a": [1, -2500.0, True, None, "ü 🚀"]}),
        (b"9223372036854775807", 2**63 - 1),
        (b"-9223372036854775808", -(2**63)),
        (b'{"a": {"b": 1}, "c": {"b": 2}}', {"a": {"b": 1}, "c": {"b": 2}}),
    ],
)
def test_json_is_read_as_it_is(text: bytes, value: Any) -> None:
    assert parse(text) == value


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"", "JSON in UTF-8"),
        (b"{", "JSON in UTF-8"),
        (b"{'a': 1}", "JSON in UTF-8"),
        (b'"\xff"', "JSON in UTF-8"),
        ('{"a": 1}'.encode("utf-16"), "JSON in UTF-8"),
        (b"[NaN]", "finite numbers"),
        (b"[-Infinity]", "finite numbers"),
        (b"[1e999]", "finite numbers"),
        (b"[9223372036854775808]", "64 bits"),
        (b"[1" + b"0" * 100_000 + b"]", "64 bits"),
        (b'{"a": 1, "b": 2, "a": 3}', "each name at most once"),
        (b'["\\ud800"]', "valid Unicode"),
        (b'{"\\udfff": 1}', "valid Unicode"),
        (b"[" * 100_000, "nested so deep"),
    ],
)
def test_a_body_that_is_not_strict_json_is_refused(text: bytes, told: str) -> None:
    with pytest.raises(InvalidInput, match=told) as refused:
        parse(text)
    assert refused.value.argument == "body"


@pytest.mark.parametrize(
    ("body", "argument"),
    [
        (b"", "body"),
        (b"[]", "body"),
        (b"{}", "events"),
        (b'{"events": []}', "events"),
        (b'{"events": {}}', "events"),
        (b'{"events": [{}]}', "events[0].text"),
        (b'{"events": [{"text": "x"}, {"text": 1}]}', "events[1].text"),
        (b'{"events": [{"text": "x", "colour": "red"}]}', "events[0].colour"),
        (b'{"events": [{"text": "x", "a.b[c]\\n": 1}]}', "events[0].a.b[c]\n"),
        (b'{"events": [{"text": " "}]}', "events[0].text"),
        (b'{"events": [{"text": "a\\u0000b"}]}', "events[0].text"),
        (b'{"events": [{"text": "x", "type": "No Slug"}]}', "events[0].type"),
        (b'{"events": [{"text": "x", "role": "nobody"}]}', "events[0].role"),
        (b'{"events": [{"text": "x", "actor": "a\\u001bb"}]}', "events[0].actor"),
        (b'{"events": [{"text": "x", "payload": null}]}', "events[0].payload"),
        (b'{"events": [{"text": "x", "occurred_at": "2026-03-04T09:00:00"}]}', "events[0].occurred_at"),
        (b'{"events": [{"text": "x", "occurred_at": "0001-01-01T00:00:00+10:00"}]}', "events[0].occurred_at"),
        (b'{"events": [{"text": "x", "payload": ' + b"[" * 40 + b"]" * 40 + b"}]}", "events[0].payload"),
        (b'{"events": [{"text": "x", "payload": {"a": ' + b"[" * 40 + b"]" * 40 + b"}}]}", "events[0].payload"),
    ],
)
def test_a_body_that_is_not_allowed_is_refused_by_name(body: bytes, argument: str) -> None:
    async def steps(http: Client) -> tuple[Answer, int]:
        return await http("POST", "/v1/events", body), await http.memory.journal.count()

    answer, count = with_client(steps)
    assert (answer.status, answer.headers["content-type"], count) == (400, "application/problem+json", 0)
    assert answer.body["argument"].startswith(argument)


def test_a_refusal_does_not_quote_the_rest_of_the_body() -> None:
    async def steps(http: Client) -> Answer:
        return await http("POST", "/v1/events", {"events": [{"text": "the door's code is xyzzy", "colour": "red"}]})

    assert "xyzzy" not in str(with_client(steps).body)


@pytest.mark.parametrize(
    ("query", "argument"),
    [
        ("limt=5", "limt"),
        ("limit=1&limit=2", "limit"),
        ("limit=0", "limit"),
        ("limit=99999999999999999999", "limit"),
        ("limit=1.5", "limit"),
        ("since=2026-03-04", "since"),
        ("since=1772355600", "since"),
        ("since=2026-03-05T00:00:00Z&until=2026-03-04T00:00:00Z", "until"),
        ("after=x", "after"),
        ("types=a&types=B%20c", "types[1]"),
        ("query=%00", "query"),
        ("agent=", "agent"),
        ("agent=%1b", "agent"),
        ("oldest_first=perhaps", "oldest_first"),
        ("severities=grave", "severities[0]"),
        ("role=NOBODY", "role"),
    ],
)
def test_a_parameter_that_is_not_allowed_is_refused_by_name(query: str, argument: str) -> None:
    async def steps(http: Client) -> Answer:
        return await http("GET", f"/v1/events?{query}")

    answer = with_client(steps)
    assert (answer.status, answer.body["argument"]) == (400, argument)


def test_a_client_without_a_key_does_not_learn_the_parameters() -> None:
    async def steps(http: Client) -> int:
        await http.memory.keys.create("somebody")
        return (await http("GET", "/v1/events?limt=5")).status

    assert with_client(steps) == 401
