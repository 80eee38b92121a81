"""PlastMem's score: RRF (k = 60) of both legs x FSRS-6 retrievability, whole days by py-fsrs.

Ours is scaled to [0, 1]: x 61 / 2. `original` is the sum of 1 / (60 + rank) x R of the text. An empty rank: that leg
did not find it. `reviewed` is days since the last review, empty where there was none; the age is the younger one.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from fsrs import Card, Scheduler
from plain import exact, shown, table

NOW = datetime(2026, 3, 4, 9, 0, tzinfo=UTC)
CASES = (
    ("1", "1", "2.3065", "0", ""),
    ("1", "", "2.3065", "7", ""),
    ("", "1", "2.3065", "7", ""),
    ("", "", "2.3065", "7", ""),
    ("3", "9", "3.344425", "30", ""),
    ("3", "9", "3.344425", "30", "2"),
    ("3", "9", "3.344425", "2", "30"),
    ("100", "100", "40", "365", ""),
    ("1", "2", "0.001", "1", ""),
    ("1", "2", "36500", "36525", ""),
    ("2", "1", "2.3065", "-5", ""),
)


def retrievability(stability: str, days: str) -> Decimal:
    card = Card(stability=float(stability), difficulty=5.0, last_review=NOW - timedelta(days=float(days)))
    return Decimal(repr(Scheduler().get_card_retrievability(card, NOW)))


def fused(*ranks: str) -> Decimal:
    return sum((1 / (60 + exact(rank)) for rank in ranks if rank), Decimal(0))


def row(lexical: str, dense: str, stability: str, days: str, reviewed: str) -> dict[str, str]:
    recalled = retrievability(stability, str(min(int(days), int(reviewed or days))))
    return {
        "lexical_rank": lexical,
        "dense_rank": dense,
        "stability": stability,
        "days": days,
        "reviewed": reviewed,
        "expected": shown(fused(lexical, dense) * recalled * 61 / 2, 12),
        "original": shown(fused(lexical, dense) * recalled, 12),
    }


if __name__ == "__main__":
    table(
        ("lexical_rank", "dense_rank", "stability", "days", "reviewed", "expected", "original"),
        (row(*case) for case in CASES),
    )
