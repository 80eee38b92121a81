"""Engram's order: 0.6 similarity + 0.2 priority / 10 + 0.1 confidence + 0.1 activation.

activation = exp(-0.03 x age / (1 + 0.1 x retrieved)), the age from birth or the last retrieval. Without any vector
BM25's share of its bound stands in the place of similarity.
"""

from __future__ import annotations

from decimal import Decimal

from candidates import BOUND, COLUMNS, Candidate, ranked
from plain import exact, table


def score(one: Candidate, match: Decimal) -> Decimal:
    activation = (Decimal("-0.03") * one.since(one.retrieved_days) / (1 + exact(one.retrieved) / 10)).exp()
    told = Decimal("0.02") * exact(one.priority) + Decimal("0.1") * exact(one.confidence)
    return Decimal("0.6") * match + told + Decimal("0.1") * activation


def near(one: Candidate) -> Decimal:
    return max(Decimal(0), exact(one.similarity)) if one.similarity else Decimal(0)


if __name__ == "__main__":
    table(
        COLUMNS,
        [
            *ranked("", lambda one: score(one, near(one))),
            *ranked("", lambda one: score(one, exact(one.bm25) / BOUND), words_alone=True),
        ],
    )
