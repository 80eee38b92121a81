"""Which candidates of an answer pass, in exact fractions.

Those with similarity / its mark + coverage / its mark of 1, an absent similarity counting as half its mark. Where there
is one, those too with similarity / its mark + (coverage + nearby) / its mark of `then`, an absent similarity counting
as 0. Whatever else is absent counts as 0.
"""

from __future__ import annotations

from fractions import Fraction

from plain import table

CASES = (
    ("0.5", "0.25", "1", "0.5", "0", "0"),
    ("0.5", "0.25", "1", "0.4375", "0", "0"),
    ("0.5", "0.25", "1", "0", "0.25", "0"),
    ("0.5", "0.25", "1", "0", "0.1875", "0"),
    ("0.5", "0.25", "1", "0.25", "0.125", "0"),
    ("0.5", "0.25", "1", "0.25", "0.0625", "0"),
    ("0.5", "0.25", "1", "0.375", "0.0625", "0"),
    ("0.5", "0.25", "1", "1", "1", "0"),
    ("0.5", "0.25", "1", "0", "0", "0"),
    ("0.5", "0.25", "1", "0.5", "-", "-"),
    ("0.5", "0.25", "1", "0.4375", "-", "-"),
    ("0.5", "0.25", "1", "-", "0.125", "0"),
    ("0.5", "0.25", "1", "-", "0.0625", "0"),
    ("0.5", "0.25", "1", "-", "0", "0"),
    ("0.5", "0.25", "1", "-", "-", "-"),
    ("1", "1", "1", "0.5", "0.5", "0"),
    ("1", "1", "1", "0.5", "0.25", "0"),
    # What stands around a turn is no answer, and a lower mark is for what stands beside one.
    ("0.5", "0.25", "1", "0.25", "0", "1"),
    ("0.5", "0.25", "0.5", "0.25", "0", "1"),
    ("0.5", "0.25", "0.5", "0.4375", "0", "0"),
    ("0.5", "0.25", "0.5", "-", "-", "-"),
    ("0.5", "0.25", "0.5", "0.25 0.4375 0.125", "0 0 0.125", "0 0 0.25"),
    # Beside one that answers, wherever it stands.
    ("0.5", "0.25", "0.5", "0.5 0.25 0.1875 0", "0 0 0 0", "0 0 0 0"),
    ("0.5", "0.25", "0.5", "0.1875 0 0.25 0.125", "0 0.25 0 0.0625", "0 0 0 0"),
    ("0.5", "0.25", "0.75", "0.25 0.375 0.3125 0.25", "0.125 0 0.03125 0.03125", "0 0 0 0"),
    ("0.5", "0.25", "0.5", "0.5 0.125 0.125 0", "0 0 0 0", "0 0.0625 0.03125 0.125"),
    ("0.5", "0.25", "0.5", "0.5 0 0", "0 0.0625 0.0625", "0 0.0625 -"),
    # A vector that is missing speaks for a text with the question's words, and for none beside it.
    ("0.5", "0.25", "0.5", "0.5 - - - -", "0 - 0 0.125 0.0625", "0 0 0 0 0"),
    ("0.5", "0.25", "0.5", "- - -", "0.125 0.09375 0.09375", "0 0 0.03125"),
    # At 1 only what is around still helps.
    ("0.5", "0.25", "1", "0.5 0.4375 0.4375 -", "0 0 0 0.125", "0 0 0.03125 0"),
)


NAMES = ("similarity_mark", "coverage_mark", "then", "similarity", "coverage", "nearby")


def fraction(cell: str, absent: Fraction) -> Fraction:
    return absent if cell == "-" else Fraction(cell)


def passes(similarity_mark: str, coverage_mark: str, then: str, *columns: str) -> list[bool]:
    alike_mark, held_mark, nothing = Fraction(similarity_mark), Fraction(coverage_mark), Fraction(0)
    answers: list[bool] = []
    follows: list[bool] = []
    for near, held, beside in zip(*map(str.split, columns), strict=True):
        covered = fraction(held, nothing)
        answers.append(fraction(near, alike_mark / 2) / alike_mark + covered / held_mark >= 1)
        around = covered + fraction(beside, nothing)
        follows.append(fraction(near, nothing) / alike_mark + around / held_mark >= Fraction(then))
    return [one or (any(answers) and other) for one, other in zip(answers, follows, strict=True)]


if __name__ == "__main__":
    table(
        (*NAMES, "passes"),
        (
            dict(zip(NAMES, case, strict=True)) | {"passes": " ".join("yes" if one else "no" for one in passes(*case))}
            for case in CASES
        ),
    )
