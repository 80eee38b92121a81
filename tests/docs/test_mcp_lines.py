"""The lines that add the memory to a client start a command that there is."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remembrancer.interfaces.cli.main import run

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def started(page: Path) -> Iterator[str]:
    """The commands that clients start by the configurations on a page."""
    text = page.read_text(encoding="utf-8")
    for line in re.findall(r"^claude mcp add .* -- (remembrancer .*)$", text, re.MULTILINE):
        yield line.partition("#")[0]
    for language, block in re.findall(r"```(json|toml)\n(.*?)```", text, re.DOTALL):
        if '"remembrancer"' in block and "command" in block:
            yield from commands(json.loads(block) if language == "json" else tomllib.loads(block))


def commands(configuration: dict[str, Any]) -> Iterator[str]:
    """Those of a client's configuration, such as `{"mcpServers": {"memory": {"command": …, "args": …}}}`."""
    for servers in configuration.values():
        for server in servers.values():
            yield shlex.join([server["command"], *server["args"]])


LINES = [(page.relative_to(ROOT), command) for page in PAGES for command in started(page)]


def test_the_readme_and_the_guide_have_some() -> None:
    assert {str(page) for page, _ in LINES} > {"README.md", "docs/guides/coding-agent.md"}


@pytest.mark.parametrize(("page", "command"), LINES, ids=str)
def test_a_client_is_given_a_command_that_there_is(page: Path, command: str) -> None:
    program, subcommand, *options = shlex.split(command)
    assert (program, subcommand) == ("remembrancer", "mcp")
    assert run([subcommand, *options, "--help"]) == 0
