"""How tables of figures are printed: no figure and no name of a row is ever cut, however little room there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console

NAME_CELLS: Final = 60
"""The widest that names of rows are on one line; a longer one goes on below."""
HEADING_CELLS: Final = 16
"""The same of headings, where what stands below them is not wider."""

_EDGES: Final = 2
_BETWEEN: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """A table: a name before each row, and a figure in it for each of `columns`.

    Nothing in it is markup. Headings, names and figures may have several lines; what is below a figure's first is
    faint, as what is below a name's.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def print_sheet(sheet: Sheet, console: Console) -> None:
    """To a file, as wide as it is. On a terminal, columns that have no room beside the others stand below them, with
    the names of the rows once more. Whatever has no room even so goes over the edge: it is not cut.
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
    """The places of the columns that stand beside each other: as many as there is room for, at least one."""
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
