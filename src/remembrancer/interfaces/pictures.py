"""Pictures of what is told elsewhere in words, as PNG files: for a report, a page, a talk."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from matplotlib import dates
from matplotlib.patches import Circle, Rectangle
from rich.cells import cell_len, set_cell_size

from remembrancer.domain.recall import PRODUCT
from remembrancer.interfaces.canvas import BAND, FAINT, INK, RULE, drawable, new_figure, png_of, style
from remembrancer.interfaces.charts.palette import BLUE, OTHER, SIGNALS, VERMILLION
from remembrancer.interfaces.cli.drawing import minute, one_line, shortened

if TYPE_CHECKING:
    from remembrancer.interfaces.wire import AnswerOut, ComparedOut, ComparisonOut, CurveOut, PartOut, PlaceOut

MULTIPLIED: Final = "#9a9a9a"
"""The score of a product: its factors do not add up to it."""
SHADES: Final = ("#08306b", "#2171b5", "#4292c6", "#6baed6", "#9ecae1")
"""Of ranks: the better, the darker."""
PAGE: Final = 14.0
"""Inches across, or more where there are many presets."""
MARGIN: Final = 0.35
TEXTS: Final = 4.0
"""The column of what was said."""
WIDE: Final = 1.6
"""The column of a preset."""
BAR: Final = 0.65
HEAD: Final = 1.75
ROW: Final = 0.86
FOOT: Final = 0.75
NAME: Final = 16
"""Characters of a part's name that have room below its bar."""


def comparison(answer: ComparisonOut) -> bytes:
    """A row for each memory, a column for each preset: its rank there, and its score as a bar of its parts."""
    with style():
        height = HEAD + max(len(answer.memories), 1) * ROW + FOOT
        page = _Page(max(PAGE, MARGIN + TEXTS + len(answer.answers) * WIDE), height)
        shown = shortened(answer.query, 96)
        page.text(MARGIN, 0.42, f"What each preset returns for \u201c{shown}\u201d", size=15, bold=True)
        told = "Circle: rank. Bar: score in the colours of its parts, to the scale of each preset's best."
        page.text(MARGIN, 0.80, f"As of {minute(answer.asked_at)} UTC. {told}", size=9.5, colour=FAINT)
        for column, one in enumerate(answer.answers):
            _head(page, MARGIN + TEXTS + column * WIDE, one, answer.answers[0])
        if not answer.memories:
            page.text(MARGIN, HEAD + ROW / 2, "No preset returns anything.", size=11, colour=FAINT)
        for row, memory in enumerate(answer.memories):
            _row(page, HEAD + row * ROW, row, memory, answer)
        _legend(page, height - FOOT / 2, answer.memories)
        return page.png()


def _head(page: _Page, left: float, answer: AnswerOut, first: AnswerOut) -> None:
    page.text(left, 1.22, shortened(answer.preset, 13), size=12, bold=True)
    returned, shared = len(answer.hits), len(set(answer.hits) & set(first.hits))
    told = f"returns {returned}" if answer is first else f"{shared} of {returned} as {shortened(first.preset, 13)}"
    page.text(left, 1.47, told, size=8.5, colour=FAINT)


def _row(page: _Page, top: float, row: int, one: ComparedOut, answer: ComparisonOut) -> None:
    ground = BAND if row % 2 == 0 else "white"
    page.box(MARGIN / 2, top, page.width - MARGIN, ROW, ground)
    page.text(MARGIN, top + 0.17, shortened(one.cue.heading, 56), size=8, colour=FAINT)
    title = "" if one.memory.title is None else f"{one.memory.title}: "
    for number, line in enumerate(_lines(title + one.memory.text, 50, 2)):
        page.text(MARGIN, top + 0.40 + number * 0.22, line, size=9.5)
    # What is wider than its cells say, as some scripts are, ends where the places begin.
    page.box(MARGIN + TEXTS - 0.1, top, page.width - TEXTS - 1.5 * MARGIN + 0.1, ROW, ground)
    for column, (place, of) in enumerate(zip(one.places, answer.answers, strict=True)):
        best = max(
            (each.places[column].score or 0.0 for each in answer.memories if each.places[column].returned), default=0
        )
        _place(page, MARGIN + TEXTS + column * WIDE, top, place, of.limit, best or 1.0)


def _place(page: _Page, left: float, top: float, place: PlaceOut, limit: int, best: float) -> None:
    """Rank, score and what it is made of; or why the memory is not there."""
    if not place.returned or place.rank is None or place.score is None:
        page.disc(left + 0.15, top + 0.28, 0.06, RULE)
        for number, line in enumerate(_lines(place.reason or "", 18, 3)):
            page.text(left + 0.36, top + 0.28 + number * 0.17, line, size=8, colour=FAINT)
        return
    shade = min((place.rank - 1) * len(SHADES) // max(limit, len(SHADES)), len(SHADES) - 1)
    page.disc(left + 0.15, top + 0.28, 0.15, SHADES[shade])
    page.text(
        left + 0.15,
        top + 0.28,
        str(place.rank),
        size=10,
        bold=True,
        colour="white" if shade < 3 else INK,
        across="center",
    )
    reached = left + 0.38
    for label, share in _segments(place.parts):
        length = BAR * place.score / best * share
        page.box(reached, top + 0.20, length, 0.16, SIGNALS.get(label, OTHER) if label else MULTIPLIED)
        reached += length
    page.text(left + 0.38 + BAR + 0.06, top + 0.28, f"{place.score:.2f}", size=8.5)
    for number, line in enumerate(_told(place.leading or "")):
        page.text(left + 0.38, top + 0.48 + number * 0.17, line, size=7.5, colour=FAINT)


def _told(leading: str) -> list[str]:
    """Each part on a line of its own, with the sign that joins it to the one before."""
    for sign in ("+", "×"):
        first, joined, second = leading.partition(f" {sign} ")
        if joined:
            return [_cut(first), f"{sign} {_cut(second)}"]
    return [_cut(leading)]


def _cut(part: str) -> str:
    """A long name is cut, its number is not."""
    name, _, value = part.replace("_", " ").rpartition(" ")
    return f"{shortened(name, NAME)} {value}"


def _lines(text: str, cells: int, most: int) -> list[str]:
    """Broken between words, or where there is no other place; the last of them cut, if that is not all."""
    lines, left = list[str](), one_line(text)
    while left and len(lines) < most - 1:
        line = set_cell_size(left, cells).rstrip() if cell_len(left) > cells else left
        if line != left and " " in line and left[len(line)] != " ":
            line = line[: line.rindex(" ")]
        lines.append(line)
        left = left[len(line) :].lstrip()
    return [*lines, shortened(left, cells)] if left else lines


def _segments(part: PartOut | None) -> list[tuple[str, float]]:
    """The terms of a score, each as a share of it; a product is one piece, without a name."""
    if part is None:
        return []
    node = part
    while node.label != PRODUCT and len(node.parts) == 1:
        node = node.parts[0]
    terms = [node] if node.label == PRODUCT else node.parts or [node]
    total = sum(term.contribution for term in terms) or 1.0
    return [("" if term.label == PRODUCT else _first_leaf(term).label, term.contribution / total) for term in terms]


def _first_leaf(part: PartOut) -> PartOut:
    return _first_leaf(part.parts[0]) if part.parts else part


def _legend(page: _Page, middle: float, memories: Sequence[ComparedOut]) -> None:
    shown = (place for one in memories for place in one.places if place.returned)
    labels = dict.fromkeys(label for place in shown for label, _ in _segments(place.parts))
    left = MARGIN
    for label in sorted(labels, key=lambda label: not label):
        told = label.replace("_", " ") or "a product, of factors such as those below the bar"
        page.box(left, middle - 0.08, 0.26, 0.16, SIGNALS.get(label, OTHER) if label else MULTIPLIED)
        page.text(left + 0.34, middle, told, size=9)
        left += 0.34 + 0.085 * len(told) + 0.3


def curve(answer: CurveOut, told: str) -> bytes:
    """Strength over time, with the threshold, now, and where the one goes below the other. `told`: that in words."""
    with style():
        outlook = answer.outlook
        figure = new_figure(12, 6)
        title = f"{outlook.memory.title}: " if outlook.memory.title else ""
        text = shortened(title + outlook.memory.text, 100)
        figure.text(0.07, 0.93, drawable(text), fontsize=14, fontweight="bold", color=INK, parse_math=False)
        figure.text(0.07, 0.875, told, fontsize=10.5, color=FAINT)
        axes = figure.add_axes((0.07, 0.1, 0.87, 0.72))
        times = [point.at for point in answer.points]
        values = [point.strength for point in answer.points]
        axes.fill_between(times, values, color=BLUE, alpha=0.12, linewidth=0)
        axes.plot(times, values, color=BLUE, linewidth=2.2)
        top = max(*values, outlook.below, 0.05) * 1.12
        axes.set_ylim(0, min(top, 1.02) if top > 1 else top)
        axes.set_xlim(times[0], times[-1])
        axes.axhline(outlook.below, color=VERMILLION, linewidth=1.2, linestyle=(0, (5, 4)))
        _note(axes, times[-1], outlook.below, f"faded below {outlook.below:g} ", VERMILLION, (0, 4), "right")
        axes.axvline(answer.now, color=FAINT, linewidth=1)
        _note(axes, answer.now, axes.get_ylim()[1], "now", FAINT, (4, -12), "left")
        falls = outlook.falls_at
        if falls is not None and times[0] <= falls <= times[-1]:
            axes.plot([falls], [outlook.below], marker="o", markersize=8, color=VERMILLION, clip_on=False)
            _note(axes, falls, outlook.below, minute(falls)[:10], INK, (8, 12), "left")
        axes.set_ylabel("strength", color=INK)
        axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(axes.xaxis.get_major_locator(), tz="UTC"))
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        axes.grid(axis="y", color=RULE, linewidth=0.6)
        axes.set_axisbelow(True)
        return png_of(figure)


def _note(axes: Any, at: Any, height: float, text: str, colour: str, apart: tuple[float, float], across: str) -> None:
    axes.annotate(
        text, (at, height), apart, textcoords="offset points", fontsize=10, color=colour, ha=across, parse_math=False
    )


class _Page:
    """A figure to draw on, measured in inches from its upper left corner. What is drawn later lies over it."""

    def __init__(self, width: float, height: float) -> None:
        self.width = width
        self._layers = count()
        self._figure = new_figure(width, height)
        self._axes = self._figure.add_axes((0, 0, 1, 1))
        self._axes.set_xlim(0, width)
        self._axes.set_ylim(height, 0)
        self._axes.axis("off")

    def text(
        self,
        left: float,
        middle: float,
        text: str,
        *,
        size: float,
        colour: str = INK,
        bold: bool = False,
        across: str = "left",
    ) -> None:
        weight = "bold" if bold else "normal"
        self._axes.text(
            left,
            middle,
            drawable(text),
            fontsize=size,
            color=colour,
            fontweight=weight,
            ha=across,
            va="center_baseline",
            parse_math=False,
            zorder=next(self._layers),
        )

    def box(self, left: float, top: float, width: float, height: float, colour: str) -> None:
        self._axes.add_patch(
            Rectangle((left, top), width, height, facecolor=colour, linewidth=0, zorder=next(self._layers))
        )

    def disc(self, left: float, top: float, radius: float, colour: str) -> None:
        self._axes.add_patch(Circle((left, top), radius, facecolor=colour, linewidth=0, zorder=next(self._layers)))

    def png(self) -> bytes:
        return png_of(self._figure)
