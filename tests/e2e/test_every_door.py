"""Every verb through every door: Python, the command line, HTTP and MCP give the same answers to the same questions,
and leave the same memory behind.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

import pytest
from doors import Asked, Line, Service, Stage, printed, python_door, staged
from every_verb import INTENT, READS, WRITES, Told, Verb
from hostile_words import HOSTILE

DOORS: Final = ("python", "cli", "http", "mcp")
FREE: Final = {"timings_ms", "token"}
"""What differs from run to run: how long it took, and the secret of a key."""


@dataclass
class Answers:
    """What Python was told at a step, and each door's answer beside what Python's comes to in its shape."""

    python: Any
    beside: dict[str, tuple[Any, Any]] = field(default_factory=dict[str, tuple[Any, Any]])


@dataclass
class Play:
    """All that was answered; the command lines, routes and tools by which; and the files that were left."""

    folder: Path
    writes: dict[str, Answers] = field(default_factory=dict[str, Answers])
    reads: dict[str, Answers] = field(default_factory=dict[str, Answers])
    left: dict[str, str] = field(default_factory=dict[str, str])


def settled(told: Any, folder: Path) -> Any:
    """Without what may differ: times taken, secrets, and the folder of each door."""
    if isinstance(told, dict):
        members = cast("dict[str, Any]", told)
        return {name: settled(one, folder) for name, one in members.items() if name not in FREE and name[:1] != "_"}
    if isinstance(told, list):
        return [settled(one, folder) for one in cast("list[Any]", told)]
    return told.replace(str(folder), "FOLDER") if isinstance(told, str) else told


def by_line(db: Path, line: Line) -> Any:
    answer = printed(db, line, as_json=True)
    return json.loads(answer.out) if answer.code == line.exit else {"failed": answer.err}


def by_request(service: Service, asked: Asked) -> Any:
    answer = service.http(asked)
    if answer.is_error:
        return {"failed": answer.text}
    return answer.json() if answer.content else None


def by_tool(service: Service, verb: Verb, told: Told) -> Any:
    assert verb.mcp
    called = service.mcp(verb.mcp(told))
    return {"failed": called.text} if called.failed else called.shape


def by_python(db: Path, verb: Verb, told: Told) -> Any:
    with python_door(db, role=verb.role) as memory:
        return verb.python(memory, told)


def prepare(folder: Path) -> None:
    """What commands read from the working directory: hostile too."""
    (folder / "notes").mkdir(parents=True)
    (folder / "notes" / "one.md").write_text(f"# Learnings\n\n{HOSTILE}\n", encoding="utf-8", newline="")
    (folder / "INTENT.md").write_text(INTENT, encoding="utf-8", newline="")


def write_with(play: Play, stage: Stage, services: dict[str, Service]) -> None:
    told: Told = {}
    for door in DOORS:
        stage.set(-1)
        with python_door(play.folder / door / "memory.db") as memory:
            token = memory.create_key("whoever plays", "admin").token
        if door in services:
            services[door].token = token
    for step, verb in enumerate(WRITES):
        for door in DOORS:
            folder = play.folder / door
            os.chdir(folder)
            db = folder / "memory.db"
            stage.set(step)
            if door == "python":
                answers = play.writes[verb.name] = Answers(by_python(db, verb, told))
            elif door == "cli" and verb.cli:
                expected = verb.as_cli(answers.python)
                answers.beside[door] = (
                    settled(expected, play.folder / "python"),
                    settled(by_line(db, verb.cli(told)), folder),
                )
            elif door == "http" and verb.http:
                got = by_request(services[door], verb.http(told))
                answers.beside[door] = (
                    settled(verb.as_http(answers.python), play.folder / "python"),
                    settled(got, folder),
                )
            elif door == "mcp" and verb.mcp:
                got = by_tool(services[door], verb, told)
                answers.beside[door] = (
                    settled(verb.as_mcp(answers.python), play.folder / "python"),
                    settled(got, folder),
                )
            else:
                by_python(db, verb, told)
        told[verb.name] = play.writes[verb.name].python


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    folder = tmp_path_factory.mktemp("doors")
    play = Play(folder)
    with staged(folder) as stage:
        for door in DOORS:
            prepare(folder / door)
        stage.set(-10_000)
        with python_door(folder / "elsewhere.db") as memory:
            memory.remember(f"elsewhere: {HOSTILE}")
            memory.export(folder / "elsewhere.jsonl")
        for door in DOORS:
            shutil.copy(folder / "elsewhere.jsonl", folder / door)
        with Service(folder / "http" / "memory.db", stage) as http, Service(folder / "mcp" / "memory.db", stage) as mcp:
            write_with(play, stage, {"http": http, "mcp": mcp})
            yield play


@pytest.mark.parametrize("verb", WRITES, ids=lambda verb: verb.name)
def test_doing_it_is_answered_alike_at_every_door(play: Play, verb: Verb) -> None:
    for door, (expected, got) in play.writes[verb.name].beside.items():
        assert got == expected, door
