"""The strength curve on a terminal, in braille dots, or in ASCII if the terminal has no other characters."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from remembrancer.interfaces.charts.scale import along, through
from remembrancer.interfaces.charts.strength import StrengthCurve
from remembrancer.interfaces.text import minute
from remembrancer.values import dataclass

ROWS: Final = 12
GUTTER: Final = 6
"""Cells for the numbers and the axis on the left."""
LEAST_CELLS: Final = 20

LINE, LIMIT, NOW, CROSSING = "cyan", "yellow", "dim", "bold red"
_BRAILLE: Final = 0x2800
_PLAIN: Final = {LINE: "*", LIMIT: "-", NOW: "|"}
_DOTS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bit of each dot of a braille character, by row from the top and column."""


@dataclass(frozen=True)
class Plot:
    """A strength curve, as wide as the terminal."""

    strength: StrengthCurve
    rows: int = ROWS

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        cells = max(options.max_width - GUTTER - 1, LEAST_CELLS)
        canvas = _Canvas(self.rows, cells, ascii_only=options.ascii_only)
        self._draw(canvas, gap=1 if options.ascii_only else 4)
        labels = self._labels(canvas)
        bar, corner, flat, stop = ("|", "+", "-", "+") if options.ascii_only else ("│", "└", "─", "┤")
        above = min(self._along(self.strength.now, cells), cells - len("now"))
        yield Text(" " * (GUTTER + above) + "now", style="dim")
        for row, line in enumerate(canvas.lines()):
            label, style = labels.get(row, ("", ""))
            edge = Text(f"{label:>{GUTTER - 2}} ", style=style).append(stop if label else bar, style="dim")
            yield edge.append_text(line)
        yield Text(f"{'0':>{GUTTER - 2}} ").append(corner + flat * cells, style="dim")
        yield Text(" " * GUTTER + self._dates(cells))

    def _draw(self, canvas: _Canvas, *, gap: int) -> None:
        """Draw the curve. The threshold and the present are dotted lines behind it, with a dot every `gap`."""
        strength = self.strength
        place = self._along(strength.now, canvas.across)
        for down in range(0, canvas.down, gap):
            canvas.put(place, down, NOW)
        level = self._height(strength.limit, canvas.down)
        for across in range(0, canvas.across, gap):
            canvas.put(across, level, LIMIT)
        begin, end = self._span
        before: int | None = None
        for across in range(canvas.across):
            moment = begin + (end - begin) * (across / max(canvas.across - 1, 1))
            height = self._height(strength.at(moment), canvas.down)
            # A steep fall is drawn as one line, not as dots far apart.
            for filled in range(min(height, height if before is None else before + 1), height + 1):
                canvas.put(across, filled, LINE)
            before = height
        if strength.crossing is not None and begin <= strength.crossing <= end:
            canvas.mark(self._along(strength.crossing, canvas.across), level, CROSSING)

    def _labels(self, canvas: _Canvas) -> dict[int, tuple[str, str]]:
        """(number, style) by row. The number of the threshold replaces another in the same row."""
        top, limit = self.strength.top, self.strength.limit
        labels = {canvas.row(self._height(level, canvas.down)): (f"{level:g}", "") for level in (top, top / 2)}
        if limit > 0:
            labels[canvas.row(self._height(limit, canvas.down))] = (f"{limit:g}", LIMIT)
        return labels

    def _dates(self, cells: int) -> str:
        """The first and the last time of the curve."""
        begin, end = self._span
        short = end - begin < timedelta(days=3)
        first, last = ((minute(at) if short else minute(at)[:10]) for at in (begin, end))
        return f"{first}{last:>{max(cells - len(first), len(last) + 1)}}"

    @property
    def _span(self) -> tuple[datetime, datetime]:
        return self.strength.points[0][0], self.strength.points[-1][0]

    def _along(self, at: datetime, across: int) -> int:
        return round(through(at, *self._span) * (across - 1))

    def _height(self, value: float, down: int) -> int:
        """The row of dots, counted from the top."""
        return round((1 - along(value, 0.0, self.strength.top)) * (down - 1))


class _Canvas:
    """A grid of dots: 2 by 4 per character cell, or one per cell in ASCII."""

    def __init__(self, rows: int, cells: int, *, ascii_only: bool) -> None:
        self._wide, self._high = (1, 1) if ascii_only else (2, 4)
        self._rows, self._cells = rows, cells
        self.across, self.down = cells * self._wide, rows * self._high
        self._dots: dict[tuple[int, int], list[tuple[int, str]]] = {}
        self._marks: dict[tuple[int, int], str] = {}

    def put(self, along: int, down: int, style: str) -> None:
        """Set a dot. The last dot set determines the colour of its cell."""
        bit = 0 if self._high == 1 else _DOTS[down % self._high][along % self._wide]
        self._dots.setdefault((down // self._high, along // self._wide), []).append((bit, style))

    def mark(self, along: int, down: int, style: str) -> None:
        self._marks[down // self._high, along // self._wide] = style

    def row(self, down: int) -> int:
        """The row of character cells that contains a row of dots."""
        return down // self._high

    def lines(self) -> list[Text]:
        return [Text.assemble(*(self._cell((row, cell)) for cell in range(self._cells))) for row in range(self._rows)]

    def _cell(self, place: tuple[int, int]) -> tuple[str, str]:
        dots, ascii_only = self._dots.get(place, []), self._high == 1
        if place in self._marks:
            return "X" if ascii_only else "●", self._marks[place]
        if not dots:
            return " ", ""
        style = dots[-1][1]
        return (_PLAIN[style] if ascii_only else chr(_BRAILLE + sum({bit for bit, _ in dots}))), style
