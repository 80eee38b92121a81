"""Events as JSON lines: accepted records, problems, and the source of the key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from remembrancer.domain.event import EventDraft
from remembrancer.ingest import Format, Problem, read


def read_lines(tmp_path: Path, *records: object, name: str = "e.jsonl") -> list[EventDraft | Problem]:
    path = tmp_path / name
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in records))
    return list(read(path, format=Format.JSONL))


def only_problem(tmp_path: Path, record: object) -> str:
    (found,) = read_lines(tmp_path, record)
    assert isinstance(found, Problem)
    return found.message


def keys(found: list[EventDraft | Problem]) -> list[str | None]:
    return [item.key for item in found if isinstance(item, EventDraft)]


@pytest.mark.parametrize("name", ["text", "content"])
def test_text_may_be_called_content(tmp_path: Path, name: str) -> None:
    (found,) = read_lines(tmp_path, {name: "hello"})
    assert isinstance(found, EventDraft)
    assert found.text == "hello"


@pytest.mark.parametrize("name", ["actor", "speaker", "name"])
def test_the_actor_may_go_by_other_names(tmp_path: Path, name: str) -> None:
    (found,) = read_lines(tmp_path, {"text": "hello", name: "Ana"})
    assert isinstance(found, EventDraft)
    assert found.actor == "Ana"


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"txt": "hello"}, "key: 'txt' is not allowed; expected one of the keys text, role,"),
        ({"text": "a", "content": "b"}, "given once"),
        ({"role": "user"}, "text: None is not allowed; expected a string"),
        ({"text": "  "}, "not blank"),
        ({"text": ["a"]}, "text: 'a list' is not allowed"),
        ({"text": "a", "role": "human"}, "role: 'human' is not allowed; expected one of user"),
        ({"text": "a", "severity": "fatal"}, "severity: 'fatal'"),
        ({"text": "a", "priority": "low"}, "priority: 'low'"),
        ({"text": "a", "type": "Not A Slug"}, "type: 'Not A Slug'"),
        (
            {"text": "a", "occurred_at": "2026-13-01"},
            "occurred_at: '2026-13-01' is not allowed; expected an ISO 8601",
        ),
        ({"text": "a", "occurred_at": "2026-03-02T09:00:00"}, "it has no UTC offset"),
        ({"text": "a", "occurred_at": "0001-01-01T00:00:00+23:00"}, "between the years"),
        ({"text": "a", "time": 1e300}, "seconds or milliseconds"),
        ({"text": "a", "time": True}, "time"),
        ({"text": "a", "time": {}}, "time"),
        ({"text": "a", "payload": [1]}, "payload: 'a list'"),
        ({"text": "a", "key": "k" * 201}, "key"),
        ('{"text": "a", "payload": {"x": NaN}}', "NaN is not JSON"),
        ('{"text": "a", "payload": {"x": 1e999}}', "payload"),
        ('{"text": "a", "payload": {"x": ' + "[" * 40 + "]" * 40 + "}}", "levels deep"),
        ("[" * 100_000, "nested too deeply"),
        ('{"text": "a"', "not a JSON object"),
        ("7", "one object a line"),
    ],
)
def test_a_bad_record_is_a_problem_with_a_reason(tmp_path: Path, record: object, reason: str) -> None:
    assert reason in only_problem(tmp_path, record)


def test_a_problem_names_the_file_and_the_line_and_the_rest_is_ingested(tmp_path: Path) -> None:
    first, second, third = read_lines(tmp_path, {"text": "a"}, "nonsense", {"text": "b"})
    assert str(second).startswith(f"{tmp_path / 'e.jsonl'}:2: not a JSON object")
    assert isinstance(first, EventDraft)
    assert isinstance(third, EventDraft)


def test_a_problem_is_one_short_line_with_any_quotation(tmp_path: Path) -> None:
    message = only_problem(tmp_path, {"a\nb" + "x" * 5_000: 1})
    assert "\n" not in message
    assert len(message) <= 400


def test_blank_lines_and_a_byte_order_mark_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "e.jsonl").write_bytes(b'\xef\xbb\xbf{"text": "a"}\r\n\r\n   \n{"text": "b"}')
    found = list(read(tmp_path / "e.jsonl", format=Format.JSONL))
    assert [item.text for item in found if isinstance(item, EventDraft)] == ["a", "b"]


def test_a_line_that_is_not_utf8_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "e.jsonl").write_bytes(b'{"text": "\xff"}\n{"text": "b"}\n')
    first, second = read(tmp_path / "e.jsonl", format=Format.JSONL)
    assert str(first).endswith(":1: not UTF-8 at byte 11 of the line")
    assert isinstance(second, EventDraft)


def test_a_line_past_the_limit_is_a_problem_and_the_next_one_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remembrancer.ingest.lines.MAX_LINE_BYTES", 32)
    first, second = read_lines(tmp_path, {"text": "a" * 100}, {"text": "b"})
    assert str(first).endswith(":1: the line is longer than 32 bytes")
    assert isinstance(second, EventDraft)


def test_nul_and_lone_surrogates_become_replacement_characters(tmp_path: Path) -> None:
    (found,) = read_lines(tmp_path, r'{"text": "a\u0000b\ud800c", "payload": {"k\udfff": ["\u0000"]}}')
    assert isinstance(found, EventDraft)
    assert (found.text, found.payload) == ("a\ufffdb\ufffdc", {"k\ufffd": ["\ufffd"]})


def test_a_record_that_is_only_recalled_memory_is_not_learned(tmp_path: Path) -> None:
    (found,) = read_lines(tmp_path, {"text": "<recalled-memory>x</recalled-memory>"})
    assert "nothing in this file" in str(found)


def test_the_same_text_twice_is_two_events(tmp_path: Path) -> None:
    assert len(set(keys(read_lines(tmp_path, {"text": "yes"}, {"text": "yes"})))) == 2


def test_the_same_timed_record_written_twice_is_one_event(tmp_path: Path) -> None:
    record = {"text": "yes", "time": "2026-03-02T09:00:00Z"}
    assert len(set(keys(read_lines(tmp_path, record, record)))) == 1


def test_a_file_that_grows_keeps_the_keys_it_had(tmp_path: Path) -> None:
    before = keys(read_lines(tmp_path, {"text": "a"}, {"text": "b"}))
    assert keys(read_lines(tmp_path, {"text": "a"}, {"text": "b"}, {"text": "c"}))[:2] == before


def test_records_without_a_session_are_distinguished_by_their_file(tmp_path: Path) -> None:
    one, two = (keys(read_lines(tmp_path, {"text": "a"}, name=name)) for name in ("1.jsonl", "2.jsonl"))
    assert one != two


def test_a_null_is_the_same_as_nothing(tmp_path: Path) -> None:
    given_null = keys(read_lines(tmp_path, {"text": "a", "actor": None, "payload": None, "occurred_at": None}))
    assert given_null == keys(read_lines(tmp_path, {"text": "a"}))
