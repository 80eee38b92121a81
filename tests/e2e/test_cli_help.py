"""Every command has a help text, which names what its options allow."""

from __future__ import annotations

from typing import Any

import pytest
from driver import Cli

import remembrancer
from remembrancer.domain.event import Origin, Priority, Role, Severity
from remembrancer.domain.memory import Tier
from remembrancer.domain.scope import Reach, Visibility
from remembrancer.domain.strength import Feedback
from remembrancer.ingest import Format
from remembrancer.interfaces.cli.program import command_line


def commands() -> dict[str, Any]:
    """Each command by its name, with its group."""
    found: dict[str, Any] = {}
    for name, command in command_line().commands.items():
        under: dict[str, Any] = getattr(command, "commands", {})
        found |= {f"{name} {second}": inner for second, inner in under.items()} or {name: command}
    return found


COMMANDS = commands()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_a_summary_a_paragraph_and_an_example(cli: Cli, name: str) -> None:
    summary, paragraph, example = COMMANDS[name].help.split("\n\n")
    assert summary.endswith(".")
    assert len(summary) < 60
    assert len(paragraph) > 40
    assert example.startswith(f"Example: remembrancer {name}")
    assert summary in " ".join(cli.done(*name.split(), "--help").out.split())


@pytest.mark.parametrize(
    ("command", "parameter", "choices"),
    [
        ("recall", "tiers", Tier),
        ("recall", "reach", Reach),
        ("remember", "tier", Tier),
        ("remember", "origin", Origin),
        ("remember", "visibility", Visibility),
        ("observe", "by_role", Role),
        ("observe", "severity", Severity),
        ("observe", "priority", Priority),
        ("feedback", "verdict", Feedback),
        ("ingest", "format", Format),
    ],
)
def test_help_names_every_choice(command: str, parameter: str, choices: Any) -> None:
    [found] = [each for each in COMMANDS[command].params if each.name == parameter]
    for choice in choices:
        assert choice.value in f"{found.help} {found.metavar}"


def test_the_help_of_the_program_lists_every_command_with_the_summary_of_its_own_help(cli: Cli) -> None:
    listed = [" ".join(line.split()) for line in cli.done("--help").out.splitlines()]
    for name, command in command_line().commands.items():
        assert f"{name} {command.help.partition(chr(10))[0]}" in listed


def test_the_program_alone_shows_its_help(cli: Cli) -> None:
    assert cli.done().out == cli.done("-h").out == cli.done("--help").out


def test_the_help_lists_the_options_of_the_program(cli: Cli) -> None:
    told = cli.done("--help").out
    for option in command_line().params:
        assert option.opts[0] in told


def test_the_program_shows_its_version(cli: Cli) -> None:
    assert cli.done("--version").out == f"{remembrancer.__version__}\n"


def test_a_command_that_is_not_there_is_answered_with_those_of_a_like_name(cli: Cli) -> None:
    ran = cli("recal")
    assert ran.code == 2
    assert "'recall'" in ran.err
