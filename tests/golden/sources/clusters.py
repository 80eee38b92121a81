"""Clusters by looking at every pair: the two groups that hold the most alike pair are joined where every two of theirs
are alike enough, again and again. Each letter is a word; letters that are told apart by a digit never meet.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

from plain import table

WORDS = {
    "a": "alpha",
    "b": "bravo",
    "c": "charlie",
    "d": "delta",
    "e": "echo",
    "f": "foxtrot",
    "g": "golf",
    "h": "hotel",
    "i": "india",
}
CASES = (
    ("1/2", 2, 20, ""),
    ("1/2", 2, 20, "abc"),
    ("1/2", 2, 20, "abc abc"),
    ("1/2", 3, 20, "abc abc"),
    ("1/2", 2, 20, "abc abd"),
    ("3/5", 2, 20, "abc abd"),
    ("1/2", 3, 20, "abcd abce abcf"),
    # A chain: each is like the next, the first not like the last.
    ("1/2", 2, 20, "abc bcd cde def"),
    ("1/2", 3, 20, "abc bcd cde def"),
    # The more alike pair wins the one in the middle.
    ("1/2", 2, 20, "abcd abcde cdef cdefgh"),
    ("1/2", 2, 2, "abc abc abc abc"),
    ("1/2", 2, 3, "abc abc abc abc"),
    # What differs in a number never meets.
    ("1/2", 2, 20, "abc1 abc1 abc2 abc2 abc"),
    ("1/2", 2, 20, "abcdefg abcdefh abcdefi ghi"),
    ("1", 2, 20, "abc cba abd"),
)


def alike(one: str, other: str) -> Fraction:
    if {each for each in one if each.isdigit()} != {each for each in other if each.isdigit()}:
        return Fraction(-1)
    return Fraction(len(set(one) & set(other)), len(set(one) | set(other)))


def clusters(texts: list[str], threshold: Fraction, least: int, most: int) -> list[list[int]]:
    groups = [[place] for place in range(len(texts))]
    pairs = sorted(combinations(range(len(texts)), 2), key=lambda pair: (-alike(texts[pair[0]], texts[pair[1]]), pair))
    for one, other in pairs:
        mine = next(group for group in groups if one in group)
        theirs = next(group for group in groups if other in group)
        fits = mine is not theirs and len(mine) + len(theirs) <= most
        if fits and all(alike(texts[a], texts[b]) >= threshold for a, b in product(mine, theirs)):
            groups.remove(mine)
            groups.remove(theirs)
            groups.append(sorted(mine + theirs))
    return sorted(group for group in groups if len(group) >= least)


def told(text: str) -> str:
    return " ".join(WORDS.get(each, each) for each in text)


if __name__ == "__main__":
    table(
        ("threshold", "least", "most", "texts", "expected"),
        (
            {
                "threshold": threshold,
                "least": str(least),
                "most": str(most),
                "texts": " | ".join(told(text) for text in texts.split()),
                "expected": " ".join(
                    "+".join(map(str, group)) for group in clusters(texts.split(), Fraction(threshold), least, most)
                ),
            }
            for threshold, least, most, texts in CASES
        ),
    )
