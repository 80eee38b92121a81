"""Draw the results of benchmarks/quality.py: one picture per table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, assert_never

from markupsafe import Markup

from benchmarks.quality_asked import DIFFERENCES
from benchmarks.quality_report import Ablation, ByGoldTurns, Bytes, Times, View
from benchmarks.quality_variants import FULL
from remembrancer.interfaces.charts.document import document, png
from remembrancer.interfaces.charts.evaluation import differing, reaching
from remembrancer.interfaces.charts.panel import Panel, row_panel
from remembrancer.interfaces.charts.svg import SMALL, fitted

LABEL: Final = 290.0
"""Width of row names, in pixels."""


def draw(shown: Iterable[View], folder: Path) -> list[Path]:
    """Write one PNG per view; existing files are overwritten. Creates `folder` if needed."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn: list[Path] = []
    for view in shown:
        drawn.append(folder / f"{view.name}.png")
        drawn[-1].write_bytes(png(picture(view)))
    return drawn


def picture(view: View) -> str:
    match view:
        case Ablation():
            return _ablation(view)
        case ByGoldTurns():
            found = {label: means["recall@20"] for label, means in view.block.by_gold_turns.items()}
            title = f"{view.block.name}: recall@20 by the number of gold turns"
            return _bars(title, "Of the full preset.", found, "{:.3f}")
        case Times():
            return _bars("Time of a recall, ms", view.title, view.parts, "{:.2f}")
        case Bytes():
            return _bars("Bytes per memory in the file", "Means, by purpose.", view.kept, "{:,.0f}")
        case _:
            assert_never(view)


def _ablation(view: Ablation) -> str:
    """One row per part left out: the change of each metric with its interval; hollow if the interval contains 0."""
    rows = [row for row in view.block.rows if row.variant.name != FULL.name]
    marks, panels = Markup(), list[Panel]()
    for metric, (left, right) in zip(DIFFERENCES, ((300.0, 620.0), (670.0, 990.0)), strict=True):
        moves = [row.moved[metric] for row in rows]
        edges = reaching(edge for one in moves for edge in (one.interval.low, one.by, one.interval.high))
        panels.append(row_panel(len(rows), edges, left=left, right=right))
        marks += panels[-1].uprights(f"{metric} difference") + panels[-1].upright(0.0, "chart-axis")
        for place, one in enumerate(moves):
            sure = not one.interval.low <= 0 <= one.interval.high
            hue = "green" if one.by > 0 else "red"
            marks += differing(panels[-1], place, one.by, one.interval, hue, sure=sure)
    marks += panels[0].rows([fitted(row.variant.label, LABEL, SMALL) for row in rows])
    description = (
        f"Less the full preset's, over {view.block.questions:,} questions. 95 % intervals by drawing questions;"
        " hollow where they hold 0."
    )
    title = f"What is found without each part: {view.block.name}"
    return document("quality", title, description, [panels[0].picture(marks)])


def _bars(title: str, description: str, values: Mapping[str, float], shape: str) -> str:
    panel = row_panel(len(values), (0.0, max(values.values(), default=1.0) * 1.1 or 1.0), left=300.0)
    marks = panel.uprights() + panel.rows([fitted(name, LABEL, SMALL) for name in values])
    for place, value in enumerate(values.values()):
        marks += panel.bar((0.0, place - 0.3), (value, place + 0.3), "blue")
        marks += panel.words((value, place), shape.format(value), (6.0, 4.0))
    return document("quality", title, description, [panel.picture(marks)])
