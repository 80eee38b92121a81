"""A load on the real server: the benchmark's own script, with a few memories and clients for a moment each."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
Figures = dict[str, Any]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it reads processes' figures from /proc")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks.server", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def told() -> Figures:
    tiny = ("--sizes", "20", "--clients", "2", "--loads", "mixed", "--seconds", "0.3", "--minutes", "0.01")
    done = run(*tiny, "--json")
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


def test_no_clients_are_refused_by_name() -> None:
    done = run("--clients", "0")
    assert (done.returncode, "--clients" in done.stderr, "Traceback" in done.stderr) == (2, True, False)


def test_a_load_is_measured_for_each_kind_of_its_requests(told: Figures) -> None:
    told_kinds = [(row["load"], row["kind"], row["clients"]) for row in told["rows"]]
    assert told_kinds == [("mixed", "observe", 2), ("mixed", "recall", 2)]


def test_no_request_fails(told: Figures) -> None:
    assert [row["errors"] for row in (*told["rows"], *told["flatness"])] == [{}] * 3


def test_hundredths_of_the_times_are_in_their_order(told: Figures) -> None:
    assert all(0 < row["p50"] <= row["p95"] <= row["p99"] for row in told["rows"])


def test_a_mixed_load_is_mostly_questions(told: Figures) -> None:
    requests = {row["kind"]: row["requests"] for row in told["rows"]}
    assert requests["recall"] > requests["observe"]


def test_memory_is_watched_while_events_are_added(told: Figures) -> None:
    [watched] = told["flatness"]
    assert (watched["load"], watched["events"] > 0) == ("mixed", True)


def test_a_new_server_over_the_same_file_takes_memory_too(told: Figures) -> None:
    [watched] = told["flatness"]
    assert min(watched["first"], watched["last"], watched["anew"]) > 0
