"""When a memory falls below its threshold, by the inverse of each curve on paper, in 50 digits.

Strength is max(importance floor, min(1, importance x retention x gain)). It falls below b when retention falls below
r = b / (importance x gain): after days x (1 - r) on a linear ramp, days x log2(1 / r) by half-life, days x ln(1 / r) by
time constant, ln(1 / r) x (1 + spacing x uses) / rate on Ebbinghaus's curve, stability / f x (r^(-1 / exponent) - 1) on
the power law, where f = 0.9^(-1 / exponent) - 1; and never where r is not above the curve's own floor. Gains: none 1,
logarithmic 1 + log2(uses + 1) / 8, linear 1 + uses. Later than 36,525 days counts as never.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from plain import exact, log2, power, table

DAY = 86_400
HORIZON = 36_525
COLUMNS = ("curve", "parameters", "gain", "uses", "importance", "floor", "stability", "below", "case")
CASES = """
linear      days=180,floor=0.1     logarithmic 0 0.5     0    2.5 0.15  a ramp of half a year
linear      days=180,floor=0.1     logarithmic 3 0.5     0    2.5 0.15  used: it lasts longer
linear      days=180,floor=0.1     logarithmic 0 1       0    2.5 0.15  important
linear      days=180,floor=0.25    logarithmic 0 1       0    2.5 0.15  the curve's floor holds it
linear      days=180,floor=0.1     logarithmic 0 0.5     0.25 2.5 0.15  an operator's mark holds it
linear      days=180,floor=0       none        0 1       0    2.5 0     nothing is below nothing
half-life   days=30,floor=0        logarithmic 0 0.5     0    2.5 0.05  a hundred days, nearly
half-life   days=30,floor=0        logarithmic 7 0.5     0    2.5 0.05  seven uses
half-life   days=30,floor=0        logarithmic 0 0.0625  0    2.5 0.05  hardly above it
half-life   days=30,floor=0        none        0 1       0    2.5 0.5   one half-life
half-life   days=30,floor=0        none        0 0.03125 0    2.5 0.05  too weak from the start
half-life   days=90,floor=0.1      linear      0 0.5     0    2.5 0.1   two quarters of a year
half-life   days=90,floor=0.1      linear      1 0.5     0    2.5 0.1   at the curve's floor: not below
half-life   days=90,floor=0.1      linear      1 0.375   0    2.5 0.1   used once
half-life   days=90,floor=0.1      linear      9 1       0    2.5 0.1   used often: the floor is 1
half-life   days=36500,floor=0     none        0 1       0    2.5 0.25  later than a hundred years
exponential days=7                 none        0 1       0    2.5 0.1   a week's time constant
exponential days=7                 none        5 1       0    2.5 0.1   use changes nothing
ebbinghaus  rate=0.03,spacing=0.1  none        0 1       0    2.5 0.3   never recalled
ebbinghaus  rate=0.03,spacing=0.1  none       10 1       0    2.5 0.3   recalled ten times
power-law   exponent=0.1542        none        0 1       0    2.5 0.9   after its stability
power-law   exponent=0.1542        none        0 1       0    2.5 0.5   a fat tail
power-law   exponent=0.1542        none        0 1       0     10 0.75  four times as stable
power-law   exponent=0.1542        none        0 1       0    100 0.25  later than a hundred years
power-law   exponent=1             none        0 0.5     0      8 0.125 a hyperbola
"""


def falls(case: Mapping[str, str]) -> str:
    """Seconds from birth, or never."""
    if exact(case["floor"]) >= exact(case["below"]):
        return "never"
    uses = exact(case["uses"])
    gain = {"none": exact(1), "logarithmic": 1 + log2(uses + 1) / 8, "linear": 1 + uses}[case["gain"]]
    given = {name: exact(value) for name, value in (each.split("=") for each in case["parameters"].split(","))}
    ratio = exact(case["below"]) / (exact(case["importance"]) * gain)
    if ratio <= given.get("floor", 0):
        return "never"
    days = Decimal(0) if ratio > 1 else inverse(case["curve"], given, uses, exact(case["stability"]), ratio)
    return "never" if days > HORIZON else f"{days * DAY:.6f}"


def inverse(curve: str, given: dict[str, Decimal], uses: Decimal, stability: Decimal, ratio: Decimal) -> Decimal:
    """The days after which that share is left."""
    match curve:
        case "linear":
            return given["days"] * (1 - ratio)
        case "half-life":
            return given["days"] * -log2(ratio)
        case "exponential":
            return given["days"] * -ratio.ln()
        case "ebbinghaus":
            return -ratio.ln() * (1 + given["spacing"] * uses) / given["rate"]
        case _:
            outward = -1 / given["exponent"]
            return stability / (power("0.9", outward) - 1) * (power(ratio, outward) - 1)


if __name__ == "__main__":
    lines = [str(line) for line in CASES.strip().splitlines()]
    cases: list[dict[str, str]] = [dict(zip(COLUMNS, line.split(maxsplit=8), strict=True)) for line in lines]
    table([*COLUMNS, "expected_seconds"], [{**case, "expected_seconds": falls(case)} for case in cases])
