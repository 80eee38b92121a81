from __future__ import annotations

import io
from typing import Literal

import pytest
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.text import Text

from remembrancer.domain.recall import PRODUCT, Part
from remembrancer.interfaces.cli.drawing import (
    Meter,
    Shorter,
    group_bars,
    leaves,
    part_bars,
    shortened,
    sparkline,
)
from remembrancer.interfaces.text import counted, shown, size


def part(label: str, contribution: float, *parts: Part) -> Part:
    return Part(label=label, value=contribution, contribution=contribution, parts=parts)


def drawn(block: RenderableType, *, width: int = 80, color_system: Literal["256"] | None = None) -> str:
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        markup=False,
        force_terminal=color_system is not None,
        color_system=color_system,
        legacy_windows=False,
    )
    console.print(block)
    return out.getvalue()


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        ("plain\n\ttext", "plain\n\ttext"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]never ended", "]never ended"),
        ("\x1bcreset", "creset"),
        ("a\rb\bc\x7f\x85d", "abcd"),
        ("\u202eright to left\u2066\u200b\ufeff", "right to left"),
        ("\u2028line\u2029paragraph", "lineparagraph"),
        ("می\u200cخواهم 👩\u200d💻", "می\u200cخواهم 👩\u200d💻"),
        ("[red]markup[/red]", "[red]markup[/red]"),
    ],
)
def test_shown_text_can_only_be_read(text: str, harmless: str) -> None:
    assert shown(text) == harmless


@pytest.mark.parametrize("cells", [1, 2, 5, 9, 40])
def test_a_shortened_text_fits_and_marks_the_cut(cells: int) -> None:
    text = "日本語 and\n more 🎂🎂 words"
    cut = shortened(text, cells)
    assert cell_len(cut) <= cells
    assert cut == "日本語 and more 🎂🎂 words" or cut.endswith("…")


@pytest.mark.parametrize("lines", [1, 2, 3])
@pytest.mark.parametrize("width", [30, 80, 120])
def test_a_long_text_takes_no_more_lines_than_it_may(lines: int, width: int) -> None:
    block = Shorter("many words of this size " * 100, lines=lines, lead=Text("12:00  "))
    assert len(drawn(block, width=width).splitlines()) <= lines


def test_a_score_of_nothing_has_an_empty_bar() -> None:
    assert "0.000" in drawn(part_bars(part("a", 0.0), 0.0))


def test_a_group_has_the_same_colour_with_and_without_the_groups_before_it() -> None:
    alone = drawn(group_bars({"words": 0.2}, 0.6), color_system="256")
    among = drawn(group_bars({"meaning": 0.4, "words": 0.2}, 0.6), color_system="256")
    assert ("38;5;136" in alone, "38;5;136" in among.splitlines()[1]) == (True, True)


def test_the_groups_of_a_score_have_bars_of_one_scale() -> None:
    lines = drawn(group_bars({"meaning": 0.4, "words": 0.2}, 0.6)).splitlines()
    assert [line.split()[0] for line in lines] == ["meaning", "words"]
    assert lines[0].count("█") == 2 * lines[1].count("█") > 0
    assert lines[0].rstrip().endswith("0.400")


def test_the_tree_of_a_score_is_drawn_without_absent_parts() -> None:
    leaf = Part(label="similarity", value=None, contribution=0.0)
    lines = drawn(part_bars(part("sum", 0.6, part("product", 0.4, leaf), part("lexical", 0.2)), 0.6)).splitlines()
    assert [line.split()[0] for line in lines] == ["product", "lexical", "sum"]
    assert [line.count("█") > 0 for line in lines] == [True, True, False]
    assert lines[0].count("█") > lines[1].count("█")
    assert lines[2].rstrip().endswith("0.600")


def test_a_factor_is_drawn_as_one_and_adds_no_bar() -> None:
    inner = part("sum", 0.5, part("similarity", 0.5))
    lines = drawn(part_bars(part(PRODUCT, 0.2, inner, part("importance", 0.4)), 0.2)).splitlines()
    assert [("×" in line, "█" in line) for line in lines] == [
        (False, True),
        (True, False),
        (False, False),
        (True, False),
        (False, False),
    ]


def test_a_product_is_one_stretch_of_a_bar() -> None:
    product = part(PRODUCT, 0.2, part("similarity", 0.5), part("importance", 0.4))
    assert leaves(product) == (product,)


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 bytes"), (1023, "1023 bytes"), (1 << 20, "1.0 MiB"), (5 << 30, "5.0 GiB")]
)
def test_sizes_are_in_the_unit_people_would_choose(count: int, said: str) -> None:
    assert size(count) == said


@pytest.mark.parametrize(("count", "said"), [(1, "1 memory"), (2, "2 memories"), (1234, "1,234 memories")])
def test_counts_have_their_noun(count: int, said: str) -> None:
    assert counted(count, "memory") == said


@pytest.mark.parametrize(
    ("share", "bar"), [(0.0, "····"), (0.5, "██··"), (1.0, "████"), (-1.0, "····"), (2.0, "████"), (0.99, "████")]
)
def test_a_meter_is_full_at_one(share: float, bar: str) -> None:
    assert drawn(Meter(share, "green", 4)) == f"{bar}\n"


def test_a_meter_shrinks_where_there_is_little_room() -> None:
    assert drawn(Meter(0.5, "green", 20), width=8) == "████····\n"


def test_a_sparkline_has_a_column_for_each_share_and_a_dot_for_none() -> None:
    assert sparkline([0.0, 0.124, 0.125, 0.5, 0.875, 1.0, None]) == "▁▁▂▅██·"
