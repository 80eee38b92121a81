"""The page of the protocols that stores, indexes and models of other packages implement."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final, cast

from reference.docstrings import doc_of, markdown
from reference.page import Page, anchor, code, fenced
from reference.source import homes, public_members, signature
from remembrancer.ports.changes import ChangeFeed
from remembrancer.ports.embedder import Embedder
from remembrancer.ports.index import Index
from remembrancer.ports.language_model import LanguageModel
from remembrancer.ports.reranker import Reranker
from remembrancer.ports.store import Store

FILE: Final = "reference/ports.md"
SUITES: Final = ("remembrancer.testing.store_contract", "remembrancer.testing.index_contract")
_INTRODUCTION: Final = """\
An object with these methods can be passed to `open` in the place of one that is shipped. It needs no base class of this
package: the classes are protocols. [Changing it](../changing.md#add-a-store) lists the steps, and
[Python](../python.md#a-store-or-an-index-of-your-own) shows how a package registers an address of its own."""


def protocols() -> dict[str, type]:
    """Each protocol by its name: the models, the index and its feed, the store, and the roles that the store unites."""
    inherited: tuple[type, ...] = cast("Any", Store).__mro__[1:]
    roles = [role for role in inherited if role.__module__.startswith("remembrancer.ports")]
    return {one.__name__: one for one in (Embedder, Reranker, LanguageModel, Index, ChangeFeed, Store, *roles)}


def suites() -> dict[str, type]:
    """The conformance suites for authors of stores and indexes."""
    return {
        name: made
        for module in SUITES
        for name, made in vars(import_module(module)).items()
        if isinstance(made, type) and made.__module__ == module and name.endswith(("Suite", "Contract"))
    }


def page() -> Page:
    made = Page(FILE, "Protocols")
    made.add(_INTRODUCTION)
    for name, one in protocols().items():
        made.heading(2, code(name), anchor(name))
        made.add(fenced(f"from {homes()[name]} import {name}", "python"), markdown(made.name(name, doc_of(one))))
        for member, function in public_members(one):
            _member(made, name, member, function)
    made.heading(2, "Conformance suites")
    made.add("Subclass one in a test module, say how the store or the index is made, and run pytest.")
    rows = [(code(name), code(one.__module__), made.name(name, doc_of(one))) for name, one in suites().items()]
    made.table(("suite", "module", ""), rows)
    return made


def _member(made: Page, owner: str, name: str, member: Any) -> None:
    full = f"{owner}.{name}"
    doc = doc_of(member)
    if isinstance(member, property):
        made.add(f"{code(full)}: {markdown(made.name(full, doc))}")
        return
    made.add(fenced(signature(full, member), "python"), markdown(made.name(full, doc)))
