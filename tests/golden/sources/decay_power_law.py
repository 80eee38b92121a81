"""Retrievability of FSRS-6: whole days by py-fsrs, parts of days by the published formula in 50 digits.

py-fsrs cuts elapsed time to whole days: the column `by_fsrs` shows what it makes of the same age.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from fsrs import Card, Scheduler
from plain import exact, power, shown, table

REVIEWED = datetime(2026, 3, 4, 9, 0, tzinfo=UTC)
BY_DEFAULT = "0.1542"
STABILITIES = ("2.3065", "3.45975", "0.001", "1", "40", "36500")
WHOLE = ("0", "1", "2", "7", "30", "90", "365", "3650", "36525")
PARTS = ("-36525", "-0.25", "0.000694444444444444", "0.5", "0.999", "1.75", "29.5", "2.3065")


def scheduler(exponent: str) -> Scheduler:
    return Scheduler(parameters=(*Scheduler().parameters[:20], float(exponent)))


def by_fsrs(exponent: str, stability: str, age: str) -> float:
    card = Card(stability=float(stability), difficulty=5.0, last_review=REVIEWED)
    return scheduler(exponent).get_card_retrievability(card, REVIEWED + timedelta(days=float(age)))


def by_formula(exponent: str, stability: str, age: str) -> Decimal:
    factor = power("0.9", -1 / exact(exponent)) - 1
    return power(1 + factor * max(exact(0), exact(age)) / exact(stability), -exact(exponent))


def row(exponent: str, stability: str, age: str) -> dict[str, str]:
    oracle = f"{by_fsrs(exponent, stability, age):.12g}"
    return {
        "exponent": exponent,
        "stability": stability,
        "age": age,
        "expected": oracle if age in WHOLE else shown(by_formula(exponent, stability, age)),
        "by_fsrs": oracle,
        "by_formula": shown(by_formula(exponent, stability, age)),
    }


if __name__ == "__main__":
    table(
        ("exponent", "stability", "age", "expected", "by_fsrs", "by_formula"),
        [
            *(row(BY_DEFAULT, stability, age) for stability in STABILITIES for age in (*WHOLE, *PARTS)),
            *(row("0.5", "2.3065", age) for age in (*WHOLE, *PARTS)),
        ],
    )
