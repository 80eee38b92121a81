"""Sessions of a coding agent, driven through its hooks and a real server process."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from driver import Cli
from mcp_clients import over_stdio

from remembrancer.interfaces.cli.main import GROUPS
from remembrancer.interfaces.hooks.client import EVENTS
from remembrancer.interfaces.hooks.place import Place

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "plugins" / "claude-code"


@dataclass
class Agent:
    """A coding agent in one repository, with its sessions' transcripts."""

    cli: Cli
    folder: Path
    written: int = 0
    place: Place = field(init=False)
    servers: list[subprocess.Popen[str]] = field(default_factory=list[subprocess.Popen[str]])

    def __post_init__(self) -> None:
        (self.folder / "shop" / ".git").mkdir(parents=True)
        self.place = Place(str(self.folder / "memory.db"))

    def say(self, session: str, text: object, *, role: str = "user") -> None:
        self.written += 1
        record = {
            "type": role,
            "uuid": f"record-{self.written}",
            "sessionId": session,
            "timestamp": f"2026-11-20T10:{self.written // 60:02}:{self.written % 60:02}Z",
            "message": {"role": role, "content": text},
        }
        with (self.folder / f"{session}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def hook(self, event: str, session: str, **told: str) -> str:
        """What the hook prints; it must succeed, and say nothing on stderr."""
        given = {
            "session_id": session,
            "transcript_path": str(self.folder / f"{session}.jsonl"),
            "cwd": str(self.folder / "shop"),
            "hook_event_name": EVENTS[event],
            **told,
        }
        ran = self.cli("hook", event, "--db", self.place.store, stdin=json.dumps(given).encode())
        assert (ran.code, ran.err) == (0, "")
        return ran.out

    def context(self, event: str, session: str, **told: str) -> str:
        """The context that the hook adds; "" if it says nothing."""
        out = self.hook(event, session, **told)
        if not out:
            return ""
        answer = json.loads(out)["hookSpecificOutput"]
        assert answer["hookEventName"] == EVENTS[event]
        return answer["additionalContext"]

    def serve(self) -> subprocess.Popen[str]:
        """A server that is ready."""
        command = [sys.executable, "-m", "remembrancer", "hook", "serve", "--db", self.place.store, "--json"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.servers.append(server)
        assert server.stdout is not None
        assert json.loads(server.stdout.readline())["pid"] == server.pid
        return server

    def stop(self, number: int = signal.SIGTERM) -> None:
        self.servers[-1].send_signal(number)
        self.servers[-1].wait(timeout=30)

    def recorded(self) -> list[str]:
        """The texts of the project's journal, while no server runs."""
        project = str(self.folder / "shop")
        listed = self.cli.done("journal", "list", "--db", self.place.store, "--workspace", project, "--json")
        return [event["text"] for event in reversed(listed.json["events"])]


@pytest.fixture
def agent(cli: Cli, tmp_path: Path) -> Iterator[Agent]:
    agent = Agent(cli, tmp_path)
    yield agent
    for server in agent.servers:
        server.kill()
        server.wait()
        if server.stdout is not None:
            server.stdout.close()


def test_a_session_is_recorded_and_the_next_one_is_told_what_is_relevant(agent: Agent) -> None:
    agent.serve()
    agent.say("monday", "The green side of checkout listens on port 8081")
    agent.say("monday", "Noted: port 8081 is the green side of checkout.", role="assistant")
    agent.hook("stop", "monday")
    agent.hook("session-end", "monday")
    agent.stop()
    agent.serve()
    assert "port 8081" in agent.context("session-start", "tuesday", source="startup")
    assert "port 8081" in agent.context(
        "user-prompt", "tuesday", prompt="which port does the green side of checkout use?"
    )
    assert agent.context("user-prompt", "tuesday", prompt="which rivers of Portugal are the longest?") == ""
    assert agent.context("user-prompt", "tuesday", prompt="ok, thanks!") == ""
    assert "port 8081" in agent.context("user-prompt", "tuesday", prompt="Fix the green side of checkout")
    assert agent.context("session-start", "monday", source="resume") == ""


def test_what_a_session_was_told_is_not_learned_from_its_transcript(agent: Agent) -> None:
    agent.say("monday", "The green side of checkout listens on port 8081")
    agent.serve()
    agent.hook("stop", "monday")
    agent.stop()
    agent.serve()
    told = agent.context("session-start", "tuesday", source="startup")
    agent.say("tuesday", f"{told}\n\nThe printer is in the hall.")
    agent.say("tuesday", [{"type": "tool_result", "tool_use_id": "one", "content": told}])
    agent.say("tuesday", f"{told}\n\nNoted.", role="assistant")
    agent.hook("stop", "tuesday")
    agent.stop()
    assert "port 8081" in told
    listed = agent.cli.done("recent", "--db", agent.place.store, "--workspace", str(agent.folder / "shop"), "--json")
    texts = [memory["text"] for memory in listed.json["memories"]]
    assert [text for text in texts if "8081" in text] == ["The green side of checkout listens on port 8081"]
    assert "The printer is in the hall." in texts


def test_a_session_is_told_at_its_start_how_the_user_wants_things(agent: Agent) -> None:
    agent.say("monday", "Always run the tests with -x before you commit")
    for number in range(30):
        agent.say("monday", f"Then we looked at file number {number}")
    agent.serve()
    agent.hook("stop", "monday")
    agent.stop()
    agent.serve()
    assert "-x before you commit" in agent.context("session-start", "tuesday", source="startup")


def test_the_running_sessions_own_turns_are_recalled_only_after_the_agent_lost_them(agent: Agent) -> None:
    agent.say("monday", "The green side of checkout listens on port 8081")
    agent.serve()
    agent.hook("stop", "monday")
    agent.stop()
    agent.serve()
    question = "which port does the green side of checkout use?"
    assert agent.context("user-prompt", "monday", prompt=question) == ""
    agent.hook("session-start", "monday", source="compact")
    assert "8081" in agent.context("user-prompt", "monday", prompt=question)


def test_nothing_is_lost_or_doubled_if_the_server_is_killed_in_the_middle_of_a_session(agent: Agent) -> None:
    agent.serve()
    for number in range(6):
        agent.say("monday", f"step {number}")
        agent.hook("post-tool", "monday")
        if number in (1, 3):
            agent.stop(signal.SIGKILL)
            agent.say("monday", f"said while no server ran, after step {number}")
            agent.serve()
    agent.hook("session-end", "monday")
    agent.stop()
    said = [f"step {number}" for number in range(6)]
    said[4:4] = ["said while no server ran, after step 3"]
    said[2:2] = ["said while no server ran, after step 1"]
    assert agent.recorded() == said


def test_a_hook_starts_a_server_that_records_and_ends_when_it_is_idle(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[list[str], dict[str, str]]] = []

    def spawn(_: str, arguments: list[str], environment: dict[str, str], **__: object) -> None:
        started.append((arguments, environment))

    monkeypatch.setattr(os, "posix_spawn", spawn)
    agent.say("monday", "The green side of checkout listens on port 8081")
    assert agent.hook("session-start", "monday", source="startup") == ""
    ((arguments, environment),) = started
    subprocess.run([*arguments, "--idle", "0.01"], env=environment, check=True, timeout=30)
    assert not (agent.place.folder / "socket").exists()
    assert agent.recorded() == ["The green side of checkout listens on port 8081"]


def test_a_hook_starts_no_server_while_one_is_starting(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*_: object, **__: object) -> None:
        pytest.fail("a second server")

    monkeypatch.setattr(os, "posix_spawn", start)
    agent.place.make()
    with agent.place.lock.open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert agent.hook("session-start", "monday", source="startup") == ""


def test_a_session_is_told_why_there_is_no_memory(agent: Agent) -> None:
    Path(agent.place.store).mkdir()
    command = [sys.executable, "-m", "remembrancer", "hook", "serve", "--db", agent.place.store]
    failed = subprocess.run(command, capture_output=True, check=False)
    assert failed.returncode == 3
    told = json.loads(agent.hook("session-start", "monday", source="startup"))
    assert told["systemMessage"].startswith("Remembrancer cannot remember now: ")
    assert "hook status" in told["systemMessage"]
    assert agent.hook("user-prompt", "monday", prompt="hello") == ""  # once a session is enough
    assert agent.cli.done("hook", "status", "--db", agent.place.store, "--json").json["failed"]


def test_hooks_inside_a_hook_do_nothing(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IN_REMEMBRANCER_HOOK", "1")
    agent.say("monday", "hello")
    assert agent.hook("session-start", "monday", source="startup") == ""
    assert not agent.place.folder.exists()


def test_what_a_subagent_says_is_not_asked_about(agent: Agent) -> None:
    assert agent.hook("user-prompt", "monday", prompt="hello", agent_id="a1") == ""
    assert not agent.place.folder.exists()


def test_mcp_serves_the_memory_of_the_project_in_the_current_folder(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.say("monday", "The green side of checkout listens on port 8081")
    agent.serve()
    agent.hook("stop", "monday")
    agent.stop()
    monkeypatch.chdir(agent.folder / "shop")

    async def found() -> str:
        async with over_stdio("--db", agent.place.store, command=("hook", "mcp")) as call:
            return (await call.done("recall", query="which port does checkout use?")).text

    assert "port 8081" in asyncio.run(found())


@pytest.mark.parametrize("stdin", [b"", b"no JSON", b"[]", b'"text"'])
def test_input_that_is_no_event_is_an_error_that_does_not_block_the_agent(cli: Cli, stdin: bytes) -> None:
    ran = cli("hook", "user-prompt", "--db", "memory.db", stdin=stdin)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("error: stdin: ")


def test_only_its_owner_may_enter_the_servers_folder(agent: Agent) -> None:
    agent.serve()
    assert agent.place.folder.stat().st_mode & 0o077 == 0
    assert (agent.place.folder / "socket").stat().st_mode & 0o077 == 0


def test_a_second_server_ends_at_once(agent: Agent) -> None:
    agent.serve()
    command = [sys.executable, "-m", "remembrancer", "hook", "serve", "--db", agent.place.store]
    second = subprocess.run(command, capture_output=True, check=True, timeout=30)
    assert second.stdout == b""


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_plugin_runs_each_event_of_the_program() -> None:
    hooks = _json(PLUGIN / "hooks" / "hooks.json")["hooks"]
    commands = {
        event: [hook["command"] for one in matched for hook in one["hooks"]] for event, matched in hooks.items()
    }
    assert commands == {event: [f"remembrancer hook {name}"] for name, event in EVENTS.items()}


def test_the_program_has_a_command_for_each_event() -> None:
    assert EVENTS.keys() <= GROUPS["hook"][1].keys()


def test_the_plugins_version_is_the_packages() -> None:
    import remembrancer  # noqa: PLC0415

    assert _json(PLUGIN / ".claude-plugin" / "plugin.json")["version"] == remembrancer.__version__


def test_the_marketplace_lists_the_plugin() -> None:
    (listed,) = _json(ROOT / ".claude-plugin" / "marketplace.json")["plugins"]
    assert (ROOT / listed["source"]).resolve() == PLUGIN
    assert listed["name"] == _json(PLUGIN / ".claude-plugin" / "plugin.json")["name"]


@pytest.mark.parametrize("path", ["\0", "\ud800"], ids=["a null character", "a lone surrogate"])
def test_a_path_that_no_file_has_is_left_out(agent: Agent, path: str) -> None:
    agent.serve()
    assert agent.hook("stop", "monday", cwd=path, transcript_path=path) == ""
