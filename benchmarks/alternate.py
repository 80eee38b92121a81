"""Compare this version of the package with another one: the cost of recall without embedding, what the server's app
adds to it, the cost of loading the index, of writing and export.

Each version runs in a process of its own, on a file that it filled itself with the same events. The versions take
turns, so that other work on the machine slows both down alike. Ratios are medians of this version over medians of the
other one; below 1, this version is faster. Answers are compared too: the texts of the hits, their order, and their
scores to the last digit.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from benchmarks.corpus import BATCH, SIZES, Words
from remembrancer.evaluation.machine import machine_line

HERE: Final = Path(__file__).parent.parent
QUESTIONS: Final = 200
TURN: Final = 10
"""The number of questions, or of single events, before the other version takes its turn."""
SHORT: Final = 10_000
"""The number of short turns."""
SHORT_BATCH: Final = 500
_AT: Final = "2025-12-01T12:00:00+00:00"
LOADS: Final = 5
"""The number of times that the index is loaded and the file exported."""

Costs = dict[str, list[list[float]]]
"""Costs by operation: [wall-clock seconds, CPU seconds] of each run."""


class Version:
    """A checkout, and the process that runs it."""

    def __init__(self, checkout: Path, folder: Path) -> None:
        folder.mkdir()
        self.costs: Costs = defaultdict(list)
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(HERE / "benchmarks" / "alternate_worker.py"), str(folder)],
            env={**os.environ, "PYTHONPATH": str(checkout / "src")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def do(self, name: str, **arguments: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([name, arguments]) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate()


class Alternation:
    """Runs every operation under both versions, which alternate in running first."""

    def __init__(self, checkouts: Sequence[Path], folder: Path) -> None:
        self.versions = [Version(checkout, folder / str(place)) for place, checkout in enumerate(checkouts)]
        self._turns = 0
        self.answers = self.different = 0

    def each(self, name: str, **arguments: Any) -> list[Any]:
        """The results of both versions, in the order of `versions`."""
        self._turns += 1
        order = self.versions if self._turns % 2 else self.versions[::-1]
        results = [version.do(name, **arguments) for version in order]
        return results if self._turns % 2 else results[::-1]

    def count(self, label: str, name: str, **arguments: Any) -> None:
        for version, cost in zip(self.versions, self.each(name, **arguments), strict=True):
            version.costs[label].append(cost)

    def fill(self, words: Words, size: int) -> None:
        self.each("open", vectors=True)
        for start in range(0, size, BATCH):
            events = [_event(words, number) for number in range(start, min(start + BATCH, size))]
            self.count(f"observe_many of {len(events):,}", "observe_many", events=events)
            self.count("index", "index")

    def observe(self, words: Words, first: int, count: int) -> None:
        for start in range(first, first + count, TURN):
            costs = self.each("observe", events=[_event(words, number) for number in range(start, start + TURN)])
            for version, each in zip(self.versions, costs, strict=True):
                version.costs["observe"] += each
        for start in range(first + count, first + 2 * count, TURN):
            together = [_event(words, number) for number in range(start, start + TURN)]
            self.count(f"observe, {TURN} at once", "observe_together", events=together)
        self.each("index")

    def short_turns(self, first: int) -> None:
        """Record short turns, which have no time but numbers: most of what agents and tools record."""
        for start in range(first, first + SHORT, SHORT_BATCH):
            turns = [
                {
                    "text": f"Deploy of service {number % 50} failed: out of memory on node {number % 97}",
                    "role": ("user", "assistant")[number % 2],
                    "session": f"deploys-{number // 20}",
                    "occurred_at": _AT,
                }
                for number in range(start, start + SHORT_BATCH)
            ]
            self.count(f"observe_many of {SHORT_BATCH} short turns", "observe_many", events=turns)

    def over_http(self, questions: Sequence[str]) -> None:
        """What the app adds to a recall: both cost of the same question, in one process."""
        for start in range(0, len(questions), TURN):
            asked = self.each("over_http", questions=questions[start : start + TURN])
            for version, costs in zip(self.versions, asked, strict=True):
                for alone, served in costs:
                    added = [whole - own for whole, own in zip(served, alone, strict=True)]
                    version.costs["what HTTP adds to a recall"].append(added)

    def recall(self, label: str, questions: Sequence[str]) -> None:
        for start in range(0, len(questions), TURN):
            answered = self.each("recall", questions=questions[start : start + TURN])
            for version, answers in zip(self.versions, answered, strict=True):
                version.costs[label] += [cost for cost, _ in answers]
            for one, other in zip(*answered, strict=True):
                self.answers += 1
                self.different += one[1] != other[1]

    def close(self) -> None:
        for version in self.versions:
            version.close()


def _event(words: Words, number: int) -> dict[str, Any]:
    event = words.event(number)
    return {
        "text": event.text,
        "actor": event.actor,
        "role": ("user", "assistant")[number % 2],
        "session": event.session,
        "occurred_at": str(event.occurred_at),
        "severity": event.severity,
    }


def measure(checkouts: Sequence[Path], size: int, rounds: int, folder: Path) -> Alternation:
    words = Words(seed=size)
    pair = Alternation(checkouts, folder)
    try:
        pair.fill(words, size)
        pair.observe(words, size, QUESTIONS)
        for vectors, kind in ((True, "words and vectors"), (False, "words")):
            questions = [words.question() for _ in range(QUESTIONS)]
            for _ in range(LOADS):
                pair.count(f"load, {kind}", "open", vectors=vectors)
            pair.each("recall", questions=questions[:TURN])
            for _ in range(rounds):
                pair.recall(f"recall, {kind}", questions)
            if vectors:
                pair.over_http(questions)
        for _ in range(LOADS):
            pair.count("export", "export")
        pair.short_turns(size)
    finally:
        pair.close()
    return pair


def table(size: int, pair: Alternation) -> Table:
    drawn = Table(title=f"{size:,} memories", title_justify="left")
    for heading in ("", "times", "other ms", "this ms", "wall ratio", "other CPU ms", "this CPU ms", "CPU ratio"):
        drawn.add_column(heading, justify="right" if heading else "left")
    this, other = (version.costs for version in pair.versions)
    for label in this:
        row = [label, str(len(this[label]))]
        for kind in (0, 1):
            old, new = (statistics.median(cost[kind] for cost in costs[label]) * 1000 for costs in (other, this))
            row += [f"{old:.3f}", f"{new:.3f}", f"{new / old:.3f}"]
        drawn.add_row(*row)
    return drawn


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.alternate", description=__doc__)
    parser.add_argument("other", type=Path, help="the root of the other checkout")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--rounds", type=int, default=3, help=f"of {QUESTIONS} questions each")
    options = parser.parse_args()
    console = Console(width=120)
    console.print(machine_line())
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as folder:
            pair = measure((HERE, options.other), size, options.rounds, Path(folder))
        console.print(table(size, pair))
        console.print(f"{pair.answers - pair.different:,} of {pair.answers:,} answers are the same")


if __name__ == "__main__":
    main()
