"""When a memory falls below its threshold, by the inverse of each curve on paper: writes `../falls_below.csv`.

    python tests/golden/sources/falls_below.py > tests/golden/falls_below.csv

Strength is max(importance floor, min(1, importance x retention x gain)). It falls below b when retention falls below
r = b / (importance x gain), which is after so many days:

    linear         days x (1 - r)                            never where r is not above the curve's floor
    half-life      days x log2(1 / r)                        never where r is not above the curve's floor
    exponential    days x ln(1 / r)
    ebbinghaus     ln(1 / r) x (1 + spacing x uses) / rate
    power law      stability / f x (r^(-1 / exponent) - 1)   with f = 0.9^(-1 / exponent) - 1

Gains: none 1; logarithmic 1 + log2(uses + 1) / 8; linear 1 + uses. All in decimal arithmetic of 60 digits. Nothing of
the package is used.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from decimal import Decimal as D
from decimal import getcontext

getcontext().prec = 60
DAY = 86_400
HORIZON = D(36_525)

ROWS = """
curve       parameters              gain         uses  importance  floor   stability  below   what
linear      days=180,floor=0.1      logarithmic  0     0.5         0       2.5        0.15    a ramp of half a year
linear      days=180,floor=0.1      logarithmic  3     0.5         0       2.5        0.15    used: it lasts longer
linear      days=180,floor=0.1      logarithmic  0     1           0       2.5        0.15    important
linear      days=180,floor=0.25     logarithmic  0     1           0       2.5        0.15    the curve's floor holds it
linear      days=180,floor=0.1      logarithmic  0     0.5         0.25    2.5        0.15    an operator's mark holds it
linear      days=180,floor=0        none         0     1           0       2.5        0       nothing is below nothing
half-life   days=30,floor=0         logarithmic  0     0.5         0       2.5        0.05    a hundred days, nearly
half-life   days=30,floor=0         logarithmic  7     0.5         0       2.5        0.05    seven uses
half-life   days=30,floor=0         logarithmic  0     0.0625      0       2.5        0.05    hardly above it
half-life   days=30,floor=0         none         0     1           0       2.5        0.5     one half-life
half-life   days=30,floor=0         none         0     0.03125     0       2.5        0.05    too weak from the start
half-life   days=90,floor=0.1       linear       0     0.5         0       2.5        0.1     a quarter of a year
half-life   days=90,floor=0.1       linear       1     0.5         0       2.5        0.1     at the curve's floor: not below
half-life   days=90,floor=0.1       linear       1     0.375       0       2.5        0.1     used once
half-life   days=90,floor=0.1       linear       9     1           0       2.5        0.1     used often: the floor is 1
half-life   days=36500,floor=0      none         0     1           0       2.5        0.25    later than a hundred years
exponential days=7                  none         0     1           0       2.5        0.1     a week's time constant
exponential days=7                  none         5     1           0       2.5        0.1     use changes nothing
ebbinghaus  rate=0.03,spacing=0.1   none         0     1           0       2.5        0.3     never recalled
ebbinghaus  rate=0.03,spacing=0.1   none         10    1           0       2.5        0.3     recalled ten times
power-law   exponent=0.1542         none         0     1           0       2.5        0.9     after its stability
power-law   exponent=0.1542         none         0     1           0       2.5        0.5     a fat tail
power-law   exponent=0.1542         none         0     1           0       10         0.75    four times as stable
power-law   exponent=0.1542         none         0     1           0       100        0.25    later than a hundred years
power-law   exponent=1              none         0     0.5         0       8          0.125   a hyperbola
"""


def days_until(curve: str, given: dict[str, D], uses: D, stability: D, ratio: D) -> D | None:
    """Days until retention falls below `ratio`; None: it does not."""
    if ratio > 1:
        return D(0)
    if ratio <= given.get("floor", D(0)):
        return None
    match curve:
        case "linear":
            return given["days"] * (1 - ratio)
        case "half-life":
            return given["days"] * -ratio.ln() / D(2).ln()
        case "exponential":
            return given["days"] * -ratio.ln()
        case "ebbinghaus":
            return -ratio.ln() * (1 + given["spacing"] * uses) / given["rate"]
        case "power-law":
            factor = (D("0.9").ln() * (-1 / given["exponent"])).exp() - 1
            return stability / factor * ((ratio.ln() * (-1 / given["exponent"])).exp() - 1)
        case _:
            raise ValueError(curve)


def gained(gain: str, uses: D) -> D:
    return {"none": D(1), "logarithmic": 1 + (uses + 1).ln() / D(2).ln() / 8, "linear": 1 + uses}[gain]


def rows() -> Iterator[list[str]]:
    heads, *lines = ROWS.strip().splitlines()
    yield [*heads.split()[:-1], "expected_seconds", "source"]
    for line in lines:
        curve, parameters, gain, uses, importance, floor, stability, below, what = line.split(maxsplit=8)
        given = {name: D(value) for name, value in (each.split("=") for each in parameters.split(","))}
        ratio = D(below) / (D(importance) * gained(gain, D(uses)))
        days = None if D(floor) >= D(below) else days_until(curve, given, D(uses), D(stability), ratio)
        expected = "never" if days is None or days > HORIZON else f"{days * DAY:.6f}"
        yield [
            *(curve, parameters.replace(",", " "), gain, uses, importance, floor, stability, below, expected),
            f"sources/falls_below.py: {what}",
        ]


if __name__ == "__main__":
    csv.writer(sys.stdout, lineterminator="\n").writerows(rows())
