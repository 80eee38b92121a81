"""What each part of the `default` ranking is worth, and what it costs, on LoCoMo: `make bench-quality LOCOMO=FILE`.

One row a signal, left out with the other weights as they are, and the simple rankings beside it; over the conversations
that weights were chosen on, over the others, and over the same told in long turns. Categories 1 to 4. A conversation is
fed and asked as `remembrancer eval` does it, and indexed once for each way of encoding it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from benchmarks.quality_asked import COLUMNS, DIFFERENCES, Files, Found, Moved, Row, ask
from benchmarks.quality_cost import Cost, bytes_each, bytes_saved, time_recalls
from benchmarks.quality_long import JOINED, in_long_turns
from benchmarks.quality_variants import FULL, Variant, left_out, left_out_together, simple, single_legs
from remembrancer.compose import choose_embedder
from remembrancer.config import Settings
from remembrancer.engine.asked_once import asked_once
from remembrancer.errors import InvalidInput
from remembrancer.evaluation import locomo
from remembrancer.evaluation.dataset import Dataset
from remembrancer.evaluation.machine import machine_line
from remembrancer.ports.embedder import Embedder

TUNED: Final = frozenset({"conv-26", "conv-30", "conv-41", "conv-42", "conv-43"})
"""The conversations that the preset's weights were chosen on."""
HOW_TO_GET: Final = (
    "needs the LoCoMo data set, which is not part of this repository (CC BY-NC 4.0): make bench-quality "
    "LOCOMO=path/to/locomo10.json, plain or gzip, from github.com/snap-research/locomo"
)


@dataclass(frozen=True, slots=True)
class Block:
    """Some conversations: every variant over their questions."""

    name: str
    conversations: tuple[str, ...]
    questions: int
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Quality:
    """`blocks`: those tuned on, those untouched, and all, as far as there are any. `long`: all of them in long turns.

    `bytes`: what a memory takes, by what it is kept for.
    """

    dataset: str
    blocks: tuple[Block, ...]
    long: Block
    cost: Cost
    bytes: dict[str, float]


async def measure(dataset: Dataset, embedder: Embedder, told: Callable[[str], None]) -> Quality:
    asking = asked_once(embedder)
    variants = (FULL, *left_out(), *left_out_together(), *simple())
    with tempfile.TemporaryDirectory() as folder:
        files = Files(Path(folder), asking)
        found = await ask(dataset, variants, files, told=told)
        told("what it costs")
        # The cost is that of the search; the longest conversation has the most to search.
        longest = max(dataset.conversations, key=lambda one: len(one.transcript.turns))
        cost = await time_recalls(longest, variants, files)
        kept = bytes_each(files.file(FULL))
    with tempfile.TemporaryDirectory() as folder:
        files = Files(Path(folder), asking)
        among_long = (FULL, *single_legs(), *left_out())
        long = await ask(in_long_turns(dataset), among_long, files, told=lambda name: told(f"{name}, long turns"))
    ids = frozenset(dataset.ids)
    parts = (("tuned on", ids & TUNED), ("untouched", ids - TUNED), ("all", ids))
    blocks = tuple(_block(name, found.of(part)) for name, part in parts if part)
    return Quality(dataset.name, blocks, _block(f"joined by {JOINED}", long), cost, kept)


def _block(name: str, found: Found) -> Block:
    return Block(name, tuple(dict.fromkeys(found.conversations)), len(found.conversations), found.rows())


def tables(quality: Quality) -> list[Table]:
    return [
        *(_found_table(block, quality) for block in quality.blocks),
        _found_table(quality.long, None),
        _time_table(quality.cost),
        _bytes_table(quality.bytes),
    ]


def _found_table(block: Block, quality: Quality | None) -> Table:
    """`quality`: where its costs are to stand beside what is found."""
    title = f"{block.name}: {block.questions:,} questions of {', '.join(block.conversations)}"
    drawn = Table(title=title, title_justify="left")
    drawn.add_column("", no_wrap=True)
    for heading in (*COLUMNS, *(f"{name} moves" for name in DIFFERENCES)):
        drawn.add_column(heading, justify="right")
    if quality is not None:
        drawn.add_column("ms saved", justify="right")
        drawn.add_column("bytes saved", justify="right")
    for row in block.rows:
        means = [f"{row.means[name]:.3f}" for name in COLUMNS]
        moved = [_moved(row.moved[name]) if row.variant.name != FULL.name else "" for name in DIFFERENCES]
        drawn.add_row(row.variant.label, *means, *moved, *([] if quality is None else _costs(row.variant, quality)))
    return drawn


def _moved(moved: Moved) -> str:
    return f"{moved.by:+.3f} [{moved.interval.low:+.3f}, {moved.interval.high:+.3f}]"


def _costs(variant: Variant, quality: Quality) -> list[str]:
    if variant.name == FULL.name:
        return ["", ""]
    return [f"{quality.cost.saved[variant.name]:+.2f}", f"{bytes_saved(variant, quality.bytes):,.0f}"]


def _time_table(cost: Cost) -> Table:
    title = (
        f"A recall of ten among {cost.memories:,} memories without the question's embedding, ms "
        f"({cost.questions} questions, p50 of the least times; the same preset twice: {cost.noise:+.2f})"
    )
    drawn = Table(title=title, title_justify="left")
    stages = {stage: time for stage, time in cost.stages.items() if time >= 0.005}
    bare = cost.searching["without-both"]
    for heading in ("in all", *stages, "search without surroundings"):
        drawn.add_column(heading, justify="right")
    drawn.add_row(f"{cost.p50[FULL.name]:.2f}", *(f"{time:.2f}" for time in stages.values()), f"{bare:.2f}")
    return drawn


def _bytes_table(kept: dict[str, float]) -> Table:
    drawn = Table(title="What a memory takes in the file, bytes", title_justify="left")
    for heading in kept:
        drawn.add_column(heading, justify="right")
    drawn.add_row(*(f"{size:,.1f}" if size < 10 else f"{size:,.0f}" for size in kept.values()))
    return drawn


def as_json(quality: Quality) -> dict[str, Any]:
    return {
        "dataset": quality.dataset,
        "blocks": [_block_json(block) for block in quality.blocks],
        "long": _block_json(quality.long),
        "cost": asdict(quality.cost),
        "bytes": quality.bytes,
    }


def _block_json(block: Block) -> dict[str, Any]:
    rows = [
        {
            "variant": row.variant.name,
            "label": row.variant.label,
            "means": dict(row.means),
            "moved": {name: asdict(moved) for name, moved in row.moved.items()},
        }
        for row in block.rows
    ]
    return {
        "name": block.name,
        "conversations": list(block.conversations),
        "questions": block.questions,
        "rows": rows,
    }


async def run(dataset: Dataset, told: Callable[[str], None]) -> Quality:
    embedder = choose_embedder(Settings(embedder="local")).embedder
    assert embedder is not None
    try:
        return await measure(dataset, embedder, told)
    finally:
        await embedder.close()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("locomo", type=Path, nargs="?", help="locomo10.json, plain or gzip")
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    options = parser.parse_args(arguments)
    if options.locomo is None:
        parser.error(HOW_TO_GET)
    try:
        dataset = locomo.load(options.locomo)
    except InvalidInput as error:
        parser.error(str(error))
    # Each opening without an embedder would say so: here some rows are meant to have none.
    logging.getLogger("remembrancer").setLevel(logging.ERROR)
    quality = asyncio.run(run(dataset, lambda what: print(what, file=sys.stderr, flush=True)))
    if options.json:
        print(json.dumps(as_json(quality)))
        return
    # Wide on purpose: a row is read across.
    console = Console(width=200)
    console.print(machine_line())
    for table in tables(quality):
        console.print(table)


if __name__ == "__main__":
    main()
