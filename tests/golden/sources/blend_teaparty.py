"""TeaParty's blend before prominence, in exact fractions: 0.7 x vector + 0.3 x BM25 with the best match as 1.

Without any vector, BM25 alone. A negative cosine is 0; `-` is absent. Rows are one answer's candidates. `original` is
what its code made of a BM25-only answer, whose ranks come negative: min-max put the best hit last.
"""

from __future__ import annotations

from fractions import Fraction

from plain import several, table

CASES = (
    ("0.9 0.5 0.1", "2 4 8"),
    ("0.9 - 0.1", "0 8 4"),
    ("0.9 0.5", "0 0"),
    ("-0.4 0", "3 3"),
    ("- - -", "5 4.99 1"),
    ("- -", "3 3"),
    ("-", "0.001"),
    ("1", "1000000"),
    ("0.5 0.25", "- -"),
    ("", ""),
)


def numbers(cells: str) -> list[Fraction | None]:
    return [None if cell == "-" else Fraction(cell) for cell in cells.split()]


def words(bm25: list[Fraction | None]) -> list[Fraction]:
    best = max((value for value in bm25 if value is not None), default=Fraction(0))
    return [value / best if best and value is not None else Fraction(0) for value in bm25]


def blended(vectors: list[Fraction | None], bm25: list[Fraction | None]) -> list[Fraction]:
    if all(vector is None for vector in vectors):
        return words(bm25)
    return [
        Fraction("0.7") * max(Fraction(0), vector or Fraction(0)) + Fraction("0.3") * word
        for vector, word in zip(vectors, words(bm25), strict=True)
    ]


def inverted(vectors: list[Fraction | None], bm25: list[Fraction | None]) -> list[Fraction]:
    present = [-value for value in bm25 if value is not None]
    if any(vector is not None for vector in vectors) or not present or max(present) == min(present):
        return []
    return [(value - min(present)) / (max(present) - min(present)) for value in present]


if __name__ == "__main__":
    table(
        ("similarity", "bm25", "expected", "original"),
        (
            {
                "similarity": vectors,
                "bm25": bm25,
                "expected": several(blended(numbers(vectors), numbers(bm25))),
                "original": several(inverted(numbers(vectors), numbers(bm25))),
            }
            for vectors, bm25 in CASES
        ),
    )
