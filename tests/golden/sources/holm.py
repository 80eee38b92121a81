"""Holm's step-down correction in exact fractions, by its other definition: the largest level at which a test is kept.

A p-value's corrected one is the maximum over all p-values not above it of (how many are at least as large) x that p,
at most 1.
"""

from __future__ import annotations

from fractions import Fraction

from plain import several, table

CASES = (
    "0.01 0.04 0.03",
    "0.03 0.01 0.04",
    "0.05",
    "0 0 0",
    "1 1 1",
    "0.5 0.6 0.7",
    "0.01 0.01 0.01 0.01",
    "0.001 0.02 0.02 0.9",
    "0.0001 0.0002 0.0003 0.0004 0.0005 0.0006 0.0007 0.0008 0.0009 0.001",
    "0.2 0.001 0.3 0.01",
)


def corrected(p_values: list[Fraction]) -> list[Fraction]:
    return [
        min(Fraction(1), max(sum(other >= below for other in p_values) * below for below in p_values if below <= p))
        for p in p_values
    ]


if __name__ == "__main__":
    table(
        ("p_values", "expected"),
        [{"p_values": case, "expected": several(corrected([Fraction(p) for p in case.split()]))} for case in CASES],
    )
