"""Expected calibration error in exact fractions, ten bins ((m - 1) / 10, m / 10], 0 in the first."""

from __future__ import annotations

from fractions import Fraction

from plain import shown, table

CASES = (
    ("1", "1"),
    ("0", "0"),
    ("0", "1"),
    ("0.5", "1"),
    ("0.1 0.10001", "1 0"),
    ("0.3 0.3 0.3 0.3", "1 0 0 0"),
    ("0.2 0.7 0.95 0.95", "0 1 1 0"),
    ("0.05 0.15 0.25 0.35 0.45 0.55 0.65 0.75 0.85 0.95", "0 0 0 1 0 1 0 1 1 1"),
    ("0.6 0.7 0.6 0.61 0.69", "1 0 0 1 1"),
    ("0.8 0.8 0.8 0.8 0.8", "1 1 1 1 0"),
)


def bin_of(score: Fraction) -> int:
    return next(number for number in range(1, 11) if score <= Fraction(number, 10))


def error(scores: list[Fraction], right: list[int]) -> Fraction:
    total = Fraction(0)
    for number in range(1, 11):
        held = [(score, one) for score, one in zip(scores, right, strict=True) if bin_of(score) == number]
        # A bin's share of all, times the distance of two means over it: its size cancels.
        total += abs(sum(Fraction(one) for _, one in held) - sum((score for score, _ in held), Fraction(0)))
    return total / len(scores)


if __name__ == "__main__":
    table(
        ("scores", "right", "bins", "expected"),
        [
            {
                "scores": scores,
                "right": right,
                "bins": " ".join(str(bin_of(Fraction(score))) for score in scores.split()),
                "expected": shown(
                    error([Fraction(score) for score in scores.split()], [int(one) for one in right.split()])
                ),
            }
            for scores, right in CASES
        ],
    )
