"""PlastMem's order: reciprocal ranks of both legs (k = 60), scaled to [0, 1], x FSRS-6 retrievability.

R = (1 + F x age / S)^-w20 with F = 0.9^(-1 / w20) - 1, the age from birth or the last review, not cut to whole days;
w20 from py-fsrs's default parameters.
"""

from __future__ import annotations

from decimal import Decimal

from candidates import COLUMNS, Candidate, dense_ranks, lexical_ranks, ranked
from fsrs import Scheduler
from plain import exact, power, table

W20 = Decimal(repr(Scheduler().parameters[20]))


def retrievability(one: Candidate) -> Decimal:
    factor = power("0.9", -1 / W20) - 1
    return power(1 + factor * one.since(one.reviewed) / exact(one.stability), -W20)


def score(one: Candidate, *legs: dict[str, int]) -> Decimal:
    fused = sum((Decimal(61) / (60 + ranks[one.name]) for ranks in legs if one.name in ranks), Decimal(0)) / 2
    return fused * retrievability(one)


if __name__ == "__main__":
    table(
        COLUMNS,
        [
            *ranked("", lambda one: score(one, lexical_ranks(), dense_ranks())),
            *ranked("", lambda one: score(one, lexical_ranks()), words_alone=True),
        ],
    )
