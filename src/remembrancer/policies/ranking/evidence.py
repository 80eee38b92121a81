"""The share of the score's evidence that a candidate reaches."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

import numpy as np

from remembrancer.policies.ranking.scoring import Expression, Signal, Weighted
from remembrancer.policies.ranking.signals import MATCH_SIGNALS

if TYPE_CHECKING:
    from remembrancer.policies.ranking.scoring import FloatColumn


def evidence_terms(expression: Expression) -> tuple[tuple[str, float], ...]:
    """The signals of a weighted sum that are evidence, each with its weight; none of any other expression.

    Evidence is what says that a memory is about the question, not what sort of text it is or how important.
    """
    if not isinstance(expression, Weighted):
        return ()
    named = [(term.name, weight) for term, weight in expression.terms if isinstance(term, Signal)]
    return tuple((name, weight) for name, weight in named if name in MATCH_SIGNALS and MATCH_SIGNALS[name].evidence)


def evidence(
    expression: Expression, table: Mapping[str, FloatColumn], but: AbstractSet[str] = frozenset()
) -> FloatColumn | None:
    """For each candidate, what its evidence adds to the score, divided by the most that it could add: in [0, 1], shape
    (n,).

    A signal that is absent for every candidate (the question names nobody, or no time) is not counted in the most. So
    a share means the same for a question of one word and for one that names people and dates. Returns None if no
    signal could add anything. `but`: signals that are no evidence for this question.
    """
    terms = [(name, weight) for name, weight in evidence_terms(expression) if name not in but]
    if not terms:
        return None
    columns = np.array([table[name] for name, _ in terms])
    absent = np.isnan(columns)
    weights = np.where(absent.all(axis=1), 0.0, [weight for _, weight in terms])
    most = weights.sum()
    if not most:
        return None
    columns[absent] = 0.0
    return weights @ columns / most
