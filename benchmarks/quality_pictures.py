"""Pictures of what benchmarks/quality.py found: one for each of its tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, assert_never

from benchmarks.quality_asked import DIFFERENCES
from benchmarks.quality_report import Bytes, Times, View, Worth
from benchmarks.quality_variants import FULL
from remembrancer.interfaces.canvas import FAINT, INK, RULE, drawable, png_of, style
from remembrancer.interfaces.charts.palette import BLUE, GREEN, VERMILLION
from remembrancer.interfaces.cli.drawing import shortened
from remembrancer.interfaces.plots import titled_axes

LABEL: Final = 44
LABELS: Final = 0.3
"""Where the axes begin whose rows have names, as a share of the width."""
PANEL: Final = 0.32


def draw(shown: Iterable[View], folder: Path) -> list[Path]:
    """A file for each view; those of an earlier run are drawn anew. `folder` is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn: list[Path] = []
    for view in shown:
        drawn.append(folder / f"{view.name}.png")
        drawn[-1].write_bytes(picture(view))
    return drawn


def picture(view: View) -> bytes:
    match view:
        case Worth():
            return _worth(view)
        case Times():
            return _bars("What a recall takes, ms", view.told, view.parts, "{:.2f}")
        case Bytes():
            return _bars(
                "What a memory takes in the file, bytes", "On average, by what it is kept for.", view.kept, "{:,.0f}"
            )
        case _:
            assert_never(view)


def _worth(view: Worth) -> bytes:
    """A row a part that is left out: how far what is found moves, with its interval; hollow where that holds 0."""
    rows = [row for row in view.block.rows if row.variant.name != FULL.name]
    with style():
        figure, axes = titled_axes(
            f"What is found without each part: {view.block.name}",
            f"Less the full preset's, over {view.block.questions:,} questions. 95 % intervals by drawing questions; "
            "hollow where they hold 0.",
            left=LABELS,
        )
        axes.set_position((LABELS, 0.12, PANEL, 0.72))
        panels = [axes, figure.add_axes((LABELS + PANEL + 0.03, 0.12, PANEL, 0.72), sharey=axes)]
        for panel, metric in zip(panels, DIFFERENCES, strict=True):
            panel.axvline(0, color=FAINT, linewidth=1)
            for place, row in enumerate(rows):
                moved = row.moved[metric]
                colour = GREEN if moved.by > 0 else VERMILLION
                panel.plot([moved.interval.low, moved.interval.high], [place, place], color=colour, linewidth=2)
                face = "white" if moved.interval.low <= 0 <= moved.interval.high else colour
                panel.plot([moved.by], [place], marker="o", markersize=6, color=colour, markerfacecolor=face)
            panel.set_xlabel(f"{metric} moves", color=INK)
            panel.grid(axis="x", color=RULE, linewidth=0.6)
            panel.set_axisbelow(True)
            panel.tick_params(labelsize=8)
            for side in ("top", "right"):
                panel.spines[side].set_visible(False)
        axes.set_yticks(range(len(rows)), [drawable(shortened(row.variant.label, LABEL)) for row in rows])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        panels[1].tick_params(labelleft=False)
        return png_of(figure)


def _bars(title: str, told: str, values: Mapping[str, float], shape: str) -> bytes:
    with style():
        figure, axes = titled_axes(title, told, left=LABELS)
        axes.barh(range(len(values)), list(values.values()), height=0.6, color=BLUE)
        for place, value in enumerate(values.values()):
            axes.annotate(
                shape.format(value), (value, place), (5, 0), textcoords="offset points", va="center", fontsize=9
            )
        axes.set_yticks(range(len(values)), [drawable(shortened(name, LABEL)) for name in values])
        axes.set_ylim(len(values) - 0.5, -0.5)
        axes.grid(axis="x", color=RULE, linewidth=0.6)
        return png_of(figure)
