"""The page of the presets: the shipped ones side by side, the signals, and every choice."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, cast, get_args, get_origin, get_type_hints

from reference.docstrings import doc_of, markdown
from reference.glossary import text_of
from reference.page import Page, anchor, code
from reference.source import Parameter, class_named, keys
from remembrancer.domain.recall import Renderer
from remembrancer.interfaces.cli.presets import worded
from remembrancer.policies.ranking.signals import MATCH_SIGNALS, SIGNALS
from remembrancer.presets.catalogue import PRESETS
from remembrancer.presets.forms import RENDERERS, name_of
from remembrancer.presets.spec import Preset
from remembrancer.presets.text import table_of

FILE: Final = "reference/presets.md"
_INTRODUCTION: Final = """\
The shipped presets side by side, the signals of scores, and every choice of a preset. [Presets](../presets.md)
says what a preset is, how a score is written, and how you make your own."""


def page() -> Page:
    made = Page(FILE, "Presets")
    made.add(_INTRODUCTION)
    made.heading(2, "The shipped presets")
    made.table(("preset", ""), [(code(name), made.name(name, one.description)) for name, one in PRESETS.items()])
    _side_by_side(made)
    made.heading(2, "Signals")
    made.add("A signal that is absent for a memory adds 0 to a sum, and makes a product 0.")
    made.table(
        ("signal", "of", "meaning", "its name in explanations", "group"),
        [
            (
                code(name),
                "the question" if name in MATCH_SIGNALS else "the memory",
                made.name(name, signal.meaning),
                signal.title,
                str(signal.group),
            )
            for name, signal in SIGNALS.items()
        ],
    )
    made.heading(2, "Every choice", "every-choice")
    made.add(
        "The tables of a preset's file, with the keys and their defaults. `false` switches off what may be absent."
    )
    made.name("Preset", doc_of(Preset))
    for path, one in sections():
        _section(made, path, one)
    return made


def _side_by_side(made: Page) -> None:
    made.heading(2, "Side by side")
    made.add("The choices in which the presets differ.")
    tables = {name: dict(_flat("", table_of(preset))) for name, preset in PRESETS.items()}
    paths = list(dict.fromkeys(path for table in tables.values() for path in table))
    rows: list[list[str]] = []
    for path in paths:
        if path in {"name", "description"}:
            continue
        cells = [_cell(path, table.get(path)) for table in tables.values()]
        if len(set(cells)) > 1:
            rows.append([code(path), *cells])
    made.table(("", *PRESETS), rows)


def _flat(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The leaves of a preset's table, with their paths. A table of entries whose keys the user chooses is one leaf."""
    for key, inner in cast("dict[str, Any]", value).items():
        here = f"{path}.{key}" if path else key
        if isinstance(inner, dict) and "form" not in inner and here in _tables():
            yield from _flat(here, inner)
        else:
            yield here, inner


@cache
def _tables() -> frozenset[str]:
    return frozenset({path for path, _ in sections() if path})


def _cell(path: str, value: Any) -> str:
    if value is None:
        return "no"
    text = worded(path.rpartition(".")[2], value)
    return code(text) if isinstance(value, str) else text


@cache
def sections() -> tuple[tuple[str, type], ...]:
    """Every table of a preset's file by its path, and the class that it is read as; the whole preset has no path.
    Classes that one table may be of, by its `form`, follow each other.
    """
    return tuple(_sections("", Preset))


def _sections(path: str, kind: type) -> Iterator[tuple[str, type]]:
    yield path, kind
    names: dict[str, Any] = {"Renderer": Renderer}
    names |= {name: class_named(name) for one in fields(kind) for name in re.findall(r"[A-Z]\w+", str(one.type))}
    hints = get_type_hints(kind, localns={name: one for name, one in names.items() if one is not None})
    for one in fields(kind):
        if not one.init or one.name == "rankings":
            continue
        for inner in _records(hints[one.name]):
            yield from _sections(f"{path}.{one.name}" if path else one.name, inner)


def _records(annotation: Any) -> Iterator[type]:
    """The dataclasses that a table under this annotation may be read as."""
    if annotation is Renderer:
        yield from RENDERERS
    elif get_origin(annotation) is UnionType:
        for one in get_args(annotation):
            yield from _records(one)
    elif get_origin(annotation) not in {tuple, Mapping, Literal} and annotation is not NoneType:
        is_score = getattr(annotation, "__module__", "").endswith("policies.ranking.scoring")
        if isinstance(annotation, type) and is_dataclass(annotation) and not is_score:
            yield annotation


def _section(made: Page, path: str, kind: type) -> None:
    several = [one for each, one in sections() if each == path]
    form = f", form `{name_of(kind)}`" if len(several) > 1 else ""
    if path:
        made.heading(3, f"{code(f'[{path}]')}{form}", anchor("choice", path, name_of(kind)))
    doc = doc_of(kind)
    made.add(markdown(made.name(f"{path}:{name_of(kind)}" if path else "preset", doc)))
    rows: list[tuple[str, str, str, str]] = []
    for one in keys(kind):
        full = f"{path}.{one.name}" if path else one.name
        text = _text(kind, one, full)
        made.name(f"{full}:{name_of(kind)}" if form else full, text)
        rows.append((code(one.name), code(one.type), _default(one), text))
    made.table(("key", "type", "default", ""), rows)


def _text(kind: type, one: Parameter, full: str) -> str:
    own = text_of(one.name, doc_of(kind), owner=kind.__name__)
    inner = [each for path, each in sections() if path == full]
    return own or (_first_sentence(doc_of(inner[0])) if inner else "")


def _first_sentence(doc: str) -> str:
    return re.split(r"(?<=\.)\s", " ".join(doc.split()))[0]


def _default(one: Parameter) -> str:
    text = one.default
    if text == "None":
        return code("false")
    return "" if "(" in text else code(text.replace("True", "true").replace("False", "false"))
