"""How long a vault of thousands of files takes: the first sync, one with nothing to do, one with a file edited.

Made-up learnings of the shipped conversation's words (benchmarks/corpus.py), one a file, under the teaparty preset and
without an embedder: what embedding takes is told by benchmarks/ingest.py. The database is a file, and every sync opens
the vault anew. Between the syncs nothing sleeps: the files are made older, as those of a vault in use are.
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
class Timed:
    """One step: what it was, its seconds by the clock on the wall and of processor time, and what it did."""

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
    """All files an hour old."""
    then = time.time() - HOUR_AGO
    for path in root.rglob("*.md"):
        os.utime(path, (then, then))


async def timed(what: str, ctx: Context, root: Path) -> Timed:
    wall, cpu = time.perf_counter(), time.process_time()
    report = await vault.sync(ctx, SCOPE, FolderVault(root))
    return Timed(what, time.perf_counter() - wall, time.process_time() - cpu, report)


async def measure(files: int) -> list[Timed]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "vault"
        fill(root, files)
        settings = Settings(
            db=str(Path(folder) / "bench.db"), workspace=SCOPE.workspace, preset="teaparty", embedder="none"
        )
        ctx = context(settings)
        try:
            steps = [await timed("first sync", ctx, root), await timed("nothing to do", ctx, root)]
            edited = next(root.rglob("learning-1.md"))
            edited.write_text(edited.read_text(encoding="utf-8").rstrip() + " By hand.\n", encoding="utf-8")
            steps.append(await timed("one file edited", ctx, root))
            where = Filter(current_at=datetime.now(UTC))
            some = await ctx.store.memories(Reader(SCOPE), where, limit=100)
            await reinforce.mark(ctx, Reader(SCOPE), {memory.id: None for memory in some}, Exposure.RETRIEVED)
            steps.append(await timed("100 entries retrieved", ctx, root))
            wall, cpu = time.perf_counter(), time.process_time()
            report = await vault.rebuild(ctx, SCOPE, FolderVault(root))
            steps.append(Timed("rebuild", time.perf_counter() - wall, time.process_time() - cpu, report))
        finally:
            await ctx.store.close()
    return steps


def table(steps: list[Timed], files: int) -> Table:
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
