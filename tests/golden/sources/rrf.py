"""Reciprocal rank fusion in exact fractions: mean over the rankings of (k + 1) / (k + rank).

`summed` is the sum of 1 / (k + rank) as the texts of Crewship and PlastMem write it: the same order, (k + 1) / n times
smaller. Rows are parted by blanks, rankings by bars; `-` is a row that a ranking does not hold. Equal values share the
best rank of their group.
"""

from __future__ import annotations

from fractions import Fraction

from plain import several, table

CASES = (
    (60, "0.9 0.8 0.7", "3 2 1"),
    (60, "0.9 0.8 0.7", "- - 5"),
    (60, "0.9 - -", "- 4 -"),
    (60, "0.5 0.5 0.5", "2 2 2"),
    (60, "0.9 0.5 0.5 0.1", "1 7 7 9"),
    (60, "- -", "- -"),
    (60, "0.5", "-"),
    (60, "-0.5 0 -1", "0 0 0"),
    (60, "1 2 3 4 5 6 7 8 9 10 11 12", "12 11 10 9 8 7 6 5 4 3 2 1"),
    (1, "3 2 1", "1 2 3"),
    (1, "3 2 1", "1 2 3", "3 2 1"),
    (30, "0.25 0.75", "1 1"),
    (60, "0.1 0.2 0.3"),
    (60, "", ""),
)


def numbers(ranking: str) -> list[Fraction | None]:
    return [None if cell == "-" else Fraction(cell) for cell in ranking.split()]


def ranks(ranking: list[Fraction | None]) -> list[int | None]:
    present = [value for value in ranking if value is not None]
    return [None if value is None else 1 + sum(other > value for other in present) for value in ranking]


def summed(k: int, rankings: list[list[Fraction | None]]) -> list[Fraction]:
    total = [Fraction(0)] * len(rankings[0])
    for ranking in rankings:
        for row, rank in enumerate(ranks(ranking)):
            if rank is not None:
                total[row] += Fraction(1, k + rank)
    return total


if __name__ == "__main__":
    table(
        ("k", "rankings", "expected", "summed"),
        (
            {
                "k": str(k),
                "rankings": "|".join(rankings),
                "expected": several(one * (k + 1) / len(rankings) for one in summed(k, list(map(numbers, rankings)))),
                "summed": several(summed(k, list(map(numbers, rankings)))),
            }
            for k, *rankings in CASES
        ),
    )
