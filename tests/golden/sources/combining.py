"""The plain nodes of a score over one candidate, in exact fractions.

Weighted: the sum of weight x value. Product. Clamp to [0, 1]. Saturating: x / (1 + x). Greatest. `-` is absent: it adds
nothing to a weighted sum, empties a product, and does not count for the greatest. `weights` belong to Weighted.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod

from plain import several, table

CASES = (
    ("weighted", "0.5 0.3 0.2", "1 0.5 0.25"),
    ("weighted", "0.5 0.3 0.2", "- 0.5 0.25"),
    ("weighted", "0.5 0.3 0.2", "- - -"),
    ("weighted", "0.7 0.3", "0 0"),
    ("weighted", "1", "1"),
    ("weighted", "0 0", "1 1"),
    ("product", "", "1 0.5 0.25"),
    ("product", "", "0 0.5"),
    ("product", "", "- 0.5"),
    ("product", "", "0 -"),
    ("product", "", "0.1"),
    ("clamp", "", "-0.5"),
    ("clamp", "", "0"),
    ("clamp", "", "0.4"),
    ("clamp", "", "1"),
    ("clamp", "", "1.0000001"),
    ("clamp", "", "1000001"),
    ("clamp", "", "-"),
    ("saturating", "", "-1"),
    ("saturating", "", "0"),
    ("saturating", "", "0.25"),
    ("saturating", "", "1"),
    ("saturating", "", "3"),
    ("saturating", "", "1500000"),
    ("saturating", "", "-"),
    ("greatest", "", "0.95 0.1"),
    ("greatest", "", "0 0.1"),
    ("greatest", "", "0.5 0.5"),
    ("greatest", "", "- 0.1"),
    ("greatest", "", "- -"),
    ("greatest", "", "0"),
)


def combined(node: str, weights: Sequence[Fraction], values: Sequence[Fraction | None]) -> Fraction | None:
    present = [value for value in values if value is not None]
    if node == "weighted":
        pairs = zip(weights, values, strict=True)
        return sum((weight * value for weight, value in pairs if value is not None), Fraction(0))
    if node == "product":
        return prod(present, start=Fraction(1)) if len(present) == len(values) else None
    if not present:
        return None
    if node == "clamp":
        return min(Fraction(1), max(Fraction(0), present[0]))
    if node == "saturating":
        held = max(Fraction(0), present[0])
        return held / (1 + held)
    return max(present)


if __name__ == "__main__":
    table(
        ("node", "weights", "values", "expected"),
        (
            {
                "node": node,
                "weights": weights,
                "values": cells,
                "expected": several(
                    [
                        combined(
                            node,
                            [Fraction(weight) for weight in weights.split()],
                            [None if cell == "-" else Fraction(cell) for cell in cells.split()],
                        )
                    ]
                ),
            }
            for node, weights, cells in CASES
        ),
    )
