"""Rescaling over the candidates in exact fractions: the least 0, the greatest 1; all equal: 1.

With `least`, that value is 0 whoever is there, and nothing above it is all 0. `-` is a row without a value.
"""

from __future__ import annotations

from fractions import Fraction

from plain import several, table

CASES = (
    ("", "2 4 3 6"),
    ("", "-2 0 2"),
    ("", "7"),
    ("", "7 7 7"),
    ("", "0 0"),
    ("", "- 1 3"),
    ("", "7 -"),
    ("", "- -"),
    ("", ""),
    ("", "0 1000000 1"),
    ("0", "2 4 3 6"),
    ("0", "5 4.99"),
    ("0", "7"),
    ("0", "7 7 7"),
    ("0", "0 0"),
    ("0", "0 3 -"),
    ("0", "- -"),
    ("0", ""),
    ("0", "0 1000000 1"),
    ("1", "0.5 1 3"),
    ("9", "1 2"),
)


def rescaled(least: str, cells: list[str]) -> list[Fraction | None]:
    values = [None if cell == "-" else Fraction(cell) for cell in cells]
    present = [value for value in values if value is not None]
    if not present:
        return [None] * len(values)
    low, high = Fraction(least) if least else min(present), max(present)

    def of(value: Fraction) -> Fraction:
        if not least and high == low:
            return Fraction(1)
        return Fraction(0) if value <= low else (value - low) / (high - low)

    return [None if value is None else of(value) for value in values]


if __name__ == "__main__":
    table(
        ("least", "values", "expected"),
        (
            {"least": least, "values": cells, "expected": several(rescaled(least, cells.split()))}
            for least, cells in CASES
        ),
    )
