"""Pk and WindowDiff as their papers define them, over the positions between turns, in exact fractions.

Beeferman, Berger and Lafferty 1999; Pevzner and Hearst 2002. A segmentation is written as the boundaries between turns,
1 where there is one: a window of k turns' distance spans k such positions.
"""

from __future__ import annotations

from fractions import Fraction

from plain import shown, table

CASES = (
    ("4 4", "4 4"),
    ("4 4", "8"),
    ("8", "4 4"),
    ("4 4", "4 1 3"),
    ("4 4", "3 5"),
    ("4 4", "1 1 1 1 1 1 1 1"),
    ("4 6 8", "6 4 8"),
    ("4 6 8", "9 9"),
    ("1 1 1", "3"),
    ("3", "1 2"),
    ("5 5", "5 5"),
    ("5 5 5", "7 8"),
    ("2 2", "1 3"),
    ("30 21 40", "20 31 15 25"),
    ("1 1", "2"),
)


def positions(lengths: list[int]) -> list[int]:
    """1 where a boundary is between two turns."""
    return [int(turn == length) for length in lengths for turn in range(1, length + 1)][:-1]


def half_mean(lengths: list[int]) -> int:
    """Half the mean segment, halves up; between 2 and one less than the turns."""
    half = Fraction(sum(lengths), 2 * len(lengths))
    rounded = half.numerator // half.denominator + int(half - half.numerator // half.denominator >= Fraction(1, 2))
    return min(max(rounded, 2), sum(lengths) - 1)


def row(gold: str, told: str) -> dict[str, str]:
    reference, hypothesis = [int(one) for one in gold.split()], [int(one) for one in told.split()]
    k = half_mean(reference)
    real, said = positions(reference), positions(hypothesis)
    windows = [(sum(real[at : at + k]), sum(said[at : at + k])) for at in range(len(real) - k + 1)]
    return {
        "gold": gold,
        "told": told,
        "k": str(k),
        "pk": shown(Fraction(sum((a == 0) != (b == 0) for a, b in windows), len(windows)), 12),
        "window_diff": shown(Fraction(sum(a != b for a, b in windows), len(windows)), 12),
        "right": str(sum(a and b for a, b in zip(real, said, strict=True))),
    }


if __name__ == "__main__":
    table(("gold", "told", "k", "pk", "window_diff", "right"), [row(*case) for case in CASES])
