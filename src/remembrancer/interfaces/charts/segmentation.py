"""The pictures of a segmentation measurement: an SVG document for each of its views."""

from __future__ import annotations

from typing import assert_never

from remembrancer.evaluation.segmentation_report import (
    TITLES,
    MethodDifferences,
    MethodMetrics,
    SegmentationReport,
    SegmentationView,
    SetReport,
    sheet,
    views,
)
from remembrancer.evaluation.segmentation_summary import METRICS
from remembrancer.interfaces.charts.evaluation import SYSTEMS, Drawing, differing, grouped, name, reaching, titled_as
from remembrancer.interfaces.charts.panel import row_panel, sample


def documents(report: SegmentationReport) -> dict[str, str]:
    """Documents by the names of their files."""
    return {view.name: titled_as(sheet(view), _drawn(view)) for one in report.sets for view in views(one)}


def _drawn(view: SegmentationView) -> Drawing:
    match view:
        case MethodMetrics():
            return _reached(view.of)
        case MethodDifferences():
            return _apart(view.of)
        case _:
            assert_never(view)


def _reached(one: SetReport) -> Drawing:
    """The metrics of every method, with their intervals."""
    bars = {
        result.method: [(result.values[metric], result.intervals[metric]) for metric in METRICS]
        for result in one.results
    }
    return grouped([TITLES[metric] for metric in METRICS], bars, f"Dialogues: {one.name}.")


def _apart(one: SetReport) -> Drawing:
    """The difference of the default segmenter from each other method; hollow if the corrected p is 0.05 or more."""
    others = list(dict.fromkeys(each.second for each in one.differences))
    edges = (edge for each in one.differences for edge in (each.difference, each.interval.low, each.interval.high))
    panel = row_panel(len(others), reaching(edges), row=54.0)
    marks = panel.uprights("difference") + panel.upright(0.0, "chart-axis")
    for each in one.differences:
        place = METRICS.index(each.metric)
        row = others.index(each.second) + (place - 1) * 0.22
        marks += differing(panel, row, each.difference, each.interval, SYSTEMS[place], sure=each.p_holm < 0.05)
    marks += panel.rows([name(other) for other in others])
    legend = [(sample(SYSTEMS[place], dot=True), TITLES[metric]) for place, metric in enumerate(METRICS)]
    return Drawing(panel.picture(marks), legend, f"Hollow: p (Holm) 0.05 or more. Dialogues: {one.name}.")
