"""Answers on a terminal: from a JSON shape to blocks of text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from remembrancer.interfaces.cli.drawing import Meter, Renderables, Shorter, facts, indented, part_bars, sparkline
from remembrancer.interfaces.text import counted, day, minute, one_line, shown, size, titled

if TYPE_CHECKING:
    from datetime import datetime

    from rich.console import RenderableType

    from remembrancer.interfaces.wire.files import ExportedOut, ImportedOut, IngestedOut, ObservedOut
    from remembrancer.interfaces.wire.health import HealthOut, MemoryHealthOut
    from remembrancer.interfaces.wire.memories import (
        FeedbackOut,
        MemoriesOut,
        MemoryDetailsOut,
        MemoryOut,
        RelationOut,
        ReviewOut,
        StrengthOut,
    )
    from remembrancer.interfaces.wire.recall import HitOut, RecallOut, WhyNotOut
    from remembrancer.interfaces.wire.shape import ScopeOut
    from remembrancer.interfaces.wire.state import DoctorOut, IndexReportOut, StatsOut

METER_CELLS: Final = 20
_LEARNINGS: Final = "learnings"
"""The format whose records become memories instead of events."""
DAYS: Final = 30
"""Days of health history in the chart."""


def recalled(recall: RecallOut, *, explain: bool) -> Renderables:
    """The hits, each with its id for further commands."""
    if not recall.hits:
        yield Text("No memory answers that.", style="dim")
    for hit in recall.hits:
        yield heading(hit)
        yield indented(Shorter(said(hit), lines=3))
        yield indented(Text(str(hit.memory.id), style="dim"))
        if hit.via is not None:
            yield indented(Text(f"by its similar edge with {hit.via}", style="dim"))
        if explain:
            # Bars are to one scale, the best hit's score, so that hits can be compared.
            yield indented(part_bars(hit.explanation.parts, recall.hits[0].score))
            yield indented(_reasons(hit))
        yield ""
    if recall.standing:
        yield Text(f"In every answer: {counted(len(recall.standing), 'pinned memory')}", style="bold")
        for memory in recall.standing:
            yield indented(Shorter(titled(memory), lines=2))
            yield indented(Text(str(memory.id), style="dim"))
        yield ""


def heading(hit: HitOut) -> Text:
    """Rank, score, speaker and time."""
    line = Text(f"{hit.rank:>2}  ")
    line.append(f"{hit.score:.3f}", style="bold")
    line.append(f"  {one_line(hit.cue.heading)}")
    line.append(f" · {hit.age.spoken} · {hit.memory.kind}", style="dim")
    return line


def said(hit: HitOut) -> str:
    return hit.cue.text if hit.memory.title is None else titled(hit.memory)


def listed(found: MemoriesOut) -> Renderables:
    """Newest first, each with its id."""
    if not found.memories:
        yield Text("Nothing is remembered there.", style="dim")
    for memory in found.memories:
        yield _line(minute(memory.occurred_to), memory)
        yield Text(f"  {memory.id}", style="dim")


def told(found: MemoriesOut) -> Renderables:
    """Oldest first, grouped by day and session."""
    if not found.memories:
        yield Text("Nothing is remembered of that time.", style="dim")
    for (when, session), memories in groupby(found.memories, _day_and_session):
        yield Text(when if session is None else f"{when} · {one_line(session)}", style="bold")
        for memory in memories:
            yield indented(_line(f"{memory.occurred_to:%H:%M}", memory), 2)
            yield indented(Text(str(memory.id), style="dim"))
        yield ""


def changed(memory: MemoryOut) -> Renderables:
    """A memory that was just written."""
    yield _line(memory.status, memory)
    yield Text(f"  {memory.id}", style="dim")


def linked(edge: RelationOut) -> Renderables:
    """A relation as a sentence."""
    yield Text(f"{edge.source} {edge.kind} {edge.target}, weight {edge.weight:.2f}")


def ended(memory: MemoryOut) -> Renderables:
    """A memory whose validity has ended, and since when."""
    since = memory.superseded_at or memory.valid_until
    yield _line("ended", memory)
    yield facts([("since", _optional(since)), ("replaced by", str(memory.superseded_by or ""))])
    yield Text(f"  {memory.id}", style="dim")


def promoted(memory: MemoryOut) -> Renderables:
    """A promoted memory, and its new scope."""
    yield _line("promoted", memory)
    yield facts([("for", _scope(memory.scope))])
    yield Text(f"  {memory.id}", style="dim")


def observed(answer: ObservedOut) -> Renderables:
    if len(answer.events) == 1:
        event = answer.events[0]
        yield Shorter(event.text, lead=Text(f"recorded  {event.type}  ", style="dim"))
        yield Text(f"  event {event.id}", style="dim")
    else:
        yield Text(f"Recorded {counted(len(answer.events), 'event')}.")
    if answer.problems:
        yield Text(f"Left out {counted(len(answer.problems), 'line')}.", style="yellow")


def strengthened(answer: FeedbackOut) -> Renderables:
    if answer.status != "active":
        yield Text(f"It is {answer.status}; `remembrancer show {answer.id}` says why.", style="yellow")
    yield facts(_strength(answer.strength))


def ingested(answer: IngestedOut) -> Renderables:
    for file in answer.files:
        line = Text(one_line(file.path), style="bold")
        if file.refused is None:
            taken = counted(file.events, "event")
            what = counted(file.learnings, "learning") if file.format == _LEARNINGS else f"{taken} as {file.format}"
            line.append(f": {what}", style="not bold")
            if file.problems:
                line.append(f", {counted(len(file.problems), 'problem')}", style="not bold yellow")
        else:
            line.append(": left out", style="not bold red")
        yield line
    if any(file.format != _LEARNINGS for file in answer.files):
        yield Text(f"New in the journal: {counted(answer.new, 'event')}.")
    if answer.index is not None:
        yield _index(answer.index)


def counts(stats: StatsOut) -> Renderables:
    span = ""
    if stats.oldest is not None and stats.newest is not None:
        span = f"{minute(stats.oldest)} to {minute(stats.newest)} UTC"
    yield facts(
        [
            ("events", f"{stats.events:,}"),
            ("memories", ", ".join(f"{number:,} {status}" for status, number in stats.memories.items()) or "0"),
            ("cues", f"{stats.cues:,}"),
            ("vectors", ", ".join(f"{number:,} of {model}" for model, number in stats.vectors.items()) or "0"),
            ("too long", f"{stats.truncated:,} cues are longer than their model reads" if stats.truncated else ""),
            ("relations", f"{stats.relations:,}"),
            ("span", span),
            ("size", size(stats.bytes)),
        ]
    )


def examined(answer: DoctorOut) -> Renderables:
    grid = Table.grid(padding=(0, 1))
    grid.add_column()
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for finding in answer.findings:
        mark = Text("✓", style="green") if finding.ok else Text("✗", style="bold red")
        grid.add_row(mark, finding.check, Text(one_line(finding.detail), style="dim" if finding.ok else ""))
        if not finding.ok and finding.repair:
            grid.add_row("", "", Text(f"to mend it: {one_line(finding.repair)}"))
    yield grid


def health(answer: MemoryHealthOut) -> Renderables:
    """The score, its metrics as bars, missing metrics with the reason, and how to improve the weakest."""
    yield Text("the workspace" if answer.crew is None else f"crew {one_line(answer.crew)}", style="bold")
    if answer.latest is None:
        whose = "" if answer.crew is None else " of each crew that has memories"
        yield Text(f"No health snapshot has been taken yet. `remembrancer maintain` takes one a day{whose}.")
    else:
        yield from _measured(answer.latest)
    if answer.history:
        yield ""
        yield from _days(answer.history)


def _measured(snapshot: HealthOut) -> Renderables:
    verdict = Text("no data", style="dim")
    if snapshot.score is not None and snapshot.band is not None:
        verdict = Text(f"{snapshot.score:.1f} {snapshot.band}", style=f"bold {snapshot.band}")
    yield verdict.append(f"  on {snapshot.day}", style="not bold default")
    grid = Table.grid(padding=(0, 1))
    for no_wrap in (True, False, True, True, True):
        grid.add_column(no_wrap=no_wrap)
    absent: dict[str, list[str]] = {}
    for name, metric in snapshot.metrics.items():
        if metric.value is None or metric.band is None:
            grid.add_row(name, "", "", Text("no data", style="dim"))
            absent.setdefault(metric.absent, []).append(name)
        else:
            bar = Meter(metric.value / 100, metric.band, METER_CELLS)
            weight = Text(f"weighs {metric.weight:.0%}", style="dim")
            grid.add_row(name, bar, f"{metric.value:5.1f}", Text(metric.band, style=metric.band), weight)
    yield grid
    for why, names in absent.items():
        yield Text(f"no {', '.join(names)}: {why}", style="dim")
    if snapshot.weakest is not None and snapshot.advice:
        yield ""
        line = Text(f"weakest: {snapshot.weakest}. ", style="bold")
        yield line.append(f"{snapshot.advice[0].upper()}{snapshot.advice[1:]}.", style="not bold")


def _days(history: list[HealthOut]) -> Renderables:
    """One column per day, the newest at the right; a dot for a day without a score."""
    newest = history[0].day
    scores = {snapshot.day: snapshot.score for snapshot in history}
    days = [newest - timedelta(days=ago) for ago in reversed(range(DAYS))]
    known = [score for score in map(scores.get, days) if score is not None]
    yield Text(sparkline(None if (score := scores.get(one)) is None else score / 100 for one in days))
    span = f"{days[0]} to {newest}: {counted(len(known), 'score')}"
    yield Text(f"{span}, from {min(known):.1f} to {max(known):.1f}" if known else span, style="dim")


def exported(answer: ExportedOut) -> Renderables:
    yield Text(f"Wrote {counted(answer.rows, 'row')} to {one_line(answer.path)}.")


def imported(answer: ImportedOut) -> Renderables:
    would = "would be new" if answer.dry_run else "were new"
    yield Text(f"{counted(answer.rows, 'row')}, of which {answer.new:,} {would}.")


def explained(answer: WhyNotOut) -> Renderables:
    mark = Text("✓ ", style="green") if answer.returned else Text("✗ ", style="yellow")
    yield mark.append(one_line(answer.reason), style="default")
    yield facts([("score", "" if answer.score is None else f"{answer.score:.3f}")])
    yield indented(Shorter(titled(answer.memory), lines=2), 2)
    yield Text(f"  {answer.memory.id}", style="dim")


def details(answer: MemoryDetailsOut) -> Renderables:
    """Everything about one memory."""
    memory = answer.memory
    yield Text(str(memory.id), style="bold")
    status = memory.status if memory.superseded_at is None else f"{memory.status}, superseded"
    yield Text(f"{memory.tier} {memory.kind}, {status}", style="dim")
    yield ""
    if memory.title is not None:
        yield Text(one_line(memory.title), style="bold")
    yield Text(shown(memory.text))
    yield ""
    yield facts([*_about(memory), *_strength(memory.strength)])
    yield from _section("cue", [(cue.heading or f"cue {cue.ordinal}", cue.text) for cue in answer.cues])
    yield from _section(
        "event",
        [
            (f"{event.actor or event.role}, {minute(event.occurred_at)}, {event.id}", event.text)
            for event in answer.events
        ],
    )
    yield from _section(
        "revision",
        [
            (f"revision {revision.number}, until {minute(revision.replaced_at)}", revision.text)
            for revision in answer.revisions
        ],
    )
    yield from _section(
        "relation",
        [(f"{edge.kind}, {edge.weight:.2f}", f"{edge.source} to {edge.target}") for edge in answer.relations],
    )
    yield from _section(
        "review", [(f"{one.rating}, {minute(one.at)}, by {one.by}", _moved(one)) for one in answer.reviews]
    )
    yield from _section(
        "audit line", [(f"{audited.action}, {minute(audited.at)}", audited.reason or "-") for audited in answer.audit]
    )


def _moved(review: ReviewOut) -> str:
    stability = f"stability {review.stability_before:.1f} to {review.stability:.1f} days"
    return f"{stability}, difficulty {review.difficulty_before:.1f} to {review.difficulty:.1f}"


def _section(noun: str, items: list[tuple[str, str]]) -> Renderables:
    if items:
        yield ""
        yield Text(counted(len(items), noun), style="bold")
    for head, text in items:
        yield indented(Text(one_line(head), style="dim"), 2)
        yield indented(Shorter(text, lines=2))


def _about(memory: MemoryOut) -> Iterable[tuple[str, str]]:
    happened = minute(memory.occurred_to)
    if memory.occurred_from != memory.occurred_to:
        happened = f"{minute(memory.occurred_from)} to {happened}"
    return [
        ("happened", f"{happened} UTC"),
        ("recorded", f"{minute(memory.recorded_at)} UTC"),
        ("holds from", _optional(memory.valid_from)),
        ("holds until", _optional(memory.valid_until)),
        ("retired", _optional(memory.retired_at)),
        ("superseded", _optional(memory.superseded_at)),
        ("replaced by", str(memory.superseded_by or "")),
        ("scope", _scope(memory.scope)),
        ("seen by", memory.visibility),
        ("origin", memory.origin),
        ("source", memory.source or ""),
        ("topic", memory.topic_key or ""),
        ("key", memory.key or ""),
        ("revision", str(memory.revision)),
        ("tags", ", ".join(memory.tags)),
        ("metadata", json.dumps(memory.metadata, ensure_ascii=False) if memory.metadata else ""),
    ]


def _reasons(hit: HitOut) -> RenderableType:
    why = hit.explanation
    signals = [f"{name} {value:.3f}" for name, value in why.signals.items() if value is not None]
    return facts(
        [
            ("signals", " · ".join(signals)),
            ("searches", " · ".join(f"{leg} rank {rank}" for leg, rank in why.ranks.items())),
            ("matched", " ".join(why.matched) or "no term of the question"),
        ]
    )


def _strength(strength: StrengthOut) -> list[tuple[str, str]]:
    usage = strength.usage
    return [
        ("importance", f"{strength.importance:.2f}"),
        ("confidence", f"{strength.confidence:.2f}"),
        ("priority", f"{strength.priority} of 10"),
        ("surprise", f"{strength.surprise:.2f}" if strength.surprise else ""),
        ("never below", f"{strength.importance_floor:.2f}" if strength.importance_floor else ""),
        ("stability", f"{strength.stability:.1f} days"),
        ("reviewed", _optional(strength.last_reviewed_at)),
        ("feedback", f"{usage.helped} × helped, {usage.unhelpful} × unhelpful, {usage.harmed} × harmed"),
        ("use", f"{usage.retrieved} × retrieved, {usage.shown} × shown, {usage.used} × used"),
    ]


def _index(report: IndexReportOut) -> Text:
    line = Text(f"indexed {counted(report.indexed, 'cue')}")
    if report.deferred:
        line.append(f", {report.deferred:,} put off", style="yellow")
    if report.reason:
        line.append(f" ({one_line(report.reason)})", style="dim")
    return line


def _line(lead: str, memory: MemoryOut) -> Shorter:
    head = Text(f"{lead}  ", style="dim")
    head.append(f"{memory.origin if memory.kind == 'message' else memory.kind}  ", style="not dim cyan")
    return Shorter(titled(memory), lead=head)


def _day_and_session(memory: MemoryOut) -> tuple[str, str | None]:
    return day(memory.occurred_to), memory.scope.session


def _scope(scope: ScopeOut) -> str:
    parts = (
        ("workspace", scope.workspace),
        ("project", scope.project),
        ("crew", scope.crew),
        ("agent", scope.agent),
        ("session", scope.session),
    )
    return " · ".join(f"{name} {value}" for name, value in parts if value)


def _optional(moment: datetime | None) -> str:
    return "" if moment is None else f"{minute(moment)} UTC"
