"""Presets on a terminal: their choices, named as in a preset's TOML file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from remembrancer.interfaces.cli.drawing import Renderables, facts, indented
from remembrancer.interfaces.text import one_line

if TYPE_CHECKING:
    from pydantic import JsonValue

    from remembrancer.interfaces.wire.presets import PresetOut, PresetsOut

_SCORES: Final = ("ranking", "rankings", "fading")
"""Sections that contain score expressions."""
_FORM: Final = "form"
_IN_USE: Final = "in use"
_ABSENT: Final = {"words_alone": "as score"}
"""The meaning of `false` for choices where "no" would be unclear."""


def listed(answer: PresetsOut) -> Renderables:
    """Each preset with its whole description."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True, style="green")
    grid.add_column(overflow="fold")
    for preset in answer.presets:
        name = Text(one_line(preset.name), style="bold" if preset.in_use else "")
        grid.add_row(name, _IN_USE if preset.in_use else "", Text(one_line(preset.description)))
    yield grid


def told(answer: PresetOut) -> Renderables:
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
            # A form's name speaks for itself.
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
