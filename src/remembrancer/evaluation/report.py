"""What an evaluation found, as values, as JSON, and as tables for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from remembrancer.domain.validation import JsonValue
from remembrancer.evaluation.locomo import Category
from remembrancer.evaluation.metrics import METRICS, bootstrap_intervals, measure

MAIN: Final = (Category.SINGLE_HOP, Category.MULTI_HOP, Category.TEMPORAL, Category.OPEN_DOMAIN)
"""The categories of the main rows. Adversarial questions ask for what was not said, and are never mixed in."""

_COLUMNS: Final = ("recall@5", "recall@10", "recall@20", "any@10", "all@10", "ndcg@10", "mrr")
_SESSION_COLUMNS: Final = ("recall@5", "any@5", "recall@10", "any@10", "all@10", "ndcg@10", "mrr")
_EVERY_METRIC: Final = (
    *(f"{metric}@{depth}" for metric in ("recall", "any", "all") for depth in (5, 10, 20)),
    "ndcg@10",
    "mrr",
)
_CATEGORY_COLUMN: Final = "recall@10"


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question's outcome. `latency_ms`: how long the answer took, the question's embedding included."""

    category: Category
    turn: Mapping[str, float]
    session: Mapping[str, float]
    latency_ms: float

    @classmethod
    def judged(
        cls,
        *,
        category: Category,
        ranked: Sequence[str],
        gold: Sequence[str],
        ranked_sessions: Sequence[str],
        gold_sessions: Sequence[str],
        latency_ms: float,
    ) -> Asked:
        return cls(
            category=category,
            turn=measure(ranked, gold),
            session=measure(ranked_sessions, gold_sessions),
            latency_ms=latency_ms,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """Means over `questions` questions at one level (turn or session), with 95 % intervals; no question, no means."""

    questions: int
    values: Mapping[str, float]
    intervals: Mapping[str, Interval]


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    turn: Means
    session: Means


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Milliseconds from question to ranking."""

    p50: float
    p95: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemResult:
    """What one system reached. `main`: categories 1 to 4 together; `by_category` parts the same questions."""

    system: str
    main: Levels
    by_category: Mapping[Category, Levels]
    adversarial: Levels
    latency: Latency


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A whole run. `results` begin with the memory; `excluded` questions had no usable evidence.

    `degraded` is what the memory had to do without, and why; `index_bytes` the size of its database.
    """

    dataset: str
    sha256: str
    conversations: int
    turns: int
    excluded: int
    depth: int
    seed: int
    embedder: str | None
    degraded: Mapping[str, str]
    results: tuple[SystemResult, ...]
    index_bytes: int
    machine: str

    @property
    def questions(self) -> int:
        """Those of categories 1 to 4 that count."""
        return self.results[0].main.turn.questions

    @property
    def adversarial_questions(self) -> int:
        return self.results[0].adversarial.turn.questions


def summarise(system: str, asked: Sequence[Asked], *, seed: int) -> SystemResult:
    """Means and intervals of one system's questions. The same seed draws the same questions for every system."""
    latencies = [one.latency_ms for one in asked]
    return SystemResult(
        system=system,
        main=_levels([one for one in asked if one.category in MAIN], seed),
        by_category={category: _levels([one for one in asked if one.category is category], seed) for category in MAIN},
        adversarial=_levels([one for one in asked if one.category is Category.ADVERSARIAL], seed),
        latency=Latency(p50=float(np.percentile(latencies, 50)), p95=float(np.percentile(latencies, 95))),
    )


def as_json(report: Report) -> dict[str, JsonValue]:
    """The report as `--json` prints it: fractions in [0, 1], milliseconds, bytes."""
    first = report.results[0]
    return {
        "table": [
            {
                "system": result.system,
                "turn": dict(result.main.turn.values),
                "session": dict(result.main.session.values),
            }
            for result in report.results
        ],
        "latency_ms": {"p50": first.latency.p50, "p95": first.latency.p95},
        "latency_ms_by_system": {
            result.system: {"p50": result.latency.p50, "p95": result.latency.p95} for result in report.results
        },
        "intervals": {
            result.system: {
                "turn": _intervals_json(result.main.turn),
                "session": _intervals_json(result.main.session),
            }
            for result in report.results
        },
        "by_category": {
            result.system: {category.label: _levels_json(levels) for category, levels in result.by_category.items()}
            for result in report.results
        },
        "adversarial": {result.system: _levels_json(result.adversarial) for result in report.results},
        "dataset": {"name": report.dataset, "sha256": report.sha256},
        "conversations": report.conversations,
        "turns": report.turns,
        "questions": report.questions,
        "adversarial_questions": report.adversarial_questions,
        "excluded": report.excluded,
        "depth": report.depth,
        "seed": report.seed,
        "embedder": report.embedder,
        "degraded": dict(report.degraded),
        "index_bytes": report.index_bytes,
        "machine": report.machine,
    }


def print_report(report: Report, console: Console) -> None:
    """The report for people: turns, sessions, categories, the adversarial questions apart, and what it took."""
    console.print(
        f"[bold]{escape(report.dataset)}[/bold]: {report.conversations} conversations, {report.turns:,} turns; "
        f"{report.questions:,} questions count, {report.adversarial_questions:,} adversarial stand apart, "
        f"{report.excluded:,} have no usable evidence"
    )
    counted = f"mean over {report.questions:,} questions, 95 % interval below"
    console.print(_level_table(f"Turns found ({counted})", report, _COLUMNS, session=False))
    console.print(_level_table(f"Sessions found ({counted})", report, _SESSION_COLUMNS, session=True))
    console.print(_category_table(report))
    console.print(_every_metric_table(f"{report.results[0].system}: turns by category", report, session=False))
    console.print(_every_metric_table(f"{report.results[0].system}: sessions by category", report, session=True))
    console.print(_latency_table(report))
    for part, reason in report.degraded.items():
        console.print(f"[bold]Without {part}[/bold]: {escape(reason)}")
    console.print(f"Database: {report.index_bytes:,} bytes for {report.turns:,} turns")
    console.print(f"Embedder: {report.embedder or 'none'}; answers read to depth {report.depth}; seed {report.seed}")
    console.print(f"Machine: {report.machine}")


def _levels(asked: Sequence[Asked], seed: int) -> Levels:
    return Levels(turn=_means([one.turn for one in asked], seed), session=_means([one.session for one in asked], seed))


def _means(rows: Sequence[Mapping[str, float]], seed: int) -> Means:
    if not rows:
        return Means(questions=0, values={}, intervals={})
    values = np.array([[row[name] for name in METRICS] for row in rows])
    intervals = bootstrap_intervals(values, rng=np.random.default_rng(seed))
    return Means(
        questions=len(rows),
        values=dict(zip(METRICS, values.mean(axis=0).tolist(), strict=True)),
        intervals={name: Interval(low, high) for name, (low, high) in zip(METRICS, intervals.tolist(), strict=True)},
    )


def _intervals_json(means: Means) -> dict[str, JsonValue]:
    return {name: [interval.low, interval.high] for name, interval in means.intervals.items()}


def _levels_json(levels: Levels) -> dict[str, JsonValue]:
    return {
        "questions": levels.turn.questions,
        "turn": dict(levels.turn.values),
        "session": dict(levels.session.values),
    }


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("", no_wrap=True)
    for column in columns:
        table.add_column(column.replace("@", "\n@"), justify="right", no_wrap=True)
    return table


def _level_table(title: str, report: Report, columns: Sequence[str], *, session: bool) -> Table:
    table = _table(title, columns)
    for result in report.results:
        means = result.main.session if session else result.main.turn
        table.add_row(result.system, *(_with_interval(means, column) for column in columns))
    return table


def _category_table(report: Report) -> Table:
    counts = report.results[0]
    columns = [
        *(f"{category.label}\nn={counts.by_category[category].turn.questions}" for category in MAIN),
        f"adversarial\n(apart) n={counts.adversarial.turn.questions}",
    ]
    table = _table(f"Turns found by category ({_CATEGORY_COLUMN})", columns)
    for result in report.results:
        cells = [*(result.by_category[category].turn for category in MAIN), result.adversarial.turn]
        table.add_row(result.system, *(_with_interval(means, _CATEGORY_COLUMN) for means in cells))
    return table


def _every_metric_table(title: str, report: Report, *, session: bool) -> Table:
    """Every metric of the first system, a row each; a column a category, with its number of questions."""
    result = report.results[0]
    asked = [
        *((category.label, result.by_category[category]) for category in MAIN),
        ("together", result.main),
        ("adversarial", result.adversarial),
    ]
    means = [levels.session if session else levels.turn for _, levels in asked]
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("", no_wrap=True)
    for (label, _), mean in zip(asked, means, strict=True):
        heading = label.replace("-", "-\n") if "-" in label else f"\n{label}"
        table.add_column(f"{heading}\nn={mean.questions}", justify="right", no_wrap=True)
    for metric in _EVERY_METRIC:
        table.add_row(metric, *(f"{mean.values[metric]:.3f}" if mean.questions else "-" for mean in means))
    return table


def _latency_table(report: Report) -> Table:
    table = _table("Answer time, ms", ("p50", "p95"))
    for result in report.results:
        table.add_row(result.system, f"{result.latency.p50:.2f}", f"{result.latency.p95:.2f}")
    return table


def _with_interval(means: Means, metric: str) -> str:
    if not means.questions:
        return "-"
    interval = means.intervals[metric]
    between = f"{interval.low:.2f}-{interval.high:.2f}".replace("0.", ".")
    return f"{means.values[metric]:.3f}\n[dim]{between}[/dim]"
