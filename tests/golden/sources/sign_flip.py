"""The sign-flip test in exact fractions: of all assignments of signs, the share with a sum at least as far from 0."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from plain import shown, table

CASES = (
    "0",
    "0 0 0",
    "1",
    "-1",
    "1 1",
    "1 -1",
    "1 1 1 1 1",
    "-1 -1 -1 -1 -1",
    "0.1 0.2 -0.3",
    "0.5 0 0.25 0 0 -0.125",
    "1 1 1 1 -1 -1",
    "0.1 0.1 0.1 -0.1 -0.1 0.1 0.1",
    "0.333 0.5 1 0.2 -0.4 0.6 -0.05 0.7 0.1 0.9",
    "1 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
)


def share(differences: list[Fraction]) -> Fraction:
    seen = abs(sum(differences))
    sums = [
        abs(sum(sign * one for sign, one in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return Fraction(sum(total >= seen for total in sums), len(sums))


if __name__ == "__main__":
    table(
        ("differences", "expected"),
        [{"differences": case, "expected": shown(share([Fraction(one) for one in case.split()]))} for case in CASES],
    )
