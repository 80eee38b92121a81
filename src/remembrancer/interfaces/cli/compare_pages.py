"""Comparisons of presets on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from remembrancer.interfaces.cli.drawing import Renderables, Shorter, indented
from remembrancer.interfaces.text import minute, one_line, titled
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from remembrancer.interfaces.wire.comparison import ComparedOut, ComparisonOut, PlaceOut

LETTERS: Final = 4
CELL: Final = 7
"""Cells of a rank and a score."""
GAP: Final = 2
LEAST_TEXT: Final = 16
"""Below this width, in cells, a memory's text is left out."""


def compared(answer: ComparisonOut) -> Renderables:
    """A row for each memory and a column for each preset, then why the results differ and how much they overlap."""
    most = max(one.limit for one in answer.answers)
    yield Text(f"As of {minute(answer.asked_at)} UTC, {most} at most: rank and score under each preset", style="dim")
    yield ""
    if not answer.memories:
        yield Text("No preset returns anything.", style="dim")
        return
    yield _Ranks(answer)
    yield Text(
        "(n): ranked there, and not returned. -: no search brought it, or it stands in every answer.", style="dim"
    )
    yield ""
    yield Text("Why they differ", style="bold")
    for number, one in enumerate(answer.memories):
        yield from _why(letters(number), one)
    yield ""
    yield Text("Overlap: of what either returns, the share that both do", style="bold")
    yield _overlaps(answer)


def letters(number: int) -> str:
    """The label of a row: A to Z, then AA and so on. Letters cannot be mistaken for ranks.

    >>> letters(0), letters(25), letters(26)
    ('A', 'Z', 'AA')
    """
    before, last = divmod(number, 26)
    return (letters(before - 1) if before else "") + chr(ord("A") + last)


@dataclass(frozen=True)
class _Ranks:
    """A row for each memory and a column for each preset, in several tables if the terminal is too narrow for one."""

    answer: ComparisonOut

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        room = options.max_width - LETTERS
        for number, columns in enumerate(self._that_fit(room)):
            if number:
                yield ""
            yield self._table(columns, room - sum(self._width(column) for column in columns))

    def _that_fit(self, room: int) -> list[list[int]]:
        """The indices of the presets, grouped into tables that fit the width."""
        groups: list[list[int]] = [[]]
        for column in range(len(self.answer.answers)):
            if groups[-1] and sum(self._width(each) for each in (*groups[-1], column)) > room:
                groups.append([])
            groups[-1].append(column)
        return groups

    def _width(self, column: int) -> int:
        return max(cell_len(one_line(self.answer.answers[column].preset)), CELL) + GAP

    def _table(self, columns: list[int], left: int) -> Table:
        table = Table(box=None, padding=0, header_style="bold")
        table.add_column(width=LETTERS)
        for column in columns:
            name = one_line(self.answer.answers[column].preset)
            table.add_column(Text(name), width=self._width(column), no_wrap=True, overflow="ellipsis")
        if left >= LEAST_TEXT:
            table.add_column(width=left, no_wrap=True, overflow="ellipsis")
        for number, one in enumerate(self.answer.memories):
            said = [Text(one_line(_said(one)), style="dim")] if left >= LEAST_TEXT else []
            cells = (_cell(one.places[column]) for column in columns)
            table.add_row(Text(letters(number), style="bold"), *cells, *said)
        return table


def _cell(place: PlaceOut) -> Text:
    if place.rank is None:
        return Text(" -", style="dim")
    if not place.returned or place.score is None:
        return Text(f"({place.rank})", style="dim")
    return Text(f"{place.rank:>2} ", style="bold green" if place.rank == 1 else "bold").append(
        f"{place.score:.2f}", style="not bold default"
    )


def _why(letter: str, one: ComparedOut) -> Renderables:
    yield Shorter(_said(one), lead=Text(f"{letter:<2} ", style="bold"))
    yield indented(Text(one_line(one.why)), 3)
    yield indented(Text(str(one.memory.id), style="dim"), 3)


def _said(one: ComparedOut) -> str:
    return one.cue.text if one.memory.title is None else titled(one.memory)


def _overlaps(answer: ComparisonOut) -> Table:
    """The overlap of each pair of presets, as a triangular table."""
    shares = {each.presets: each.share for each in answer.overlaps}
    names = [one.preset for one in answer.answers]
    grid = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    grid.add_column(style="dim", no_wrap=True)
    for name in names[:-1]:
        grid.add_column(Text(one_line(name)), no_wrap=True)
    for row, name in enumerate(names[1:], start=1):
        grid.add_row(Text(one_line(name)), *(f"{shares[other, name]:.2f}" for other in names[:row]))
    return grid
