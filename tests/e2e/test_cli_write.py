from __future__ import annotations

import json
from pathlib import Path

import pytest
from driver import Cli

from remembrancer.interfaces.cli.read import OF_EACH


def test_remember_makes_the_file_and_prints_an_id_that_show_takes(cli: Cli, folder: Path) -> None:
    printed = cli.done("remember", "Checkout needs 2 GiB", "--kind", "decision", "--tag", "checkout").out
    assert (folder / "remembrancer.db").exists()
    shown = cli.done("show", printed.split()[-1])
    assert "Checkout needs 2 GiB" in shown.out
    assert "semantic decision, active" in shown.out


def test_remember_takes_every_option(cli: Cli) -> None:
    ran = cli.done(
        *("remember", "Checkout needs 2 GiB", "--title", "Memory", "--kind", "fact", "--tier", "episodic"),
        *("--tag", "a", "--tag", "b", "--topic-key", "memory", "--importance", "0.9", "--priority", "7"),
        *("--confidence", "0.8", "--source", "runbook", "--origin", "import", "--at", "2026-03-04"),
        *("--valid-from", "2026-03-01", "--valid-until", "2030-01-01T00:00:00+01:00", "--visibility", "workspace"),
        *("--metadata", '{"host": "db-1"}', "--key", "k1", "--agent", "coder", "--json"),
    )
    memory = ran.json
    assert memory["title"] == "Memory"
    assert (memory["kind"], memory["tier"], memory["source"], memory["origin"]) == (
        "fact",
        "episodic",
        "runbook",
        "import",
    )
    assert memory["tags"] == ["a", "b"]
    assert memory["occurred_to"] == "2026-03-04T00:00:00Z"
    assert memory["valid_until"] == "2029-12-31T23:00:00Z"
    assert memory["metadata"] == {"host": "db-1"}
    assert (memory["topic_key"], memory["key"]) == ("memory", "k1")
    assert memory["scope"]["agent"] == "coder"
    assert memory["strength"]["importance"] == 0.9


def test_an_updated_topic_keeps_its_earlier_text(cli: Cli) -> None:
    first = cli.done("remember", "Deploys are on Monday", "--topic-key", "deploys", "--json").json
    second = cli.done("remember", "Deploys are on Tuesday", "--topic-key", "deploys", "--json").json
    assert second["id"] == first["id"]
    shown = cli.done("show", first["id"], "--json").json
    assert [revision["text"] for revision in shown["revisions"]] == ["Deploys are on Monday"]
    assert "1 revision" in cli.done("show", first["id"]).out


def test_a_superseded_memory_is_shown_as_such(cli: Cli) -> None:
    old, new = (cli.done("remember", text, "--json").json["id"] for text in ("Rabbit", "Kafka"))
    assert cli.done("show", old).out.splitlines()[1] == "semantic note, active"
    cli.done("supersede", old, new)
    assert cli.done("show", old).out.splitlines()[1] == "semantic note, active, superseded"


def test_observe_records_an_event(cli: Cli) -> None:
    ran = cli.done(
        *("observe", "Deploy failed", "--as", "tool", "--actor", "ci", "--type", "deploy", "--severity", "error"),
        *("--priority", "high", "--at", "2h", "--payload", '{"code": 1}', "--refs", '{"pr": 7}', "--key", "e1"),
        *("--session", "ops", "--json"),
    )
    [event] = ran.json["events"]
    assert (event["role"], event["actor"], event["type"], event["severity"]) == ("tool", "ci", "deploy", "error")
    assert (event["payload"], event["refs"], event["key"]) == ({"code": 1}, {"pr": 7}, "e1")
    assert event["scope"]["session"] == "ops"
    assert "Deploy failed" in cli.done("observe", "Deploy failed").out


def test_observe_takes_lines_and_reports_the_bad_ones(cli: Cli) -> None:
    lines = [
        b'{"text": "one", "role": "assistant", "occurred_at": "2026-03-04T09:00:00+01:00", "session": "s"}',
        b"",
        b"not json",
        b"\xff\xfe",
        b'{"text": "two", "colour": "red"}',
        b'{"text": "three", "occurred_at": "2026-03-04"}',
        b'{"role": "user"}',
        b'["a", "list"]',
        b'{"text": "last"}',
    ]
    ran = cli("observe", "--stdin", "--json", stdin=b"\n".join(lines))
    assert ran.code == 1
    assert [event["text"] for event in ran.json["events"]] == ["one", "last"]
    assert ran.json["events"][0]["occurred_at"] == "2026-03-04T08:00:00Z"
    assert [problem["line"] for problem in ran.json["problems"]] == [3, 4, 5, 6, 7, 8]
    assert [line.split(" ")[0] for line in ran.err.splitlines() if line.startswith("stdin")] == [
        f"stdin:{number}:" for number in range(3, 9)
    ]
    plain = cli("observe", "--stdin", stdin=b'{"text": "a"}\n{"text": "b"}\nx\n')
    assert plain.code == 1
    assert "Recorded 2 events." in plain.out
    assert "Left out 1 line." in plain.out


def test_a_known_key_with_another_text_is_one_problem_and_its_neighbours_are_ingested(cli: Cli) -> None:
    cli.done("observe", "as it was", "--key", "k")
    lines = b'{"text": "before"}\n{"text": "changed", "key": "k"}\n{"text": "after"}\n'
    ran = cli("observe", "--stdin", "--json", stdin=lines)
    assert ran.code == 1
    assert [event["text"] for event in ran.json["events"]] == ["before", "after"]
    assert [problem["record"] for problem in ran.json["problems"]] == ["key k"]
    assert cli("observe", "changed", "--key", "k").code == 2


def test_remember_stdin_reports_the_lines_that_it_cannot_store_and_stores_the_others(cli: Cli) -> None:
    lines = (
        b'{"text": "one", "tags": ["a"], "valid_until": "2027-01-01T00:00:00Z"}',
        b"no json",
        b'{"text": "two", "importance": 3}',
        b'{"text": "three", "topic_key": "t"}',
        b'{"text": "four"}',
    )
    ran = cli("remember", "--stdin", "--no-index", "--json", stdin=b"\n".join(lines))
    assert ran.code == 1
    assert [memory["text"] for memory in ran.json["memories"]] == ["one", "four"]
    assert sorted((problem["line"], problem["message"].split(":")[0]) for problem in ran.json["problems"]) == [
        (2, "line"),
        (3, "importance"),
        (4, "topic_key"),
    ]


@pytest.mark.parametrize(
    "arguments",
    [("observe",), ("observe", "text", "--stdin"), ("remember",), ("remember", "text", "--stdin")],
)
def test_observe_and_remember_want_a_text_or_lines(cli: Cli, folder: Path, arguments: tuple[str, ...]) -> None:
    ran = cli(*arguments)
    assert ran.code == 2
    assert "a text or --stdin, but not both" in ran.err
    assert not (folder / "remembrancer.db").exists()


def test_feedback_moves_the_strength(cli: Cli) -> None:
    memory = cli.done("remember", "Checkout needs 2 GiB", "--json").json
    after = cli.done("feedback", memory["id"], "helpful", "--json").json
    assert after["id"] == memory["id"]
    assert after["strength"]["usage"]["helped"] == 1
    assert after["strength"]["confidence"] > memory["strength"]["confidence"]
    assert "1 × helped, 0 × unhelpful, 1 × harmed" in cli.done("feedback", memory["id"], "harmful").out
    assert cli("feedback", memory["id"], "wonderful").code == 2


def test_forget_retires_and_undo_restores(cli: Cli) -> None:
    memory = cli.done("remember", "Checkout needs 2 GiB", "--json").json["id"]
    assert "retired" in cli.done("forget", memory).out
    assert cli.done("recall", "checkout", "--json").json["hits"] == []
    assert cli.done("forget", memory, "--undo", "--json").json["status"] == "active"
    assert len(cli.done("recall", "checkout", "--json").json["hits"]) == 1


def test_mark_counts_use_and_prints_it(cli: Cli) -> None:
    ids = [cli.done("remember", text, "--json").json["id"] for text in ("Rabbit", "Kafka")]
    assert cli.done("mark", *ids).out.count("1 × used") == 2
    [marked] = cli.done("mark", ids[0], "--as", "shown", "--query", "which queue?", "--json").json["memories"]
    assert (marked["strength"]["usage"]["used"], marked["strength"]["usage"]["shown"]) == (1, 1)


def test_mark_with_an_unknown_id_counts_none(cli: Cli) -> None:
    known = cli.done("remember", "Rabbit", "--json").json["id"]
    assert cli("mark", known, "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f").code == 2
    assert cli.done("show", known, "--json").json["memory"]["strength"]["usage"]["used"] == 0


def test_a_text_of_any_length_is_recorded_and_found_by_its_passage(cli: Cli) -> None:
    needle = "The spare key of the lighthouse hangs behind the barometer."
    text = "\n".join([*(f"{number} nothing happened" for number in range(5_000)), needle, "the end"])
    said = json.dumps({"text": text, "role": "tool"}).encode()
    [event] = cli.done("observe", "--stdin", "--no-index", "--json", stdin=said).json["events"]
    assert event["text"] == text
    question = "where does the spare key of the lighthouse hang?"
    cue = cli.done("recall", question, "--json").json["hits"][0]["cue"]
    assert text[cue["start"] : cue["end"]] == cue["text"]
    assert f"characters {cue['start']:,} to {cue['end']:,}" in cli.done("recall", question).out
    memory = cli.done("recent", "--json").json["memories"][0]["id"]
    cues = len(cli.done("show", memory, "--json").json["cues"])
    assert f"{cues - OF_EACH} more: --json prints all" in cli.done("show", memory).out
