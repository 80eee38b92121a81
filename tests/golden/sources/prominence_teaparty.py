"""TeaParty's prominence in 50 digits: importance x max(0.1, exp(-ln 2 / 90 x age)) x (1 + reinforcement count).

A retired entry has none: it is no candidate, and so not in this table.
"""

from __future__ import annotations

from decimal import Decimal
from itertools import product

from plain import exact, shown, table

IMPORTANCES = ("0", "0.2", "0.5", "0.9", "1")
AGES = ("-1", "0", "1.5", "90", "180", "298", "299", "365", "36525")
COUNTS = ("0", "1", "10", "1000000")


def prominence(importance: str, age: str, count: str) -> Decimal:
    recency = max(Decimal("0.1"), (-Decimal(2).ln() / 90 * max(Decimal(0), Decimal(age))).exp())
    return exact(importance) * recency * (1 + exact(count))


if __name__ == "__main__":
    table(
        ("importance", "age", "reinforcements", "expected"),
        (
            {
                "importance": importance,
                "age": age,
                "reinforcements": count,
                "expected": shown(prominence(importance, age, count)),
            }
            for importance, age, count in product(IMPORTANCES, AGES, COUNTS)
        ),
    )
