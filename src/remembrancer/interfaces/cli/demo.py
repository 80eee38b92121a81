"""The `demo` command: records a conversation history, asks it questions, and compares the answers with grep and cosine
similarity.
"""

from __future__ import annotations

import asyncio
import json
import shlex
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Final, NotRequired, TypedDict
from uuid import UUID

from rich.table import Table
from rich.text import Text

from remembrancer import Recall, Remembrancer
from remembrancer.errors import InvalidInput
from remembrancer.evaluation.baselines import Dense, Grep
from remembrancer.evaluation.dataset import DatasetTurn, Transcript
from remembrancer.evaluation.system import System
from remembrancer.ingest import read
from remembrancer.interfaces.charts.strength import StrengthCurve, forecast_text
from remembrancer.interfaces.cli.drawing import Renderables, Shorter, indented, said
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.plot import Plot
from remembrancer.interfaces.cli.recording import SkippedRecords, record
from remembrancer.interfaces.text import counted, one_line
from remembrancer.interfaces.wire.memories import CurveOut
from remembrancer.interfaces.wire.recall import (
    DemoAnswerOut,
    DemoOut,
    DemoRankedOut,
    DemoTotalsOut,
    RecallOut,
    milliseconds,
)
from remembrancer.models import choose_embedder
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from remembrancer.domain.recall import Hit
    from remembrancer.ports.embedder import Embedder

ASKED_AT: Final = datetime(2026, 4, 15, 9, tzinfo=UTC)
"""The morning after the history ends."""
ABOUT: Final = "six weeks of a team's chat"
MEMORY: Final = "memory"
NAMES: Final = {MEMORY: "this memory", "grep": "grep", "cosine": "cosine similarity"}
READ_TO: Final = 10
"""The limit of answers per question and system."""
NEAR: Final = 3
SHOWN: Final = 6
"""The number of everyday questions that are printed: the first ones of the file."""
CURVE_DAYS: Final = 120
POINTS: Final = 241
CURVE_ROWS: Final = 6
GOOD, BAD = "bold green", "yellow"


@dataclass(frozen=True)
class Signs:
    """A text with signs, in ASCII if the terminal has no other characters."""

    text: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        text = self.text.copy()
        if options.ascii_only:
            text.plain = text.plain.translate(_IN_ASCII)
        yield text


_IN_ASCII: Final = str.maketrans("✓✗█▒·×–→", "+-#=.x->")


class DemoQuestion(TypedDict):
    """A question of the demonstration. `gold`: the keys of the turns that contain its answer; empty if none does.
    `why`: what makes a hard question hard.
    """

    question: str
    gold: list[str]
    why: NotRequired[str]


@dataclass
class SettableClock:
    """A clock that can be set, because the history and the questions have their own times."""

    now: datetime

    def __call__(self) -> datetime:
        return self.now


def demo(
    call: Invocation,
    *,
    hard: Annotated[bool, "Ask six hard questions instead."] = False,
    every: Annotated[bool, "--all", "List the results of all the everyday questions instead."] = False,
    keep: Annotated[Path | None, "FILE", "Keep the database in this file; it must not exist."] = None,
) -> None:
    """See how recall works, in a minute.

    Records six weeks of a small team's chat with its agent, indexes it, and asks six everyday questions. Shows what the
    memory ranks first beside what grep and cosine similarity rank first, then why one answer was found, a question that
    nothing answers, and a forgetting curve. Uses a temporary database unless you give one with --keep.

    Example: remembrancer demo --keep demo.db
    """
    if call.db is not None:
        raise InvalidInput("--db", call.db, "--keep FILE: the demonstration has a database of its own")
    if keep is not None and keep.exists():
        raise InvalidInput("--keep", str(keep), "a file that does not exist yet")
    if hard and every:
        raise InvalidInput("--all", "with --hard", "one of the two: --all lists the everyday questions")
    questions: list[DemoQuestion] = json.loads(_data("questions.json").read_text(encoding="utf-8"))[
        "hard" if hard else "everyday"
    ]
    clock = SettableClock(ASKED_AT - timedelta(hours=1))
    with TemporaryDirectory(prefix="remembrancer-demo-") as folder:
        settings = replace(call.settings, db=str(keep or Path(folder) / "demo.db"))
        with call.opened(create=True, settings=settings, clock=clock) as memory:
            turns = _take_in(call, memory)
            call.index(memory)
            stats = memory.health.stats()
            clock.now = ASKED_AT
            recalls = [memory.recall(one["question"], limit=READ_TO, explain=True) for one in questions]
            hits = recalls[0].hits
            curve = memory.health.curve(hits[0].memory.id, days=CURVE_DAYS, points=POINTS) if hits else None
    rankings = {
        MEMORY: [[_key(hit, turns) for hit in recall] for recall in recalls],
        **asyncio.run(_baselines(list(turns.values()), questions, choose_embedder(settings).embedder)),
    }
    answers = [
        _answer(question, recall, {name: ranked[number] for name, ranked in rankings.items()})
        for number, (question, recall) in enumerate(zip(questions, recalls, strict=True))
    ]
    call.degraded(recalls[0].degraded)
    result = DemoOut(
        turns=len(turns),
        memories=sum(stats.memories.values()),
        embedder=next(iter(stats.vectors), None),
        median_ms=statistics.median(answer.ms for answer in answers),
        kept=None if keep is None else str(keep),
        totals=[_totals(name, answers) for name in rankings],
        answers=answers,
        curve=None if curve is None else CurveOut.of(curve),
    )
    page = _hard if hard else _every if every else _page
    call.answer(result, partial(page, turns={turn.id: turn for turn in turns.values()}))


def _data(name: str) -> Traversable:
    return files("remembrancer") / "demo" / name


def _take_in(call: Invocation, memory: Remembrancer) -> dict[UUID, DatasetTurn]:
    """Record the history. Returns each turn, by the id of its event, in the order of the history."""
    with as_file(_data("history.jsonl")) as file, call.reading(file) as on_bytes:
        offered = read(file, on_bytes=on_bytes)
        return {
            event.id: DatasetTurn(id=event.key or "", text=event.text, occurred_at=event.occurred_at, actor=event.actor)
            for event in record(memory, offered, file, on_problem=SkippedRecords(call))
        }


async def _baselines(
    turns: Sequence[DatasetTurn], questions: Sequence[DemoQuestion], embedder: Embedder | None
) -> dict[str, list[list[str]]]:
    """The first turns by grep and by cosine similarity, for each question; cosine needs an embedder. A turn with a
    score of 0 is not found.
    """
    systems: dict[str, System] = {"grep": Grep()}
    if embedder is not None:
        systems["cosine"] = Dense(embedder)
    found: dict[str, list[list[str]]] = {}
    for name, system in systems.items():
        async with system.prepared(Transcript(id="demo", turns=tuple(turns))) as ranker:
            answers = [await ranker.answer(one["question"], asked_at=ASKED_AT, limit=READ_TO) for one in questions]
        found[name] = [
            [turn for turn, score in zip(answer.ranked, answer.scores, strict=True) if score > 0] for answer in answers
        ]
    if embedder is not None:
        await embedder.close()
    return found


def _answer(question: DemoQuestion, recall: Recall, ranked: Mapping[str, Sequence[str]]) -> DemoAnswerOut:
    gold = question["gold"]
    return DemoAnswerOut(
        question=question["question"],
        why=question.get("why"),
        gold=gold,
        ranked={
            name: DemoRankedOut(
                found=list(found), gold_ranks=[found.index(key) + 1 if key in found else None for key in gold]
            )
            for name, found in ranked.items()
        },
        ms=milliseconds(sum(recall.timings.values(), timedelta())),
        recall=RecallOut.of(recall),
    )


def _totals(name: str, answers: Sequence[DemoAnswerOut]) -> DemoTotalsOut:
    best = [min(_gold_ranks(answer, name), default=None) for answer in answers if answer.gold]
    unanswerable = [answer.ranked[name] for answer in answers if not answer.gold]
    return DemoTotalsOut(
        system=name,
        answerable=len(best),
        at_first=sum(rank == 1 for rank in best),
        in_top_3=sum(rank is not None and rank <= NEAR for rank in best),
        unanswerable=len(unanswerable),
        silent=sum(not one.found for one in unanswerable),
    )


def _gold_ranks(answer: DemoAnswerOut, system: str) -> list[int]:
    """The ranks of the turns that hold the answer, as far as the system found them."""
    return sorted(rank for rank in answer.ranked[system].gold_ranks if rank is not None)


def _key(hit: Hit, turns: Mapping[UUID, DatasetTurn]) -> str:
    return "" if hit.cue.event_id is None else turns[hit.cue.event_id].id


def _page(demo: DemoOut, *, turns: Mapping[str, DatasetTurn]) -> Renderables:
    yield from _heading(demo, f"Six everyday questions about {ABOUT}, and what {_systems(demo)} rank first.")
    for answer in demo.answers[:SHOWN]:
        yield ""
        yield Text(answer.question, style="bold")
        yield _firsts(answer, turns)
    yield ""
    yield Text(f"The six were chosen from {demo.totals[0].answerable} such questions. Over all of these, the answer is")
    yield from _shares(demo)
    for hit in demo.answers[0].recall.hits[:1]:
        yield ""
        yield Text.assemble("Why the memory ranks this first for: ", (demo.answers[0].question, "bold"))
        yield Shorter(said(hit), lines=2)
        reason = "" if hit.explanation is None else hit.explanation.reason
        yield Signs(Text(f"→ {one_line(reason)}", style="cyan"))
    yield ""
    silent = next(answer for answer in demo.answers if not answer.gold)
    yield Text.assemble("Nothing answers: ", (silent.question, "bold"))
    yield _firsts(silent, turns)
    others = ", ".join(f"{one.system} {one.silent}" for one in demo.totals)
    yield Text(f"Of {demo.totals[0].unanswerable} such questions, left unanswered: {others}", style="dim")
    if demo.curve is not None and (strength := StrengthCurve.of(demo.curve)) is not None:
        yield ""
        yield Text("How the memory of the first answer fades, if nobody uses it", style="bold")
        yield Plot(strength, rows=CURVE_ROWS)
        yield Text(forecast_text(demo.curve.forecast, demo.curve.now), style="dim")
    yield from _next(demo)


def _heading(demo: DemoOut, text: str, legend: str = "✓ holds the answer") -> Renderables:
    yield Text(text, style="bold")
    used = demo.embedder or "no embedder"
    line = Text(f"{counted(demo.turns, 'turn')}, {used}, {demo.median_ms:.1f} ms a recall; {legend}", style="dim")
    yield Signs(line)
    if demo.embedder is None:
        yield Text("Without an embedder this memory searches by words only, and there is no cosine.", style=BAD)


def _systems(demo: DemoOut) -> str:
    *first, last = (NAMES[one.system] for one in demo.totals)
    return f"{', '.join(first)} and {last}"


def _firsts(answer: DemoAnswerOut, turns: Mapping[str, DatasetTurn]) -> Table:
    """A row for each system: the turn that it ranks first, and whether that is right."""
    grid = _rows()
    for name, ranked in answer.ranked.items():
        first = ranked.found[:1]
        right = first[0] in answer.gold if answer.gold and first else not answer.gold and not first
        text = _said(turns[first[0]]) if first else "nothing"
        own = name == MEMORY
        grid.add_row(name, _mark(right), Shorter(text, lines=1 + own), style="" if own else "dim")
    return grid


def _rows() -> Table:
    """A grid of a label, a mark and a text."""
    grid = Table.grid(padding=(0, 1), expand=True)
    grid.add_column(width=7, justify="left")
    grid.add_column(width=1)
    grid.add_column(ratio=1)
    return grid


def _mark(right: bool) -> Signs:
    return Signs(Text("✓", style=GOOD) if right else Text("✗", style=BAD))


def _said(turn: DatasetTurn) -> str:
    return f"{turn.actor}: {turn.text}"


def _shares(demo: DemoOut) -> Renderables:
    """For each system, how often the answer is first, and among the first few."""
    for one in demo.totals:
        bar = "█" * one.at_first + "▒" * (one.in_top_3 - one.at_first) + "·" * (one.answerable - one.in_top_3)
        line = Text.assemble(
            f"{one.system:8}",
            (bar, "green" if one.system == MEMORY else "dim"),
            f"  {one.at_first:2} × first, {one.in_top_3:2} × among the first {NEAR}",
        )
        yield Signs(line)


def _every(demo: DemoOut, *, turns: Mapping[str, DatasetTurn]) -> Renderables:
    yield from _heading(
        demo,
        f"{len(demo.answers)} everyday questions about {ABOUT}: the best rank of a turn that holds the answer.",
        f"– not among the first {READ_TO}",
    )
    grid = Table.grid(padding=(0, 1), expand=True)
    grid.add_column(ratio=1)
    for _ in demo.totals:
        grid.add_column(width=7, justify="right")
    for answerable in (True, False):
        grid.add_row("")
        grid.add_row("" if answerable else "Nothing answers:", *(one.system for one in demo.totals), style="dim")
        for answer in demo.answers:
            if bool(answer.gold) is answerable:
                grid.add_row(Shorter(answer.question), *(_outcome(answer, one.system) for one in demo.totals))
    yield grid
    yield ""
    yield from _shares(demo)
    others = ", ".join(f"{one.system} {one.silent}" for one in demo.totals)
    yield Text(f"Of {demo.totals[0].unanswerable} questions that nothing answers, left unanswered: {others}")


def _outcome(answer: DemoAnswerOut, system: str) -> RenderableType:
    if not answer.gold:
        return Text("a turn", style=BAD) if answer.ranked[system].found else Text("nothing", style=GOOD)
    ranks = _gold_ranks(answer, system)
    return Text(str(ranks[0]), style=GOOD if ranks[0] == 1 else "") if ranks else Signs(Text("–", style=BAD))


def _hard(demo: DemoOut, *, turns: Mapping[str, DatasetTurn]) -> Renderables:
    yield from _heading(
        demo, f"Six hard questions about {ABOUT}: the memory's first {NEAR} hits, and the ranks of the answer."
    )
    for answer in demo.answers:
        yield ""
        yield Text(answer.question, style="bold")
        yield Text(f"Hard: {answer.why}.", style="dim italic")
        grid = _rows()
        for rank, key in enumerate(answer.ranked[MEMORY].found[:NEAR], start=1):
            grid.add_row(Text(f"{rank:>7}"), _mark(key in answer.gold), Shorter(_said(turns[key])))
        yield grid
        ranks = (f"{name} {', '.join(map(str, _gold_ranks(answer, name))) or 'none'}" for name in answer.ranked)
        held = f"Ranks of the {len(answer.gold)} turns with the answer, within {READ_TO}: "
        yield Text(held + "; ".join(ranks), style="dim")
    yield ""
    yield Text(f"Of the {len(demo.answers)} questions, the answer is")
    yield from _shares(demo)
    yield from _next(demo)


def _next(demo: DemoOut) -> Renderables:
    db = f"--db {shlex.quote(demo.kept or 'demo.db')}"
    commands = [
        *(() if demo.kept else ("demo --keep demo.db",)),
        f'recall "what do we pay for hosting?" {db} --explain',
        *((f'presets compare "PX_3071?" --as-of 2026-04-16 {db}',) if demo.kept else ()),
        f"serve {db}",
        "demo --all",
        "demo --hard",
    ]
    yield ""
    yield Text("Next:", style="bold")
    for one in commands:
        yield indented(Text(f"remembrancer {one}"), 2)
