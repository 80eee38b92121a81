"""A change of embedder under load: the time of recalls, and what they find, before, during and after it.

Turns of LoCoMo are recorded at a steady rate, and its questions asked one after another, while the background makes the
vectors of the new embedder: the local model in fp32, after int8. Then another model answers, and then the first again.

    python -m benchmarks.switch locomo10.json.gz --memories 2000
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from remembrancer import AsyncRemembrancer
from remembrancer.domain.event import EventDraft
from remembrancer.evaluation.locomo import load
from remembrancer.evaluation.machine import machine_line
from remembrancer.interfaces.charts.document import document
from remembrancer.interfaces.charts.panel import Panel, sample

OLD: Final = "local:int8"
NEW: Final = "local:fp32"
ASKED: Final = 200
"""Questions in each phase without a change."""
PAUSE: Final = 0.05
"""Seconds between two questions."""
BATCH: Final = 500


@dataclass(frozen=True)
class Asked:
    """One question: when it was asked, in seconds since the start, how long it took, and what it found."""

    phase: str
    at: float
    ms: float
    found: bool
    by_meaning: bool
    degraded: str


class Load:
    """The turns to record, and the questions whose evidence is among the first of them."""

    def __init__(self, file: Path, memories: int) -> None:
        conversations = load(file).conversations
        turns = [turn for conversation in conversations for turn in conversation.transcript.turns]
        self.first = [
            EventDraft(text=turn.text, actor=turn.actor, occurred_at=turn.occurred_at) for turn in turns[:memories]
        ]
        self.later: Iterator[EventDraft] = cycle(
            EventDraft(text=turn.text, actor=turn.actor) for turn in turns[memories : memories + 2_000]
        )
        texts = {(one.id, turn.id): turn.text for one in conversations for turn in one.transcript.turns}
        known = {draft.text for draft in self.first}
        asked = [
            (question.text, {texts[one.id, turn] for turn in question.evidence if (one.id, turn) in texts})
            for one in conversations
            for question in one.questions
            if question.answerable
        ]
        self.questions = [(text, gold) for text, gold in asked if gold and gold <= known][:ASKED]
        """The same in every phase."""


async def ask(rem: AsyncRemembrancer, question: tuple[str, set[str]], phase: str, start: float) -> Asked:
    await asyncio.sleep(PAUSE)
    text, gold = question
    begun = time.perf_counter()
    answer = await rem.recall(text, limit=10)
    ended = time.perf_counter()
    found = any(hit.memory.text in gold for hit in answer)
    by_meaning = bool(answer.trace.legs["dense"])
    return Asked(phase, begun - start, (ended - begun) * 1000, found, by_meaning, answer.degraded.get("dense", ""))


async def record(rem: AsyncRemembrancer, load: Load, rate: float, over: asyncio.Event) -> int:
    """Record turns at a steady rate until the end. Returns their number."""
    recorded = 0
    while not over.is_set():
        draft = next(load.later)
        await rem.observe(draft.text, actor=draft.actor)
        recorded += 1
        await asyncio.sleep(1 / rate)
    return recorded


async def measure(load: Load, folder: Path, rate: float) -> tuple[list[Asked], dict[str, Any]]:
    db = str(folder / "switch.db")
    async with AsyncRemembrancer.open(db, embedder=OLD, settings={"background_index": False}) as rem:
        for start in range(0, len(load.first), BATCH):
            await rem.observe_many(load.first[start : start + BATCH])
        begun = time.perf_counter()
        await rem.jobs.index_now()
        print(f"{len(load.first)} texts embedded with {OLD} in {time.perf_counter() - begun:.0f} s", flush=True)
    asked: list[Asked] = []
    start, over = time.perf_counter(), asyncio.Event()
    async with AsyncRemembrancer.open(db, embedder=OLD) as rem:
        writing = asyncio.create_task(record(rem, load, rate, over))
        for question in load.questions[:20]:
            await ask(rem, question, "", start)
        asked += [await ask(rem, question, "before", start) for question in load.questions]
        over.set()
        await writing
    over.clear()
    async with AsyncRemembrancer.open(db, embedder=NEW, embedder_before=OLD) as rem:
        writing = asyncio.create_task(record(rem, load, rate, over))
        for question in load.questions[:5]:
            await ask(rem, question, "", start)
        begun = time.perf_counter()
        last = 0.0
        for question in cycle(load.questions):
            asked.append(await ask(rem, question, "during", start))
            if time.perf_counter() - last > 5:
                last = time.perf_counter()
                status = await rem.embedder.status()
                building = status.building
                if building is not None and building.cues - building.vectors < 64:
                    break
                if building is not None:
                    print(f"{building.vectors} of {building.cues}, {len(asked)} asked", flush=True)
        built = time.perf_counter() - begun
        before = time.perf_counter()
        await rem.embedder.switch()
        switched = time.perf_counter() - before
        asked += [await ask(rem, question, "after the switch", start) for question in load.questions]
        await rem.embedder.rollback()
        asked += [await ask(rem, question, "after the roll-back", start) for question in load.questions]
        over.set()
        recorded = await writing
    facts = {"built_s": built, "switch_ms": switched * 1000, "recorded": recorded, "memories": len(load.first)}
    return asked, facts


def summary(asked: Sequence[Asked]) -> Table:
    table = Table("phase", "questions", "p50 ms", "p95 ms", "max ms", "by meaning", "found@10", "degraded")
    for phase in dict.fromkeys(one.phase for one in asked):
        of = [one for one in asked if one.phase == phase]
        times = [one.ms for one in of]
        table.add_row(
            phase,
            f"{len(of):,}",
            f"{statistics.median(times):.1f}",
            f"{statistics.quantiles(times, n=20)[-1]:.1f}",
            f"{max(times):.0f}",
            f"{sum(one.by_meaning for one in of) / len(of):.0%}",
            f"{sum(one.found for one in of) / len(of):.3f}",
            str(sum(bool(one.degraded) for one in of)),
        )
    return table


HUES: Final = {"before": "blue", "during": "ochre", "after the switch": "green", "after the roll-back": "violet"}


def picture(asked: Sequence[Asked], facts: Mapping[str, Any]) -> str:
    """Each question's time, by when it was asked, as an SVG document."""
    longest = statistics.quantiles([one.ms for one in asked], n=200)[-1]
    panel = Panel(x=(0.0, asked[-1].at), y=(0.0, longest), left=50.0, width=940.0)
    marks = panel.levels("milliseconds") + panel.uprights("seconds")
    for one in asked:
        if one.ms <= longest:
            marks += panel.dot((one.at, one.ms), HUES[one.phase], hollow=not one.by_meaning, radius=2.0)
    described = (
        f"The time of each recall while the vectors of {facts['memories']:,} turns change from {OLD} to {NEW}."
        " The slowest 0.5 % are not shown. A hollow dot is a question that was not answered by meaning."
    )
    legend = [(sample(hue, dot=True), phase) for phase, hue in HUES.items()]
    return document("switch", "Recalls during a change of embedder", described, [panel.picture(marks)], legend)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="LoCoMo's file")
    parser.add_argument("--memories", type=int, default=2_000)
    parser.add_argument("--rate", type=float, default=2.0, help="turns recorded per second")
    parser.add_argument("--out", type=Path, help="a file for the numbers, as JSON")
    parser.add_argument("--picture", type=Path, help="a file for the picture, as SVG")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asked, facts = asyncio.run(measure(Load(given.file, given.memories), Path(folder), given.rate))
    console = Console(width=120)
    console.print(summary(asked))
    console.print(facts)
    console.print(machine_line())
    if given.out is not None:
        given.out.write_text(json.dumps({"facts": facts, "asked": [asdict(one) for one in asked]}), encoding="utf-8")
    if given.picture is not None:
        given.picture.write_text(picture(asked, facts), encoding="utf-8")


if __name__ == "__main__":
    main()
