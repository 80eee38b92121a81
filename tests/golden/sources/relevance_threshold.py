"""Which candidates pass the relevance threshold, in exact fractions.

A candidate reaches the thresholds if similarity / its threshold + coverage / its threshold is at least 1. An absent
similarity counts as half its threshold, an absent coverage as 0. If none reaches them, none passes. If no candidate has
the minimum share of evidence, only those without a similarity that reach the thresholds pass. Otherwise these pass, and
with a `then` above 0 also all with that part of the greatest share, with 0 all that reach the thresholds. Absent shares
require nothing more.
"""

from __future__ import annotations

from fractions import Fraction

from plain import table

CASES = (
    ("0.5", "0.25", "0", "0", "0.5", "0", "-"),
    ("0.5", "0.25", "0", "0", "0.4375", "0", "-"),
    ("0.5", "0.25", "0", "0", "0", "0.25", "-"),
    ("0.5", "0.25", "0", "0", "0", "0.1875", "-"),
    ("0.5", "0.25", "0", "0", "0.25", "0.125", "-"),
    ("0.5", "0.25", "0", "0", "0.25", "0.0625", "-"),
    ("0.5", "0.25", "0", "0", "0.375", "0.0625", "-"),
    ("0.5", "0.25", "0", "0", "1", "1", "-"),
    ("0.5", "0.25", "0", "0", "0", "0", "-"),
    ("0.5", "0.25", "0", "0", "0.5", "-", "-"),
    ("0.5", "0.25", "0", "0", "0.4375", "-", "-"),
    ("0.5", "0.25", "0", "0", "-", "0.125", "-"),
    ("0.5", "0.25", "0", "0", "-", "0.0625", "-"),
    ("0.5", "0.25", "0", "0", "-", "-", "-"),
    ("1", "1", "0", "0", "0.5", "0.5", "-"),
    ("1", "1", "0", "0", "0.5", "0.25", "-"),
    # Marks that are reached say little where all the rest says no.
    ("0.5", "0.25", "0.25", "0", "0.5", "0", "0.25"),
    ("0.5", "0.25", "0.25", "0", "0.5", "0", "0.1875"),
    ("0.5", "0.25", "0.25", "0", "0.5 0", "0 0", "0.1875 0.25"),
    # A share does not suffice without the thresholds, and without shares the thresholds decide.
    ("0.5", "0.25", "0.25", "0.5", "0.25", "0", "1"),
    ("0.5", "0.25", "0.25", "0.5", "0.5", "0", "-"),
    # How far down, by the best of all, wherever it stands.
    ("0.5", "0.25", "0.25", "0.5", "0.5 0 0 0", "0 0 0 0", "0.5 0.25 0.1875 0"),
    ("0.5", "0.25", "0.25", "0.5", "0 0.5 0", "0 0 0", "0.75 0.25 0.375"),
    ("0.5", "0.25", "0.25", "1", "0.5 0.5", "0 0", "0.5 0.4375"),
    ("0.5", "0.25", "0", "0", "0.5 0 0.25", "0 0 0.125", "0.5 0.5 0.125"),
    # What has no vector yet cannot be told by its share.
    ("0.5", "0.25", "0.25", "0.5", "0.5 - -", "0 0.125 0.0625", "0.5 0.0625 0.0625"),
    ("0.5", "0.25", "0.25", "0.5", "0.5 - -", "0 0.125 0", "0.1875 0.0625 0.125"),
    ("0.5", "0.25", "0.25", "0.5", "- -", "0.0625 0", "0.5 0.5"),
    # Where nothing has one, what has as much of the evidence as half of the best comes too.
    ("0.5", "0.25", "0.25", "0.5", "- - - -", "0.125 0.125 0 0", "0.1875 0.0625 0.09375 0"),
    # Nothing that could be evidence is.
    ("0.5", "0.25", "0", "0.5", "0.5 0.25", "0 0", "0 0"),
)


NAMES = ("similarity_mark", "coverage_mark", "least", "then", "similarity", "coverage", "shares")


def fraction(cell: str, absent: Fraction) -> Fraction:
    return absent if cell == "-" else Fraction(cell)


def passes(similarity_mark: str, coverage_mark: str, least: str, then: str, *columns: str) -> list[bool]:
    alike_mark, held_mark = Fraction(similarity_mark), Fraction(coverage_mark)
    similarity, coverage, told = map(str.split, columns)
    answers = [
        fraction(near, alike_mark / 2) / alike_mark + fraction(held, Fraction(0)) / held_mark >= 1
        for near, held in zip(similarity, coverage, strict=True)
    ]
    if "-" in told or not any(answers):
        return answers
    shares = list(map(Fraction, told))
    unproven = [one and near == "-" for one, near in zip(answers, similarity, strict=True)]
    if max(shares) < Fraction(least):
        return unproven
    if not Fraction(then) or not max(shares):
        return answers
    return [one or share >= Fraction(then) * max(shares) for one, share in zip(unproven, shares, strict=True)]


if __name__ == "__main__":
    table(
        (*NAMES, "passes"),
        (
            dict(zip(NAMES, case, strict=True)) | {"passes": " ".join("yes" if one else "no" for one in passes(*case))}
            for case in CASES
        ),
    )
