"""Precision, recall and F1 of abstention, in exact fractions, question by question.

A question is its best score (`-`: nothing came back). F1 is worked out as the harmonic mean.
"""

from __future__ import annotations

from fractions import Fraction

from plain import shown, table

CASES = (
    ("0.9 0.6 0.3", "0.2 0.5", "0"),
    ("0.9 0.6 0.3", "0.2 0.5", "0.25"),
    ("0.9 0.6 0.3", "0.2 0.5", "0.3"),
    ("0.9 0.6 0.3", "0.2 0.5", "0.55"),
    ("0.9 0.6 0.3", "0.2 0.5", "1"),
    ("0.9 - 0.3", "- - 0.5", "0"),
    ("0.9 - 0.3", "- - 0.5", "0.4"),
    ("-", "0.7", "0"),
    ("0.7", "-", "0"),
)


def silent(cell: str, floor: str) -> list[bool]:
    return [one == "-" or Fraction(one) < Fraction(floor) for one in cell.split()]


def row(answerable: str, unanswerable: str, floor: str) -> dict[str, str]:
    wrong, right = silent(answerable, floor), silent(unanswerable, floor)
    silences = sum(wrong) + sum(right)
    precision = Fraction(sum(right), silences) if silences else None
    recall = Fraction(sum(right), len(right))
    f1 = 2 / (1 / precision + 1 / recall) if precision and recall else Fraction(0)
    return {
        "answerable": answerable,
        "unanswerable": unanswerable,
        "floor": floor,
        "silent": f"{sum(right)} {sum(wrong)}",
        "precision": shown(precision),
        "recall": shown(recall),
        "f1": shown(f1),
    }


if __name__ == "__main__":
    table(
        ("answerable", "unanswerable", "floor", "silent", "precision", "recall", "f1"), [row(*case) for case in CASES]
    )
