"""Finding the names of speakers in a question."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from remembrancer.language.english.dates import MONTHS
from remembrancer.language.english.stop_words import STOP_WORDS
from remembrancer.language.lexical import analyse
from remembrancer.values import dataclass

_I: Final = re.compile(r"\bI\b")


@dataclass(frozen=True, slots=True)
class People:
    """Known speakers. `names`: for each part of a name, the full names that it may stand for.

    Names are matched as spelled. In a question without capitals beyond its first letter, a full name or first name also
    matches in lower case; such a word identifies the speaker and stays among the search terms.
    """

    names: Mapping[str, frozenset[str]]
    _all: re.Pattern[str] | None
    _proper: re.Pattern[str] | None
    _small: Mapping[str, frozenset[str]]
    _all_small: re.Pattern[str] | None

    def named_in(self, question: str) -> frozenset[str]:
        """The full names of the speakers that the question names in full or in part."""
        found = {match["name"]: self.names for match in _finds(self._all, question)}
        if in_small_letters(question):
            found |= {match["name"]: self._small for match in _finds(self._all_small, question)}
        return frozenset(name for part, names in found.items() for name in names[part])

    def left_out(self, question: str, *, proper: bool = False) -> str:
        """The question without the speakers' names and their possessives.

        `proper`: remove only names that begin with a capital, or are in a script without capitals; others may be
        ordinary words of the question. A question of only names and stop words is returned unchanged.
        """
        patterns = [self._proper if proper else self._all]
        if not proper and in_small_letters(question):
            patterns.append(self._all_small)
        left, names = question, 0
        for pattern in patterns:
            if pattern is not None:
                left, more = pattern.subn(" ", left)
                names += more
        if not names:
            return question
        return left_or_whole(left, question)


@lru_cache(maxsize=64)
def people(participants: frozenset[str]) -> People:
    """The speakers with these names, prepared for matching. Cached, because consecutive questions have the same
    speakers.
    """
    names: dict[str, set[str]] = {}
    for name in participants:
        for part in (name, *name.split()):
            if len(part) > 1 and not _is_a_word(part):
                names.setdefault(part, set()).add(name)
    proper = [part for part in names if part[0] != part[0].lower() or part[0] == part[0].upper()]
    small: dict[str, set[str]] = {}
    for name in participants:
        for part in {name, *name.split()[:1]} & names.keys():
            small.setdefault(part.lower(), set()).add(name)
    return People(
        names=_frozen(names),
        _all=_any_of(list(names)),
        _proper=_any_of(proper),
        _small=_frozen(small),
        _all_small=_any_of(list(small)),
    )


def _frozen(names: Mapping[str, set[str]]) -> Mapping[str, frozenset[str]]:
    return MappingProxyType({part: frozenset(whole) for part, whole in names.items()})


def left_or_whole(left: str, question: str) -> str:
    """The remaining text of a question; the whole question if only stop words remain."""
    left = " ".join(left.split())
    return left if analyse(left).terms else question


def in_small_letters(question: str) -> bool:
    """Whether the question has no capitals except its first letter and the word *I*."""
    rest = _I.sub(" ", question[1:])
    return rest == rest.lower()


def _finds(pattern: re.Pattern[str] | None, question: str) -> list[re.Match[str]]:
    return [] if pattern is None else list(pattern.finditer(question))


def _any_of(parts: list[str]) -> re.Pattern[str] | None:
    if not parts:
        return None
    longest_first = "|".join(re.escape(part) for part in sorted(parts, key=lambda part: (-len(part), part)))
    return re.compile(rf"(?<!\w)(?P<name>{longest_first})(?:['’]s)?(?!\w)")


def _is_a_word(name: str) -> bool:
    """Whether a name is more often an ordinary word, such as Will, May, April."""
    return name.casefold() in STOP_WORDS or name in MONTHS
