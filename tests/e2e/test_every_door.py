"""Every verb through every interface: Python, the command line, HTTP and MCP give the same answers, and leave the same
memory behind. All texts in it are hostile, and stay text.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

import httpx
import pytest
import test_cli_embedder
import test_cli_encryption
import test_cli_migrate
import test_hooks
from doors import SCOPE, WORKSPACE, Asked, Call, KeptLog, Line, Printed, Service, Stage, printed, python_door, staged
from every_dropin import BLOCKS, DROPINS, PAST
from every_member import commands_of, routes_of
from every_page import BESIDE, forms, pages
from every_verb import ACTOR, AT, INTENT, QUESTION, READS, REFUSALS, TITLE, WRITES, Told, Verb, listed, shape
from fastapi import FastAPI
from forked_program import ForkedProgram
from hostile_words import HOSTILE, LONG, MARKUP, hostile_name
from mcp_clients import over_stdio
from parsed_pages import ParsedPage
from server_process import serving

from remembrancer.interfaces.cli.program import command_line
from remembrancer.interfaces.hooks.client import EVENTS
from remembrancer.interfaces.http.logs import LOGGER, JsonLines, ReadableLines
from remembrancer.interfaces.text import one_line
from remembrancer.interfaces.wire.files import VaultOut
from remembrancer.interfaces.wire.jobs import MaintenanceOut
from remembrancer.interfaces.wire.journal import JournalPageOut
from remembrancer.interfaces.wire.memories import MemoriesOut
from remembrancer.interfaces.wire.recall import RecallOut
from remembrancer.policies.rendering.safe import one_line as safe_line
from remembrancer.policies.rendering.safe import safe

DOORS: Final = ("python", "cli", "terminal", "http", "mcp")
"""`terminal` is the command line again, as a person reads it."""
PRINTED: Final = {
    "export": Line(["export", "printed.jsonl"]),
    "export-subject": Line(["export-subject", "printed-ana.jsonl", "--of-actor", ACTOR]),
    "backup": Line(["backup", "printed.db"]),
    "restore": Line(["restore", "backup-cli.db", "--db", "restored-printed.db"], of_memory=False),
}
"""Commands that write a file, as the terminal runs them: to another one."""
FREE: Final = {"timings_ms", "token", "hash", "head", "door", "names"}
"""What differs from run to run: how long it took, the secret of a key, and the audit trail's doors and hashes."""
PATIENCE: Final = 60
FIXTURES: Final = Path(__file__).parents[1] / "fixtures"
OPEN, CLOSE = "<recalled-memory>", "</recalled-memory>"
OF_FILES: Final = {"GET /v1/export", "POST /v1/import", "POST /v1/vault/check", "POST /v1/vault/sync"}
"""Routes that read or write files. `tests/unit/interfaces/http/test_http_files.py` compares them with Python."""
HTML: Final = {"Accept": "text/html"}


def over_mcp(told: Any) -> Any:
    """The structured content of MCP, in which texts are escaped because a model may read them."""
    if isinstance(told, dict):
        return {name: over_mcp(one) for name, one in cast("dict[str, Any]", told).items()}
    if isinstance(told, list):
        return [over_mcp(one) for one in cast("list[Any]", told)]
    return safe(told) if isinstance(told, str) else told


@dataclass
class Answers:
    """The result in Python, and for each other interface the expected and the actual answer."""

    python: Any
    beside: dict[str, tuple[Any, Any]] = field(default_factory=dict[str, tuple[Any, Any]])


@dataclass
class Play:
    """All answers by the name of the verb, the interfaces that were used, and the final state."""

    folder: Path
    told: Told = field(default_factory=dict[str, Any])
    answers: dict[str, Answers] = field(default_factory=dict[str, Answers])
    prints: dict[str, Printed] = field(default_factory=dict[str, Printed])
    exports: dict[str, bytes] = field(default_factory=dict[str, bytes])
    pages: dict[str, tuple[httpx.Response, str]] = field(default_factory=dict[str, tuple[httpx.Response, str]])
    forms: dict[str, httpx.Response] = field(default_factory=dict[str, httpx.Response])
    beside: dict[str, httpx.Response] = field(default_factory=dict[str, httpx.Response])
    blocks: dict[str, str] = field(default_factory=dict[str, str])
    streams: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    refused: dict[str, str] = field(default_factory=dict[str, str])
    commands: set[str] = field(default_factory=set[str])
    routes: set[str] = field(default_factory=set[str])
    tools: set[str] = field(default_factory=set[str])
    responses: list[httpx.Response] = field(default_factory=list[httpx.Response])
    tokens: dict[str, str] = field(default_factory=dict[str, str])
    log: list[logging.LogRecord] = field(default_factory=list[logging.LogRecord])
    app: FastAPI | None = None
    stage: Stage = field(default_factory=Stage)
    offered: set[str] = field(default_factory=set[str])

    def db(self, door: str) -> Path:
        return self.folder / door / "memory.db"

    def settled(self, told: Any) -> Any:
        """The answer without values that may differ: durations, secrets, and the folder of each interface."""
        if isinstance(told, dict):
            members = cast("dict[str, Any]", told)
            return {name: self.settled(one) for name, one in members.items() if name not in FREE and name[:1] != "_"}
        if isinstance(told, list):
            return [self.settled(one) for one in cast("list[Any]", told)]
        if isinstance(told, str):
            for door in DOORS:
                told = told.replace(str(self.folder / door), "FOLDER")
        return told

    def beside_python(self, name: str, door: str, expected: Any, got: Any) -> None:
        self.answers[name].beside[door] = (self.settled(expected), self.settled(got))

    def python(self, door: str, verb: Verb) -> Any:
        with python_door(self.db(door), role=verb.role) as memory:
            return verb.python(memory, self.told)

    def line(self, door: str, line: Line) -> Any:
        self.commands.add(line.command)
        answer = printed(self.db(door), line, as_json=True)
        return json.loads(answer.out) if answer.code == line.exit else {"failed": answer.err}

    def on_terminal(self, name: str, door: str, line: Line) -> None:
        self.prints[name] = printed(self.db(door), line, as_json=False)


def requested(service: Service, asked: Asked) -> Any:
    answer = service.http(asked)
    if answer.is_error:
        return {"failed": answer.text}
    return answer.json() if answer.content else None


def called(service: Service, call: Call) -> Any:
    answer = service.mcp(call)
    return {"failed": answer.text} if answer.failed else answer.shape


def called_over_http(service: Service, call: Call) -> Any:
    """The answer of the server's own /mcp to the same call."""
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
    params = {"name": call.tool, "arguments": dict(call.arguments)}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    answer = service.http(Asked("POST", "/mcp", body=body), headers=headers)
    return answer.json()["result"]["structuredContent"]


def prepare(folder: Path) -> None:
    """Write the files that commands read from the working directory, including hostile ones."""
    (folder / "notes").mkdir(parents=True)
    (folder / "notes" / "one.md").write_text(f"# Learnings\n\n{HOSTILE}\n", encoding="utf-8", newline="")
    written = datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp()
    os.utime(folder / "notes" / "one.md", (written, written))
    (folder / "INTENT.md").write_text(INTENT, encoding="utf-8", newline="")
    lines = [{"text": f"read {number}: {HOSTILE}", "actor": hostile_name("reader")} for number in range(2)]
    (folder / "events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def done_at(door: str, verb: Verb, play: Play, services: dict[str, Service]) -> bool:
    """Run the verb through that interface if it has it. Returns whether it has."""
    python = play.answers[verb.name].python
    if door == "cli" and verb.cli:
        play.beside_python(verb.name, door, verb.as_cli(python), play.line(door, verb.cli(play.told)))
    elif door == "terminal" and verb.cli:
        play.on_terminal(verb.name, door, verb.cli(play.told))
    elif door == "http" and verb.http:
        play.beside_python(verb.name, door, verb.as_http(python), requested(services[door], verb.http(play.told)))
    elif door == "mcp" and verb.mcp:
        play.beside_python(verb.name, door, over_mcp(verb.as_mcp(python)), called(services[door], verb.mcp(play.told)))
    else:
        return False
    return True


def play_writes(play: Play, stage: Stage, services: dict[str, Service]) -> None:
    """Run each verb through each interface on a separate memory; where an interface lacks the verb, Python runs it."""
    for door in DOORS:
        stage.set(-1)
        with python_door(play.db(door)) as memory:
            play.tokens[door] = memory.keys.create(hostile_name("player"), "admin").token
        if door in services:
            services[door].token = play.tokens[door]
    for step, verb in enumerate(WRITES):
        for door in DOORS:
            os.chdir(play.folder / door)
            stage.set(step)
            if door == "python":
                play.answers[verb.name] = Answers(play.python(door, verb))
            elif not done_at(door, verb, play, services):
                play.python(door, verb)
        play.told[verb.name] = play.answers[verb.name].python
    for door in DOORS:
        with python_door(play.db(door)) as memory:
            memory.export(play.folder / f"{door}.jsonl")
        play.exports[door] = (play.folder / f"{door}.jsonl").read_bytes()


def play_reads(play: Play, stage: Stage, service: Service) -> None:
    """Run each reading verb through every interface, on one memory."""
    os.chdir(play.folder / "http")
    stage.set(1000)
    for verb in READS:
        python = play.python("http", verb)
        play.answers[verb.name] = Answers(python)
        if verb.cli:
            line = verb.cli(play.told)
            play.beside_python(verb.name, "cli", verb.as_cli(python), play.line("http", line))
            play.on_terminal(verb.name, "http", PRINTED.get(line.command, line))
        if verb.http:
            got = requested(service, verb.http(play.told))
            play.beside_python(verb.name, "http", verb.as_http(python), got)
        if verb.mcp:
            call = verb.mcp(play.told)
            play.beside_python(verb.name, "mcp", over_mcp(verb.as_mcp(python)), called(service, call))
            expected = {**over_mcp(verb.as_mcp(python))}
            got = called_over_http(service, call)
            for one in (expected, got):
                one.pop("as_of", None)  # the time of the machine that serves
            play.beside_python(verb.name, "mcp over http", expected, got)
            play.blocks[verb.name] = service.mcp(call).text
        play.told[verb.name] = python
    for name in ("python", "cli"):
        play.exports[f"read by {name}"] = (play.folder / "http" / f"{name}.jsonl").read_bytes()


def play_refusals(play: Play, service: Service) -> None:
    """Refusals are the same through every interface, with the same message."""
    for verb in REFUSALS:
        assert verb.cli
        assert verb.http
        words = play.python("http", verb)
        play.answers[verb.name] = Answers(words)
        ran = printed(play.db("http"), verb.cli(play.told), as_json=True)
        play.refused[verb.name] = ran.err
        play.beside_python(verb.name, "cli", (2, f"error: {one_line(verb.as_cli(words))}\n"), (ran.code, ran.err))
        answer = service.http(verb.http(play.told))
        play.beside_python(verb.name, "http", (True, words), (400 <= answer.status_code < 500, answer.json()["detail"]))
        if verb.mcp:
            called = service.mcp(verb.mcp(play.told))
            play.beside_python(verb.name, "mcp", (True, safe_line(words)), (called.failed, called.text))


def play_the_rest(play: Play, service: Service) -> None:
    told = play.told
    play.blocks["recall, rendered"] = told["recall, rendered"]["rendered"]
    play.blocks["a memory as a resource"] = service.run(service.caller.read(f"memory://{told['remember']['id']}"))
    play.blocks["the prompt"] = service.run(service.caller.prompt(task="why did checkout run out of memory?"))
    last = {"limit": 3}
    play.streams["v1"] = service.streamed(Asked("GET", "/v1/events/stream", query=last), 3)
    play.streams["crewship"] = service.streamed(Asked("GET", "/api/v1/journal/stream"), 3)
    for name, (asked, said) in pages(told).items():
        play.pages[name] = service.http(asked, headers=HTML), said
    for name, asked in forms(told, service.token).items():
        play.forms[name] = service.http(asked, headers=HTML)
    for asked in BESIDE:
        play.beside[asked.template] = service.http(asked)
    for verb in DROPINS:
        assert verb.http
        got = requested(service, verb.http(told))
        service.run(service.app.state.background.settled())
        python = play.python("http", verb)
        play.answers[verb.name] = Answers(python)
        play.beside_python(verb.name, "http", python, got if "failed" in got else verb.as_http(got))
    with python_door(play.db("http")) as memory:
        memory.scoped(session=PAST).remember(f"a fact: {HOSTILE}", kind="goal", tier="semantic")
    for asked in BLOCKS:
        play.blocks[asked.template] = service.http(asked).text


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    play = Play(tmp_path_factory.mktemp("doors"))
    log, logger = KeptLog(), logging.getLogger(LOGGER)
    before = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(log)
    with staged(play.folder) as stage:
        play.stage = stage
        for door in DOORS:
            prepare(play.folder / door)
        stage.set(-10_000)
        with python_door(play.folder / "elsewhere.db") as memory:
            memory.remember(f"elsewhere: {HOSTILE}")
            memory.export(play.folder / "elsewhere.jsonl")
        for door in DOORS:
            shutil.copy(play.folder / "elsewhere.jsonl", play.folder / door)
        with Service(play.db("http"), stage) as http, Service(play.db("mcp"), stage) as mcp:
            play_writes(play, stage, {"http": http, "mcp": mcp})
            play_reads(play, stage, http)
            play_refusals(play, http)
            play_the_rest(play, http)
            play.app = http.app
            play.offered = {tool.name for tool in http.run(http.caller.client.list_tools()).tools}
            play.routes |= http.routes
            play.tools |= http.tools | mcp.tools
            play.responses += http.answers
            play.log += log.records
            yield play
    logger.removeHandler(log)
    logger.setLevel(before)


# ── the same answers ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("verb", [*WRITES, *READS, *REFUSALS, *DROPINS], ids=lambda verb: verb.name)
def test_it_is_answered_alike_at_every_door(play: Play, verb: Verb) -> None:
    for door, (expected, got) in play.answers[verb.name].beside.items():
        assert got == expected, door


@pytest.mark.parametrize("door", DOORS[1:])
def test_every_door_leaves_the_same_memory_behind(play: Play, door: str) -> None:
    assert play.exports[door] == play.exports["python"]


def test_an_export_is_the_same_file_through_every_interface(play: Play) -> None:
    assert play.exports["read by cli"] == play.exports["read by python"]


def test_streams_send_the_entries_of_the_journal(play: Play) -> None:
    told = play.told["the end of the journal"]["entries"]
    data = [json.loads(block.partition("data: ")[2]) for block in play.streams["v1"]]
    assert data == told
    seen = [json.loads(block.partition("data: ")[2])["summary"] for block in play.streams["crewship"]]
    assert all(HOSTILE in text for text in seen)


def test_probes_and_numbers_are_answered(play: Play) -> None:
    assert {path: answer.status_code for path, answer in play.beside.items()} == dict.fromkeys(play.beside, 200)
    assert play.beside["/healthz"].json()["episodic"] == play.answers["health"].python["_search"]


# ── nothing is left out ───────────────────────────────────────────────────────────────────────────────────────────


def test_every_route_was_asked(play: Play) -> None:
    assert play.app is not None
    assert set(routes_of(play.app.routes)) - play.routes - OF_FILES == set()


def test_every_operation_of_the_document_is_one_of_these_routes(play: Play) -> None:
    document = play.beside["/openapi.json"].json()
    there = {route.replace(":path}", "}") for route in play.routes}
    operations = {f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods}
    assert operations - there - OF_FILES == set()


def test_every_command_was_run(play: Play) -> None:
    assert {name for name, _ in commands_of(command_line())} - play.commands - set(BY_ITSELF) == set()


def test_every_tool_was_called(play: Play) -> None:
    assert play.offered - play.tools == set()


def documented_shapes() -> dict[str, set[str]]:
    """The keys of each command's document, as the page about the command line names them; what it calls by a word
    alone, such as a memory, is left out.
    """
    page = (FIXTURES.parents[1] / "docs" / "cli.md").read_text(encoding="utf-8").partition("## The JSON")[2]
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| `")]
    outer = {commands: re.sub(r"\([^()]*\)", "", keys).partition(":")[0] for commands, keys in rows}
    return {
        command: set(re.findall(r"`([^`]+)`", keys))
        for commands, keys in outer.items()
        if keys.startswith("`")
        for command in re.findall(r"`([^`]+)`", commands)
    }


DOCUMENTED: Final = documented_shapes()
CURVE: Final = "show --curve"
IN_TWO_WAYS: Final = {"journal tail", "promote", "show"}
"""Commands that answer otherwise with an option or an id, which their row says after a semicolon, or another row."""


ENCRYPTION: Final = ("encryption status", "encryption enable", "encryption rotate", "encryption disable")
CHANGES_OF_EMBEDDER: Final = ("embedder change", "embedder switch", "embedder rollback", "embedder drop")


@pytest.mark.parametrize(
    "command",
    sorted(
        set(DOCUMENTED)
        - IN_TWO_WAYS
        - {"demo", "import-config", "migrate", "embedder calibrate", "encryption new-key"}
        - {*CHANGES_OF_EMBEDDER, *ENCRYPTION}
    ),
)
def test_a_command_s_document_has_the_keys_that_its_page_names(play: Play, command: str) -> None:
    lines = {verb.name: verb.cli(play.told) for verb in (*WRITES, *READS) if verb.cli}
    said = [name for name, line in lines.items() if command == (CURVE if "--curve" in line.arguments else line.command)]
    assert said
    for name in said:
        assert set(play.answers[name].beside["cli"][1]) == DOCUMENTED[command] - FREE, name


# ── and it stays text ─────────────────────────────────────────────────────────────────────────────────────────────


def test_texts_come_back_as_they_were(play: Play) -> None:
    told = play.told
    assert told["observe"]["events"][0]["text"] == HOSTILE
    assert told["remember"]["title"] == TITLE
    assert {part: told["remember"]["scope"][part] for part in SCOPE} == SCOPE
    assert told["remember"]["scope"]["workspace"] == WORKSPACE


def test_nothing_that_is_printed_steers_a_terminal(play: Play) -> None:
    steering = {
        name: sorted({one for one in ran.out + ran.err if not one.isprintable() and one not in "\n\u200c\u200d"})
        for name, ran in play.prints.items()
    }
    assert {name: found for name, found in steering.items() if found} == {}


@pytest.mark.parametrize("verb", REFUSALS, ids=lambda verb: verb.name)
def test_a_refusal_is_one_line_of_text(play: Play, verb: Verb) -> None:
    assert play.refused[verb.name].removesuffix("\n").isprintable()


def test_everything_that_was_run_for_a_terminal_ended_well(play: Play) -> None:
    assert {name: ran.err for name, ran in play.prints.items() if ran.code} == {}


def test_no_answer_has_a_header_of_a_memory_s_making(play: Play) -> None:
    for answer in play.responses:
        for name, value in answer.headers.multi_items():
            assert value.isascii()
            assert value.isprintable()
            assert not (name == "set-cookie" and not value.startswith("remembrancer_key=")), answer.url


def test_nothing_of_a_memory_is_in_the_log(play: Play) -> None:
    for record in play.log:
        for line in (JsonLines().format(record), ReadableLines().format(record)):
            assert line.isprintable()
            assert not [word for word in ("owned", "checkout ran", "alert(", LONG, "%0D", "recalled") if word in line]


def test_requests_were_logged(play: Play) -> None:
    assert len(play.log) >= len(play.responses)


BLOCK_NAMES: Final = (
    *("recall, rendered", "recall", "recent", "timeline", "a memory as a resource", "the prompt"),
    *(asked.template for asked in BLOCKS),
)


@pytest.mark.parametrize("name", BLOCK_NAMES)
def test_no_text_closes_a_block_for_a_prompt(play: Play, name: str) -> None:
    block = play.blocks[name]
    several = 2 if name == "recall" else 1  # the memories, and why they were found
    assert (block.count(OPEN), block.count(CLOSE)) == (several, several)
    assert "<script>" not in block
    assert "<system>" not in block
    assert not [one for one in block if not one.isprintable() and one not in "\n\t"]


@pytest.mark.parametrize("name", ["v1", "crewship"])
def test_no_text_ends_a_message_of_a_stream(play: Play, name: str) -> None:
    for block in play.streams[name]:
        assert [line.partition(":")[0] for line in block.split("\n") if not line.startswith((":", "retry"))] in (
            ["id", "event", "data"],
            ["id", "data"],
        )


EDITED: Final = ("add a memory", "edit a memory")
"""The pages with a text field of their own."""
PAGE_NAMES: Final = tuple(pages({name: {"id": ""} for name in (verb.name for verb in WRITES)}))


@pytest.mark.parametrize("name", PAGE_NAMES)
def test_a_page_has_no_element_or_attribute_of_a_memory_s_making(play: Play, name: str) -> None:
    page = ParsedPage(play.pages[name][0].text)
    assert page.faults == []
    assert page.comments == []
    own = {"textarea"} if name in EDITED else set[str]()
    assert not {"iframe", "object", "embed", "style", "textarea"} & set(page.elements) - own
    assert [text for text in page.scripts if text.strip()] == []
    assert [one for one in page.attributes if one[1].startswith("on") or one[1] == "style"] == []
    addresses = [value for _, kind, value in page.attributes if kind in ("href", "src", "action", "formaction")]
    assert [address for address in addresses if not address.startswith(("/", "#", "?")) or address[:2] == "//"] == []


@pytest.mark.parametrize("name", PAGE_NAMES)
def test_a_page_has_no_invisible_character(play: Play, name: str) -> None:
    said = play.pages[name][0].text
    assert not [one for one in said if not one.isprintable() and one not in "\n\u200c\u200d"]


@pytest.mark.parametrize("name", PAGE_NAMES)
def test_a_page_shows_the_data_of_the_memory(play: Play, name: str) -> None:
    answer, said = play.pages[name]
    assert said in ParsedPage(answer.text).said


def test_a_memory_s_page_has_all_of_its_words(play: Play) -> None:
    said = ParsedPage(play.pages["memory"][0].text).said
    assert [one for one in (*MARKUP, LONG) if one not in said] == []


def test_forms_lead_to_this_server_s_own_pages(play: Play) -> None:
    places = {name: answer.headers.get("location", "") for name, answer in play.forms.items()}
    assert {name: answer.status_code for name, answer in play.forms.items()} == {
        **dict.fromkeys(places, 303),
        "login with no key": 401,
        "edit an old revision": 409,
        "erase nothing that is there": 404,
        "add no rule": 400,
        "remove no rule": 404,
        "release no hold": 404,
    }
    assert [place for place in places.values() if place and (place[0] != "/" or place[:2] == "//")] == []


# ── what runs until it is told to stop, and what needs no memory ──────────────────────────────────────────────────


def options() -> list[str]:
    return ["--workspace", WORKSPACE, *(part for name, value in SCOPE.items() for part in (f"--{name}", value))]


def test_the_program_that_serves_answers_as_python_does(play: Play) -> None:
    with python_door(play.db("python")) as memory:
        expected = shape(JournalPageOut.of(memory.journal.page(limit=3)))
    with serving(play.db("python"), "--no-work", *options()) as server:
        asked = Asked("GET", "/v1/events", query={"limit": 3})
        headers = {"Authorization": f"Bearer {play.tokens['python']}"}
        answer = httpx.get(server.url.rstrip("/") + asked.url, headers=headers, timeout=PATIENCE)
    assert answer.json() == expected
    assert not [line for line in server.lines if not line.rstrip("\n").isprintable() or "owned" in line]


def test_the_program_that_speaks_mcp_answers_as_python_does(play: Play) -> None:
    with python_door(play.db("python")) as memory:
        expected = over_mcp(listed(shape(MemoriesOut.of(memory.recent(limit=4)))))

    async def talk() -> Any:
        async with over_stdio("--db", str(play.db("python")), "--embedder", "none", *options()) as call:
            return (await call.done("recent", limit=4)).shape

    assert asyncio.run(talk()) == expected


def lines_of(play: Play, count: int, *arguments: str) -> list[str]:
    """The first lines that a program prints which runs until it is stopped."""
    given = {**os.environ, "REMEMBRANCER_EMBEDDER": "none"}
    command = (*arguments, "--db", str(play.db("cli")), "--json", *options())
    with ForkedProgram(*command, env=given, cwd=play.folder / "cli") as running:
        try:
            read = [running.stdout.readline() for _ in range(count)]
        finally:
            running.kill()  # how it ends when it is asked to is told elsewhere
            running.communicate(timeout=PATIENCE)
    return read


def test_a_worker_does_the_same_as_maintain(play: Play) -> None:
    [line] = lines_of(play, 1, "worker", "--only", "compact")
    with python_door(play.db("python")) as memory:
        expected = shape(MaintenanceOut.of(memory.maintain(["compact"], force=True)))["jobs"]["compact"]
    told = json.loads(line)
    assert told == {"job": "compact", **expected}


def test_watching_a_vault_syncs_it(play: Play) -> None:
    os.chdir(play.folder / "python")
    with python_door(play.db("python")) as memory:
        expected = shape(VaultOut.of(memory.vault.sync("notes"), None))
    told = json.loads(
        "".join(
            lines_of(play, len(json.dumps(expected, indent=2).splitlines()), "vault", "watch", "notes", "--no-index")
        )
    )
    assert told == expected


def measured(play: Play, *arguments: str) -> tuple[Any, Printed]:
    """The JSON of a command that measures, and its printed output."""
    line = Line(arguments, of_memory=False)
    play.commands.add(line.command)
    told = printed(play.folder, line, as_json=True)
    assert told.code == 0, told.err
    return json.loads(told.out), printed(play.folder, line, as_json=False)


def test_the_demonstration_s_answers_are_those_of_its_memory(play: Play) -> None:
    kept = play.folder / "kept.db"
    told, _ = measured(play, "demo", "--keep", str(kept))
    with python_door(kept) as memory:
        for answer in told["answers"]:
            play.stage.clock.now = datetime.fromisoformat(answer["recall"]["asked_at"])
            recall = memory.recall(answer["question"], limit=10, explain=True)
            assert play.settled(answer["recall"]) == play.settled(shape(RecallOut.of(recall)))


def test_measured_texts_are_escaped(play: Play) -> None:
    name = hostile_name("conversation")
    turn = {"id": hostile_name("turn"), "conversation": name, "session": "s", "occurred_at": AT, "text": HOSTILE}
    question = {"question": f"{QUESTION}", "gold": [turn["id"]], "category": "x", "conversation": name}
    for file, line in (("corpus", turn), ("questions", {"id": hostile_name("question"), **question})):
        (play.folder / f"{file}.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    files = [str(play.folder / "corpus.jsonl"), str(play.folder / "questions.jsonl")]
    told, ran = measured(play, "eval", "questions", *files, "--records", str(play.folder / "one"), "--no-baselines")
    assert told["conversation_ids"] == [name]
    assert told["table"][0]["turn"]["recall@10"] == 1.0
    assert not [one for one in ran.out + ran.err if not one.isprintable() and one not in "\n\u200c\u200d"]


def test_measurements_are_compared_alike_by_folder_and_by_file(play: Play) -> None:
    for preset in ("default", "engram"):
        options = ["--preset", preset, "--records", str(play.folder / preset), "--no-baselines"]
        measured(play, "eval", "locomo", str(FIXTURES / "locomo" / "tiny.json"), *options)
    by_folder, _ = measured(play, "eval", "compare", str(play.folder / "default"), str(play.folder / "engram"))
    files = [str(play.folder / preset / f"{preset}.jsonl") for preset in ("default", "engram")]
    by_file, _ = measured(play, "eval", "compare", *files)
    assert by_folder == by_file


def test_the_segmenter_is_measured(play: Play) -> None:
    told, _ = measured(play, "eval", "segmentation", str(FIXTURES / "segmentation" / "errands.json"))
    assert told["sets"][0]["name"] == "errands"


def test_an_imported_configuration_stays_text(play: Play) -> None:
    name = hostile_name("namespace")
    file = play.folder / "config.yaml"
    file.write_text(
        json.dumps({"episodic": {"namespace": name}, hostile_name("section"): 1}, ensure_ascii=False), encoding="utf-8"
    )
    answer, ran = measured(play, "import-config", str(file))
    assert set(answer) == DOCUMENTED["import-config"]
    assert answer["settings"]["workspace"] == name
    assert not [one for one in ran.out + ran.err if not one.isprintable() and one not in "\n\u200c\u200d"]


BY_ITSELF: Final[dict[str, Callable[..., None]]] = {
    "serve": test_the_program_that_serves_answers_as_python_does,
    "mcp": test_the_program_that_speaks_mcp_answers_as_python_does,
    "worker": test_a_worker_does_the_same_as_maintain,
    "vault watch": test_watching_a_vault_syncs_it,
    "demo": test_the_demonstration_s_answers_are_those_of_its_memory,
    **dict.fromkeys(
        CHANGES_OF_EMBEDDER,
        test_cli_embedder.test_a_change_of_embedder_is_the_same_on_the_command_line_and_in_python,
    ),
    **dict.fromkeys(
        ENCRYPTION, test_cli_encryption.test_encrypting_a_store_is_the_same_on_the_command_line_and_in_python
    ),
    "encryption new-key": test_cli_encryption.test_a_new_key_is_a_file_that_only_its_owner_can_read,
    "embedder calibrate": test_cli_embedder.test_a_calibration_is_printed_as_the_setting_takes_it,
    **dict.fromkeys(
        (f"hook {event}" for event in EVENTS),
        test_hooks.test_a_session_is_recorded_and_the_next_one_is_told_what_is_relevant,
    ),
    "hook serve": test_hooks.test_a_second_server_ends_at_once,
    "hook mcp": test_hooks.test_mcp_serves_the_memory_of_the_project_in_the_current_folder,
    "hook status": test_hooks.test_a_session_is_told_why_there_is_no_memory,
    "migrate": test_cli_migrate.test_a_store_moves_and_answers_the_same,
    "import-config": test_an_imported_configuration_stays_text,
    "eval questions": test_measured_texts_are_escaped,
    "eval locomo": test_measurements_are_compared_alike_by_folder_and_by_file,
    "eval compare": test_measurements_are_compared_alike_by_folder_and_by_file,
    "eval segmentation": test_the_segmenter_is_measured,
}
"""Commands that are run in a test of their own."""
