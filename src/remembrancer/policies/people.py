"""The names of those who speak, found in a question."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from remembrancer.policies.formation import MONTHS
from remembrancer.policies.lexical import analyse
from remembrancer.policies.stop_words import STOP_WORDS


@dataclass(frozen=True, slots=True)
class People:
    """Those who speak. `names`: of each part of a name that stands for a person, the whole names it may be of.

    A name is looked for as it is spelled; in a question without a single capital, as people type, in small letters too.
    """

    names: Mapping[str, frozenset[str]]
    _all: re.Pattern[str] | None
    _proper: re.Pattern[str] | None
    _small: Mapping[str, frozenset[str]]
    _all_small: re.Pattern[str] | None
    _proper_small: re.Pattern[str] | None

    def named_in(self, question: str) -> frozenset[str]:
        """Those whom the question names, by the whole name or a part of it."""
        small = _in_small_letters(question)
        names, pattern = (self._small, self._all_small) if small else (self.names, self._all)
        found = () if pattern is None else pattern.finditer(question)
        return frozenset(name for match in found for name in names[match["name"]])

    def left_out(self, question: str, *, proper: bool = False) -> str:
        """The question without their names, each with its possessive; `proper`: without those alone that begin with a
        capital, or are of a script without capitals. Others may be words of the question as well.

        A question that is nothing but names and stop words stays as it is.
        """
        if _in_small_letters(question):
            pattern = self._proper_small if proper else self._all_small
        else:
            pattern = self._proper if proper else self._all
        if pattern is None:
            return question
        left, names = pattern.subn(" ", question)
        if not names:
            return question
        left = " ".join(left.split())
        return left if analyse(left).terms else question


@lru_cache(maxsize=64)
def people(participants: frozenset[str]) -> People:
    """Those of these names, ready to be looked for: the same names are asked for again and again."""
    names: dict[str, set[str]] = {}
    for name in participants:
        for part in (name, *name.split()):
            if len(part) > 1 and not _is_a_word(part):
                names.setdefault(part, set()).add(name)
    proper = [part for part in names if part[0] != part[0].lower() or part[0] == part[0].upper()]
    small: dict[str, set[str]] = {}
    for part, whole in names.items():
        small.setdefault(part.lower(), set()).update(whole)
    return People(
        names=_frozen(names),
        _all=_any_of(list(names)),
        _proper=_any_of(proper),
        _small=_frozen(small),
        _all_small=_any_of(list(small)),
        _proper_small=_any_of([part.lower() for part in proper]),
    )


def _frozen(names: Mapping[str, set[str]]) -> Mapping[str, frozenset[str]]:
    return MappingProxyType({part: frozenset(whole) for part, whole in names.items()})


def _in_small_letters(question: str) -> bool:
    return question == question.lower()


def _any_of(parts: list[str]) -> re.Pattern[str] | None:
    if not parts:
        return None
    longest_first = "|".join(re.escape(part) for part in sorted(parts, key=lambda part: (-len(part), part)))
    return re.compile(rf"(?<!\w)(?P<name>{longest_first})(?:['’]s)?(?!\w)")


def _is_a_word(name: str) -> bool:
    """Will, May, April: names that more often are not."""
    return name.casefold() in STOP_WORDS or name in MONTHS
