"""Crewship's two rankings, and the lexical-only form of both.

Usual: cosine x importance as it stands now (base x max(0.1, 1 - days / 180) x (1 + log2(shown + 1) / 8), at most 1, at
least the mark's floor). Hybrid: reciprocal ranks of both legs, k = 60, scaled to [0, 1]. By words alone: of one leg.
"""

from __future__ import annotations

from decimal import Decimal

from candidates import COLUMNS, Candidate, dense_ranks, lexical_ranks, ranked
from plain import exact, log2, table


def importance_now(one: Candidate) -> Decimal:
    recency = max(Decimal("0.1"), 1 - one.since() / 180)
    faded = exact(one.importance) * recency * (1 + log2(exact(one.shown) + 1) / 8)
    return max(exact(one.importance_floor), min(Decimal(1), faded))


def usual(one: Candidate) -> Decimal:
    return max(Decimal(0), exact(one.similarity)) * importance_now(one) if one.similarity else Decimal(0)


def part(ranks: dict[str, int], one: Candidate) -> Decimal:
    return Decimal(61) / (60 + ranks[one.name]) if one.name in ranks else Decimal(0)


def hybrid(one: Candidate) -> Decimal:
    return (part(dense_ranks(), one) + part(lexical_ranks(), one)) / 2


def worded(one: Candidate) -> Decimal:
    return part(lexical_ranks(), one)


if __name__ == "__main__":
    table(
        COLUMNS,
        [
            *ranked("", usual),
            *ranked("", worded, words_alone=True),
            *ranked("hybrid", hybrid),
            *ranked("hybrid", worded, words_alone=True),
        ],
    )
