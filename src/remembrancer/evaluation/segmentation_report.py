"""The report of a segmentation measurement, as values, as JSON and as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, assert_never

from rich.markup import escape

from remembrancer.domain.validation import JsonValue
from remembrancer.evaluation.lines import plain
from remembrancer.evaluation.segmentation_summary import F1, METRICS, PK, WINDOW_DIFF, Difference, Result
from remembrancer.evaluation.sheet import Sheet, print_sheet
from remembrancer.evaluation.tables import several
from remembrancer.policies.rendering.safe import one_line
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from rich.console import Console

TITLES: Final = {PK: "Pk", WINDOW_DIFF: "WindowDiff", F1: "F1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SetReport:
    """One set. `results` begin with the default segmenter; `differences` compare it with each baseline.

    `part`: train, dev, test or all; `available`: number of dialogues of all parts. `mean_length`: mean gold segment
    length, in turns; `tuning_length`: the same over the part that the baselines' parameters come from.
    """

    name: str
    sha256: str
    part: str
    dialogues: int
    available: int
    turns: int
    mean_length: float
    tuning_length: float
    results: tuple[Result, ...]
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentationReport:
    """A whole run. `degraded`: what the segmenter had to do without, with the reasons."""

    sets: tuple[SetReport, ...]
    seed: int
    embedder: str | None
    degraded: Mapping[str, str]
    machine: str


def as_json(report: SegmentationReport) -> dict[str, JsonValue]:
    """The report as `--json` prints it."""
    return {"sets": [_set_json(one) for one in report.sets], **plain(report, without=("sets",))}


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodMetrics:
    """Each method's metrics on a set. `name`: the file name of its picture, without extension."""

    name: str
    of: SetReport


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodDifferences:
    """The default segmenter compared with each baseline on a set; there is at least one baseline."""

    name: str
    of: SetReport


SegmentationView = MethodMetrics | MethodDifferences
"""Each view is printed as a table and drawn as a picture."""


def views(one: SetReport) -> Iterator[SegmentationView]:
    """The views of one set."""
    yield MethodMetrics(name=f"segments-{one.name}", of=one)
    if one.differences:
        yield MethodDifferences(name=f"differences-{one.name}", of=one)


def print_report(report: SegmentationReport, console: Console) -> None:
    """Print the report: each method's metrics, and the differences of the default segmenter from the baselines."""
    for one in report.sets:
        gold = sum(result.gold for result in one.results[:1])
        console.print(
            f"[bold]{escape(one_line(one.name))}[/bold], {one.part}: {one.dialogues:,} of {one.available:,} dialogues, "
            f"{one.turns:,} turns, {gold:,.0f} boundaries, a segment has {one.mean_length:.1f} turns"
        )
        for view in views(one):
            print_sheet(sheet(view), console)
        console.print(_speed(one.results[0]))
    for part, reason in report.degraded.items():
        console.print(f"[bold]Without {escape(part)}[/bold]: {escape(one_line(reason))}")
    console.print(f"Embedder: {report.embedder or 'none'}; seed {report.seed}")
    console.print(f"Machine: {escape(report.machine)}")


def sheet(view: SegmentationView) -> Sheet:
    """The table of a view."""
    match view:
        case MethodMetrics():
            return _metrics_sheet(view.of)
        case MethodDifferences():
            return _differences_sheet(view.of)
        case _:
            assert_never(view)


def _metrics_sheet(one: SetReport) -> Sheet:
    return Sheet(
        title=f"How far from people's segments (Pk, WindowDiff: mean over {several(one.dialogues, 'dialogue')}, less "
        "is better; F1: exact boundaries, pooled; 95 % interval below, by drawing dialogues)",
        columns=(*TITLES.values(), "prec.", "recall", "told"),
        rows=tuple(
            (
                result.method,
                (
                    *(_with_interval(result, metric) for metric in METRICS),
                    *("-" if share is None else f"{share:.3f}" for share in (result.precision, result.recall)),
                    f"{result.predicted:,.0f}",
                ),
            )
            for result in one.results
        ),
    )


def _differences_sheet(one: SetReport) -> Sheet:
    first = one.results[0].method
    others = dict.fromkeys(each.second for each in one.differences)
    return Sheet(
        title=f"{first} less each other, on the same {several(one.dialogues, 'dialogue')} "
        "(95 % interval, p by Holm below)",
        columns=tuple(TITLES.values()),
        rows=tuple(
            (second, tuple(_difference(each) for each in one.differences if each.second == second)) for second in others
        ),
    )


def _difference(each: Difference) -> str:
    between = f"{each.interval.low:+.2f} to {each.interval.high:+.2f}".replace("0.", ".")
    return f"{each.difference:+.3f}\n{between}\np {each.p_holm:.4f}"


def _speed(result: Result) -> str:
    return (
        f"Segmenting, vectors being there ({result.method}): median {result.median_ms:.1f} ms a dialogue, "
        f"{result.turns_per_second:,.0f} turns a second\n"
    )


def _with_interval(result: Result, metric: str) -> str:
    interval = result.intervals[metric]
    between = f"{interval.low:.2f}-{interval.high:.2f}".replace("0.", ".")
    return f"{result.values[metric]:.3f}\n{between}"


def _set_json(one: SetReport) -> dict[str, JsonValue]:
    return {
        "name": one.name,
        "sha256": one.sha256,
        "part": one.part,
        "dialogues": one.dialogues,
        "dialogues_available": one.available,
        "turns": one.turns,
        "mean_length": one.mean_length,
        "tuning_length": one.tuning_length,
        "table": [
            {
                "method": result.method,
                **result.values,
                "intervals": plain(result.intervals),
                "precision": result.precision,
                "recall": result.recall,
                "right": result.right,
                "told": result.predicted,
                "gold": result.gold,
                "median_ms": result.median_ms,
                "turns_per_second": result.turns_per_second,
            }
            for result in one.results
        ],
        "differences": [{"first": one.results[0].method, **plain(each)} for each in one.differences],
    }
