"""Preferences: memories that say how somebody wants things to be, and what the assistant is always to do."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from enum import IntEnum
from typing import Final

from remembrancer.domain.query import Filter

PREFERENCE: Final = "preference"
"""The tag of a memory that states a preference or gives a lasting instruction."""
INSTRUCTION: Final = "instruction"
"""A further tag: it tells the assistant what to do from then on."""
ALWAYS: Final = "always"
"""A further tag: it is about the language, the tone or the form of every answer, without a condition."""
KINDS: Final = frozenset({"preference", "directive", "instruction", "guideline", "rule"})
"""The kinds of memories that state one too: those that people write, and what language models find in episodes."""


class Stated(IntEnum):
    """The statement of a memory: nothing of the kind, a preference or an instruction, or one about every answer."""

    NOTHING = 0
    PREFERENCE = 1
    ALWAYS = 2


def stated(kind: str, tags: Collection[str]) -> Stated:
    """The statement of a memory of this kind, with these tags.

    >>> stated("message", ()), stated("rule", ()), stated("message", ("preference", "always"))
    (<Stated.NOTHING: 0>, <Stated.PREFERENCE: 1>, <Stated.ALWAYS: 2>)
    """
    if kind not in KINDS and PREFERENCE not in tags:
        return Stated.NOTHING
    return Stated.ALWAYS if ALWAYS in tags else Stated.PREFERENCE


def stating(where: Filter) -> tuple[Filter, Filter]:
    """Two filters without a memory in common, which together keep what `where` keeps and what states a preference."""
    kinds = KINDS if where.kinds is None else KINDS & where.kinds
    tagged = replace(where, tags=where.tags | {PREFERENCE}, without_kinds=where.without_kinds | KINDS)
    return replace(where, kinds=kinds), tagged
