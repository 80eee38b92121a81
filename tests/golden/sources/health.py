"""The metrics of health, the score they make and its band, from Crewship's text, in exact fractions.

Freshness, which is no fraction, in 50 digits. Of an input `-` is no data; so is an expected value that is empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from plain import Number, power, shown, table

# Inputs, and what they are a case of: ages in days; a part and its whole; cosines; the five metrics; a score.
NAMES = ("freshness", "coverage", "coherence", "efficiency", "reachability")
HUNDREDTHS = dict(zip(NAMES, (25, 25, 20, 15, 15), strict=True))

AGES = {
    "": "no memory at all",
    "0": "just now",
    "30": "one half-life",
    "60": "two half-lives",
    "15": "half a half-life: the square root of one half",
    "-3": "in the future: as if now",
    "-3 30": "one in the future: 0 and 30, the mean of the two",
    "0 30 365": "an odd number: the middle one",
    "365 0 30": "in any order",
    "0 10 20 365": "an even number: the mean of the middle two, 15",
    "0 0 0 3650": "most of it new: the median does not see the old one",
    "36500": "a hundred years",
}
SHARES = {
    "0 0": "nothing to have a part of",
    "0 4": "none",
    "3 4": "three quarters: the first of green",
    "1 2": "half: the first of yellow",
    "1 3": "a third",
    "4 4": "all",
}
COSINES = {
    "": "nothing",
    "1": "the same",
    "0.75 0.25": "the mean",
    "0.5 -0.5": "below 0 counts as 0",
    "-1 -0.2": "all below 0",
    "1.0000001 0.5": "a rounding above 1 counts as 1",
    "0.1 0.2 0.3": "the mean of three",
    "0 0": "nothing in common is a value, not no data",
}
SCORES = {
    "- - - - -": "no data at all",
    "100 100 100 100 100": "all well",
    "0 0 0 0 0": "nothing well: a value, not no data",
    "75 75 75 75 75": "each at the first of green",
    "50 50 50 50 50": "each at the first of yellow",
    "80 60 40 20 0": "all weights",
    "100 - - - -": "one metric has all the weight",
    "- - - - 0": "the lightest alone",
    "90 60 - - -": "two of equal weight",
    "100 - 50 - 0": "weights 25, 20 and 15 of 60",
    "62.7 87.3 - - -": "75 where halves add up to it by decimals",
    "100 0 - - 50": "weights 25, 25 and 15 of 65",
    "- - 100 0 0": "weights 20, 15 and 15 of 50: red",
}
BANDS = ("-", "0", "49.999999999", "50", "74.999999999", "75", "100")


def freshness(ages: list[Fraction]) -> Decimal | None:
    if not ages:
        return None
    ordered = sorted(age if age > 0 else Fraction(0) for age in ages)
    upper = len(ordered) // 2
    lower = upper if len(ordered) % 2 else upper - 1
    half_lives = (ordered[lower] + ordered[upper]) / 2 / 30
    return 100 * power(Fraction(1, 2), half_lives)


def share(part: Fraction, whole: Fraction) -> Fraction | None:
    return 100 * part / whole if whole else None


def mean_cosine(cosines: list[Fraction]) -> Fraction | None:
    kept = [Fraction(0) if one < 0 else Fraction(1) if one > 1 else one for one in cosines]
    return 100 * sum(kept, Fraction(0)) / len(kept) if kept else None


def score(given: list[Fraction | None]) -> Fraction | None:
    weighed = [(weight, value) for weight, value in zip(HUNDREDTHS.values(), given, strict=True) if value is not None]
    whole = sum(weight for weight, _ in weighed)
    return sum((weight * value for weight, value in weighed), Fraction(0)) / whole if whole else None


def band(value: Fraction | None) -> str:
    if value is None:
        return ""
    return "red" if value < 50 else "yellow" if value < 75 else "green"


def rows() -> Iterator[dict[str, str]]:
    for inputs, why in AGES.items():
        yield row("freshness", inputs, freshness(numbers(inputs)), why)
    for metric in ("coverage", "reachability"):
        for inputs, why in SHARES.items():
            part, whole = numbers(inputs)
            yield row(metric, inputs, share(part, whole), why)
    for metric in ("coherence", "efficiency"):
        for inputs, why in COSINES.items():
            yield row(metric, inputs, mean_cosine(numbers(inputs)), why)
    for inputs, why in SCORES.items():
        yield row("score", inputs, score([optional(one) for one in inputs.split()]), why)
    for inputs in BANDS:
        why = "red < 50 <= yellow < 75 <= green"
        yield {"metric": "band", "inputs": inputs, "expected": band(optional(inputs)), "why": why}


def row(metric: str, inputs: str, expected: Number | None, why: str) -> dict[str, str]:
    return {"metric": metric, "inputs": inputs, "expected": shown(expected), "why": why}


def numbers(inputs: str) -> list[Fraction]:
    return [Fraction(one) for one in inputs.split()]


def optional(text: str) -> Fraction | None:
    return None if text == "-" else Fraction(text)


if __name__ == "__main__":
    table(("metric", "inputs", "expected", "why"), rows())
