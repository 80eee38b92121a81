"""Tables of what is behind the figures: why evidence is missed, what scores are worth, what sets two systems apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from remembrancer.evaluation.abstention import Abstaining, Bin, Reliability
from remembrancer.evaluation.misses import READERS, Cause
from remembrancer.evaluation.paired import CHANGED_BY, Changed, Difference, Paired
from remembrancer.evaluation.report import Report
from remembrancer.evaluation.statistics import Interval
from remembrancer.evaluation.summary import ENOUGH_CONVERSATIONS, SystemResult
from remembrancer.policies.rendering.safe import one_line

TOLD_FLOORS: Final = 10
"""Every so many of the least scores that are swept are told."""
TOLD_CHANGES: Final = 10
QUESTION_CHARS: Final = 60
EVEN: Final = 1e-12


def tables(report: Report) -> Iterator[Table]:
    """Those for which there is something to tell, in the order of a report."""
    memories = [result for result in report.results if result.reliability is not None]
    told = 1 if report.paired is None else 2
    for result in report.results[:told]:
        yield causes_table(result)
    for result in memories:
        if result.reliability is not None:
            yield reliability_table(result.system, result.reliability, result.reliability_of_all)
    if report.unanswerable_questions:
        yield separation_table(report)
        for result in memories:
            yield abstaining_table(result)
    if report.paired is not None:
        yield from paired_tables(report.paired)
    for group in report.groups:
        if group.paired is not None:
            yield differences_table(group.paired, f"Only the {group.name}: ")


def causes_table(result: SystemResult) -> Table:
    """What became of each turn that answers, for each reader."""
    turns = sum(result.missed[READERS[0]].values())
    table = _table(f"{result.system}: what becomes of the {turns:,} turns that answer, by how much is read")
    for reader in READERS:
        table.add_column(reader if reader == READERS[0] else f"block of {reader}", justify="right", no_wrap=True)
    for cause in Cause:
        counts = [result.missed[reader].get(cause, 0) for reader in READERS]
        if any(counts):
            table.add_row(cause.value, *(f"{count:,} ({count / turns:.1%})" for count in counts))
    return table


def reliability_table(system: str, answerable: Reliability, every: Reliability | None) -> Table:
    """How often the first turn of an answer answers, by its score; beside it with the unanswerable questions."""
    error = f"expected calibration error {answerable.error:.3f} over {answerable.answers:,} answers"
    if every is not None:
        error += f"; with the unanswerable {every.error:.3f} over {every.answers:,}"
    table = _table(f"{system}: how often the first turn answers, by its score ({error})")
    for column in ("answers", "mean score", "first answers", *(() if every is None else ("of all", "first answers"))):
        table.add_column(column, justify="right", no_wrap=True)
    beside = {} if every is None else {one.low: one for one in every.bins}
    own = {one.low: one for one in answerable.bins}
    for low in sorted({*own, *beside}):
        mine, all_of_them = own.get(low), beside.get(low)
        cells = ["0", "-", "-"] if mine is None else [f"{mine.answers:,}", f"{mine.mean_score:.3f}", _share(mine)]
        more = [] if every is None or all_of_them is None else [f"{all_of_them.answers:,}", _share(all_of_them)]
        table.add_row(f"{low:.1f}-{low + 0.1:.1f}", *cells, *more)
    return table


def separation_table(report: Report) -> Table:
    """Whether a system says nothing where nothing answers, and whether its best score could tell."""
    unanswerable, answerable = report.unanswerable_questions, report.questions
    table = _table(f"Nothing returned, and what the best score tells ({unanswerable:,} questions have no answer)")
    for column in (f"of unanswerable\nn={unanswerable:,}", f"of answerable\nn={answerable:,}", "AUC", "95 %"):
        table.add_column(column, justify="right", no_wrap=True)
    for result in report.results:
        told = result.separation
        auc = ("-", "-") if told is None else (f"{told.auc:.3f}", _between(told.interval))
        table.add_row(result.system, f"{result.silent_on_unanswerable:,}", f"{result.silent_on_answerable:,}", *auc)
    return table


def abstaining_table(result: SystemResult) -> Table:
    """What answers would be like with a least score: saying nothing is the positive."""
    table = _table(f"{result.system}: saying nothing below a least score (recall@10 of the answerable by what is left)")
    for column in ("silent on unanswerable", "silent on answerable", "precision", "recall", "F1", "recall@10"):
        table.add_column(column.replace("silent on ", "silent on\n"), justify="right", no_wrap=True)
    for one in result.abstaining[::TOLD_FLOORS]:
        table.add_row(f"{one.floor:.2f}", *_abstaining_cells(one))
    return table


def paired_tables(told: Paired) -> Iterator[Table]:
    """What sets the two apart, and the questions on which they differ most."""
    yield differences_table(told)
    if told.changed:
        yield _changed_table(told)


def differences_table(told: Paired, before: str = "") -> Table:
    clustered = told.conversations >= ENOUGH_CONVERSATIONS
    drawn = "conversations" if clustered else "questions"
    sure = f"95 % interval by drawing {drawn}; p by flipping signs, Holm over {len(told.differences)}"
    table = _table(f"{before}{told.first} less {told.second}, on the same {told.questions:,} questions ({sure})")
    columns = (
        *(one_line(name) for name in (told.first, told.second)),
        "difference\n95 %",
        "p\nHolm",
        "p by con-\nversation",
        "won/lost/tied",
    )
    for column in columns:
        table.add_column(escape(column), justify="right", no_wrap=True)
    for one in told.differences:
        table.add_row(one.metric, *_difference_cells(one, clustered=clustered))
    return table


def _changed_table(told: Paired) -> Table:
    shown = min(TOLD_CHANGES, len(told.changed))
    table = _table(f"The {shown} of {len(told.changed):,} changed questions that {CHANGED_BY} moved most")
    table.add_column("question")
    table.add_column(CHANGED_BY, justify="right", no_wrap=True)
    for one in told.changed[:shown]:
        table.add_row(escape(one_line(f"{one.conversation}: {one.id}")), escape(_question(one)), f"{one.by:+.3f}")
    return table


def _question(one: Changed) -> str:
    text = one_line(one.question)
    return text if len(text) <= QUESTION_CHARS else f"{text[: QUESTION_CHARS - 1]}…"


def _difference_cells(one: Difference, *, clustered: bool) -> list[str]:
    interval = one.cluster_interval if clustered and one.cluster_interval is not None else one.interval
    difference = one.difference if abs(one.difference) > EVEN else 0.0
    return [
        f"{one.first:.3f}",
        f"{one.second:.3f}",
        f"{difference:+.3f}\n[dim]{interval.low:+.3f} to {interval.high:+.3f}[/dim]",
        f"{_p(one.p)}\n{_p(one.p_holm)}",
        "-" if one.p_conversations is None else _p(one.p_conversations),
        f"{one.won:,}/{one.lost:,}/{one.tied:,}",
    ]


def _abstaining_cells(one: Abstaining) -> list[str]:
    return [
        f"{one.silent_on_unanswerable:,}",
        f"{one.silent_on_answerable:,}",
        "-" if one.precision is None else f"{one.precision:.3f}",
        f"{one.sensitivity:.3f}",
        f"{one.f1:.3f}",
        f"{one.recall:.3f}",
    ]


def _share(one: Bin) -> str:
    return f"{one.share:.3f} ({_between(one.interval)})"


def _between(interval: Interval) -> str:
    return f"{interval.low:.2f}-{interval.high:.2f}".replace("0.", ".")


def _p(value: float) -> str:
    return f"{value:.4f}" if value >= 0.0001 else "<0.0001"


def _table(title: str) -> Table:
    table = Table(title=escape(title), title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("", no_wrap=True)
    return table
