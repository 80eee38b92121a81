"""The area under the ROC curve by walking the curve, and DeLong's variance by counting pairs, in exact fractions.

The walk goes down the scores: each step adds a trapezium, which is where equal scores count half.
"""

from __future__ import annotations

from fractions import Fraction

from plain import exact, shown, table

Z = exact("1.9599639845400542355245944305205515279555")
CASES = (
    ("0.9 0.8", "0.2 0.1"),
    ("0.2 0.1", "0.9 0.8"),
    ("0.5 0.5", "0.5 0.5"),
    ("0.9 0.4 0.6", "0.5 0.3"),
    ("0.9 0.5 0.5 0.7", "0.5 0.5 0.1"),
    ("3 1 2 5 8", "1 1 2 7"),
    ("0.31 0.42 0.53 0.64 0.75", "0.3 0.44 0.5 0.6 0.2 0.1"),
    ("-1 0.2 0.3", "-1 -1 0.25"),
)


def area(high: list[Fraction], low: list[Fraction]) -> Fraction:
    total, right, wrong = Fraction(0), 0, 0
    for score in sorted({*high, *low}, reverse=True):
        more_right, more_wrong = right + high.count(score), wrong + low.count(score)
        total += Fraction((more_wrong - wrong) * (right + more_right), 2)
        right, wrong = more_right, more_wrong
    return total / (len(high) * len(low))


def beats(one: Fraction, other: Fraction) -> Fraction:
    return Fraction((one > other) - (one < other) + 1, 2)


def spread(values: list[Fraction]) -> Fraction:
    mean = sum(values, Fraction(0)) / len(values)
    return sum(((value - mean) ** 2 for value in values), Fraction(0)) / (len(values) - 1)


def row(answerable: str, unanswerable: str) -> dict[str, str]:
    high, low = ([Fraction(one) for one in cell.split()] for cell in (answerable, unanswerable))
    of_high = [sum((beats(one, other) for other in low), Fraction(0)) / len(low) for one in high]
    of_low = [sum((beats(other, one) for other in high), Fraction(0)) / len(high) for one in low]
    auc = area(high, low)
    assert auc == sum(of_high, Fraction(0)) / len(high)
    reach = Z * exact(spread(of_high) / len(high) + spread(of_low) / len(low)).sqrt()
    return {
        "answerable": answerable,
        "unanswerable": unanswerable,
        "auc": shown(auc),
        "low": shown(max(exact(0), exact(auc) - reach), 12),
        "high": shown(min(exact(1), exact(auc) + reach), 12),
    }


if __name__ == "__main__":
    table(("answerable", "unanswerable", "auc", "low", "high"), [row(*case) for case in CASES])
