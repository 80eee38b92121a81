"""Wilson's score interval in 50 digits: the shares p for which |x - np| <= z sqrt(np(1 - p)), found by bisection."""

from __future__ import annotations

from decimal import Decimal

from plain import exact, shown, table

Z = Decimal("1.9599639845400542355245944305205515279555")
CASES = ((0, 1), (1, 1), (0, 10), (10, 10), (1, 2), (5, 10), (1, 30), (29, 30), (130, 150), (500, 1000), (3, 100000))


def agrees(share: Decimal, successes: int, trials: int) -> bool:
    return (successes - trials * share) ** 2 <= Z * Z * trials * share * (1 - share)


def end(successes: int, trials: int, outer: Decimal) -> Decimal:
    """The limit between a share that is rejected and the observed one, which is not."""
    out, inside = outer, exact(successes) / trials
    if agrees(out, successes, trials):
        return out
    for _ in range(150):
        middle = (out + inside) / 2
        if agrees(middle, successes, trials):
            inside = middle
        else:
            out = middle
    return inside


def row(successes: int, trials: int) -> dict[str, str]:
    return {
        "successes": str(successes),
        "trials": str(trials),
        "low": shown(end(successes, trials, Decimal(0)), 12),
        "high": shown(end(successes, trials, Decimal(1)), 12),
    }


if __name__ == "__main__":
    table(("successes", "trials", "low", "high"), [row(*case) for case in CASES])
