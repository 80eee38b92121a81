"""Print tables of figures. Figures and row names are never cut, however narrow the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from remembrancer.values import dataclass

if TYPE_CHECKING:
    from rich.console import Console

NAME_CELLS: Final = 60
"""Widest column of row names, in terminal cells; a longer name is wrapped."""
HEADING_CELLS: Final = 16
"""Widest heading, in terminal cells, unless a figure below it is wider."""

_EDGES: Final = 2
_BETWEEN: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A table: each row has a name and one figure for each of `columns`.

    Text is printed as it is, without markup. Headings, names and figures may have several lines; all but the first line
    of a name or figure are dimmed.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def print_sheet(sheet: Sheet, console: Console) -> None:
    """Print the table. Output to a file has the table's full width. On a terminal, columns that do not fit are printed
    below the others, with the row names repeated; a table that still does not fit runs over the edge instead of being
    cut.
    """
    room = console.width if console.is_terminal else None
    console.print(Text(sheet.title, style="bold"))
    for table in _tables(sheet, room):
        console.print(table, crop=False)


def _tables(sheet: Sheet, room: int | None) -> Iterator[Table]:
    limit = NAME_CELLS if room is None else min(NAME_CELLS, max(1, room // 2 - _EDGES))
    named = min(limit, _width(name for name, _ in sheet.rows))
    widths = [
        max(min(HEADING_CELLS, _width([heading])), _width(figures[place] for _, figures in sheet.rows))
        for place, heading in enumerate(sheet.columns)
    ]
    for several in _beside(widths, None if room is None else room - named - _EDGES - 1):
        width = _EDGES + named + 1 + sum(widths[place] + _BETWEEN for place in several)
        table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), width=width)
        table.add_column("", width=named, overflow="fold")
        for place in several:
            table.add_column(Text(sheet.columns[place]), justify="right", width=widths[place], overflow="fold")
        for name, figures in sheet.rows:
            table.add_row(_faint_below(name), *(_faint_below(figures[place]) for place in several))
        yield table


def _beside(widths: Sequence[int], room: int | None) -> Iterator[list[int]]:
    """The indices of the columns printed side by side, group by group: as many as fit, at least one."""
    several: list[int] = []
    taken = 0
    for place, width in enumerate(widths):
        if several and room is not None and taken + width + _BETWEEN > room:
            yield several
            several, taken = [], 0
        several.append(place)
        taken += width + _BETWEEN
    yield several


def _width(texts: Iterator[str] | Sequence[str]) -> int:
    return max((cell_len(line) for text in texts for line in text.split("\n")), default=0)


def _faint_below(text: str) -> Text:
    first, _, below = text.partition("\n")
    return Text.assemble(first, *([("\n" + below, "dim")] if below else []))
