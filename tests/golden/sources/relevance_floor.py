"""Which candidates answer, in exact fractions: similarity / its mark + coverage / its mark is at least 1.

An absent similarity counts as half its mark, an absent coverage as 0.
"""

from __future__ import annotations

from fractions import Fraction

from plain import table

CASES = (
    ("0.5", "0.25", "0.5", "0"),
    ("0.5", "0.25", "0.4375", "0"),
    ("0.5", "0.25", "0", "0.25"),
    ("0.5", "0.25", "0", "0.1875"),
    ("0.5", "0.25", "0.25", "0.125"),
    ("0.5", "0.25", "0.25", "0.0625"),
    ("0.5", "0.25", "0.375", "0.0625"),
    ("0.5", "0.25", "1", "1"),
    ("0.5", "0.25", "0", "0"),
    ("0.5", "0.25", "0.5", ""),
    ("0.5", "0.25", "0.4375", ""),
    ("0.5", "0.25", "", "0.125"),
    ("0.5", "0.25", "", "0.0625"),
    ("0.5", "0.25", "", "0"),
    ("0.5", "0.25", "", ""),
    ("1", "1", "0.5", "0.5"),
    ("1", "1", "0.5", "0.25"),
)


def passes(similarity_mark: str, coverage_mark: str, similarity: str, coverage: str) -> bool:
    near = Fraction(similarity) / Fraction(similarity_mark) if similarity else Fraction(1, 2)
    return near + Fraction(coverage or 0) / Fraction(coverage_mark) >= 1


if __name__ == "__main__":
    table(
        ("similarity_mark", "coverage_mark", "similarity", "coverage", "passes"),
        (
            {
                "similarity_mark": similarity_mark,
                "coverage_mark": coverage_mark,
                "similarity": similarity,
                "coverage": coverage,
                "passes": "yes" if passes(similarity_mark, coverage_mark, similarity, coverage) else "no",
            }
            for similarity_mark, coverage_mark, similarity, coverage in CASES
        ),
    )
