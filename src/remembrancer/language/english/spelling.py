"""Whether two names differ only in their spelling: by a letter or two, or by letters that sound alike."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_SHORT: Final = 4
"""Names of so many letters must sound alike, and shorter ones have no other spelling: too many differ in one letter."""
_LONG: Final = 8
"""From so many letters on, two may differ."""
_SOUNDS: Final = (
    (re.compile(r"ph"), "f"),
    (re.compile(r"sch|sh|ch|cz|tsch"), "x"),
    (re.compile(r"dj|dzh|dg"), "j"),
    (re.compile(r"c(?=[eiy])|z|ß"), "s"),
    (re.compile(r"ck|c|q"), "k"),
    (re.compile(r"(?<=.)h"), ""),
    (re.compile(r"w"), "v"),
    (re.compile(r"^[jy](?=[aeiou])"), "j"),
    (re.compile(r"(?<=.)[aeiouyäöü]+"), "a"),
    (re.compile(r"(.)\1+"), r"\1"),
    (re.compile(r"(?<=.)a$"), ""),
)
"""Letters that sound alike, one after the other: vowels within a name count as one."""


def is_misspelling(one: str, other: str) -> bool:
    """Whether two folded names may be spellings of one: of five letters or more, at most one differs, of eight or more
    two; or they sound alike, have four letters at least, and differ in three at most. Swapped neighbours count as one.

    >>> is_misspelling("jusuf", "yusuf"), is_misspelling("katharina", "catherina"), is_misspelling("ben", "bea")
    (True, True, False)
    """
    least = min(len(one), len(other))
    if least < _SHORT or abs(len(one) - len(other)) > 3:
        return False
    few = 2 if least >= _LONG else 1 if least > _SHORT else 0
    # Each change makes at most two letters occur in one of the names only. Counting these takes a tenth of `distance`.
    least_distance = len(set(one) ^ set(other)) / 2
    if least_distance > 3 or (least_distance > few and sound(one) != sound(other)):
        return False
    differ = distance(one, other)
    return differ <= few or (differ <= 3 and sound(one) == sound(other))


def distance(one: str, other: str) -> int:
    """The least number of letters that are added, left out, replaced, or swapped with their neighbour (optimal string
    alignment).
    """
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, start=1):
        current = [row]
        for column, second in enumerate(other, start=1):
            least = min(last[column] + 1, current[-1] + 1, last[column - 1] + (letter != second))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == second:
                least = min(least, before[column - 2] + 1)
            current.append(least)
        before, last = last, current
    return last[-1]


@lru_cache(maxsize=1024)
def sound(name: str) -> str:
    """The same for names that sound alike."""
    for letters, instead in _SOUNDS:
        name = letters.sub(instead, name)
    return name
