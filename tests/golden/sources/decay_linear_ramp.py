"""max(floor, 1 - age / days) in exact fractions. Crewship's recency is days 180, floor 0.1."""

from __future__ import annotations

from fractions import Fraction

from plain import shown, table

AGES = ("-36525", "-1", "-1/1440", "0", "1/24", "1", "45", "90", "161", "162", "163", "180", "181", "365", "36525")


def left(days: Fraction, floor: Fraction, age: Fraction) -> Fraction:
    return max(floor, 1 - max(Fraction(0), age) / days)


if __name__ == "__main__":
    table(
        ("days", "floor", "age", "expected"),
        (
            {
                "days": days,
                "floor": floor,
                "age": shown(Fraction(age)),
                "expected": shown(left(Fraction(days), Fraction(floor), Fraction(age))),
            }
            for days, floor in (("180", "0.1"), ("180", "0"), ("180", "1"), ("0.5", "0"), ("36500", "0.25"))
            for age in AGES
        ),
    )
