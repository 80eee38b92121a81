"""What the worker processes of one server share. The other process is a real one: locks are a process's."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from remembrancer.adapters.siblings.locks import ProcessLocks
from remembrancer.adapters.siblings.queue import SiblingQueue
from remembrancer.adapters.siblings.shared import Siblings
from remembrancer.adapters.siblings.table import SharedCounts, SharedTable
from remembrancer.domain.job import Job

OTHER = """
import sys
from pathlib import Path
from remembrancer.adapters.siblings.shared import Siblings
siblings = Siblings(Path(sys.argv[1]))
queue = siblings.queue()
for line in sys.stdin:
    print(eval(line), flush=True)
"""

Ask = Callable[[str], str]


@contextmanager
def another(folder: Path) -> Generator[Ask]:
    """Another process of the folder, which evaluates expressions. At the end it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", OTHER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdin
        assert process.stdout
        lines, answers = process.stdin, process.stdout

        def ask(expression: str) -> str:
            print(expression, file=lines, flush=True)
            return answers.readline().strip()

        try:
            yield ask
        finally:
            process.kill()


@pytest.fixture
def siblings(tmp_path: Path) -> Generator[Siblings]:
    opened = Siblings(tmp_path)
    yield opened
    opened.close()


def test_the_turn_of_a_workspace_is_one_process_s_until_it_ends_and_others_announce_work_to_it(
    tmp_path: Path, siblings: Siblings
) -> None:
    async def steps() -> None:
        queue = siblings.queue()
        heard = asyncio.Queue[str]()
        queue.listen(heard.put_nowait)
        with another(tmp_path) as ask:
            assert ask("queue.takes_turn('acme')") == "True"
            assert not queue.takes_turn("acme")
            assert queue.takes_turn("globex")
            assert queue.takes_turn("globex")  # it keeps it
            assert ask("queue.takes_turn('globex')") == "False"
            ask("queue.announce('globex', 'index')")
            assert await asyncio.wait_for(heard.get(), 10) == "globex"
            ran = list[str]()

            async def run(workspace: str, job: Job) -> None:
                ran.append(workspace)

            async with queue.serving("acme", [Job.INDEX], run) as put:
                assert [await put("acme", Job.INDEX), await put("globex", Job.INDEX)] == [False, True]
            assert ran == ["globex"]
        assert queue.takes_turn("acme")  # the other process was killed
        queue.announce("globex", Job.INDEX)  # its own work: nobody else is told
        await queue.close()

    asyncio.run(steps())


def test_tables_and_counts_are_those_of_all_processes(tmp_path: Path, siblings: Siblings) -> None:
    table = siblings.table("keys")
    assert table.get("key") is None
    assert siblings.connections.least_of_others() is None
    with another(tmp_path) as ask:
        ask("siblings.table('keys').put('key', (1.5, 7.0))")
        assert table.get("key") == (1.5, 7.0)
        with table.locked():
            table.put("key", (0.5, 8.0))
        assert ask("siblings.table('keys').get('key')") == "(0.5, 8.0)"
        siblings.connections.set(3)
        assert ask("siblings.connections.least_of_others()") == "3"
        assert siblings.connections.least_of_others() == 0


def test_a_full_place_of_a_table_forgets_the_name_that_was_used_least_recently(tmp_path: Path) -> None:
    table = SharedTable(tmp_path / "a.table", ProcessLocks(tmp_path / "locks"), places=1)
    for number in range(9):
        table.put(str(number), (float(number), float(number != 3) * 10 + number))
    assert [number for number in range(9) if table.get(str(number)) is None] == [3]


def test_a_process_that_ended_in_order_is_not_counted(tmp_path: Path, siblings: Siblings) -> None:
    another_one = SharedCounts(tmp_path / "connections", _Second())
    assert siblings.connections.least_of_others() == 0
    another_one.close()
    assert siblings.connections.least_of_others() is None


class _Second(ProcessLocks):
    """The locks as another process sees them, for the first place is taken."""

    def __init__(self) -> None:
        return

    def take(self, name: str) -> bool:
        return not name.endswith(" 0")


def test_a_queue_is_found_at_its_box_after_a_process_with_its_number_died(tmp_path: Path, siblings: Siblings) -> None:
    first = siblings.queue()  # never closed
    second = SiblingQueue(tmp_path, siblings.locks)
    asyncio.run(second.close())
    asyncio.run(first.close())
