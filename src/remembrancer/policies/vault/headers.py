"""The YAML of one header: reading its fields, and changing some of them with everything else unchanged.

Only the characters of changed values are replaced; new fields are added after the last one. So comments, order, quotes,
blanks and unknown fields stay byte for byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final, cast

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from remembrancer.domain.front_matter import Span
from remembrancer.domain.learning import FIELDS
from remembrancer.values import dataclass
from remembrancer.yaml_text import UNFIT, require_shallow

MAX_HEADER_CHARS: Final = 64 * 1024

Value = str | int | float | bool | date | datetime | tuple[str, ...] | None
"""A value of a field. A datetime is aware."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a header cannot be read, and the line, from 1; 0 for the whole header."""

    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Header:
    """A parsed header. `values`: the values of known fields, as YAML parses them. `places`: the span of each field's
    value in `text`, for all fields, in order. `lines`: the line on which each begins, from 1.
    """

    text: str
    values: Mapping[str, object]
    places: Mapping[str, Span]
    lines: Mapping[str, int]


def header(text: str) -> Header | Fault:
    """Parse the text between the two lines of `---`."""
    if len(text) > MAX_HEADER_CHARS:
        return Fault(0, f"the header has {len(text):,} characters; expected at most {MAX_HEADER_CHARS:,}")
    loader = yaml.CSafeLoader(text)
    try:
        require_shallow(text)
        node = loader.get_single_node()
        if not isinstance(node, MappingNode):
            return Fault(0, "the header is not a list of fields")
        return _header(text, loader, node)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        said = getattr(error, "problem", None) or str(error)
        return Fault(0 if mark is None else mark.line + 1, f"the header is not YAML ({said})")
    finally:
        loader.dispose()


def edited(before: Header, changes: Mapping[str, Value]) -> str | Fault:
    """The header's text with these fields changed; None removes a field.

    Returns a Fault if a field cannot be changed without affecting others (its value has an anchor that is referenced
    elsewhere).
    """
    text = before.text
    end = "\r\n" if "\r\n" in text else "\n"
    for name, span in sorted(before.places.items(), key=lambda place: -place[1].start):
        if name in changes:
            text = text[: span.start] + _in_place(text, span, changes[name]) + text[span.end :]
    missing = {name: value for name, value in changes.items() if name not in before.places and value is not None}
    if missing and not text.endswith(("\n", "\r")):
        text += end
    text += "".join(f"{name}: {scalar(missing[name])}{end}" for name in FIELDS if name in missing)
    after = header(text)
    if isinstance(after, Fault):
        return Fault(after.line, f"the header cannot be changed in place: {after.message}")
    if not _as_meant(before, after, changes):
        return Fault(0, f"the header cannot be changed in place: {', '.join(changes)} would change other fields")
    return text


def rendered(values: Mapping[str, Value]) -> str:
    """A header of these fields in the order of FIELDS, without those that are None."""
    return "".join(
        f"{name}: {scalar(value)}\n" for name in FIELDS if name in values and (value := values[name]) is not None
    )


def scalar(value: Value) -> str:
    """The value as YAML on one line, such that YAML parses it back unchanged.

    >>> scalar("fix: the build"), scalar(date(2026, 3, 1)), scalar(0.5), scalar(("a", "b c"))
    ("'fix: the build'", "'2026-03-01'", '0.5', '[a, b c]')
    """
    match value:
        case None | int():
            return json.dumps(value)
        case float():
            return format(Decimal(repr(value)), "f")  # YAML parses 1e-05 as text
        case date():
            return f"'{value.isoformat()}'"
        case tuple():
            return f"[{', '.join(_word(item, flow=True) for item in value)}]"
        case str():
            return _word(value, flow=False)


_PLAIN: Final = re.compile(r"\w[\w .@/+()-]*", re.ASCII)


def _word(text: str, *, flow: bool) -> str:
    fits = _PLAIN.fullmatch(text) and text == text.strip() and not (flow and "," in text)
    if fits and yaml.load(text, Loader=yaml.CSafeLoader) == text:
        return text
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    escaped = (one if one.isprintable() and one not in '"\\' else f"\\U{ord(one):08x}" for one in text)
    return f'"{"".join(escaped)}"'


def _header(text: str, loader: yaml.CSafeLoader, node: MappingNode) -> Header | Fault:
    values: dict[str, object] = {}
    places: dict[str, Span] = {}
    lines: dict[str, int] = {}
    for key, value in cast("Sequence[tuple[Node, Node]]", node.value):
        name = key.value if isinstance(key, ScalarNode) else text[key.start_mark.index : key.end_mark.index]
        line = key.start_mark.line + 1
        if name in places:
            return Fault(line, f"{name}: occurs twice")
        lines[name] = line
        places[name] = _place(text, value)
        if name in FIELDS:
            read = _read(loader, name, value)
            if isinstance(read, Fault):
                return Fault(line, read.message)
            values[name] = read
    return Header(text, values, places, lines)


def _read(loader: yaml.CSafeLoader, name: str, node: Node) -> Any:
    """A scalar or a list of scalars. Deeper values are not read, because aliases can make them infinite."""
    if isinstance(node, SequenceNode):
        items = cast("Sequence[Node]", node.value)
        if all(isinstance(item, ScalarNode) for item in items):
            read = [_constructed(loader, name, item) for item in items]
            return next((item for item in read if isinstance(item, Fault)), read)
    elif isinstance(node, ScalarNode):
        return _constructed(loader, name, node)
    return Fault(0, f"{name}: expected one value, or a list of them")


def _constructed(loader: yaml.CSafeLoader, name: str, node: Node) -> Any:
    try:
        return cast("Any", loader).construct_object(node)
    except UNFIT as error:
        return Fault(0, f"{name}: cannot be read ({error})")


def _place(text: str, node: Node) -> Span:
    """The span of a value, without the line ends and blanks that YAML includes in a block."""
    start, end = node.start_mark.index, node.end_mark.index
    return Span(start, start + len(text[start:end].rstrip()))


def _in_place(text: str, span: Span, value: Value) -> str:
    """The new value in the place of the old one, with the same quotes if possible."""
    old = text[span.start : span.end]
    new = scalar(value)
    if isinstance(value, date) and old:
        quote = old[0] if old[0] in "'\"" else ""
        new = f"{quote}{value.isoformat()}{quote}"
    # An empty value (`name:`) has the empty span after the colon.
    return new if old or text[span.start - 1 : span.start].isspace() else f" {new}"


def _as_meant(before: Header, after: Header, changes: Mapping[str, Value]) -> bool:
    """Whether the changed fields have their new values, and the others are unchanged, character by character."""
    for name, span in before.places.items():
        if name in changes:
            continue
        there = after.places.get(name)
        if there is None or before.text[span.start : span.end] != after.text[there.start : there.end]:
            return False
    names = [*before.places, *(name for name in FIELDS if changes.get(name) is not None and name not in before.places)]
    read_back = all(_reads(after.values[name], changes[name]) for name in changes if name in after.values)
    return list(after.places) == names and read_back


def _reads(read: object, meant: Value) -> bool:
    if isinstance(meant, tuple):
        return read == list(meant)
    if isinstance(meant, date):
        return read == meant or read == meant.isoformat()
    return read == meant
