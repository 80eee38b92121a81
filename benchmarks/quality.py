"""Ablation of the `default` ranking, with quality and cost: `make bench-quality LOCOMO=FILE`.

One row per signal that is left out, with all other weights unchanged, and rows for simple rankings. Data: the chats
with an assistant in this folder, one table each; and, if its file is given, LoCoMo (categories 1 to 4): the
conversations that the weights were tuned on, the others, and all of them joined into long turns. Conversations are
ingested and asked as by `remembrancer eval`, and indexed once for each way of encoding them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console

from benchmarks.quality_asked import Files, QuestionMetrics, ask
from benchmarks.quality_cost import bytes_each, time_recalls
from benchmarks.quality_frames import asked_in_frames
from benchmarks.quality_long import JOINED, in_long_turns
from benchmarks.quality_page import markdown, put_into_page
from benchmarks.quality_pictures import draw
from benchmarks.quality_report import Block, LocomoResult, Quality, as_json, sheet, views
from benchmarks.quality_third_person import asked_in_third_person
from benchmarks.quality_variants import FULL, left_out, left_out_together, simple, single_searches
from remembrancer.config import Settings
from remembrancer.engine.asked_once import asked_once
from remembrancer.errors import InvalidInput
from remembrancer.evaluation import locomo, questions
from remembrancer.evaluation.dataset import Dataset
from remembrancer.evaluation.machine import machine_line
from remembrancer.evaluation.sheet import print_sheet
from remembrancer.models import choose_embedder
from remembrancer.ports.embedder import Embedder

TUNED: Final = frozenset({"conv-26", "conv-30", "conv-41", "conv-42", "conv-43"})
"""The conversations that the preset's weights were tuned on."""
OUT: Final = Path("build") / "quality"
CHATS: Final = Path(__file__).parent / "chats"
HOW_TO_GET: Final = (
    "on the chats only: the rest needs the LoCoMo data set, which is not part of this repository (CC BY-NC 4.0): "
    "make bench-quality LOCOMO=path/to/locomo10.json, plain or gzip, from github.com/snap-research/locomo"
)


async def measure_chats(dataset: Dataset, embedder: Embedder, report: Callable[[str], None]) -> tuple[Block, ...]:
    """Three blocks per conversation: questions in the user's words, in the third person, as an agent asks them, and
    within frames.
    """
    asking = asked_once(embedder)
    with tempfile.TemporaryDirectory() as folder:
        found = await ask(dataset, (FULL, *simple(), *left_out()), Files(Path(folder), asking), report=report)
    with tempfile.TemporaryDirectory() as folder:
        files = Files(Path(folder), asking)
        few = (FULL, *simple())
        in_third, in_frames = asked_in_third_person(dataset), asked_in_frames(dataset)
        as_agent = await ask(in_third, few, files, report=lambda name: report(f"{name}, as an agent asks"))
        framed = await ask(in_frames, few, files, report=lambda name: report(f"{name}, within frames"))
    by_user = [_block(f"chats {name}", found.of(frozenset({name}))) for name in dataset.ids]
    by_agent = [_block(f"chats {name} third person", as_agent.of(frozenset({name}))) for name in dataset.ids]
    by_frame = [_block(f"chats {name} within frames", framed.of(frozenset({name}))) for name in dataset.ids]
    return (*by_user, *by_agent, *by_frame)


async def measure_locomo(dataset: Dataset, embedder: Embedder, report: Callable[[str], None]) -> LocomoResult:
    asking = asked_once(embedder)
    variants = (FULL, *left_out(), *left_out_together(), *simple())
    with tempfile.TemporaryDirectory() as folder:
        files = Files(Path(folder), asking)
        found = await ask(dataset, variants, files, report=report)
        report("what it costs")
        # Cost is measured on the longest conversation, which has the most to search.
        longest = max(dataset.conversations, key=lambda one: len(one.transcript.turns))
        cost = await time_recalls(longest, variants, files)
        kept = bytes_each(files.file(FULL))
    with tempfile.TemporaryDirectory() as folder:
        files = Files(Path(folder), asking)
        among_long = (FULL, *single_searches(), *left_out())
        long = await ask(in_long_turns(dataset), among_long, files, report=lambda name: report(f"{name}, long turns"))
    ids = frozenset(dataset.ids)
    parts = (("tuned on", ids & TUNED), ("untouched", ids - TUNED), ("all", ids))
    blocks = tuple(_block(name, found.of(part)) for name, part in parts if part)
    return LocomoResult(dataset.name, blocks, _block(f"joined by {JOINED}", long), cost, kept)


def _block(name: str, found: QuestionMetrics) -> Block:
    conversations = tuple(dict.fromkeys(found.conversations))
    return Block(name, conversations, len(found.conversations), found.rows(), found.by_gold_turns())


async def run(chats: Dataset, conversations: Dataset | None, report: Callable[[str], None]) -> tuple[Quality, str]:
    """Measure the chats, and LoCoMo if given. Returns the results and a description of the machine."""
    embedder = choose_embedder(Settings(embedder="local")).embedder
    assert embedder is not None
    try:
        found = await measure_chats(chats, embedder, report)
        on_locomo = None if conversations is None else await measure_locomo(conversations, embedder, report)
        return Quality(found, on_locomo), machine_line(embedder)
    finally:
        await embedder.close()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("locomo", type=Path, nargs="?", help="locomo10.json, plain or gzip")
    parser.add_argument(
        "--chats", type=Path, metavar="FOLDER", default=CHATS, help="other chats: a corpus.jsonl and a questions.jsonl"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FOLDER", default=OUT, help="for pictures and tables (build/quality)"
    )
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    parser.add_argument("--page", action="store_true", help="put the last run's tables into docs/quality.md")
    options = parser.parse_args(arguments)
    if options.page:
        placed = put_into_page(options.out)
        print(f"replaced {', '.join(placed) or 'no table'}", file=sys.stderr)
        return
    try:
        chats = questions.load(options.chats / "corpus.jsonl", options.chats / "questions.jsonl")
        dataset = None if options.locomo is None else locomo.load(options.locomo)
    except InvalidInput as error:
        parser.error(str(error))
    if dataset is None:
        print(HOW_TO_GET, file=sys.stderr)
    # Silences the warning about a missing embedder, which some variants lack on purpose.
    logging.getLogger("remembrancer").setLevel(logging.ERROR)
    quality, machine = asyncio.run(run(chats, dataset, lambda what: print(what, file=sys.stderr, flush=True)))
    drawn = draw(views(quality), options.out)
    for view in views(quality):
        (options.out / f"{view.name}.md").write_text(markdown(sheet(view)), encoding="utf-8")
    print(
        f"drew {', '.join(path.name for path in drawn)} in {options.out}, and the tables as Markdown", file=sys.stderr
    )
    if options.json:
        print(json.dumps(as_json(quality)))
        return
    console = Console()
    console.print(machine)
    for view in views(quality):
        print_sheet(sheet(view), console)


if __name__ == "__main__":
    main()
