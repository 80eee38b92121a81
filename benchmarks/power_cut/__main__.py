"""Cut the power at every sync point of a store's life, and check what may be left on the disk.

A process lives through a workload (writes of every kind, jobs, index files, erasures, backup, export, restoration; and
the migration of an old file) while its file operations are recorded. For the moment before and after every sync, every
renaming and deletion, and every acknowledgement, images of the disk are made: what was not synced is dropped, kept,
reordered, torn at sectors and pages, cut to the old length, and so on. Each image is opened and checked.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import pickle
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from benchmarks.power_cut.checking import FAULTS, Checker, Counts
from benchmarks.power_cut.disk import Recording
from benchmarks.power_cut.workload import KINDS, LIFE
from remembrancer.evaluation.machine import machine_line
from remembrancer.index import workspace

SEEDS: Final = 3
MORE: Final = 30
TIMES: Final = 2


@dataclass(frozen=True, slots=True)
class Result:
    kind: str
    full_sync: bool
    seed: int
    operations: int
    states: int
    points: int
    counts: Counts
    seconds: float


def record(kind: str, *, full_sync: bool, seed: int = 1, more: int = 0) -> Recording:
    """The file operations of a workload, which runs in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        place, out = Path(folder) / "store", Path(folder) / "recording"
        place.mkdir()
        command = [sys.executable, "-m", "benchmarks.power_cut.workload", str(place), str(out), "--kind", kind]
        command += ["--seed", str(seed), "--more", str(more), *(["--full-sync"] if full_sync else [])]
        done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
        assert not done.returncode, done.stderr
        return pickle.loads(out.read_bytes())  # noqa: S301  written by our own process


def check(
    recording: Recording, *, full_sync: bool, seed: int = 1, times: int = 1, drawn: int | None = None
) -> tuple[Checker, Counts]:
    """Check every cut, or so many that are drawn by the seed."""
    with tempfile.TemporaryDirectory() as folder:
        checker = Checker(recording, Path(folder), full_sync=full_sync, seed=seed)
        cuts = checker.cuts(times=times)
        if drawn is not None:
            cuts = random.Random(seed).sample(cuts, min(drawn, len(cuts)))
        return checker, asyncio.run(checker.check(cuts))


def run(kind: str, *, full_sync: bool, seed: int, more: int, times: int) -> Result:
    began = time.perf_counter()
    recording = record(kind, full_sync=full_sync, seed=seed, more=more)
    checker, counts = check(recording, full_sync=full_sync, seed=seed, times=times)
    return Result(
        kind=kind,
        full_sync=full_sync,
        seed=seed,
        operations=len(recording.operations),
        states=checker.states,
        points=len(checker.points()),
        counts=counts,
        seconds=time.perf_counter() - began,
    )


def table(results: list[Result]) -> Table:
    drawn = Table(title="Power cuts", title_justify="left")
    for heading in ("workload", "synchronous", "seed"):
        drawn.add_column(heading)
    for heading in (
        "file operations",
        "commits",
        "syncs",
        "cuts at",
        "images",
        "distinct",
        "acknowledged steps",
        *FAULTS,
    ):
        drawn.add_column(heading, justify="right")
    for one in results:
        counts = one.counts
        drawn.add_row(
            one.kind,
            "FULL" if one.full_sync else "NORMAL",
            str(one.seed),
            *(
                f"{number:,}"
                for number in (
                    one.operations, one.states - 1, counts.sync_points, one.points, counts.images, counts.distinct,
                    counts.acknowledged, *(counts.by_kind[kind] for kind in FAULTS),
                )
            ),
        )  # fmt: skip
    return drawn


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.power_cut", description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="recordings of the life of a store, in each mode")
    parser.add_argument("--more", type=int, default=MORE, help="drawn steps of each, besides those that all have")
    parser.add_argument("--times", type=int, default=TIMES, help="images of each cut that are drawn by chance")
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    return parser


def main() -> None:
    options = _parser().parse_args()
    logging.disable()
    workspace.LEAST_WRITTEN = 1  # type: ignore[misc]  files for small indexes too
    results = [
        run(kind, full_sync=full_sync, seed=seed, more=options.more if kind == LIFE else 0, times=options.times)
        for kind in KINDS
        for full_sync in (True, False)
        for seed in range(1, (options.seeds if kind == LIFE else 1) + 1)
    ]
    faults = [fault for one in results for fault in one.counts.faults]
    if options.json:
        print(json.dumps([asdict(one) for one in results]))
    else:
        console = Console(width=170)
        console.print(machine_line())
        console.print(table(results))
        missing = sum((one.counts.missing for one in results if not one.full_sync), Counter[int]())
        console.print(
            f"With NORMAL, {missing[0]:,} of {missing.total():,} images held the last commit; the others lacked up to"
            f" {max(missing, default=0)} commits, as documented."
        )
        for (kind, step, detail), count in Counter((one.kind, one.step, one.detail) for one in faults).most_common(20):
            console.print(f"{count} × {kind} at {step}: {detail}")
    if faults:
        sys.exit(f"{len(faults)} faults")


if __name__ == "__main__":
    main()
