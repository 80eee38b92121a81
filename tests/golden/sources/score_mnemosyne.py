"""Mnemosyne's score in 50 digits: 0.5 vector + 0.3 text + 0.2 exp(-hours / 168).

`text` is the match's share of the best there could be. `original` is what its code computed, with an importance of 0.5:
(0.5 vector + 0.3 text + 0.2 importance) x (0.7 + 0.3 exp(-hours / 168)).
"""

from __future__ import annotations

from decimal import Decimal

from plain import exact, shown, table

CASES = (
    ("0", "0", "0"),
    ("1", "1", "0"),
    ("0.8", "0.5", "24"),
    ("0.8", "0.5", "168"),
    ("0.8", "", "168"),
    ("", "0.5", "168"),
    ("", "", "168"),
    ("0.25", "0.75", "0.25"),
    ("-0.6", "0.5", "12"),
    ("0.5", "0.5", "-48"),
    ("0.9", "0.1", "8766"),
    ("0.9", "0.1", "876600"),
)


def parts(vector: str, text: str, hours: str) -> tuple[Decimal, Decimal, Decimal]:
    near = max(Decimal(0), exact(vector)) if vector else Decimal(0)
    return near, exact(text or 0), (-max(Decimal(0), exact(hours)) / 168).exp()


def score(vector: str, text: str, hours: str) -> Decimal:
    near, words, lately = parts(vector, text, hours)
    return exact("0.5") * near + exact("0.3") * words + exact("0.2") * lately


def original(vector: str, text: str, hours: str) -> Decimal:
    near, words, lately = parts(vector, text, hours)
    return (exact("0.5") * near + exact("0.3") * words + exact("0.1")) * (exact("0.7") + exact("0.3") * lately)


if __name__ == "__main__":
    table(
        ("similarity", "text", "hours", "expected", "original"),
        (
            {
                "similarity": vector,
                "text": text,
                "hours": hours,
                "expected": shown(score(vector, text, hours)),
                "original": shown(original(vector, text, hours)),
            }
            for vector, text, hours in CASES
        ),
    )
