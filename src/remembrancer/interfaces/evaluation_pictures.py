"""Pictures of an evaluation, one for each of its views, as PNG files. Needs matplotlib, which is loaded with this."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, assert_never

from remembrancer.evaluation.budget import BUDGETS, CHARS_PER_TOKEN
from remembrancer.evaluation.metrics import METRICS
from remembrancer.evaluation.tables import CATEGORY_METRIC
from remembrancer.evaluation.views import (
    Blocks,
    ByFloor,
    Categories,
    Causes,
    ChangedMost,
    Differences,
    EveryMetric,
    Found,
    Reliable,
    Silent,
    Times,
    View,
)
from remembrancer.interfaces import diagnosis_pictures as diagnosis
from remembrancer.interfaces.canvas import INK, RULE, drawable, png_of, style
from remembrancer.interfaces.charts.palette import BLUE
from remembrancer.interfaces.cli.drawing import shortened
from remembrancer.interfaces.plots import NAME, NAMES, coloured, finish, grouped, lines, over, reach, titled_axes

NUMBERED: Final = 14
"""Up to so many columns, the figures stand in a table that is drawn in colours."""
LABEL: Final = 12


def pictures(shown: Iterable[View]) -> dict[str, bytes]:
    """One for each view, by the names of their files; and what a least score lets through, where it can be told."""
    drawn: dict[str, bytes] = {}
    for view in shown:
        drawn[view.name] = picture(view)
        if isinstance(view, Silent) and any(told.by_floor for kinds in view.told.values() for told in kinds.values()):
            drawn[view.name.replace("silence", "roc")] = diagnosis.operating(view)
    return drawn


def picture(view: View) -> bytes:  # noqa: C901, PLR0911 - a case for each kind of view
    match view:
        case Found():
            return _found(view)
        case Blocks():
            return _blocks(view)
        case Categories():
            return _categories(view)
        case EveryMetric():
            return _every_metric(view)
        case Causes():
            return diagnosis.causes(view)
        case Reliable():
            return diagnosis.reliable(view)
        case Silent():
            return diagnosis.silent(view)
        case ByFloor():
            return diagnosis.by_floor(view)
        case Differences():
            return diagnosis.differences(view)
        case ChangedMost():
            return diagnosis.changed(view)
        case Times():
            return _times(view)
        case _:
            assert_never(view)


def _found(view: Found) -> bytes:
    """Every system's means with their intervals, metric by metric."""
    bars = {system: [(means, metric) for metric in view.metrics] for system, means in view.means.items()}
    return grouped(view.title, over(next(iter(view.means.values())), view.where), view.metrics, bars)


def _categories(view: Categories) -> bytes:
    """Every system in every category, and on the questions that nothing answers, where those hint at turns."""
    first = next(iter(view.means.values()))
    bars = {system: [(one, CATEGORY_METRIC) for one in means] for system, means in view.means.items()}
    labels = [f"{shortened(name, NAME)}\nn={of.questions}" for name, of in zip(view.labels, first, strict=True)]
    return grouped(f"Turns found by category: {CATEGORY_METRIC}", "95 % intervals.", labels, bars)


def _blocks(view: Blocks) -> bytes:
    """The share of the evidence that stands in the block, by its length; dashed: all of a question's evidence."""
    below = "Below the names: mean lengths in tokens. " if view.chars else ""
    told = f"Dashed: all of a question's evidence. {below}{over(next(iter(view.means.values())), view.where)}"
    with style():
        figure, axes = titled_axes(view.title, told)
        places = list(BUDGETS.values())
        for (system, block), colour in coloured(view.means):
            shares = [f"block-recall@{budget}" for budget in BUDGETS]
            values = [block.values[name] for name in shares]
            used = [f"{chars / CHARS_PER_TOKEN:,.0f}" for chars in view.chars.get(system, {}).values()]
            label = "\n".join([drawable(shortened(system, NAME)), *([" · ".join(used)] if used else [])])
            axes.errorbar(places, values, yerr=reach(block, shares), color=colour, marker="o", capsize=3, label=label)
            whole = [block.values[f"block-all@{budget}"] for budget in BUDGETS]
            axes.plot(places, whole, color=colour, linestyle=(0, (4, 3)))
        axes.set_xscale("log", base=2)
        axes.set_xticks(places, [f"{budget} tokens" for budget in BUDGETS])
        axes.minorticks_off()
        finish(axes, "share of evidence")
        return png_of(figure)


def _every_metric(view: EveryMetric) -> bytes:
    """A table in colours: a row a metric, a column a category."""
    values = [[means.values[metric] for means in view.means] for metric in METRICS]
    with style():
        figure, axes = titled_axes(
            f"{shortened(view.system, NAME)}: {view.level}s, every metric",
            "Means by category and together; darker is higher, from 0 to 1.",
            left=0.12,
        )
        axes.set_position((0.12, 0.17, 0.84, 0.67))
        axes.imshow(values, cmap="Blues", vmin=0, vmax=1.7, aspect="auto")
        if len(view.labels) <= NUMBERED:
            for row, several in enumerate(values):
                for column, value in enumerate(several):
                    axes.text(column, row, f"{value:.3f}", ha="center", va="center", color=INK, fontsize=9)
        labels = [
            f"{shortened(label, LABEL)}\nn={of.questions}" for label, of in zip(view.labels, view.means, strict=True)
        ]
        axes.set_xticks(range(len(labels)), [lines(label) for label in labels])
        if len(view.labels) > NUMBERED:
            axes.tick_params(axis="x", labelrotation=90, labelsize=7)
        axes.set_yticks(range(len(METRICS)), METRICS)
        axes.tick_params(length=0)
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)
        return png_of(figure)


def _times(view: Times) -> bytes:
    """How long an answer takes: the median, and what one in twenty exceeds."""
    with style():
        figure, axes = titled_axes(
            "Answer time, ms", "Filled: the median. Hollow: one in twenty takes longer.", left=NAMES
        )
        for row, one in enumerate(view.latencies.values()):
            axes.plot([one.p50, one.p95], [row, row], color=RULE, linewidth=3, zorder=1)
            for value, face, raised in ((one.p50, BLUE, -16), (one.p95, "white", 9)):
                axes.plot([value], [row], marker="o", markersize=8, color=BLUE, markerfacecolor=face)
                axes.annotate(
                    f"{value:.3g}", (value, row), (0, raised), textcoords="offset points", ha="center", fontsize=8
                )
        axes.set_yticks(range(len(view.latencies)), [drawable(shortened(name, NAME)) for name in view.latencies])
        axes.set_ylim(len(view.latencies) - 0.5, -0.5)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.tick_params(axis="x", which="minor", labelbottom=False)
        axes.margins(x=0.1)
        axes.grid(axis="x", color=RULE, linewidth=0.6)
        axes.set_xlabel("ms, logarithmic", color=INK)
        return png_of(figure)
