"""Up to three `similar` edges, to those whose cosine is above 0.80: nearest first, ties by id. Ids are numbers.

`original` also took a cosine of exactly 0.80.
"""

from __future__ import annotations

from fractions import Fraction

from plain import table

CASES = (
    "",
    "1:0.9",
    "1:0.80",
    "1:0.8125",
    "1:0.79",
    "1:0.9 2:0.95 3:0.85 4:0.99",
    "4:0.9 3:0.9 2:0.9 1:0.9",
    "1:0.81 2:0.82 3:-1 4:0",
    "1:1 2:1 3:1 4:1 5:1",
    "0:1 1:0.9",
)
"""0 is the new memory itself."""


def edges(cell: str, *, or_equal: bool) -> str:
    pairs = [one.split(":") for one in cell.split()]
    mark = Fraction("0.80")
    near = [
        (int(other), Fraction(cosine))
        for other, cosine in pairs
        if other != "0" and (Fraction(cosine) > mark or (or_equal and Fraction(cosine) == mark))
    ]
    nearest = sorted(near, key=lambda pair: (-pair[1], pair[0]))[:3]
    return " ".join(f"{other}:{float(cosine):g}" for other, cosine in nearest)


if __name__ == "__main__":
    table(
        ("cosines", "expected", "original"),
        (
            {"cosines": cell, "expected": edges(cell, or_equal=False), "original": edges(cell, or_equal=True)}
            for cell in CASES
        ),
    )
