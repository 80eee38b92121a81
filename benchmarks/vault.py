"""Time to sync a vault of thousands of files: the first sync, one without changes, and one with one edited file.

Synthetic learnings (benchmarks/corpus.py), one per file, under the teaparty preset and without an embedder; for the
cost of embedding see benchmarks/ingest.py. The database is a file, and every sync opens the vault again. Nothing sleeps
between syncs: file times are set to an hour ago instead, so that files do not look recently written.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from uuid import UUID

from rich.console import Console
from rich.table import Table

from benchmarks.corpus import Words
from remembrancer.adapters.vault.folder import FolderVault
from remembrancer.compose import context
from remembrancer.config import Settings
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.strength import Exposure
from remembrancer.engine import reinforce, vault
from remembrancer.engine.context import Context
from remembrancer.engine.vault import SyncReport
from remembrancer.evaluation.machine import machine_line

FILES: Final = 3_000
SCOPE: Final = Scope(workspace="bench")
HOUR_AGO: Final = 3_600


@dataclass(frozen=True, slots=True)
class Step:
    """One step: its name, wall-clock and CPU seconds, and its report."""

    what: str
    wall: float
    cpu: float
    report: SyncReport


def fill(root: Path, files: int) -> None:
    words = Words(seed=7)
    for number in range(files):
        folder = root / f"project-{number % 20}" / "tasks"
        folder.mkdir(parents=True, exist_ok=True)
        identifier = UUID(int=(7 << 76) + number, version=4)
        header = f"id: {identifier}\ntype: corrective\nimportance: 0.6\nreinforcement_count: 0\nstatus: active\n"
        text = f"---\n{header}created_at: 2026-02-01\n---\n{words.text()}\n"
        (folder / f"learning-{number}.md").write_text(text, encoding="utf-8")
    age(root)


def age(root: Path) -> None:
    """Set the times of all files to an hour ago."""
    then = time.time() - HOUR_AGO
    for path in root.rglob("*.md"):
        os.utime(path, (then, then))


async def time_sync(what: str, ctx: Context, root: Path) -> Step:
    wall, cpu = time.perf_counter(), time.process_time()
    report = await vault.sync(ctx, SCOPE, FolderVault(root))
    return Step(what, time.perf_counter() - wall, time.process_time() - cpu, report)


async def measure(files: int) -> list[Step]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "vault"
        fill(root, files)
        settings = Settings(
            db=str(Path(folder) / "bench.db"), workspace=SCOPE.workspace, preset="teaparty", embedder="none"
        )
        ctx = context(settings)
        try:
            steps = [await time_sync("first sync", ctx, root), await time_sync("nothing to do", ctx, root)]
            edited = next(root.rglob("learning-1.md"))
            edited.write_text(edited.read_text(encoding="utf-8").rstrip() + " By hand.\n", encoding="utf-8")
            steps.append(await time_sync("one file edited", ctx, root))
            where = Filter(current_at=datetime.now(UTC))
            some = await ctx.store.memories(Reader(SCOPE), where, limit=100)
            await reinforce.mark(ctx, Reader(SCOPE), {memory.id: None for memory in some}, Exposure.RETRIEVED)
            steps.append(await time_sync("100 entries retrieved", ctx, root))
            wall, cpu = time.perf_counter(), time.process_time()
            report = await vault.rebuild(ctx, SCOPE, FolderVault(root))
            steps.append(Step("rebuild", time.perf_counter() - wall, time.process_time() - cpu, report))
        finally:
            await ctx.store.close()
    return steps


def table(steps: list[Step], files: int) -> Table:
    drawn = Table(title=f"a vault of {files:,} files")
    for heading in ("step", "seconds", "CPU seconds", "read", "added", "changed", "written"):
        drawn.add_column(heading, justify="left" if heading == "step" else "right")
    for step in steps:
        done = step.report
        counts = (done.read, done.added, done.changed, done.written)
        drawn.add_row(step.what, f"{step.wall:.2f}", f"{step.cpu:.2f}", *(f"{count:,}" for count in counts))
    return drawn


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.vault", description=__doc__)
    parser.add_argument("--files", type=int, default=FILES, help="how many files")
    given = parser.parse_args()
    steps = asyncio.run(measure(given.files))
    console = Console()
    console.print(machine_line())
    console.print(table(steps, given.files))
    return 0


if __name__ == "__main__":
    sys.exit(main())
