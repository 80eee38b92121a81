"""The page of the Python methods: `rem.…`, and the functions of the package."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final

import remembrancer
from reference import values
from reference.docstrings import doc_of, markdown
from reference.glossary import text_of
from reference.page import Page, anchor, code, fenced, see
from reference.source import class_named, named_in, parameters, public_members, signature, unpacked, written
from remembrancer.config import Settings
from remembrancer.facade import AsyncRemembrancer

FILE: Final = "reference/python.md"
GROUPS: Final = {
    "Open and close": ("open", "close", "scoped", "bound_to", "of_workspace", "scope", "now", "context"),
    "Write": (
        "observe",
        "observe_many",
        "remember",
        "remember_many",
        "learn",
        "update",
        "feedback",
        "mark",
        "link",
        "supersede",
        "invalidate",
    ),
    "Read": ("recall", "why_not", "get", "show", "recent", "preferences", "memories", "timeline", "graph"),
    "Background work": ("end_session", "sleep", "consolidate", "maintain"),
    "Administration": ("forget", "restore", "erase", "erasures", "export", "import_", "backup"),
}
"""The sections of the methods of `rem`. A method of no section comes last."""
_INTRODUCTION: Final = """\
Every method of `Remembrancer`. `AsyncRemembrancer` has the same ones: those that wait are awaited, and
`rem.journal.tail` is an asynchronous generator. [Python](../python.md) shows them at work. What they return is
described under [Values](values.md), what they raise under [Errors](errors.md)."""


def page() -> Page:
    made = Page(FILE, "Python")
    made.add(_INTRODUCTION)
    made.name("Remembrancer", doc_of(remembrancer.Remembrancer))
    made.name("AsyncRemembrancer", doc_of(AsyncRemembrancer))
    members = dict(public_members(AsyncRemembrancer))
    nouns = {
        name: class_named(member.fget.__annotations__["return"]) for name, member in members.items() if _is_noun(member)
    }
    rest = [name for name in members if name not in nouns and not any(name in group for group in GROUPS.values())]
    for title, names in {**GROUPS, "More": rest}.items():
        if names:
            made.heading(2, title)
        for name in names:
            _member(made, "rem", name, members[name])
    for noun, api in nouns.items():
        made.heading(2, code(f"rem.{noun}"), anchor("rem", noun))
        made.add(markdown(made.name(f"rem.{noun}", doc_of(api))))
        for name, member in public_members(api or object):
            _member(made, f"rem.{noun}", name, member)
    made.heading(2, "Functions")
    for name in remembrancer.__all__:
        function = getattr(remembrancer, name)
        if not isinstance(function, type):
            _member(made, "remembrancer", name, function)
    return made


def _is_noun(member: object) -> bool:
    return isinstance(member, property) and str(member.fget.__annotations__.get("return")).endswith("Api")


def _member(made: Page, owner: str, name: str, member: Any) -> None:
    full = f"{owner}.{name}"
    made.heading(3, code(name), anchor(owner, name))
    if isinstance(member, property):
        returns = written((member.fget or member).__annotations__.get("return", ""))
        made.add(fenced(f"{full}: {returns}", "python"))
        made.add(markdown(made.name(full, doc_of(member))))
        return
    describe(made, full, member)


def describe(made: Page, full: str, function: Callable[..., object]) -> None:
    """The signature, the text and the parameters of a function."""
    doc = doc_of(function)
    call = signature(full.replace("rem.open", "Remembrancer.open"), function)
    made.add(fenced(call, "python"), markdown(made.name(full, doc)))
    group = unpacked(function)
    keys = doc_of(group) if group else ""
    settings = "\n\n".join(f"`{one.name}`: {one.metadata['description']}" for one in fields(Settings))
    rows: list[tuple[str, str, str, str]] = []
    for one in parameters(function):
        is_key = group is not None and one.name in group.__annotations__
        texts = (keys, doc) if is_key else (doc, settings if full == "rem.open" else "")
        text = text_of(one.name, *texts, owner=full)
        made.name(f"{full}({one.name})", text)
        rows.append((code(one.name), code(one.type), code(one.default), text))
    made.table(("parameter", "type", "default", ""), rows)
    answer = signature(full, function).rpartition(")")[2]
    places = {name: values.place_of(name) for name in named_in(answer)}
    returned = [see(code(name), file, place, here=made.file) for name, (file, place) in places.items() if file]
    if returned:
        made.add(f"Returns {', '.join(returned)}.")
