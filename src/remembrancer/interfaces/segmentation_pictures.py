"""Pictures of a measurement of segmentation, one for each of its views. Needs matplotlib, which is loaded with this."""

from __future__ import annotations

from typing import assert_never

from remembrancer.evaluation.segmentation_report import (
    TITLES,
    Apart,
    Reached,
    SegmentationReport,
    SetReport,
    View,
    views,
)
from remembrancer.evaluation.segmentation_summary import METRICS
from remembrancer.evaluation.summary import Means
from remembrancer.interfaces.canvas import FAINT, INK, RULE, drawable, png_of, style
from remembrancer.interfaces.cli.drawing import shortened
from remembrancer.interfaces.plots import NAME, NAMES, SYSTEMS, grouped, legend, titled_axes


def pictures(report: SegmentationReport) -> dict[str, bytes]:
    """By the names of their files."""
    return {view.name: picture(view) for one in report.sets for view in views(one)}


def picture(view: View) -> bytes:
    match view:
        case Reached():
            return _reached(view.of)
        case Apart():
            return _apart(view.of)
        case _:
            assert_never(view)


def _reached(one: SetReport) -> bytes:
    """Every method, metric by metric, with their intervals."""
    bars = {
        result.method: [
            (
                Means(
                    questions=one.dialogues,
                    conversations=one.dialogues,
                    values=result.values,
                    intervals=result.intervals,
                    cluster_intervals=result.intervals,
                ),
                metric,
            )
            for metric in METRICS
        ]
        for result in one.results
    }
    told = (
        f"{shortened(one.name, NAME)}. Pk, WindowDiff: less is better; F1: more. 95 % intervals by drawing dialogues."
    )
    return grouped("How far from people's segments", told, [TITLES[metric] for metric in METRICS], bars)


def _apart(one: SetReport) -> bytes:
    """The default segmenter less each other; hollow where the corrected p is not below 0.05."""
    others = list(dict.fromkeys(each.second for each in one.differences))
    with style():
        figure, axes = titled_axes(
            f"{shortened(one.results[0].method, NAME)} less each other: {shortened(one.name, NAME)}",
            f"The same {one.dialogues:,} dialogues. Pk, WindowDiff: below 0 is better; F1: above. "
            "95 % intervals. Hollow: p (Holm) 0.05 or more.",
            left=NAMES,
        )
        axes.axvline(0, color=FAINT, linewidth=1)
        for number, metric in enumerate(METRICS):
            colour = SYSTEMS[number]
            for each in one.differences:
                if each.metric == metric:
                    row = others.index(each.second) + (number - 1) * 0.22
                    axes.plot([each.interval.low, each.interval.high], [row, row], color=colour, linewidth=2)
                    face = colour if each.p_holm < 0.05 else "white"
                    axes.plot([each.difference], [row], marker="o", color=colour, markerfacecolor=face)
            axes.plot([], [], marker="o", color=colour, label=TITLES[metric])
        axes.set_yticks(range(len(others)), [drawable(shortened(name, NAME)) for name in others])
        axes.set_ylim(len(others) - 0.5, -0.5)
        axes.grid(axis="x", color=RULE, linewidth=0.6)
        axes.set_xlabel("difference", color=INK)
        legend(axes)
        return png_of(figure)
