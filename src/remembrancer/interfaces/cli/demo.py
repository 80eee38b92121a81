"""The `demo` command: records a conversation history and asks six questions."""

from __future__ import annotations

import json
import shlex
import statistics
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Final, TypedDict
from uuid import UUID

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from remembrancer import Recall, Remembrancer
from remembrancer.errors import InvalidInput
from remembrancer.ingest import read
from remembrancer.interfaces.cli.drawing import Legend, Renderables, Shares, Shorter, indented, leaves, said
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.recording import SkippedRecords, record
from remembrancer.interfaces.text import counted, one_line, shown
from remembrancer.interfaces.wire.recall import DemoAnswerOut, DemoOut, HitOut, RecallOut, milliseconds
from remembrancer.values import dataclass

READ_TO: Final = 10
"""The limit of hits per question. The first `SHOWN` are printed."""
SHOWN: Final = 3
BAR_CELLS: Final = 20
GOLD: Final = "bold green"


class DemoQuestion(TypedDict):
    """A question of the demonstration. `gold`: the keys of the turns that contain its answer."""

    question: str
    asked_at: str
    gold: list[str]
    why: str


@dataclass
class SettableClock:
    """A clock that can be set, because the history and the questions have their own times."""

    now: datetime

    def __call__(self) -> datetime:
        return self.now


def demo(
    call: Invocation,
    *,
    keep: Annotated[Path | None, "FILE", "Keep the database in this file; it must not exist."] = None,
) -> None:
    """See how recall works, in a minute.

    Records six weeks of a small team's chat with its agent, indexes it, and asks six questions that are hard for word
    search alone. For each question it prints the best three hits with the parts of their scores, and whether the turns
    that contain the answer were found. Uses a temporary database unless --keep names one.

    Example: remembrancer demo --keep demo.db
    """
    if call.db is not None:
        raise InvalidInput("--db", call.db, "--keep FILE: the demonstration has a database of its own")
    if keep is not None and keep.exists():
        raise InvalidInput("--keep", str(keep), "a file that does not exist yet")
    questions: list[DemoQuestion] = json.loads(_data("questions.json").read_text(encoding="utf-8"))
    clock = SettableClock(datetime.fromisoformat(questions[0]["asked_at"]) - timedelta(hours=1))
    with TemporaryDirectory(prefix="remembrancer-demo-") as folder:
        settings = replace(call.settings, db=str(keep or Path(folder) / "demo.db"))
        with call.opened(create=True, settings=settings, clock=clock) as memory:
            keys = _take_in(call, memory)
            call.index(memory)
            stats = memory.health.stats()
            answers: list[DemoAnswerOut] = []
            for question in questions:
                clock.now = datetime.fromisoformat(question["asked_at"])
                answers.append(
                    _answer(question, memory.recall(question["question"], limit=READ_TO, explain=True), keys)
                )
    best = [min((rank for rank in answer.gold_ranks if rank), default=None) for answer in answers]
    call.degraded(answers[0].recall.degraded)
    result = DemoOut(
        turns=len(keys),
        memories=sum(stats.memories.values()),
        embedder=next(iter(stats.vectors), None),
        median_ms=statistics.median(answer.ms for answer in answers),
        at_first=sum(rank == 1 for rank in best),
        in_top_3=sum(rank is not None and rank <= SHOWN for rank in best),
        kept=None if keep is None else str(keep),
        answers=answers,
    )
    call.answer(result, partial(_page, keys=keys))


def _data(name: str) -> Traversable:
    return files("remembrancer") / "demo" / name


def _take_in(call: Invocation, memory: Remembrancer) -> dict[UUID, str]:
    """Record the history. Returns the key of each event, by its id."""
    with as_file(_data("history.jsonl")) as file, call.reading(file) as on_bytes:
        offered = read(file, on_bytes=on_bytes)
        return {event.id: event.key or "" for event in record(memory, offered, file, on_problem=SkippedRecords(call))}


def _answer(question: DemoQuestion, recall: Recall, keys: dict[UUID, str]) -> DemoAnswerOut:
    answer = RecallOut.of(recall)
    ranks = {_key(hit, keys): hit.rank for hit in reversed(answer.hits)}
    return DemoAnswerOut(
        question=question["question"],
        why=question["why"],
        gold=question["gold"],
        gold_ranks=[ranks.get(key) for key in question["gold"]],
        ms=milliseconds(sum(recall.timings.values(), timedelta())),
        recall=answer,
    )


def _key(hit: HitOut, keys: dict[UUID, str]) -> str:
    return "" if hit.cue.event_id is None else keys.get(hit.cue.event_id, "")


def _page(demo: DemoOut, *, keys: dict[UUID, str]) -> Renderables:
    scored = [hit for answer in demo.answers for hit in answer.recall.hits]
    full = max((hit.score for hit in scored), default=1.0)
    if scored:
        yield Legend([part.label for part in leaves(scored[0].explanation.parts)])
    for number, answer in enumerate(demo.answers, start=1):
        yield ""
        yield Rule(Text(f"question {number} of {len(demo.answers)}", style="dim"), align="left", style="dim")
        yield Text(shown(answer.question), style="bold")
        yield Text(f"Not easy: {shown(answer.why)}.", style="dim italic")
        for hit in answer.recall.hits[:SHOWN]:
            yield from _hit(hit, full, is_gold=_key(hit, keys) in answer.gold)
        yield _verdict(answer)
    yield ""
    yield Rule(style="dim")
    yield from _summary(demo)


def _hit(hit: HitOut, full: float, *, is_gold: bool) -> Renderables:
    grid = Table.grid(padding=(0, 1))
    for width in (1, 2, 5, BAR_CELLS):
        grid.add_column(width=width, no_wrap=True)
    grid.add_column(no_wrap=True, overflow="ellipsis")
    grid.add_row(
        Text("✓" if is_gold else "", style=GOLD),
        Text(f"{hit.rank:>2}", style=GOLD if is_gold else ""),
        Text(f"{hit.score:.3f}", style="bold"),
        Shares(leaves(hit.explanation.parts), full, BAR_CELLS),
        Text(f"{one_line(hit.cue.heading)} · {hit.age.spoken}", style="dim"),
    )
    yield ""
    yield grid
    yield indented(Shorter(said(hit), lines=2), 5)
    if hit.explanation.matched:
        yield indented(Text(f"matched: {one_line(' '.join(hit.explanation.matched))}", style="dim"), 5)


def _verdict(answer: DemoAnswerOut) -> RenderableType:
    ranks = sorted(rank for rank in answer.gold_ranks if rank)
    of_all = f"of the {len(answer.gold)} turns that hold the answer"
    if not ranks:
        line = Text(f"✗ none {of_all} is among the first {READ_TO}", style="yellow")
    else:
        at = " and ".join(str(rank) for rank in ranks)
        style = GOLD if ranks[0] <= SHOWN else "yellow"
        line = Text(f"✓ {len(ranks)} {of_all}: {'rank' if len(ranks) == 1 else 'ranks'} {at}", style=style)
    return Group("", line.append(f"   {answer.ms:.1f} ms", style="not bold dim"))


def _summary(demo: DemoOut) -> Renderables:
    asked = len(demo.answers)
    yield Text(
        f"{counted(demo.turns, 'turn')}, {counted(demo.memories, 'memory')}; "
        f"{demo.median_ms:.1f} ms a recall (median); {demo.embedder or 'no embedder: lexical search only'}"
    )
    yield Text(
        f"A turn that holds the answer came first for {demo.at_first} of {asked} questions, "
        f"among the first {SHOWN} for {demo.in_top_3}.",
        style="bold",
    )
    yield ""
    yield Text("Next:", style="bold")
    if demo.kept is None:
        commands = [
            "demo --keep demo.db",
            'recall "what does PX_3071 mean?" --db demo.db --explain',
            'remember "Checkout needs 2 GiB in production" --kind decision',
        ]
    else:
        db = f"--db {shlex.quote(demo.kept)}"
        commands = [
            f'recall "what does PX_3071 mean?" {db} --explain',
            f"timeline --since 2026-03-14 --until 2026-03-15 {db}",
            f'presets compare "PX_3071?" --as-of 2026-04-16 {db}',
            f"stats {db}",
        ]
    for one in commands:
        yield indented(Text(f"remembrancer {one}"), 2)
