"""A report as tables for a terminal: what each system reaches, by turns, sessions, categories and block lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from remembrancer.evaluation import diagnosis
from remembrancer.evaluation.budget import BUDGETS, CHARS_PER_TOKEN, SURVIVAL
from remembrancer.evaluation.report import Group, Report
from remembrancer.evaluation.summary import ENOUGH_CONVERSATIONS, Levels, Means
from remembrancer.policies.rendering.safe import one_line

TURN_COLUMNS: Final = ("recall@5", "recall@10", "recall@20", "any@10", "all@10", "ndcg@10", "mrr")
SESSION_COLUMNS: Final = ("recall@5", "any@5", "recall@10", "any@10", "all@10", "ndcg@10", "mrr")
EVERY_METRIC: Final = (
    *(f"{metric}@{depth}" for metric in ("recall", "any", "all", "ndcg") for depth in (5, 10, 20)),
    "mrr",
)
CATEGORY_COLUMN: Final = "recall@10"
GROUP_COLUMNS: Final = ("recall@5", "recall@10", "recall@20", "ndcg@10", "mrr")


def print_report(report: Report, console: Console) -> None:
    """The report for people: what was measured, what each system reaches, what is missed and why, what it took."""
    console.print(_head(report))
    console.print(_conversations(report))
    counted = f"mean over {_denominator(report.results[0].main.turn)}"
    turns = {result.system: result.main for result in report.results}
    console.print(_level_table(f"Turns found ({counted})", turns, "turn", TURN_COLUMNS))
    if report.has_sessions:
        console.print(_level_table(f"Sessions found ({counted})", turns, "session", SESSION_COLUMNS))
    console.print(_budget_table(report, counted))
    if len(report.results[0].by_category) > 1:
        console.print(_category_table(report))
    console.print(_every_metric_table(report, "turn"))
    if report.has_sessions:
        console.print(_every_metric_table(report, "session"))
    for group in report.groups:
        console.print(_group_table(group))
    for table in diagnosis.tables(report):
        console.print(table)
    console.print(_latency_table(report))
    for part, reason in report.degraded.items():
        console.print(f"[bold]Without {escape(part)}[/bold]: {escape(one_line(reason))}")
    console.print(f"Database: {report.index_bytes:,} bytes for {report.turns:,} turns")
    reranker = "" if report.reranker is None else f"; reranker: {escape(one_line(report.reranker))}"
    models = f"Embedder: {report.embedder or 'none'}{reranker}"
    console.print(f"{models}; answers read to {_depths(report)}; seed {report.seed}")
    console.print(f"Machine: {escape(report.machine)}")


def _head(report: Report) -> str:
    name, unanswerable = escape(one_line(report.dataset)), escape(one_line(report.unanswerable))
    return (
        f"[bold]{name}[/bold]: {several(report.conversations, 'conversation')}, {report.turns:,} turns; "
        f"{report.questions:,} questions count, {report.unanswerable_questions:,} {unanswerable} stand apart, "
        f"{report.excluded:,} have no usable evidence"
    )


def _conversations(report: Report) -> str:
    if report.conversations == report.available:
        return "All of its conversations"
    named = ", ".join(one_line(name) for name in report.conversation_ids)
    return f"{report.conversations} of {report.available} conversations: {escape(named)}"


def _denominator(means: Means) -> str:
    """What a mean is over, and what its interval says."""
    drawn = "conversations" if means.conversations >= ENOUGH_CONVERSATIONS else "questions"
    counted = f"{several(means.questions, 'question')} of {several(means.conversations, 'conversation')}"
    return f"{counted}; 95 % interval below, by drawing {drawn}"


def _level_table(title: str, systems: dict[str, Levels], level: str, columns: Sequence[str]) -> Table:
    table = plain_table(title, columns)
    for system, levels in systems.items():
        table.add_row(system, *(with_interval(of_level(levels, level), column) for column in columns))
    return table


def _budget_table(report: Report, counted: str) -> Table:
    """Evidence in the block, and how long the blocks are: what fills less was cut by nothing."""
    title = f"Evidence in a block of so many tokens of {CHARS_PER_TOKEN} characters ({counted})"
    table = plain_table(
        title, (*(name.removeprefix("block-") for name in SURVIVAL), *(f"used@{one}" for one in BUDGETS))
    )
    for result in report.results:
        used = [f"{result.block_chars[budget] / CHARS_PER_TOKEN:,.0f}" for budget in BUDGETS]
        table.add_row(result.system, *(with_interval(result.main.block, name) for name in SURVIVAL), *used)
    return table


def _category_table(report: Report) -> Table:
    counts = report.results[0]
    columns = [
        *(f"{one_line(category)}\nn={levels.turn.questions}" for category, levels in counts.by_category.items()),
        f"{one_line(report.unanswerable)}\n(apart) n={counts.hinted.turn.questions}",
    ]
    table = plain_table(f"Turns found by category ({CATEGORY_COLUMN})", columns)
    for result in report.results:
        cells = [*(levels.turn for levels in result.by_category.values()), result.hinted.turn]
        table.add_row(result.system, *(with_interval(means, CATEGORY_COLUMN) for means in cells))
    return table


def _every_metric_table(report: Report, level: str) -> Table:
    """Every metric of the first system, a row each; a column a category, with its number of questions."""
    result = report.results[0]
    several = result.by_category.items() if len(result.by_category) > 1 else ()
    asked = [*several, ("together", result.main), (report.unanswerable, result.hinted)]
    means = [of_level(levels, level) for _, levels in asked]
    table = plain_table(f"{result.system}: {level}s, every metric", ())
    for (category, _), mean in zip(asked, means, strict=True):
        label = one_line(category)
        heading = label.replace("-", "-\n", 1) if "-" in label else f"\n{label}"
        table.add_column(f"{escape(heading)}\nn={mean.questions}", justify="right", no_wrap=True)
    for metric in EVERY_METRIC:
        table.add_row(metric, *(f"{mean.values[metric]:.3f}" if mean.questions else "-" for mean in means))
    return table


def _group_table(group: Group) -> Table:
    named = ", ".join(one_line(name) for name in group.conversations)
    first = next(iter(group.results.values()))
    title = f"Only the {group.name}: {named} (mean over {_denominator(first.turn)})"
    columns = (*GROUP_COLUMNS, *SURVIVAL[: len(BUDGETS)])
    table = plain_table(escape(title), [column.replace("block-recall", "block") for column in columns])
    for system, levels in group.results.items():
        cells = [with_interval(levels.block if name in SURVIVAL else levels.turn, name) for name in columns]
        table.add_row(system, *cells)
    return table


def _latency_table(report: Report) -> Table:
    table = plain_table("Answer time, ms", ("p50", "p95"))
    for result in report.results:
        table.add_row(result.system, f"{result.latency.p50:.2f}", f"{result.latency.p95:.2f}")
    return table


def _depths(report: Report) -> str:
    """One depth, or whose is which."""
    if len(set(report.depths.values())) == 1:
        return f"depth {report.depth}"
    return "depths " + ", ".join(f"{depth} ({system})" for system, depth in report.depths.items())


def of_level(levels: Levels, level: str) -> Means:
    return {"turn": levels.turn, "session": levels.session, "block": levels.block}[level]


def plain_table(title: str, columns: Sequence[str]) -> Table:
    """A table of numbers with a name before each row."""
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("", no_wrap=True)
    for column in columns:
        table.add_column(escape(column).replace("@", "\n@"), justify="right", no_wrap=True)
    return table


def several(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def with_interval(means: Means, metric: str) -> str:
    if not means.questions:
        return "-"
    interval = means.told[metric]
    between = f"{interval.low:.2f}-{interval.high:.2f}".replace("0.", ".")
    return f"{means.values[metric]:.3f}\n[dim]{between}[/dim]"
