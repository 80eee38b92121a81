"""The pictures of a retrieval or segmentation measurement: an SVG document for each of its views."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar, assert_never

from markupsafe import Markup

from remembrancer.evaluation import views
from remembrancer.evaluation.budget import BUDGETS, CHARS_PER_TOKEN
from remembrancer.evaluation.metrics import METRICS
from remembrancer.evaluation.misses import READERS, Cause
from remembrancer.evaluation.paired import CHANGED_BY
from remembrancer.evaluation.segmentation_report import (
    TITLES,
    MethodDifferences,
    MethodMetrics,
    SegmentationView,
    SetReport,
)
from remembrancer.evaluation.segmentation_report import sheet as segmentation_sheet
from remembrancer.evaluation.segmentation_summary import METRICS as SEGMENT_METRICS
from remembrancer.evaluation.sheet import Sheet
from remembrancer.evaluation.statistics import Interval
from remembrancer.evaluation.summary import ENOUGH_CONVERSATIONS, Means
from remembrancer.evaluation.tables import CATEGORY_METRIC, sheet
from remembrancer.interfaces.charts.document import document
from remembrancer.interfaces.charts.frame import Picture
from remembrancer.interfaces.charts.panel import DASHED, DOTTED, Panel, Point, row_panel, sample
from remembrancer.interfaces.charts.svg import SMALL, fitted, joined
from remembrancer.interfaces.palette import HUES
from remembrancer.values import dataclass

T = TypeVar("T")
Cell = tuple[float, Interval]

SYSTEMS: Final = (*HUES, "red", "blue-2", "ochre-2", "green-2", "violet-2", "red-2", "ink")
"""The hues of the systems compared, in the order of the report; their second shades where there are many."""
CAUSES: Final = {
    Cause.FOUND: "green",
    Cause.RANKED_LOW: "blue-2",
    Cause.CUT: "blue",
    Cause.DUPLICATE: "violet",
    Cause.ALIKE: "violet-2",
    Cause.THRESHOLD: "ochre",
    Cause.GONE: "slate",
    Cause.NO_CANDIDATE: "red",
    Cause.NOT_INGESTED: "ink",
}
DASHES: Final = (None, DASHED)
"""The dash patterns of the kinds of unanswerable questions, in the order of the view."""
NAME: Final = 180.0
"""The width of a system's name, in pixels."""
QUESTION: Final = 380.0
UNIT: Final = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture with its legend and an explanation."""

    picture: Picture
    legend: Sequence[tuple[Markup, str]] = ()
    description: str = ""


def documents(shown: Iterable[views.ReportView | SegmentationView]) -> dict[str, str]:
    """Documents by file name. A view named `silence` (abstention) also gives a `roc` document, if thresholds were
    swept.
    """
    drawn: dict[str, str] = {}
    for view in shown:
        table = segmentation_sheet(view) if isinstance(view, MethodMetrics | MethodDifferences) else sheet(view)
        drawn[view.name] = _titled_as(table, _drawn(view))
        if isinstance(view, views.Abstention) and any(
            result.by_threshold for kinds in view.results.values() for result in kinds.values()
        ):
            title = view.title.replace(views.ABSTENTION_TITLE, "What a least score lets through")
            roc = _operating(view)
            drawn[view.name.replace("silence", "roc")] = _document(title, roc.description, roc)
    return drawn


def _titled_as(table: Sheet, drawing: Drawing) -> str:
    """A document with the title of a table of the same view; final parentheses move below the title."""
    parts = re.fullmatch(r"(.+) \((.+)\)", table.title)
    title, description = (table.title, "") if parts is None else (parts[1], f"{parts[2][0].upper()}{parts[2][1:]}. ")
    # Only in a table is the interval below its mean.
    return _document(title, description.replace(" below", "") + drawing.description, drawing)


def _document(title: str, description: str, drawing: Drawing) -> str:
    return document("evaluation", title, description, [drawing.picture], drawing.legend)


def _drawn(view: views.ReportView | SegmentationView) -> Drawing:  # noqa: C901, PLR0911, PLR0912 - a case for each
    match view:
        case views.EvidenceFound():
            bars = {system: [_cell(means, metric) for metric in view.metrics] for system, means in view.means.items()}
            return _grouped(view.metrics, bars)
        case views.EvidenceInBlocks():
            return _blocks(view)
        case views.Categories():
            return _categories(view)
        case views.EveryMetric():
            return _every_metric(view)
        case views.Causes():
            return _causes(view)
        case views.Calibration():
            return _reliable(view)
        case views.Abstention():
            return _silent(view)
        case views.AbstentionByThreshold():
            return _by_threshold(view)
        case views.Differences():
            return _differences(view)
        case views.ChangedMost():
            return _changed(view)
        case views.Times():
            return _times(view)
        case MethodMetrics():
            return _reached(view.of)
        case MethodDifferences():
            return _apart(view.of)
        case _:
            assert_never(view)


def _grouped(labels: Sequence[str], bars: Mapping[str, Sequence[Cell]], description: str = "") -> Drawing:
    """A group of bars for each label: one bar for each system, from 0 to 1, with its interval."""
    panel = Panel(x=(-0.5, len(labels) - 0.5))
    marks, wide = panel.levels(), 0.8 / len(bars)
    for number, ((_, cells), hue) in enumerate(_coloured(bars)):
        for place, (value, interval) in enumerate(cells):
            begin = place - 0.4 + number * wide
            marks += panel.bar((begin, 0.0), (begin + wide * 0.92, value), hue)
            marks += _whisker(panel, begin + wide * 0.46, interval, "ink")
    marks += panel.names(list(enumerate(labels)))
    legend = [(sample(hue, bar=True), _name(system)) for (system, _), hue in _coloured(bars)]
    return Drawing(panel.picture(marks), legend, description)


def differing(panel: Panel, row: float, value: float, interval: Interval, hue: str, *, sure: bool) -> Markup:
    """A dot with its interval in a row of a panel; hollow if the difference is not significant."""
    marks = panel.line([(interval.low, row), (interval.high, row)], hue)
    return marks + panel.dot((value, row), hue, hollow=not sure)


def _coloured(systems: Mapping[str, T]) -> list[tuple[tuple[str, T], str]]:
    """Each (name, value) with the hue of the system."""
    return [(item, SYSTEMS[number % len(SYSTEMS)]) for number, item in enumerate(systems.items())]


def _name(system: str) -> str:
    return fitted(system, NAME)


def reaching(values: Iterable[float]) -> Point:
    """The ends of an axis that contains 0 and all values, with a margin of 6 %."""
    low, high = min(several := [0.0, *values]), max(several)
    room = (high - low or 1.0) * 0.06
    return low - room, high + room


def _whisker(panel: Panel, x: float, interval: Interval, hue: str) -> Markup:
    return panel.line([(x, interval.low), (x, interval.high)], hue, wide=1.4)


def _cell(means: Means, metric: str) -> Cell:
    return means.values[metric], means.shown_intervals[metric]


def _categories(view: views.Categories) -> Drawing:
    """Recall of every system by category, including unanswerable questions whose `evidence` names turns."""
    first, room = next(iter(view.means.values())), 900.0 / len(view.labels)
    labels = [f"{fitted(label, room, SMALL)}\nn={of.questions}" for label, of in zip(view.labels, first, strict=True)]
    bars = {system: [_cell(one, CATEGORY_METRIC) for one in means] for system, means in view.means.items()}
    return _grouped(labels, bars)


def _blocks(view: views.EvidenceInBlocks) -> Drawing:
    """The share of the evidence inside a block, by the block's length; dashed, the share of questions with all their
    evidence inside.
    """
    panel = Panel(x=(-0.2, len(BUDGETS) - 0.8))
    marks, legend = panel.levels("share of evidence"), list[tuple[Markup, str]]()
    for (system, block), hue in _coloured(view.means):
        points = [(place, block.values[f"block-recall@{budget}"]) for place, budget in enumerate(BUDGETS)]
        marks += panel.line(
            [(place, block.values[f"block-all@{budget}"]) for place, budget in enumerate(BUDGETS)], hue, DASHED
        )
        marks += panel.line(points, hue)
        for point, budget in zip(points, BUDGETS, strict=True):
            marks += _whisker(panel, point[0], block.shown_intervals[f"block-recall@{budget}"], hue) + panel.dot(
                point, hue
            )
        used = [f"{chars / CHARS_PER_TOKEN:,.0f}" for chars in view.chars.get(system, {}).values()]
        legend.append((sample(hue), " ".join([_name(system), " · ".join(used)]).rstrip()))
    marks += panel.names([(place, f"{budget} tokens") for place, budget in enumerate(BUDGETS)])
    beside = " Beside the names: mean lengths in tokens." if view.chars else ""
    return Drawing(panel.picture(marks), legend, f"Dashed: all of a question's evidence.{beside}")


def _every_metric(view: views.EveryMetric) -> Drawing:
    """A coloured table: a row for each category, a column for each metric."""
    panel = row_panel(len(view.labels), (-0.5, len(METRICS) - 0.5))
    marks = panel.rows([f"{_name(label)} n={of.questions}" for label, of in zip(view.labels, view.means, strict=True)])
    for row, means in enumerate(view.means):
        for column, metric in enumerate(METRICS):
            value = means.values[metric]
            marks += panel.bar((column - 0.5, row - 0.5), (column + 0.5, row + 0.5), "blue", 0.6 * value)
            marks += panel.words((column, row), f"{value:.3f}", (0.0, 4.0), "middle", "")
    marks += panel.names(list(enumerate(METRICS)))
    return Drawing(panel.picture(marks), description="Means by category and together; darker is higher, from 0 to 1.")


def _causes(view: views.Causes) -> Drawing:
    """The share of the evidence found, or lost by each cause: a stacked bar for each reading depth."""
    panel = row_panel(len(READERS), UNIT, row=60.0, left=110.0)
    marks, legend = panel.uprights("share of the turns that answer"), list[tuple[Markup, str]]()
    reached = [0.0] * len(READERS)
    for cause, hue in CAUSES.items():
        shares = [view.missed[reader].get(cause, 0) / view.turns for reader in READERS]
        for row, share in enumerate(shares):
            marks += panel.bar((reached[row], row - 0.35), (reached[row] + share, row + 0.35), hue)
            reached[row] += share
        if any(shares):
            legend.append((sample(hue, bar=True), cause.value))
    marks += panel.rows([f"{'block of ' * (reader in BUDGETS)}{reader}" for reader in READERS])
    return Drawing(panel.picture(marks), legend)


def _reliable(view: views.Calibration) -> Drawing:
    """A reliability diagram: how often the first turn answers the question, by its score; dashed: calibrated."""
    panel = Panel(x=UNIT)
    marks = panel.levels("share that answers") + panel.uprights("score of the first turn")
    marks += panel.line([(0.0, 0.0), (1.0, 1.0)], "slate", DASHED)
    legend = [(sample("slate", dash=DASHED), "score = share")]
    for curve, hue, words in (
        (view.every, "ochre", "all questions"),
        (view.answerable, "blue", "answerable questions"),
    ):
        if curve is not None:
            marks += panel.line([(one.mean_score, one.share) for one in curve.bins], hue)
            for one in curve.bins:
                at = (one.mean_score, one.share)
                marks += _whisker(panel, at[0], one.interval, hue) + panel.dot(at, hue)
                if curve is view.answerable:
                    marks += panel.words(at, f"{one.answers:,}", (7.0, -7.0))
            legend.append((sample(hue, dot=True), words))
    return Drawing(panel.picture(marks), legend, "Numbers: answers; bars: 95 % intervals (Wilson).")


def _silent(view: views.Abstention) -> Drawing:
    """The share of unanswerable questions without a result, and the AUC of the best score, by system and kind of
    question.
    """
    rows = [(system, kind, result) for system, kinds in view.results.items() for kind, result in kinds.items()]
    hues = dict(zip(dict.fromkeys(kind for _, kind, _ in rows), ("blue", "ochre"), strict=False))
    panel = row_panel(len(rows), UNIT, right=540.0)
    separating = row_panel(len(rows), UNIT, left=660.0)
    marks = panel.uprights("nothing returned (mark: to answerable)") + separating.uprights("AUC of the best score")
    marks += separating.line([(0.5, -0.5), (0.5, len(rows) - 0.5)], "slate", DASHED)
    for row, (_, kind, result) in enumerate(rows):
        share = result.counts.sensitivity or 0.0
        wrong = result.counts.silent_on_answerable / result.counts.answerable
        beside = f"{result.counts.silent_on_unanswerable:,} of {result.questions:,}"
        marks += panel.bar((0.0, row - 0.3), (share, row + 0.3), hues[kind], 0.75)
        marks += panel.line([(wrong, row - 0.35), (wrong, row + 0.35)], "red")
        marks += panel.words((max(share, wrong), row), beside, (8.0, 4.0))
        if result.separation is not None:
            one = result.separation
            marks += differing(separating, row, one.auc, one.interval, hues[kind], sure=True)
    marks += panel.rows([f"{_name(system)}: {kind}" for system, kind, _ in rows])
    return Drawing(panel.picture(marks), description="AUC: area under the ROC curve, 95 % interval.")


def _by_threshold(view: views.AbstentionByThreshold) -> Drawing:
    """Precision, recall and F1 of abstention, by the threshold below which nothing is returned."""
    panel = Panel(x=UNIT)
    marks, legend = panel.levels() + panel.uprights("least score"), list[tuple[Markup, str]]()
    first = next(iter(view.results.values())).by_threshold
    marks += panel.line([(one.threshold, one.recall) for one in first], "green")
    for (kind, of), dash in zip(view.results.items(), DASHES, strict=False):
        curves = {
            "precision": ("blue", [one.precision for one in of.by_threshold]),
            "recall": ("violet", [one.sensitivity for one in of.by_threshold]),
            "F1": ("red", [one.f1 for one in of.by_threshold]),
        }
        for metric, (hue, values) in curves.items():
            thresholds = [one.threshold for one in of.by_threshold]
            marks += panel.line(zip(thresholds, values, strict=True), hue, dash)
            legend.append((sample(hue, dash=dash), f"{metric}, {kind}"))
    legend.append((sample("green"), "recall@10 where there is an answer"))
    return Drawing(panel.picture(marks), legend, "Positive: nothing is returned.")


def _operating(view: views.Abstention) -> Drawing:
    """ROC curves of the best score: the share of answerable questions that get an answer, against the share of
    unanswerable ones that do.
    """
    panel = Panel(x=UNIT)
    marks = panel.levels("share of the answerable ones that get an answer")
    marks += panel.uprights("share of the questions that nothing answers that get an answer")
    marks += panel.line([(0.0, 0.0), (1.0, 1.0)], "slate", DOTTED)
    legend = list[tuple[Markup, str]]()
    for (system, kinds), hue in _coloured(view.results):
        for (kind, result), dash in zip(kinds.items(), DASHES, strict=False):
            points = [
                (1 - (one.sensitivity or 0.0), 1 - one.silent_on_answerable / one.answerable)
                for one in result.by_threshold
            ]
            marks += panel.line(points, hue, dash) + joined(panel.dot(point, hue, radius=2.0) for point in points)
            auc = "" if result.separation is None else f", AUC {result.separation.auc:.3f}"
            if points:
                legend.append((sample(hue, dash=dash), f"{_name(system)}: {kind}{auc}"))
    description = "A point for each least score, in steps of 0.01. Dotted: a score without information."
    return Drawing(panel.picture(marks), legend, description)


def _differences(view: views.Differences) -> Drawing:
    """The difference between two systems in each metric; hollow if the corrected p is 0.05 or more."""
    paired = view.paired
    clustered = paired.conversations >= ENOUGH_CONVERSATIONS
    rows = [
        (one, one.cluster_interval if clustered and one.cluster_interval is not None else one.interval)
        for one in paired.differences
    ]
    edges = reaching(edge for one, interval in rows for edge in (one.difference, interval.low, interval.high))
    panel = row_panel(len(rows), edges, left=150.0)
    marks = panel.uprights("difference") + panel.upright(0.0, "chart-axis")
    for row, (one, interval) in enumerate(rows):
        hue = "blue" if one.difference >= 0 else "red"
        marks += differing(panel, row, one.difference, interval, hue, sure=one.p_holm < 0.05)
    marks += panel.rows([one.metric for one in paired.differences])
    return Drawing(panel.picture(marks), description="Hollow: p (Holm) 0.05 or more.")


def _changed(view: views.ChangedMost) -> Drawing:
    """The questions that changed most, with the metric under either system."""
    shown, (first, second) = view.shown, (_name(view.paired.first), _name(view.paired.second))
    panel = row_panel(len(shown), (-0.05, 1.05), left=400.0, row=42.0)
    marks = panel.uprights(CHANGED_BY)
    for row, one in enumerate(shown):
        hue = "blue" if one.by >= 0 else "red"
        marks += panel.line([(one.second, row), (one.first, row)], hue)
        marks += panel.dot((one.second, row), hue, hollow=True) + panel.dot((one.first, row), hue)
    marks += panel.rows(
        [
            f"{fitted(f'{one.conversation}: {one.id}', QUESTION, SMALL)}\n{fitted(one.question, QUESTION, SMALL)}"
            for one in shown
        ]
    )
    legend = [(sample("ink", dot=True), first), (sample("ink", dot=True, hollow=True), second)]
    return Drawing(panel.picture(marks), legend, f"Blue: better under {first}. Red: worse.")


def _times(view: views.Times) -> Drawing:
    """The median time of an answer and the 95th percentile."""
    every = [value for one in view.latencies.values() for value in (one.p50, one.p95)]
    panel = row_panel(len(view.latencies), (min(every) / 1.6, max(every) * 1.6), row=40.0, log=True)
    marks = panel.uprights("ms, logarithmic") + panel.rows([_name(system) for system in view.latencies])
    for row, one in enumerate(view.latencies.values()):
        marks += panel.line([(one.p50, row), (one.p95, row)], "line")
        for value, hollow, raised in ((one.p50, False, 18.0), (one.p95, True, -9.0)):
            marks += panel.dot((value, row), "blue", hollow=hollow)
            marks += panel.words((value, row), f"{value:.3g}", (0.0, raised), "middle")
    return Drawing(panel.picture(marks), description="Filled: the median. Hollow: one in twenty takes longer.")


def _reached(one: SetReport) -> Drawing:
    """The metrics of every method, with their intervals."""
    bars = {
        result.method: [(result.values[metric], result.intervals[metric]) for metric in SEGMENT_METRICS]
        for result in one.results
    }
    return _grouped([TITLES[metric] for metric in SEGMENT_METRICS], bars, f"Dialogues: {one.name}.")


def _apart(one: SetReport) -> Drawing:
    """The difference between the default segmenter and each other method; hollow if the corrected p is 0.05 or more."""
    others = list(dict.fromkeys(each.second for each in one.differences))
    edges = (edge for each in one.differences for edge in (each.difference, each.interval.low, each.interval.high))
    panel = row_panel(len(others), reaching(edges), row=54.0)
    marks = panel.uprights("difference") + panel.upright(0.0, "chart-axis")
    for each in one.differences:
        place = SEGMENT_METRICS.index(each.metric)
        row = others.index(each.second) + (place - 1) * 0.22
        marks += differing(panel, row, each.difference, each.interval, SYSTEMS[place], sure=each.p_holm < 0.05)
    marks += panel.rows([_name(other) for other in others])
    legend = [(sample(SYSTEMS[place], dot=True), TITLES[metric]) for place, metric in enumerate(SEGMENT_METRICS)]
    return Drawing(panel.picture(marks), legend, f"Hollow: p (Holm) 0.05 or more. Dialogues: {one.name}.")
