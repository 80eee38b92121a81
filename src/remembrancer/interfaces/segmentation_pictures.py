"""The picture of a measurement of segmentation, as a PNG file. Needs matplotlib, which is loaded with this."""

from __future__ import annotations

from remembrancer.evaluation.segmentation_report import TITLES, SegmentationReport
from remembrancer.evaluation.segmentation_summary import METRICS
from remembrancer.evaluation.summary import Means
from remembrancer.interfaces.charts import NAME, grouped
from remembrancer.interfaces.cli.drawing import shortened


def pictures(report: SegmentationReport) -> dict[str, bytes]:
    """One: every method on every set, metric by metric, with their intervals."""
    methods = list(dict.fromkeys(result.method for one in report.sets for result in one.results))
    labels = [f"{TITLES[metric]}\n{shortened(one.name, NAME)}" for one in report.sets for metric in METRICS]
    bars: dict[str, list[tuple[Means, str]]] = {}
    for method in methods:
        bars[method] = []
        for one in report.sets:
            result = next(each for each in one.results if each.method == method)
            means = Means(
                questions=one.dialogues,
                conversations=one.dialogues,
                values=result.values,
                intervals=result.intervals,
                cluster_intervals=result.intervals,
            )
            bars[method] += [(means, metric) for metric in METRICS]
    told = "Pk, WindowDiff: less is better; F1: more. 95 % intervals by drawing dialogues."
    return {"segmentation": grouped("How far from people's segments", told, labels, bars)}
