"""Commands for presets: list, show, compare."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Annotated, Final

from pydantic import JsonValue
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from remembrancer.compose import choose_preset
from remembrancer.interfaces.cli import picture
from remembrancer.interfaces.cli.drawing import Renderables, RowReference, Shorter, facts, indented, said
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.options import TIMES
from remembrancer.interfaces.text import minute, one_line, speaker
from remembrancer.interfaces.wire.comparison import ComparisonOut, PlaceOut, PresetOut, PresetsOut
from remembrancer.presets.text import text_of
from remembrancer.values import dataclass

_SCORES: Final = ("ranking", "rankings", "fading")
"""Sections that contain score expressions."""
_FORM: Final = "form"
_IN_USE: Final = "in use"
_ABSENT: Final = {"lexical_only": "as score"}
"""The meaning of `false` for choices where "no" would be unclear."""
LETTERS: Final = 4
CELL: Final = 7
"""The width of a rank and a score, in characters."""
GAP: Final = 2
LEAST_TEXT: Final = 16
"""Below this width, in cells, a memory's text is left out."""


def list_(call: Invocation) -> None:
    """List the presets.

    Lists each with its description and marks the one in use, as set by --preset, REMEMBRANCER_PRESET or the settings.

    Example: remembrancer presets list
    """
    call.answer(PresetsOut.of(choose_preset(call.settings.preset)), _listed)


def show(
    call: Invocation,
    *,
    preset_shown: Annotated[
        str | None, "[NAME|FILE]", "The name or TOML file of a preset. Default: the one in use."
    ] = None,
    toml: Annotated[bool, "Print a TOML file, to base another preset on."] = False,
) -> None:
    """Show a preset.

    Shows its scores with the meaning of each signal, how memories fade and strengthen, what is admitted, and all other
    choices. With --toml it prints a file, which --preset accepts once you have given it a new name.

    Example: remembrancer presets show engram --toml > mine.toml
    """
    in_use = call.settings.preset
    named = in_use if preset_shown is None else preset_shown
    preset = choose_preset(named)
    if toml and not call.as_json:
        call.write(text_of(preset).rstrip())
        return
    call.answer(PresetOut.of(preset, in_use=named == in_use), _described)


def compare(
    call: Invocation,
    *,
    query: Annotated[str, "QUESTION", "The question to ask under each preset."],
    several: Annotated[
        list[str] | None, "[NAME|FILE]", "The presets. Default: the one in use and all shipped ones."
    ] = None,
    limit: Annotated[int, "-n", "The maximum number of hits for each, 1 to 200."] = 5,
    as_of: Annotated[datetime | None, f"Only what was known and valid at that time: {TIMES}."] = None,
    png: picture.Png = None,
) -> None:
    """Compare the results of presets.

    Asks the question under each preset, over the existing memories. Shows each memory's rank and score under each
    preset, and why they differ. Only the ranking differs: how a preset would have admitted, formed or embedded memories
    is not simulated. Reads only.

    Example: remembrancer presets compare "what did we decide about refunds?" default engram --png refunds.png
    """
    picture.check(png)
    with call.opened(create=False) as memory:
        found = ComparisonOut.of(memory.presets.compare(query, several or None, limit=limit, as_of=as_of))
    for answer in found.answers[:1]:
        call.degraded(answer.degraded)
    if png is not None:
        from remembrancer.interfaces.charts.comparison import comparison_document

        picture.write(call, png, comparison_document(found))
    call.answer(found, _compared)


def _listed(answer: PresetsOut) -> Renderables:
    """Each preset with its whole description."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True, style="green")
    grid.add_column(overflow="fold")
    for preset in answer.presets:
        name = Text(one_line(preset.name), style="bold" if preset.in_use else "")
        grid.add_row(name, _IN_USE if preset.in_use else "", Text(one_line(preset.description)))
    yield grid


def _described(answer: PresetOut) -> Renderables:
    """The scores and the meaning of their signals first, then all other choices."""
    alone = {key: value for key, value in answer.choices.items() if not isinstance(value, dict)}
    sections = {key: value for key, value in answer.choices.items() if isinstance(value, dict) and value}
    head = Text(one_line(worded("", alone.pop("name"))), style="bold")
    yield head.append(f"  {_IN_USE}", style="not bold green") if answer.in_use else head
    yield Text(one_line(worded("", alone.pop("description"))))
    for title in (title for title in _SCORES if title in sections):
        yield from _section(title, _rows("", sections.pop(title)))
    yield from _section("signals", answer.signals.items())
    for title, choices in sections.items():
        yield from _section(title, _rows("", choices))
    yield from _section("besides", _rows("", alone))


def _section(title: str, rows: Iterable[tuple[str, str]]) -> Renderables:
    yield ""
    yield Text(title, style="bold")
    yield indented(facts(rows), 2)


def _rows(path: str, choices: Mapping[str, JsonValue]) -> Iterator[tuple[str, str]]:
    """A row for each choice; a table of single values is one row."""
    for key, value in choices.items():
        if isinstance(value, dict) and any(isinstance(inner, dict) for inner in value.values()):
            yield from _rows(f"{path}{key}.", value)
        else:
            yield f"{path}{key}", worded(key, value)


def worded(key: str, value: JsonValue) -> str:
    """A choice in as few words as distinguish it from others."""
    match value:
        case dict():
            # The name of the form is sufficient.
            named = (
                worded(inner, one) if inner == _FORM else f"{inner} {worded(inner, one)}"
                for inner, one in value.items()
            )
            return " · ".join(named) or "none"
        case list():
            return ", ".join(worded("", one) for one in value) or "none"
        case False:
            return _ABSENT.get(key, "no")
        case True:
            return "yes"
        case float():
            return f"{value:g}"
        case _:
            return str(value)


def _compared(answer: ComparisonOut) -> Renderables:
    """A row for each memory and a column for each preset, then why the results differ and how much they overlap."""
    most = max(one.limit for one in answer.answers)
    yield Text(f"As of {minute(answer.asked_at)} UTC, {most} at most: rank and score under each preset", style="dim")
    yield ""
    if not answer.memories:
        yield Text("No preset returns anything.", style="dim")
        return
    yield _Ranks(answer)
    yield Text("(n): ranked there, but not returned. -: found by no search, or pinned to every answer.", style="dim")
    yield ""
    yield Text("Why they differ", style="bold")
    for number, one in enumerate(answer.memories):
        yield Shorter(
            ": ".join(filter(None, (speaker(one.memory), said(one)))), lead=Text(f"{letters(number):<2} ", style="bold")
        )
        yield indented(Text(one_line(one.why)), 3)
        yield indented(RowReference(one.memory.id, minute(one.memory.occurred_to)), 3)
    yield ""
    yield Text("Overlap: the share of what either returns that both return", style="bold")
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
            text = [Text(one_line(said(one)), style="dim")] if left >= LEAST_TEXT else []
            cells = (_cell(one.places[column]) for column in columns)
            table.add_row(Text(letters(number), style="bold"), *cells, *text)
        return table


def _cell(place: PlaceOut) -> Text:
    if place.rank is None:
        return Text(" -", style="dim")
    if not place.returned or place.score is None:
        return Text(f"({place.rank})", style="dim")
    return Text(f"{place.rank:>2} ", style="bold green" if place.rank == 1 else "bold").append(
        f"{place.score:.2f}", style="not bold default"
    )


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
