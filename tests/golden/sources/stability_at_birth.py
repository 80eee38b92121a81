"""Days of stability a memory is born with: py-fsrs's after a first review rated Good, x (1 + surprise / 2)."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from fsrs import Card, Rating, Scheduler
from plain import exact, shown, table

SURPRISES = ("0", "0.000001", "0.2", "0.3", "0.5", "0.6", "0.65", "0.7", "0.85", "0.9", "1")


def born() -> tuple[Decimal, Decimal]:
    """Stability and difficulty."""
    reviewed = datetime(2026, 3, 4, 9, 0, tzinfo=UTC)
    card, _ = Scheduler(learning_steps=(), enable_fuzzing=False).review_card(Card(), Rating.Good, reviewed)
    assert card.stability is not None
    assert card.difficulty is not None
    return Decimal(repr(card.stability)), Decimal(repr(card.difficulty))


if __name__ == "__main__":
    stability, difficulty = born()
    table(
        ("surprise", "expected", "difficulty"),
        (
            {
                "surprise": surprise,
                "expected": shown(stability * (1 + exact(surprise) / 2), 12),
                "difficulty": shown(difficulty, 12),
            }
            for surprise in SURPRISES
        ),
    )
