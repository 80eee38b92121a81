"""The bootstrap over whole clusters, all draws of it: the exact distribution of the mean, and its quantiles.

With n clusters there are n^n equally likely draws. The cases are such that both quantiles lie well inside one value's
share, so that a large number of random draws has the same ones.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from plain import shown, table

CASES = (
    ("1 1 1|0 0 0", "by halves"),
    ("1|0 0 0", "a small cluster and a large one"),
    ("1 0|1 0|1 0", "clusters that are alike"),
    ("1 1|0.5|0 0 0", "three of different sizes"),
    ("0.2|0.4|0.9|0.4", "each question its own cluster"),
)
TAIL = Fraction(1, 40)


def quantile(means: list[Fraction], share: Fraction) -> Fraction:
    place = int(share * len(means))
    near = means[max(0, place - len(means) // 100) : place + len(means) // 100 + 1]
    assert min(near) == max(near), "the quantile lies at the edge of a value's share"
    return means[place]


def row(cell: str, what: str) -> dict[str, str]:
    clusters = [[Fraction(value) for value in cluster.split()] for cluster in cell.split("|")]
    means = sorted(
        sum((sum(cluster, Fraction(0)) for cluster in drawn), Fraction(0)) / sum(len(cluster) for cluster in drawn)
        for drawn in product(clusters, repeat=len(clusters))
    )
    return {
        "clusters": cell,
        "what": what,
        "low": shown(quantile(means, TAIL)),
        "high": shown(quantile(means, 1 - TAIL)),
    }


if __name__ == "__main__":
    table(("clusters", "what", "low", "high"), [row(*case) for case in CASES])
