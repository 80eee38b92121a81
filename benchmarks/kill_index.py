"""Durability of index files: kill a process repeatedly while it writes one, and compare the answers of the next process
with those of an index that is derived from the records alone.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from remembrancer import AsyncRemembrancer
from remembrancer.index import workspace
from remembrancer.index.resident import ResidentIndex

MEMORIES: Final = 1_500
QUESTIONS: Final = ("kestrel 17", "where did kestrel 1234 sit?", "a further kestrel")
ASKED_AT: Final = datetime(2030, 1, 1, tzinfo=UTC)
"""The time of all questions, so that the ages of memories are the same in two answers."""
LONGEST_S: Final = 0.25
"""The longest time that a process writes before it is killed, in seconds."""
_PROCESSES: Final = multiprocessing.get_context("fork")


async def _opened(db: Path, index: ResidentIndex | None = None) -> AsyncRemembrancer:
    settings = {"background_index": False}
    return await AsyncRemembrancer.open(
        str(db), embedder="none", index=index, settings=settings, clock=lambda: ASKED_AT
    )


async def _fill(db: Path) -> None:
    async with await _opened(db) as rem:
        await rem.observe_many([{"text": f"kestrel {n} sat on wire {n % 7}"} for n in range(MEMORIES)])


async def _write(db: Path, began: Any) -> None:
    """Write index files until the process is killed."""
    workspace.LEAST_WRITTEN, workspace.WRITTEN_SHARE = 1, 1_000_000  # type: ignore[misc]
    rem = await _opened(db)
    await rem.recall(QUESTIONS[0])
    began.set()
    while True:
        await rem.remember(f"a further kestrel, {time.time_ns()}")
        await rem.recall(QUESTIONS[0])
        await rem.context.index.save(rem.context.store)


async def _compare(db: Path) -> None:
    """Exits with 1 if the file leads to another answer than the records."""
    answers: list[list[tuple[object, float]]] = []
    for index in (None, ResidentIndex()):
        rem = await _opened(db, index)
        found = [await rem.recall(question) for question in QUESTIONS]
        answers.append([(hit.id, hit.score) for each in found for hit in each])
        await rem.close()
    if answers[0] != answers[1] or not answers[0]:
        sys.exit(1)


def _run(work: Any, *arguments: Any) -> None:
    asyncio.run(work(*arguments))


def kill_rounds(folder: Path, *, rounds: int, seed: int = 1) -> tuple[int, int]:
    """The rounds whose answers differed, and those that left a part of a file. In every second round, the process is
    killed as soon as it has begun a file.
    """
    db, chance, different, parts = folder / "killed.db", random.Random(seed), 0, 0
    filling = _PROCESSES.Process(target=_run, args=(_fill, db))
    filling.start()
    filling.join()
    for number in range(rounds):
        began = _PROCESSES.Event()
        writing = _PROCESSES.Process(target=_run, args=(_write, db, began))
        writing.start()
        began.wait(60)
        end = time.monotonic() + chance.uniform(0, LONGEST_S)
        while time.monotonic() < end and not (number % 2 and _parts(folder)):
            time.sleep(0.0005)
        os.kill(writing.pid or 0, signal.SIGKILL)
        writing.join()
        left = _parts(folder)
        parts += bool(left)
        for path in left:
            path.unlink()
        comparing = _PROCESSES.Process(target=_run, args=(_compare, db))
        comparing.start()
        comparing.join()
        different += comparing.exitcode != 0
    return different, parts


def _parts(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.name.endswith(".partial")]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kill_index", description=__doc__)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        different, parts = kill_rounds(Path(folder), rounds=options.rounds, seed=options.seed)
    sys.stdout.write(
        f"{options.rounds} processes killed, {parts} of them while a file was written; {different} answers differ\n"
    )


if __name__ == "__main__":
    main()
