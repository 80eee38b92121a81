"""A review by FSRS-6: over whole days by py-fsrs, over parts of days by the published formulas in 50 digits.

py-fsrs cuts elapsed time to whole days, and knows no longest stability: the columns `s_by_fsrs` and `d_by_fsrs` show
what it makes of the same review.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from fsrs import Card, Rating, Scheduler, State
from plain import exact, power, shown, table

REVIEWED = datetime(2026, 3, 4, 9, 0, tzinfo=UTC)
W = [
    exact(weight)
    for weight in (
        "0.212 1.2931 2.3065 8.2956 6.4133 0.8334 3.0194 0.001 1.8722 0.1666 0.796 1.4835 0.0614 0.2629 1.6483 0.6014"
        " 1.8729 0.5425 0.0912 0.0658 0.1542"
    ).split()
]
SHORTEST, LONGEST = exact("0.001"), exact("36500")
STATES = (
    ("2.3065", "2.118103970459015"),
    ("3.344425", "2.118103970459015"),
    ("0.001", "5"),
    ("0.5", "10"),
    ("40", "1"),
    ("36500", "5.5"),
)
WHOLE = ("0", "1", "2", "7", "30", "365")
PARTS = ("-0.25", "0.25", "0.999", "1.5", "29.75")


def held(value: Decimal, low: Decimal, high: Decimal) -> Decimal:
    return max(low, min(high, value))


def by_fsrs(stability: str, difficulty: str, elapsed: str, rating: int) -> tuple[float, float]:
    card = Card(
        state=State.Review, step=None, stability=float(stability), difficulty=float(difficulty), last_review=REVIEWED
    )
    at = REVIEWED + timedelta(days=float(elapsed))
    reviewed, _ = Scheduler(enable_fuzzing=False).review_card(card, Rating(rating), at)
    assert reviewed.stability is not None
    assert reviewed.difficulty is not None
    return reviewed.stability, reviewed.difficulty


def stability_after(s: Decimal, d: Decimal, days: Decimal, rating: int) -> Decimal:
    if days < 1:
        factor = (W[17] * (rating - 3 + W[18])).exp() * power(s, -W[19])
        return held(s * (factor if rating == 1 else max(factor, Decimal(1))), SHORTEST, LONGEST)
    left = power(1 + (power("0.9", -1 / W[20]) - 1) * days / s, -W[20])
    if rating == 1:
        kept = W[11] * power(d, -W[12]) * (power(s + 1, W[13]) - 1) * (W[14] * (1 - left)).exp()
        return held(min(kept, s / (W[17] * W[18]).exp()), SHORTEST, LONGEST)
    bonus = {2: W[15], 3: Decimal(1), 4: W[16]}[rating]
    saving = W[8].exp() * (11 - d) * power(s, -W[9]) * ((W[10] * (1 - left)).exp() - 1)
    return held(s * (1 + saving * bonus), SHORTEST, LONGEST)


def difficulty_after(d: Decimal, rating: int) -> Decimal:
    easiest = W[4] - (W[5] * 3).exp() + 1
    damped = d - W[6] * (rating - 3) * (10 - d) / 9
    return held(W[7] * easiest + (1 - W[7]) * damped, Decimal(1), Decimal(10))


def row(stability: str, difficulty: str, elapsed: str, rating: int) -> dict[str, str]:
    s, d, days = exact(stability), exact(difficulty), max(exact(0), exact(elapsed))
    formula = stability_after(s, d, days, rating), difficulty_after(d, rating)
    oracle = by_fsrs(stability, difficulty, elapsed, rating)
    by_oracle = elapsed in WHOLE and oracle[0] <= LONGEST
    return {
        "stability": stability,
        "difficulty": difficulty,
        "elapsed": elapsed,
        "rating": str(rating),
        "s": f"{oracle[0]:.12g}" if by_oracle else shown(formula[0]),
        "d": f"{oracle[1]:.12g}" if by_oracle else shown(formula[1]),
        "s_by_fsrs": f"{oracle[0]:.12g}",
        "d_by_fsrs": f"{oracle[1]:.12g}",
        "s_by_formula": shown(formula[0]),
        "d_by_formula": shown(formula[1]),
    }


if __name__ == "__main__":
    columns = ("stability", "difficulty", "elapsed", "rating")
    results = ("s", "d", "s_by_fsrs", "d_by_fsrs", "s_by_formula", "d_by_formula")
    table(
        (*columns, *results),
        [
            row(stability, difficulty, elapsed, rating)
            for stability, difficulty in STATES
            for elapsed in (*WHOLE, *PARTS)
            for rating in (1, 2, 3, 4)
        ],
    )
