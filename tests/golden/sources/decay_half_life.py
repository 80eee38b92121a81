"""max(floor, exp(-ln 2 / half-life x age)) in 50 digits, as TeaParty's text writes it (90 days, floor 0.1)."""

from __future__ import annotations

from decimal import Decimal

from plain import exact, shown, table

AGES = ("-36525", "-1", "0", "0.0416666666666667", "1", "15", "30", "45", "90", "180", "298", "299", "365", "36525")


def left(days: str, floor: str, age: str) -> Decimal:
    past = max(Decimal(0), exact(age))
    return max(exact(floor), (-Decimal(2).ln() / exact(days) * past).exp())


if __name__ == "__main__":
    table(
        ("days", "floor", "age", "expected"),
        (
            {"days": days, "floor": floor, "age": age, "expected": shown(left(days, floor, age))}
            for days, floor in (("90", "0.1"), ("30", "0"), ("90", "1"), ("0.25", "0"), ("36500", "0"))
            for age in AGES
        ),
    )
