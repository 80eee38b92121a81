"""Ingestion rate on one CPU: turns per second, each turn observed in its own call, then all of them indexed.

Uses the default preset with the local embedder, loaded beforehand. Turns are synthetic (benchmarks/corpus.py) and, if a
LoCoMo file is given, those of LoCoMo. Every run writes a new file; reported values are medians over the runs. CPU time
is that of this process with all its threads.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from benchmarks.corpus import Words, open_memory
from remembrancer import EventDraft
from remembrancer.compose import choose_embedder
from remembrancer.config import Settings
from remembrancer.errors import InvalidInput
from remembrancer.evaluation import locomo
from remembrancer.evaluation.machine import machine_line
from remembrancer.ports.embedder import Embedder

TURNS: Final = 600
RUNS: Final = 3


@dataclass(frozen=True, slots=True)
class Duration:
    """Seconds of wall-clock time and of CPU time."""

    wall: float
    cpu: float

    @classmethod
    def now(cls) -> Duration:
        return cls(time.perf_counter(), time.process_time())

    def since(self, began: Duration) -> Duration:
        return Duration(self.wall - began.wall, self.cpu - began.cpu)


@dataclass(frozen=True, slots=True)
class Run:
    """Time to record the turns of one file, and to index them."""

    observed: Duration
    indexed: Duration


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table: medians over runs. `chars`: mean length of a turn. Rates are turns per second, recording and
    indexing together.
    """

    corpus: str
    turns: int
    chars: float
    observe_ms: float
    index_ms: float
    rate: float
    cpu_rate: float


def bind_to_one_cpu() -> str:
    """Bind this process to one CPU, before a library counts them. Returns a sentence that says which one."""
    if sys.platform != "linux":
        return "This system binds no process to a processor: on all of them"
    one = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {one})
    return f"On processor {one} alone"


async def fill(drafts: Sequence[EventDraft], embedder: Embedder, path: Path) -> Run:
    async with await open_memory(path, embedder) as rem:
        began = Duration.now()
        for draft in drafts:
            await rem.observe_many([draft])
        recorded = Duration.now()
        report = await rem.jobs.index_now()
        done = Duration.now()
    assert report.indexed == len(drafts), report
    return Run(observed=recorded.since(began), indexed=done.since(recorded))


async def measure(corpus: str, drafts: Sequence[EventDraft], embedder: Embedder) -> Row:
    runs: list[Run] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(RUNS):
            runs.append(await fill(drafts, embedder, Path(folder) / f"{number}.db"))
    turns = len(drafts)
    return Row(
        corpus=corpus,
        turns=turns,
        chars=statistics.mean(len(draft.text) for draft in drafts),
        observe_ms=statistics.median(run.observed.wall for run in runs) * 1000 / turns,
        index_ms=statistics.median(run.indexed.wall for run in runs) * 1000 / turns,
        rate=turns / statistics.median(run.observed.wall + run.indexed.wall for run in runs),
        cpu_rate=turns / statistics.median(run.observed.cpu + run.indexed.cpu for run in runs),
    )


def synthetic_turns(turns: int) -> list[EventDraft]:
    words = Words(seed=turns)
    return [words.event(number) for number in range(turns)]


def locomo_turns(path: Path, turns: int) -> list[EventDraft]:
    """The first `turns` turns of the file; sessions of different conversations get different names. Raises
    InvalidInput.
    """
    drafts = [
        EventDraft(
            text=turn.text,
            role=turn.role,
            actor=turn.actor,
            occurred_at=turn.occurred_at,
            session=f"{conversation.id}-{turn.session}",
        )
        for conversation in locomo.load(path).conversations
        for turn in conversation.transcript.turns
    ]
    return drafts[:turns]


def table(lines: Sequence[Row]) -> Table:
    drawn = Table(title=f"Taking turns in, medians of {RUNS}", title_justify="left")
    for heading in ("turns of", "turns", "chars each", "observe ms", "index ms", "turns/s", "turns/s of CPU time"):
        drawn.add_column(heading, justify="left" if heading == "turns of" else "right")
    for line in lines:
        drawn.add_row(
            line.corpus,
            f"{line.turns:,}",
            f"{line.chars:.0f}",
            f"{line.observe_ms:.2f}",
            f"{line.index_ms:.2f}",
            f"{line.rate:.0f}",
            f"{line.cpu_rate:.0f}",
        )
    return drawn


async def run(corpora: dict[str, Sequence[EventDraft]]) -> list[Row]:
    embedder = choose_embedder(Settings(embedder="local")).embedder
    assert embedder is not None
    try:
        await embedder.embed_documents([draft.text for draft in synthetic_turns(64)])
        return [await measure(name, drafts, embedder) for name, drafts in corpora.items()]
    finally:
        await embedder.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ingest", description=__doc__)
    parser.add_argument("locomo", type=Path, nargs="?", help="locomo10.json, plain or gzip: its turns too")
    parser.add_argument("--turns", type=int, default=TURNS)
    options = parser.parse_args()
    if options.turns < 1:
        parser.error(f"--turns: {options.turns} is not allowed; expected 1 or more")
    corpora: dict[str, Sequence[EventDraft]] = {"the shipped words": synthetic_turns(options.turns)}
    if options.locomo is not None:
        try:
            corpora["LoCoMo"] = locomo_turns(options.locomo, options.turns)
        except InvalidInput as error:
            parser.error(str(error))
    where = bind_to_one_cpu()
    console = Console(width=120)
    console.print(machine_line())
    console.print(where)
    console.print(table(asyncio.run(run(corpora))))


if __name__ == "__main__":
    main()
