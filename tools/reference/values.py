"""The page of the values that methods take and return: dataclasses, enumerations and groups of arguments."""

from __future__ import annotations

from dataclasses import is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Final, cast, is_typeddict

import remembrancer
from reference.docstrings import doc_of, markdown
from reference.glossary import GLOSSARY, text_of
from reference.page import Page, anchor, code, fenced
from reference.source import (
    all_errors,
    class_named,
    homes,
    keys,
    named_in,
    parameters,
    public_members,
    signature,
    unpacked,
    written,
)
from remembrancer.config import Settings
from remembrancer.facade import AsyncRemembrancer
from remembrancer.presets.spec import Preset

FILE: Final = "reference/values.md"
_ELSEWHERE: Final = {Settings.__name__: "reference/settings.md", Preset.__name__: "reference/presets.md"}
"""Classes with a page of their own."""


def page() -> Page:
    made = Page(FILE, "Values")
    made.add("What the [methods](python.md) take and return. All are frozen: a change makes a new one.")
    for name, one in sorted(listed().items()):
        _described(made, name, one)
    return made


def _described(made: Page, name: str, one: type[Any]) -> None:
    made.heading(2, code(name), anchor(name))
    exported = name in remembrancer.__all__
    made.add(fenced(f"from {'remembrancer' if exported else homes()[name]} import {name}", "python"))
    doc = doc_of(one)
    made.add(markdown(made.name(name, doc or GLOSSARY.get(name, ""))))
    if issubclass(one, Enum):
        made.table(
            ("member", "value", ""),
            [(code(member.name), code(member.value), text_of(member.value, doc, owner=name)) for member in one],
        )
        return
    rows: list[tuple[str, str, str, str]] = []
    for each in keys(one):
        text = text_of(each.name, doc, owner=name)
        made.name(f"{name}.{each.name}", text)
        rows.append((code(each.name), code(each.type), code(each.default), text))
    made.table(("field", "type", "default", ""), rows)
    for member, function in public_members(one):
        if isinstance(function, property):
            kind = written(cast("Any", function.fget).__annotations__.get("return", ""))
            text = made.name(f"{name}.{member}", doc_of(function) or text_of(member, doc, owner=name))
            made.add(f"{code(f'.{member}')} ({code(kind)}): {text}")
        else:
            made.add(fenced(signature(f".{member}", function), "python"))
            made.add(markdown(made.name(f"{name}.{member}", doc_of(function))))


@cache
def listed() -> dict[str, type[Any]]:
    """The public values: what `remembrancer` exports, and every class that signatures and fields of these name."""
    todo = [name for name in remembrancer.__all__ if isinstance(getattr(remembrancer, name), type)]
    apis = [
        AsyncRemembrancer,
        *(class_named(name) for name in homes() if name.startswith("Async") and name.endswith("Api")),
    ]
    for api in apis:
        for _, member in public_members(api or object):
            if not isinstance(member, property):
                todo += [name for one in parameters(member) for name in named_in(one.type)]
                todo += [] if (group := unpacked(member)) is None else [group.__name__]
                todo += named_in(signature("", member).rpartition("->")[2])
    known: dict[str, type[Any]] = {}
    left_out = {made.__name__ for made in all_errors()} | set(_ELSEWHERE)
    while todo:
        name = todo.pop()
        one = class_named(name)
        if name in known or name in left_out or one is None or not _is_value(one):
            continue
        known[name] = one
        todo += [inner for each in keys(one) for inner in named_in(each.type)]
    return known


def _is_value(one: type[Any]) -> bool:
    return is_dataclass(one) or is_typeddict(one) or issubclass(one, Enum)


def place_of(name: str) -> tuple[str, str]:
    """The page and the anchor of a class; two empty texts if it has none."""
    if name in _ELSEWHERE:
        return _ELSEWHERE[name], ""
    return (FILE, anchor(name)) if name in listed() else ("", "")
