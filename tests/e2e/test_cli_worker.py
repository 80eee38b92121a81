"""The worker as a separate process: the jobs that it runs, its output, and how it stops."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from driver import Cli
from forked_program import ForkedProgram
from llm_server import LlmServer, hangs

PROGRAM = (sys.executable, "-m", "remembrancer", "worker")
SOURCE = str(Path(__file__).parents[2] / "src")
PATIENCE = 60


@pytest.fixture
def environment(folder: Path) -> dict[str, str]:
    assert folder.exists()
    return {**os.environ, "PYTHONPATH": SOURCE}


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer() as running:
        yield running


@contextmanager
def working(environment: dict[str, str], *arguments: str) -> Generator[ForkedProgram, None, None]:
    with ForkedProgram("worker", *arguments, env=environment) as running:
        try:
            yield running
        finally:
            running.kill()


def lines_of(running: ForkedProgram, count: int) -> list[str]:
    """The next lines on stdout, as they come."""
    return [running.stdout.readline().rstrip("\n") for _ in range(count)]


def ended(running: ForkedProgram) -> tuple[int, str, list[str]]:
    """The exit code, the rest of stdout, and the lines on stderr."""
    out, err = running.communicate(timeout=PATIENCE)
    return running.wait(), out, err.splitlines()


def test_a_worker_runs_due_jobs_and_prints_each_run_until_it_is_stopped(cli: Cli, environment: dict[str, str]) -> None:
    cli.done("observe", "The deploy failed")
    with working(environment) as running:
        assert lines_of(running, 5) == [
            "index: no embedder: lexical recall only, as asked for",
            "segment: no stream has enough turns or was inactive for long enough",
            "compact: there are no near-duplicates",
            "retain: preset default does not archive events",
            "health: took 1 snapshot: 100.0, green",
        ]
        running.send_signal(signal.SIGTERM)
        assert ended(running) == (0, "", ["working on remembrancer.db; Ctrl+C ends it"])
    assert [one["last"]["error"] for one in cli.done("jobs", "--json").json["jobs"]] == [""] * 5


def test_each_run_of_a_worker_is_a_line_of_json_at_once(cli: Cli, environment: dict[str, str]) -> None:
    cli.done("observe", "The deploy failed")
    with working(environment, "--json", "--only", "segment", "--only", "health") as running:
        told = [json.loads(line) for line in lines_of(running, 2)]
        running.send_signal(signal.SIGTERM)
        assert ended(running)[:2] == (0, "")
    assert [one["job"] for one in told] == ["segment", "health"]
    assert list(told[1]) == ["job", "done", "failed", "left", "reason", "details"]


def test_an_interrupt_ends_a_worker_as_well(cli: Cli, environment: dict[str, str]) -> None:
    cli.done("observe", "The deploy failed")
    with working(environment, "--only", "health") as running:
        assert lines_of(running, 1) == ["health: took 1 snapshot: 100.0, green"]
        running.send_signal(signal.SIGINT)
        assert ended(running)[0] == 0


def test_a_job_run_by_one_worker_is_not_run_again_by_another(cli: Cli, environment: dict[str, str]) -> None:
    cli.done("observe", "The deploy failed")
    cli.done("maintain", "--only", "compact")
    with working(environment, "--only", "compact", "--only", "health") as running:
        assert lines_of(running, 1) == ["health: took 1 snapshot: 100.0, green"]
        running.send_signal(signal.SIGTERM)
        assert ended(running)[:2] == (0, "")


def test_a_second_signal_interrupts_the_current_run_and_nothing_is_lost(
    cli: Cli, environment: dict[str, str], server: LlmServer
) -> None:
    turns = [f'{{"text": "The worker of the checkout needs more memory, {n}", "session": "monday"}}' for n in range(20)]
    cli.done("observe", "--stdin", stdin="\n".join(turns).encode())
    server.always = hangs
    environment |= {"REMEMBRANCER_LLM_URL": server.url("openai"), "REMEMBRANCER_LLM_KEY": "k"}
    arguments = ("--preset", "plastmem", "--llm", "openai:m", "--only", "segment")
    with working(environment, *arguments) as running:
        assert server.called.wait(PATIENCE)
        running.send_signal(signal.SIGTERM)
        running.send_signal(signal.SIGINT)
        code, out, told = ended(running)
    assert (code, out, told[1:]) == (0, "", ["cancelled; the next run continues from here"])
    assert cli.done("doctor", "--json").json["ok"]
    assert "formed 1 episode of 20 turns" in cli.done("end-session", "monday", "--preset", "plastmem").out


def test_a_worker_whose_output_pipe_is_closed_ends_quietly(cli: Cli, environment: dict[str, str]) -> None:
    cli.done("observe", "The deploy failed")
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run(
        [*PROGRAM], env=environment, stdout=writing, stderr=subprocess.PIPE, timeout=PATIENCE, check=False, text=True
    )
    os.close(writing)
    assert (ran.returncode, ran.stderr.splitlines()) == (141, ["working on remembrancer.db; Ctrl+C ends it"])
