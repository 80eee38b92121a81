"""Charts: axes below a title and a line that says what is drawn, and bars in groups with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from remembrancer.evaluation.summary import ENOUGH_CONVERSATIONS, Means
from remembrancer.interfaces.canvas import FAINT, INK, RULE, drawable, new_figure, png_of, style
from remembrancer.interfaces.charts.palette import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION, YELLOW
from remembrancer.interfaces.cli.drawing import shortened

T = TypeVar("T")

SYSTEMS: Final = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY, YELLOW, INK, FAINT, "#b5651d")
"""Of systems, in their order."""
WIDE, HIGH = 11.0, 6.0
GROUP: Final = 0.8
"""Of the room between two groups of bars, what the bars take."""
NAME: Final = 24
TITLE: Final = 84
TOLD: Final = 140
"""What there is room for above the axes, in characters."""
NAMES: Final = 0.3
"""Where the axes begin whose rows have names, as a share of the width."""


def grouped(title: str, told: str, labels: Sequence[str], bars: Mapping[str, Sequence[tuple[Means, str]]]) -> bytes:
    """A group of bars for each label, a bar for each system, with its interval."""
    width = GROUP / len(bars)
    with style():
        figure, axes = titled_axes(title, told)
        for number, (system, cells) in enumerate(bars.items()):
            places = [place + (number + 0.5) * width - GROUP / 2 for place in range(len(labels))]
            reaches = [reach(means, [name]) for means, name in cells]
            axes.bar(
                places,
                [means.values[name] for means, name in cells],
                width * 0.95,
                color=SYSTEMS[number % len(SYSTEMS)],
                yerr=[[below[0] for below, _ in reaches], [above[0] for _, above in reaches]],
                error_kw={"ecolor": INK, "elinewidth": 1, "capsize": 2},
                label=drawable(shortened(system, NAME)),
            )
        axes.set_xticks(range(len(labels)), [lines(label) for label in labels])
        finish(axes, "")
        return png_of(figure)


def titled_axes(title: str, told: str, *, left: float = 0.07) -> tuple[Any, Any]:
    """`left`: where the axes begin, as a share of the width: names of rows stand before it."""
    figure = new_figure(WIDE, HIGH)
    figure.text(
        0.07, 0.93, drawable(shortened(title, TITLE)), fontsize=14, fontweight="bold", color=INK, parse_math=False
    )
    figure.text(0.07, 0.885, drawable(shortened(told, TOLD)), fontsize=9.5, color=FAINT, parse_math=False)
    axes = figure.add_axes((left, 0.12, 0.79 - left, 0.72))
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.set_axisbelow(True)
    return figure, axes


def finish(axes: Any, label: str) -> None:
    axes.set_ylim(0, 1)
    axes.set_ylabel(label, color=INK)
    axes.grid(axis="y", color=RULE, linewidth=0.6)
    legend(axes)


def legend(axes: Any) -> None:
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=9)


def lines(label: str) -> str:
    """Each line made harmless by itself: a label may have two."""
    return "\n".join(drawable(line) for line in label.split("\n"))


def coloured(systems: Mapping[str, T]) -> list[tuple[tuple[str, T], str]]:
    """Each system's name and what is told of it, with its colour."""
    return [(item, SYSTEMS[number % len(SYSTEMS)]) for number, item in enumerate(systems.items())]


def reach(means: Means, names: Sequence[str]) -> list[list[float]]:
    """How far the intervals reach below and above the means."""
    pairs = [(means.values[name], means.told[name]) for name in names]
    return [
        [max(0.0, value - interval.low) for value, interval in pairs],
        [max(0.0, interval.high - value) for value, interval in pairs],
    ]


def over(means: Means, where: str = "") -> str:
    """`where`: the conversations, if not all."""
    drawn = "conversations" if means.conversations >= ENOUGH_CONVERSATIONS else "questions"
    only = f" Conversations: {where}." if where else ""
    return f"Mean over {means.questions:,} questions, 95 % intervals by drawing {drawn}.{only}"
