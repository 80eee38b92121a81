"""The supervisor of `serve --workers`: workers that hang, end or fail to start, signals, and its own end."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import light_workers
import pytest
from server_process import PATIENCE, wait_until

from remembrancer.compose import require_shareable
from remembrancer.config import Settings
from remembrancer.errors import InvalidInput
from remembrancer.interfaces.http.workers import LONGEST_PAUSE, SHORTEST_PAUSE, STEADY_SECONDS, Pauses

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it reads the children of a process from /proc")


@dataclass
class Supervised:
    """A supervisor with two workers. `folder`: see light_workers."""

    process: subprocess.Popen[str]
    folder: Path
    first: list[int]
    lines: list[str] = field(default_factory=list[str])

    def workers(self) -> set[int]:
        number = self.process.pid
        children = Path(f"/proc/{number}/task/{number}/children").read_text(encoding="ascii").split()
        return {int(one) for one in children if is_worker(int(one))}

    def warm_without(self, ended: set[int]) -> set[int]:
        """The workers, when two are warm and none is one of these."""

        def warm() -> set[int]:
            return {pid for pid in self.workers() - ended if (self.folder / f"warm-{pid}").exists()}

        wait_until(lambda: len(warm()) == 2 and not self.workers() & ended)
        return warm()


def is_worker(pid: int) -> bool:
    """Whether it is a worker that runs; not one that ended and was not waited for."""
    try:
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


@contextmanager
def supervised(folder: Path) -> Generator[Supervised]:
    process = subprocess.Popen(
        [sys.executable, light_workers.__file__, str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield Supervised(process, folder, json.loads(process.stdout.readline()))
    finally:
        process.kill()
        process.communicate()


@dataclass
class Course:
    """The course of one supervisor's life. Each field: its workers after that, except `code` and `told`."""

    begun: set[int]
    hung: set[int]
    failed: set[int]
    renewed: set[int]
    after_first_signal: set[int]
    code: int
    told: str


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    folder = tmp_path_factory.mktemp("light")
    with supervised(folder) as one:
        begun = one.workers()
        [hanging, other] = one.first
        os.kill(hanging, signal.SIGSTOP)
        hung = one.warm_without({hanging})

        (folder / "fail").touch()
        os.kill(other, signal.SIGKILL)
        wait_until(lambda: bool([*folder.glob("failed-*")]))
        (folder / "fail").unlink()
        failed = one.warm_without({other})

        one.process.send_signal(signal.SIGHUP)
        renewed = one.warm_without(failed)

        (folder / "stubborn").touch()
        one.process.send_signal(signal.SIGTERM)
        wait_until((folder / "asked").exists)
        after_first_signal = one.workers()
        one.process.send_signal(signal.SIGTERM)
        _, told = one.process.communicate(timeout=PATIENCE)
        return Course(begun, hung, failed, renewed, after_first_signal, one.process.returncode, told)


def test_a_worker_that_hangs_is_replaced(course: Course) -> None:
    assert len(course.begun & course.hung) == 1
    assert re.search(r"did not answer for \d+ s; another one takes its place", course.told)


def test_a_worker_whose_successors_fail_is_replaced_after_growing_pauses(course: Course) -> None:
    assert len(course.failed) == 2
    pauses = [float(one) for one in re.findall(r"ended; another one takes its place in ([\d.]+) s", course.told)]
    assert pauses[:2] == [light_workers.SHORTEST_PAUSE, 2 * light_workers.SHORTEST_PAUSE]


def test_a_hangup_signal_replaces_every_worker(course: Course) -> None:
    assert len(course.renewed) == 2
    assert not course.renewed & course.failed


def test_a_second_signal_ends_workers_that_are_not_done_after_the_first(course: Course) -> None:
    assert course.after_first_signal == course.renewed
    assert course.code == 0


def test_workers_end_with_their_supervisor(tmp_path: Path) -> None:
    with supervised(tmp_path) as one:
        one.process.kill()
        wait_until(lambda: not any(map(is_worker, one.first)))


def test_pauses_double_up_to_a_limit_until_a_worker_lives_long() -> None:
    pauses = Pauses()
    grown = [pauses.after(1.0) for _ in range(9)]
    assert grown[:3] == [SHORTEST_PAUSE, 2 * SHORTEST_PAUSE, 4 * SHORTEST_PAUSE]
    assert grown[-1] == LONGEST_PAUSE
    assert [pauses.after(STEADY_SECONDS), pauses.after(1.0)] == [0.0, SHORTEST_PAUSE]


def test_a_folder_of_qdrant_is_refused_for_several_workers() -> None:
    with pytest.raises(InvalidInput, match=r"workers: 2 .*1, because a folder of Qdrant is used by one process"):
        require_shareable(Settings(index="qdrant:///points", workers=2))
