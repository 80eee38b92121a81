"""Print an evaluation report: what was measured, a table for each view, and the cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, assert_never

from rich.markup import escape

from remembrancer.evaluation import diagnosis
from remembrancer.evaluation.budget import BLOCK_METRICS, BUDGETS, CHARS_PER_TOKEN
from remembrancer.evaluation.metrics import METRICS
from remembrancer.evaluation.report import EvaluationReport
from remembrancer.evaluation.sheet import Sheet, print_sheet
from remembrancer.evaluation.summary import ENOUGH_CONVERSATIONS, Means
from remembrancer.evaluation.views import (
    Abstention,
    AbstentionByThreshold,
    Calibration,
    Categories,
    Causes,
    ChangedMost,
    Differences,
    EveryMetric,
    EvidenceFound,
    EvidenceInBlocks,
    ReportView,
    Times,
    views,
)
from remembrancer.policies.rendering.safe import one_line

if TYPE_CHECKING:
    from rich.console import Console

CATEGORY_METRIC: Final = "recall@10"


def print_report(report: EvaluationReport, console: Console) -> None:
    """Print the report: the data set, each system's metrics, missed evidence with causes, answer time and database
    size.
    """
    console.print(_head(report))
    console.print(_conversations(report))
    print_views(views(report), console)
    for group in report.groups:
        if not group.questions:
            console.print(f"Only the {group.name}: no question there has an answer")
    for part, reason in report.degraded.items():
        console.print(f"[bold]Without {escape(part)}[/bold]: {escape(one_line(reason))}")
    console.print(f"Database: {report.index_bytes:,} bytes for {report.turns:,} turns")
    reranker = "" if report.reranker is None else f"; reranker: {escape(one_line(report.reranker))}"
    models = f"Embedder: {report.embedder or 'none'}{reranker}"
    console.print(f"{models}; answers read to {_depths(report)}; seed {report.seed}")
    console.print(f"Machine: {escape(report.machine)}")


def print_views(shown: Iterable[ReportView], console: Console) -> None:
    """Print the table of each view."""
    for view in shown:
        print_sheet(sheet(view), console)


def sheet(view: ReportView) -> Sheet:  # noqa: C901, PLR0911 - a case for each kind of view
    """The table of a view."""
    match view:
        case EvidenceFound():
            return _found(view)
        case EvidenceInBlocks():
            return _blocks(view)
        case Categories():
            return _categories(view)
        case EveryMetric():
            return _every_metric(view)
        case Causes():
            return diagnosis.causes(view)
        case Calibration():
            return diagnosis.calibration(view)
        case Abstention():
            return diagnosis.abstention(view)
        case AbstentionByThreshold():
            return diagnosis.by_threshold(view)
        case Differences():
            return diagnosis.differences(view)
        case ChangedMost():
            return diagnosis.changed(view)
        case Times():
            return _times(view)
        case _:
            assert_never(view)


def several(count: int, what: str) -> str:
    """A count with its noun, in the plural unless the count is 1.

    >>> several(2, "turn")
    '2 turns'
    """
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _head(report: EvaluationReport) -> str:
    name, unanswerable = escape(one_line(report.dataset)), escape(one_line(report.unanswerable))
    foreign = f", {report.foreign_questions:,} foreign are asked too" if report.foreign_questions else ""
    return (
        f"[bold]{name}[/bold]: {several(report.conversations, 'conversation')}, {report.turns:,} turns; "
        f"{report.questions:,} questions count, {report.unanswerable_questions:,} {unanswerable} stand apart, "
        f"{report.excluded:,} have no usable evidence{foreign}"
    )


def _conversations(report: EvaluationReport) -> str:
    if report.conversations == report.available:
        return "All of its conversations"
    named = ", ".join(one_line(name) for name in report.conversation_ids)
    return f"{report.conversations} of {report.available} conversations: {escape(named)}"


def _over(means: Means) -> str:
    """The number of questions of a mean, and the method of its interval."""
    drawn = "conversations" if means.conversations >= ENOUGH_CONVERSATIONS else "questions"
    counted = f"{several(means.questions, 'question')} of {several(means.conversations, 'conversation')}"
    return f"mean over {counted}; 95 % interval below, by drawing {drawn}"


def _found(view: EvidenceFound) -> Sheet:
    first = next(iter(view.means.values()))
    return Sheet(
        title=f"{diagnosis.title_of(view)} ({_over(first)})",
        columns=tuple(_heading(metric) for metric in view.metrics),
        rows=tuple(
            (system, tuple(_with_interval(means, metric) for metric in view.metrics))
            for system, means in view.means.items()
        ),
    )


def _blocks(view: EvidenceInBlocks) -> Sheet:
    """Share of the evidence in blocks, and mean block length in tokens. A block shorter than its budget was not cut."""
    first = next(iter(view.means.values()))
    used = [f"used@{budget}" for budget in BUDGETS if view.chars]
    return Sheet(
        title=f"{diagnosis.title_of(view)} ({_over(first)})",
        columns=tuple(_heading(name.removeprefix("block-")) for name in (*BLOCK_METRICS, *used)),
        rows=tuple(
            (
                system,
                (
                    *(_with_interval(means, name) for name in BLOCK_METRICS),
                    *(f"{chars / CHARS_PER_TOKEN:,.0f}" for chars in view.chars.get(system, {}).values()),
                ),
            )
            for system, means in view.means.items()
        ),
    )


def _categories(view: Categories) -> Sheet:
    counts = next(iter(view.means.values()))
    return Sheet(
        title=f"Turns found by category ({CATEGORY_METRIC})",
        columns=tuple(f"{label}\nn={means.questions}" for label, means in zip(view.labels, counts, strict=True)),
        rows=tuple(
            (system, tuple(_with_interval(one, CATEGORY_METRIC) for one in means))
            for system, means in view.means.items()
        ),
    )


def _every_metric(view: EveryMetric) -> Sheet:
    """One row per metric; one column per category, with its number of questions."""
    return Sheet(
        title=f"{view.system}: {view.level}s, every metric{view.by}",
        columns=tuple(f"{label}\nn={means.questions}" for label, means in zip(view.labels, view.means, strict=True)),
        rows=tuple((metric, tuple(f"{means.values[metric]:.3f}" for means in view.means)) for metric in METRICS),
    )


def _times(view: Times) -> Sheet:
    return Sheet(
        title="Answer time, ms",
        columns=("p50", "p95"),
        rows=tuple((system, (f"{one.p50:.2f}", f"{one.p95:.2f}")) for system, one in view.latencies.items()),
    )


def _depths(report: EvaluationReport) -> str:
    """The depth, or each system's depth when they differ."""
    if len(set(report.depths.values())) == 1:
        return f"depth {report.depth}"
    return "depths " + ", ".join(f"{depth} ({system})" for system, depth in report.depths.items())


def _heading(metric: str) -> str:
    return metric.replace("@", "\n@")


def _with_interval(means: Means, metric: str) -> str:
    interval = means.shown_intervals[metric]
    between = f"{interval.low:.2f}-{interval.high:.2f}".replace("0.", ".")
    return f"{means.values[metric]:.3f}\n{between}"
