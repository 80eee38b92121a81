"""Mnemosyne's order: 0.5 vector + 0.3 text + 0.2 exp(-age in hours / 168). Text is BM25's share of its bound.

Without any vector its share is nothing; the rest stays.
"""

from __future__ import annotations

from decimal import Decimal

from candidates import BOUND, COLUMNS, Candidate, ranked
from plain import exact, table


def score(one: Candidate, *, words_alone: bool = False) -> Decimal:
    near = Decimal(0) if words_alone or not one.similarity else max(Decimal(0), exact(one.similarity))
    lately = (-24 * one.since() / 168).exp()
    return Decimal("0.5") * near + Decimal("0.3") * exact(one.bm25) / BOUND + Decimal("0.2") * lately


if __name__ == "__main__":
    table(
        COLUMNS,
        [*ranked("", score), *ranked("", lambda one: score(one, words_alone=True), words_alone=True)],
    )
