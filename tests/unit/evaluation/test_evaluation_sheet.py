"""Tables are printed without cutting a figure or a name, at any width."""

from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from remembrancer.evaluation.sheet import NAME_CELLS, Sheet, print_sheet

COLUMNS = tuple(f"block-recall\n@{number}k" for number in range(12))
FIGURES = tuple(f"0.{number:03}\n.{number:02}-1.00" for number in range(12))
WIDE = Sheet(title="Wide", columns=COLUMNS, rows=(("default", FIGURES), ("block-recall@4k", FIGURES)))


def printed(sheet: Sheet, width: int, *, terminal: bool) -> str:
    page = io.StringIO()
    console = Console(file=page, width=width, force_terminal=terminal, color_system=None, legacy_windows=False)
    print_sheet(sheet, console)
    return page.getvalue()


def widest(page: str) -> int:
    return max(cell_len(line.rstrip()) for line in page.splitlines())


@pytest.mark.parametrize("width", [10, 20, 40, 60, 80, 120, 400])
@pytest.mark.parametrize("terminal", [True, False])
def test_every_figure_is_whole(width: int, *, terminal: bool) -> None:
    words = printed(WIDE, width, terminal=terminal).split()
    assert {part for cell in FIGURES for part in cell.split()} <= set(words)


@pytest.mark.parametrize("width", [40, 60, 80, 120, 400])
def test_every_name_is_whole_in_each_table(width: int) -> None:
    words = printed(WIDE, width, terminal=True).split()
    assert words.count("block-recall@4k") == words.count("default") >= 1


@pytest.mark.parametrize("width", [40, 60, 80, 120, 400])
def test_a_terminal_is_not_overrun(width: int) -> None:
    assert widest(printed(WIDE, width, terminal=True)) <= width


def test_on_a_narrow_terminal_columns_that_do_not_fit_are_printed_below() -> None:
    words = printed(WIDE, 60, terminal=True).split()
    assert words.count("default") > 1


def test_in_a_file_all_columns_are_in_one_table() -> None:
    page = printed(WIDE, 20, terminal=False)
    assert page.split().count("default") == 1
    assert widest(page) > 120


def test_in_a_file_a_table_has_its_full_width_for_every_console() -> None:
    assert printed(WIDE, 60, terminal=False) == printed(WIDE, 400, terminal=False)


def test_a_long_name_continues_on_the_next_line() -> None:
    name = "of a long name " * 20 + "the end"
    page = printed(Sheet(title="t", columns=("p50",), rows=((name, ("1.00",)),)), 80, terminal=False)
    assert " ".join(page.split()).count("the end") == 1
    assert widest(page) < NAME_CELLS + 20


def test_a_name_without_blanks_is_folded_and_not_cut() -> None:
    page = printed(Sheet(title="t", columns=("p50",), rows=(("Q" * 200, ("1.00",)),)), 30, terminal=True)
    assert page.count("Q") == 200


def test_a_long_heading_is_folded_and_not_cut() -> None:
    heading = "a-category-with-a-name-of-forty-characters"
    page = printed(Sheet(title="t", columns=(heading,), rows=(("default", ("1.00",)),)), 80, terminal=False)
    assert "".join(page.split()[1:4]) == heading


def test_nothing_in_a_table_is_markup() -> None:
    sheet = Sheet(title="[bold]t", columns=("[red]c",), rows=(("[blink]n", ("[/x]1.00",)),))
    page = printed(sheet, 80, terminal=False)
    assert [text in page for text in ("[bold]t", "[red]c", "[blink]n", "[/x]1.00")] == [True] * 4


def test_the_text_below_a_figure_is_faint() -> None:
    page = io.StringIO()
    sheet = Sheet(title="t", columns=("c",), rows=(("n", ("0.500\n.40-.60",)),))
    print_sheet(sheet, Console(file=page, width=80, force_terminal=True, color_system="standard"))
    assert "\x1b[2m.40-.60" in page.getvalue().replace("\x1b[2m ", "\x1b[2m")
