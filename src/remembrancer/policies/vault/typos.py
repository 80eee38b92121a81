"""Recognising a known word with a typo in a header."""

from __future__ import annotations

from typing import Final

SHORTEST: Final = 4
"""The length of the shortest word that is compared: one letter less or more makes another word of a shorter one."""


def is_typo(word: str, known: str) -> bool:
    """Whether `word` is `known` with one typo: a character missing, added, replaced, or exchanged with the next one.

    Another case of its letters counts as a typo as well. That is a distance of 1 as Damerau and Levenshtein count it.

    >>> [is_typo(word, "corrective") for word in ("corective", "Corrective", "correctvie", "corrective", "collective")]
    [True, True, True, False, False]
    """
    if word == known or len(known) < SHORTEST:
        return False
    one, other = word.casefold(), known.casefold()
    same = next((place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    if same is None:  # one begins with the other
        return abs(len(one) - len(other)) <= 1
    rest, expected = one[same:], other[same:]
    exchanged = rest[:2] == expected[1::-1] and rest[2:] == expected[2:]
    return exchanged or rest[1:] == expected or rest == expected[1:] or rest[1:] == expected[1:]
