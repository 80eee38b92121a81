"""The page of the HTTP routes names each of them, and its commands do what they say."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

from served import Served, asked

PAGE = (Path(__file__).parents[2] / "docs" / "http.md").read_text(encoding="utf-8")
ROUTE = re.compile(r"`(GET|POST|PATCH|DELETE) (/(?:v1|api)/[^`? ]*)")


def test_every_route_is_on_the_page_and_no_other() -> None:
    async def steps(served: Served) -> dict[str, Any]:
        return (await served.http.get("/openapi.json")).json()

    there = {
        (method.upper(), _bare(path))
        for path, methods in asked(steps)["paths"].items()
        for method in methods
        if path.startswith(("/v1/", "/api/"))
    }
    assert {(method, _bare(path)) for method, path in ROUTE.findall(PAGE)} == there


def test_the_commands_on_the_page_are_answered() -> None:
    commands = [
        command
        for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
        for command in block.replace("\\\n", " ").splitlines()
        if command.startswith("curl")
    ]

    async def steps(served: Served) -> list[tuple[str, int]]:
        seen = ""
        answers: list[tuple[str, int]] = []
        files: dict[str, bytes] = {}
        for command in commands:
            words = shlex.split(command.replace("$ID", seen))
            path = next(word for word in words if word.startswith("localhost")).removeprefix("localhost:8765")
            body = json.loads(words[words.index("-d") + 1]) if "-d" in words else None
            file = words[words.index("--data-binary") + 1].removeprefix("@") if "--data-binary" in words else None
            sent = None if file is None else files[file]
            headers = dict(words[place + 1].split(": ") for place, word in enumerate(words) if word == "-H")
            method = words[words.index("-X") + 1] if "-X" in words else "GET" if body is sent is None else "POST"
            answer = await served.http.request(method, path, json=body, content=sent, headers=headers)
            if ">" in words:
                files[words[words.index(">") + 1]] = answer.content
            answers.append((command, answer.status_code))
            if path == "/v1/memories" and method == "POST":
                seen = answer.json()["id"]
        return answers

    answers = asked(steps)
    assert len(answers) >= 8
    assert [(command, status) for command, status in answers if not 200 <= status < 300] == []


def _bare(path: str) -> str:
    """A path without the names of its parameters: `/v1/memories/{}`."""
    return re.sub(r"\{[^}]*\}", "{}", path)
