"""Crewship's importance as it stands after some days and references, in 50 digits.

base x max(0.1, 1 - days / 180) x (1 + log2(references + 1) / 8), held in [0, 1], and at least the mark's floor: after
decay. `original` is what Crewship's code gave: its floor was applied before decay, so a permanent entry fell to 0.095.
"""

from __future__ import annotations

from decimal import Decimal
from itertools import product

from plain import exact, log2, shown, table

BASES = (("0.5", "0"), ("0.7", "0"), ("0.8", "0.8"), ("0.85", "0.85"), ("0.95", "0.95"), ("1", "0.95"), ("0", "0"))
DAYS = ("-1", "0", "0.5", "90", "162", "179", "180", "365", "36525")
REFERENCES = ("0", "1", "26", "255", "1000000")


def faded(base: str, days: str, references: str) -> Decimal:
    recency = max(Decimal("0.1"), 1 - max(Decimal(0), Decimal(days)) / 180)
    return min(Decimal(1), exact(base) * recency * (1 + log2(exact(references) + 1) / 8))


if __name__ == "__main__":
    table(
        ("base", "floor", "days", "references", "expected", "original"),
        (
            {
                "base": base,
                "floor": floor,
                "days": days,
                "references": references,
                "expected": shown(max(exact(floor), faded(base, days, references))),
                "original": shown(faded(base, days, references)),
            }
            for (base, floor), days, references in product(BASES, DAYS, REFERENCES)
        ),
    )
