"""The journal from the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from driver import Cli
from prepared import Prepare

PROGRAM = (sys.executable, "-m", "remembrancer")
SOURCE = str(Path(__file__).parents[2] / "src")


def observe(cli: Cli, text: str, *options: str) -> str:
    """Record an event; returns its id."""
    return cli.done("observe", text, "--json", *options).json["events"][0]["id"]


@pytest.fixture
def recorded(cli: Cli, prepared: Prepare) -> list[str]:
    """Three events, the first one the oldest; their ids."""
    return prepared(
        lambda: [
            observe(cli, "Deploy of checkout failed", "--severity", "error", "--type", "tool.call", "--as", "tool"),
            observe(cli, "Rolled it back", "--actor", "Ana", "--payload", '{"host": "node-7"}'),
            observe(cli, "Good morning", "--session", "tuesday"),
        ]
    )


def texts(document: Any) -> list[str]:
    return [event["text"] for event in document["events"]]


def test_list_shows_the_newest_first_each_with_its_id(cli: Cli, recorded: list[str]) -> None:
    out = cli.done("journal", "list").out
    shown = [line.strip().rpartition(" · ")[2] for line in out.splitlines()[1::2]]
    assert shown == [one[-8:] for one in recorded[::-1]]
    assert "tool.call error  tool: Deploy of checkout failed" in out
    assert "Ana (user): Rolled it back" in out


def test_list_continues_after_the_cursor_of_the_previous_page(cli: Cli, recorded: list[str]) -> None:
    first = cli.done("journal", "list", "-n", "2", "--json").json
    observe(cli, "meanwhile")
    second = cli.done("journal", "list", "-n", "2", "--after", first["next"], "--json").json
    assert (texts(first), texts(second)) == (["Good morning", "Rolled it back"], ["Deploy of checkout failed"])
    assert second["next"] is None
    assert f"--after {first['next']}" not in cli.done("journal", "list").out


def test_a_page_prints_how_to_get_the_next(cli: Cli, recorded: list[str]) -> None:
    cursor = cli.done("journal", "list", "-n", "1", "--json").json["next"]
    assert f"For more, add --after {cursor}" in " ".join(cli.done("journal", "list", "-n", "1").out.split())


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--query", "failing deploys"], [0]),
        (["-q", "node-7"], [1]),
        (["--type", "tool.call"], [0]),
        (["--without-type", "tool.call"], [1, 2]),
        (["--severity", "error", "--severity", "warn"], [0]),
        (["--priority", "pin"], []),
        (["--as", "tool"], [0]),
        (["--actor", "Ana"], [1]),
        (["--in-session", "tuesday"], [2]),
        (["--of-agent", "nobody"], []),
        (["--of-crew", "nobody"], []),
        (["--of-project", "nothing"], []),
        (["--since", "1h"], [0, 1, 2]),
        (["--until", "1h"], []),
    ],
)
def test_list_and_count_choose_by_the_same_options(
    cli: Cli, recorded: list[str], options: list[str], found: list[int]
) -> None:
    listed = cli.done("journal", "list", "--oldest-first", "--json", *options).json
    assert [event["id"] for event in listed["events"]] == [recorded[n] for n in found]
    assert cli.done("journal", "count", "--json", *options).json == {"total": len(found)}


def test_an_empty_list_says_so(cli: Cli, recorded: list[str]) -> None:
    assert cli.done("journal", "list", "--actor", "Bo").out == "No entry matches.\n"


def test_count_counts(cli: Cli, recorded: list[str]) -> None:
    assert cli.done("journal", "count").out == "3 events.\n"


def test_get_shows_all_of_an_entry(cli: Cli, recorded: list[str]) -> None:
    said = " ".join(cli.done("journal", "get", recorded[1]).out.split())
    for part in (recorded[1], "message, info, normal", "Rolled it back", "by Ana (user)", '{"host": "node-7"}'):
        assert part in said


def test_a_changed_priority_shows_who_changed_it_and_why(cli: Cli, recorded: list[str]) -> None:
    lead = ("--role", "LEAD", "--agent", "bo")
    changed = cli.done("journal", "priority", recorded[0], "pin", "--reason", "post-mortem", *lead, "--json").json
    assert (changed["previous"], changed["priority"], changed["by"]) == ("normal", "pin", "LEAD bo")
    assert cli.done("journal", "get", recorded[0], "--json").json["priority_changes"] == [changed]
    said = " ".join(cli.done("journal", "get", recorded[0]).out.split())
    assert "1 change of its priority" in said
    assert "LEAD bo: normal to pin post-mortem" in said
    assert "tool.call error pin" in cli.done("journal", "list", "--priority", "pin").out


def test_the_memory_of_a_pinned_entry_keeps_the_importance_floor(cli: Cli) -> None:
    event = observe(cli, "Deploy of checkout failed")
    cli.done("journal", "priority", event, "permanent", "--role", "LEAD")
    (memory,) = cli.done("recent", "--json").json["memories"]
    assert (memory["strength"]["importance"], memory["strength"]["importance_floor"]) == (0.95, 0.95)


def test_an_unchanged_priority_is_reported(cli: Cli, recorded: list[str]) -> None:
    assert "It is normal already." in cli.done("journal", "priority", recorded[0], "normal", "--role", "LEAD").out


def test_an_agent_may_not_change_a_priority(cli: Cli, recorded: list[str]) -> None:
    ran = cli("journal", "priority", recorded[0], "pin")
    assert (ran.code, ran.out, ran.err) == (2, "", "error: only LEAD may change a priority, not AGENT\n")


def test_tail_shows_the_last_in_the_order_they_were_recorded(cli: Cli, recorded: list[str]) -> None:
    old = observe(cli, "What happened before", "--at", "2020-01-01")
    told = cli.done("journal", "tail", "-n", "2", "--json").json
    assert [one["event"]["id"] for one in told["entries"]] == [recorded[2], old]
    assert ([one["position"] for one in told["entries"]], told["position"]) == ([3, 4], 4)
    out = cli.done("journal", "tail", "-n", "1").out
    assert ("What happened before" in out, "Good morning" in out) == (True, False)


def test_tail_continues_from_a_position(cli: Cli, recorded: list[str]) -> None:
    told = cli.done("journal", "tail", "--after", "2", "--json").json
    assert [one["event"]["id"] for one in told["entries"]] == recorded[2:]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("list", "--after", "here"), "after: 'here'"),
        (("list", "--severity", "loud"), "severities: 'loud'"),
        (("list", "--query", "???"), "query: '???'"),
        (("list", "--limit", "0"), "limit: 0"),
        (("get", "7"), "event_id: '7'"),
        (("get", "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"), "no event 01981c0e"),
        (("priority", "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f", "low"), "priority: 'low'"),
        (("tail", "--after", "99"), "after: 99"),
        (("tail", "--limit", "-1"), "limit: -1"),
        (("tail", "-f", "--every", "0"), "every: 0.0"),
    ],
)
def test_invalid_options_are_refused_in_one_line(
    cli: Cli, recorded: list[str], arguments: tuple[str, ...], said: str
) -> None:
    ran = cli("journal", *arguments)
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert ran.err.startswith(f"error: {said}")


def test_without_a_file_nothing_is_made(cli: Cli, folder: Path) -> None:
    assert cli("journal", "list").code == 3
    assert list(folder.iterdir()) == []


def test_tail_prints_entries_of_another_program_until_it_is_interrupted(cli: Cli, recorded: list[str]) -> None:
    following = [*PROGRAM, "journal", "tail", "-f", "-n", "1", "--every", "0.05", "--json"]
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    with subprocess.Popen(
        following, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout
        assert running.stderr
        told = [_document(running.stdout)]
        for text in ("one", "two"):
            observe(cli, text)
            told.append(_document(running.stdout))
        running.send_signal(signal.SIGINT)
        assert (running.wait(30), running.stderr.read()) == (130, "")
    assert [(one["position"], one["event"]["text"]) for one in told] == [(3, "Good morning"), (4, "one"), (5, "two")]


def _document(lines: Any) -> Any:
    """The next of several JSON documents, each of which ends with a line of one brace."""
    whole = ""
    for line in lines:
        whole += line
        if line == "}\n":
            return json.loads(whole)
    raise AssertionError(whole)
