"""Ingestion on one CPU: turns per second of CPU time, each turn observed in its own call, then all of them embedded,
then segmented into episodes; and the bytes of the file for each turn.

Uses the default preset with the local embedder. Turns are synthetic (benchmarks/corpus.py) and, if a LoCoMo file is
given, those of LoCoMo, as they are and joined to 1,200 to 2,100 characters. Every run writes a new file in a process of
its own; reported values are medians over the runs. With `--other`, a second checkout of the package takes turns with
this one, so that other work on the machine slows both down alike. CPU time is that of a process with all its threads,
without the start of the process and of the embedder.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from benchmarks.corpus import Words, open_memory
from benchmarks.quality_long import in_long_turns
from remembrancer import EventDraft
from remembrancer.compose import choose_embedder  # pyright: ignore  older versions have it there too
from remembrancer.config import Settings
from remembrancer.errors import InvalidInput
from remembrancer.evaluation import locomo
from remembrancer.evaluation.machine import machine_line

HERE: Final = Path(__file__).parent.parent
TURNS: Final = 600
RUNS: Final = 3
SYNTHETIC: Final = "the shipped words"
LOCOMO: Final = "LoCoMo"
LONG: Final = "LoCoMo, joined"
LONG_CHARS: Final = range(1_200, 2_101)


@dataclass(frozen=True, slots=True)
class Run:
    """Seconds of CPU time to record the turns of one file, to embed them and to segment them; `wall`: of all three.
    `bytes`: of the file.
    """

    observed: float
    indexed: float
    segmented: float
    wall: float
    bytes: int


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table: medians over runs, for one turn. `chars`: mean length of a turn."""

    corpus: str
    version: str
    turns: int
    chars: float
    runs: Sequence[Run]

    def ms(self, *steps: str) -> float:
        """CPU time of these steps, in milliseconds."""
        return statistics.median(sum(getattr(run, step) for step in steps) for run in self.runs) * 1000 / self.turns

    def bytes(self) -> float:
        return statistics.median(run.bytes for run in self.runs) / self.turns


def bind_to_one_cpu() -> str:
    """Bind this process, and those that it starts, to one CPU. Returns a sentence that says which one."""
    if sys.platform != "linux":
        return "This system binds no process to a processor: on all of them"
    one = min(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {one})
    return f"On processor {one} alone"


async def fill(drafts: Sequence[EventDraft], path: Path) -> dict[str, float]:
    """The seconds of a `Run`."""
    embedder = choose_embedder(Settings(embedder="local")).embedder
    assert embedder is not None
    try:
        await embedder.embed_documents([draft.text for draft in drafts[:16]])
        cpu, began = [time.process_time()], time.perf_counter()
        async with await open_memory(path, embedder) as rem:
            for draft in drafts:
                await rem.observe_many([draft])
            cpu.append(time.process_time())
            report = await rem.jobs.index_now()
            cpu.append(time.process_time())
            await rem.maintain(["segment"], force=True)
            cpu.append(time.process_time())
            wall = time.perf_counter() - began
        assert report.indexed == len(drafts), report
        observed, indexed, segmented = (after - before for before, after in pairwise(cpu))
        return {"observed": observed, "indexed": indexed, "segmented": segmented, "wall": wall}
    finally:
        await embedder.close()


def drafts_of(corpus: str, path: Path | None, turns: int) -> list[EventDraft]:
    """The first `turns` turns of a corpus; sessions of different conversations get different names. Joined turns of a
    conversation are one session, because few of them fit the length. Raises InvalidInput.
    """
    if path is None:
        words = Words(seed=turns)
        return [words.event(number) for number in range(turns)]
    dataset = locomo.load(path)
    drafts = [
        EventDraft(
            text=turn.text,
            role=turn.role,
            actor=turn.actor,
            occurred_at=turn.occurred_at,
            session=conversation.id if corpus == LONG else f"{conversation.id}-{turn.session}",
        )
        for conversation in (in_long_turns(dataset) if corpus == LONG else dataset).conversations
        for turn in conversation.transcript.turns
    ]
    return [draft for draft in drafts if corpus != LONG or len(draft.text) in LONG_CHARS][:turns]


def in_a_process(checkout: Path, corpus: str, path: Path | None, turns: int) -> Run:
    """One run with the package of this checkout."""
    told = subprocess.run(
        [sys.executable, "-P", "-m", "benchmarks.ingest", "--turns", str(turns), "--run", corpus]
        + ([] if path is None else [str(path.absolute())]),
        env={**os.environ, "PYTHONPATH": f"{checkout / 'src'}{os.pathsep}{HERE}"},
        capture_output=True,
        text=True,
        check=False,
    )
    if told.returncode:
        raise SystemExit(told.stderr)
    return Run(**json.loads(told.stdout))


def measure(checkouts: dict[str, Path], corpus: str, path: Path | None, turns: int, runs: int) -> list[Row]:
    drafts = drafts_of(corpus, path, turns)
    found: dict[str, list[Run]] = {version: [] for version in checkouts}
    for number in range(runs):
        for version in list(checkouts)[:: -1 if number % 2 else 1]:
            found[version].append(in_a_process(checkouts[version], corpus, path, turns))
    chars = statistics.mean(len(draft.text) for draft in drafts)
    return [Row(corpus, version, len(drafts), chars, each) for version, each in found.items()]


def table(rows: Sequence[Row], runs: int) -> Table:
    drawn = Table(title=f"Taking turns in, CPU time, medians of {runs}", title_justify="left")
    for heading in ("turns of", "version", "turns", "chars each", "observe ms", "embed ms", "episodes ms"):
        drawn.add_column(heading, justify="left" if heading in {"turns of", "version"} else "right")
    for heading in ("turns/s", "with episodes", "bytes a turn"):
        drawn.add_column(heading, justify="right")
    for row in rows:
        drawn.add_row(
            row.corpus,
            row.version,
            f"{row.turns:,}",
            f"{row.chars:.0f}",
            *(f"{row.ms(step):.2f}" for step in ("observed", "indexed", "segmented")),
            f"{1000 / row.ms('observed', 'indexed'):.0f}",
            f"{1000 / row.ms('observed', 'indexed', 'segmented'):.0f}",
            f"{row.bytes():,.0f}",
        )
    return drawn


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ingest", description=__doc__)
    parser.add_argument("locomo", type=Path, nargs="?", help="locomo10.json, plain or gzip: its turns too")
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--other", type=Path, help="the root of another checkout, which takes turns with this one")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    options = parser.parse_args()
    for name in ("turns", "runs"):
        if getattr(options, name) < 1:
            parser.error(f"--{name}: {getattr(options, name)} is not allowed; expected 1 or more")
    if options.run:
        with tempfile.TemporaryDirectory() as folder:
            drafts, path = drafts_of(options.run, options.locomo, options.turns), Path(folder) / "memory.db"
            seconds = asyncio.run(fill(drafts, path))
            print(json.dumps({**seconds, "bytes": path.stat().st_size}))
        return
    console = Console(width=140)
    console.print(machine_line())
    console.print(bind_to_one_cpu())
    checkouts = {"this": HERE} | ({} if options.other is None else {"other": options.other})
    corpora = [(SYNTHETIC, None)]
    if options.locomo is not None:
        corpora += [(LOCOMO, options.locomo), (LONG, options.locomo)]
    try:
        rows = [
            row for corpus, path in corpora for row in measure(checkouts, corpus, path, options.turns, options.runs)
        ]
    except InvalidInput as error:
        parser.error(str(error))
    console.print(table(rows, options.runs))


if __name__ == "__main__":
    main()
