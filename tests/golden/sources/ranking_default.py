"""The default's order.

0.4 similarity + 0.5 BM25's share of its bound + 0.04 importance + 0.04 confidence + 0.01 x 0.5^(age / 30), the age from
birth or, if that came later, the last use. Below similarity / 0.3 + coverage / 0.35 = 1 nothing is returned; a missing
vector counts as half of its mark there.
"""

from __future__ import annotations

from decimal import Decimal

from candidates import BOUND, COLUMNS, Candidate, ranked
from plain import exact, table


def relevant(one: Candidate, *, words_alone: bool) -> bool:
    known = one.similarity and not words_alone
    near = max(Decimal(0), exact(one.similarity)) / Decimal("0.3") if known else Decimal("0.5")
    return near + exact(one.coverage) / Decimal("0.35") >= 1


def score(one: Candidate, *, words_alone: bool) -> Decimal:
    near = Decimal(0) if words_alone or not one.similarity else max(Decimal(0), exact(one.similarity))
    kept = (-Decimal(2).ln() * one.since(one.used_days) / 30).exp()
    return (
        Decimal("0.4") * near
        + Decimal("0.5") * exact(one.bm25) / BOUND
        + Decimal("0.04") * (exact(one.importance) + exact(one.confidence))
        + Decimal("0.01") * kept
    )


if __name__ == "__main__":
    table(
        COLUMNS,
        [
            row
            for words_alone in (False, True)
            for row in ranked(
                "",
                lambda one, words_alone=words_alone: score(one, words_alone=words_alone),
                words_alone=words_alone,
                keep=lambda one, words_alone=words_alone: relevant(one, words_alone=words_alone),
            )
        ],
    )
