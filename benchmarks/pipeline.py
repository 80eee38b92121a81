"""Throughput of the complete pipeline without a language model, in events per second, under the default preset.

Stages: record exchange by exchange, index, segment into episodes, compact, measure health. Each stage runs until no
work is left, in this process, on all CPUs; with the local embedder, loaded beforehand, and without an embedder. Events
and notes are those of the simulated life (benchmarks/life_days.py). Every run writes a new file; reported values are
medians over the runs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from benchmarks.life_days import START, Exchange, Life, Note, Session, make_life
from remembrancer import AsyncRemembrancer
from remembrancer.config import Settings
from remembrancer.domain.job import Job
from remembrancer.engine.compact import CompactionReport
from remembrancer.engine.segment import SegmentReport
from remembrancer.errors import ModelUnavailable
from remembrancer.evaluation.machine import machine_line
from remembrancer.jobs.indexer import IndexReport
from remembrancer.jobs.sweeps import JobReport
from remembrancer.models import choose_embedder
from remembrancer.ports.embedder import Embedder
from remembrancer.testing.doubles import FixedClock

SIZES: Final = (1_000, 10_000)
RUNS: Final = 3
STAGES: Final = ("record", Job.INDEX.value, Job.SEGMENT.value, Job.COMPACT.value, Job.HEALTH.value)


@dataclass(frozen=True, slots=True)
class Run:
    """One run. `seconds`: by stage. `cpu`: CPU seconds of all stages and threads."""

    seconds: Mapping[str, float]
    cpu: float
    indexed: int
    episodes: int
    merged: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Medians over the runs of one size. `stages`: seconds by stage; `rate`: events per second through all stages."""

    embedder: str
    events: int
    notes: int
    stages: Mapping[str, float]
    rate: float
    cpu_rate: float
    indexed: int
    episodes: int
    merged: int
    runs: int


async def run_stages(life: Life, embedder: Embedder | None, path: Path) -> Run:
    """Run all stages on one life. Jobs start two hours after its end, when every stream counts as ended."""
    clock = FixedClock(START)
    seconds: dict[str, float] = {}
    settings = Settings(db=str(path), preset="default", embedder="none", background_index=False)
    async with await AsyncRemembrancer.open(settings=settings, embedder=embedder, clock=clock) as rem:
        cpu, began = time.process_time(), time.perf_counter()
        await _record(rem, life, clock)
        seconds["record"] = time.perf_counter() - began
        clock.advance(timedelta(hours=2))
        reports: dict[str, JobReport] = {}
        for job in STAGES[1:]:
            began = time.perf_counter()
            reports |= await rem.maintain([job], force=True)
            seconds[job] = time.perf_counter() - began
        spent = time.process_time() - cpu
    indexed, segmented, compacted = (reports[job] for job in STAGES[1:4])
    assert isinstance(indexed, IndexReport), indexed
    assert isinstance(segmented, SegmentReport), segmented
    assert isinstance(compacted, CompactionReport), compacted
    undone = indexed.deferred + segmented.failed + segmented.left + compacted.left
    assert not undone, reports
    return Run(seconds, spent, indexed.indexed, segmented.episodes, sum(len(one.gone) for one in compacted.merged))


async def _record(rem: AsyncRemembrancer, life: Life, clock: FixedClock) -> None:
    views: dict[str, AsyncRemembrancer] = {}

    def view(session: Session) -> AsyncRemembrancer:
        if session.name not in views:
            views[session.name] = rem.scoped(
                project=session.project, crew=session.crew, agent=session.agent, session=session.name
            )
        return views[session.name]

    for action in life.actions:
        clock.now = action.at
        match action.step:
            case Exchange(drafts):
                await view(action.session).observe_many(drafts)
            case Note() as note:
                await _note(view(action.session), note, action.at)
            case _:
                pass


async def _note(view: AsyncRemembrancer, note: Note, at: datetime) -> None:
    await view.remember(
        note.text,
        kind=note.about,
        importance=note.importance,
        topic_key=note.topic_key,
        valid_until=None if note.holds is None else at + note.holds,
        visibility=note.visibility,
    )


async def measure(life: Life, events: int, embedder: Embedder | None, *, runs: int) -> Row:
    done: list[Run] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(runs):
            done.append(await run_stages(life, embedder, Path(folder) / f"{number}.db"))
            print(f"{events:,} events, run {number + 1}: {sum(done[-1].seconds.values()):.1f} s", file=sys.stderr)
    return Row(
        embedder="none" if embedder is None else embedder.model_id,
        events=events,
        notes=sum(isinstance(action.step, Note) for action in life.actions),
        stages={stage: statistics.median(run.seconds[stage] for run in done) for stage in STAGES},
        rate=events / statistics.median(sum(run.seconds.values()) for run in done),
        cpu_rate=events / statistics.median(run.cpu for run in done),
        indexed=done[-1].indexed,
        episodes=done[-1].episodes,
        merged=done[-1].merged,
        runs=runs,
    )


async def run(sizes: Sequence[int], embedders: Sequence[str], *, runs: int) -> list[Row]:
    lines: list[Row] = []
    for named in embedders:
        embedder = choose_embedder(Settings(embedder=named)).embedder
        try:
            if embedder is not None:
                await embedder.embed_documents(["loaded before anything is measured"])
            lines += [await measure(make_life(size), size, embedder, runs=runs) for size in sizes]
        finally:
            if embedder is not None:
                await embedder.close()
    return lines


def table(lines: Sequence[Row]) -> Table:
    """Seconds of each stage with its share of the total, and events per second."""
    drawn = Table(title="The whole pipeline without a language model", title_justify="left")
    for heading in ("embedder", "events", "notes", "runs"):
        drawn.add_column(heading, justify="left" if heading == "embedder" else "right")
    for stage in STAGES:
        drawn.add_column(f"{stage} s", justify="right")
    for heading in ("events/s", "of CPU time", "episodes", "merged"):
        drawn.add_column(heading, justify="right")
    for line in lines:
        whole = sum(line.stages.values())
        drawn.add_row(
            line.embedder,
            f"{line.events:,}",
            f"{line.notes:,}",
            str(line.runs),
            *(f"{line.stages[stage]:.2f} ({line.stages[stage] / whole:.0%})" for stage in STAGES),
            f"{line.rate:.0f}",
            f"{line.cpu_rate:.0f}",
            f"{line.episodes:,}",
            f"{line.merged:,}",
        )
    return drawn


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pipeline", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), metavar="EVENTS")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--embedders", nargs="+", choices=("local", "none"), default=["local", "none"])
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    options = parser.parse_args()
    for name, least in (("sizes", min(options.sizes)), ("runs", options.runs)):
        if least < 1:
            parser.error(f"--{name}: {least} is not allowed; expected 1 or more")
    load = os.getloadavg()[0]
    try:
        lines = asyncio.run(run(options.sizes, options.embedders, runs=options.runs))
    except ModelUnavailable as error:
        parser.error(str(error))
    if options.json:
        print(json.dumps([asdict(line) for line in lines]))
        return
    console = Console(width=170)
    console.print(f"{machine_line()}; load {load:.1f} as it began, {os.getloadavg()[0]:.1f} in the end")
    console.print(table(lines))


if __name__ == "__main__":
    main()
