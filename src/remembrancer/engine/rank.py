"""Candidates in an order: scored, those that answer told from the rest, the best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from remembrancer.domain.candidates import Candidates
from remembrancer.domain.memory import Cue
from remembrancer.policies.ranking.evidence import evidence
from remembrancer.policies.ranking.relevance import Floor
from remembrancer.policies.ranking.scoring import Expression, Scored, evaluate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.policies.ranking.scoring import Column


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """What a candidate has to reach to be returned.

    `floor` as the preset has it; None: everything is relevant. `least`: which of its least shares of the evidence is
    asked for. `then`: of each candidate, shape (n,), whether it happened at the time that is asked about, where that
    makes it relevant whatever it says. `no_evidence`: signals that tell nothing of what this question is about.
    `min_score`: what a score must be on top of that.
    """

    floor: Floor | None = None
    least: float = 0.0
    then: NDArray[np.bool_] | None = None
    no_evidence: frozenset[str] = frozenset()
    min_score: float = 0.0

    def relevant(self, expression: Expression, table: Mapping[str, Column]) -> NDArray[np.bool_]:
        """Which candidates are, shape (n,)."""
        if self.floor is None:
            return np.ones(len(table["similarity"]), dtype=np.bool_)
        shares = evidence(expression, table, self.no_evidence)
        passes = self.floor.passes(table["similarity"], table["coverage"], shares, self.least)
        return passes if self.then is None else passes | self.then


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates scored by `expression`: `order` their indexes, best first; `relevant` which are above the floor;
    `passed` which are also above the least score asked for.
    """

    found: Candidates
    table: Mapping[str, Column]
    expression: Expression
    scored: Scored
    scores: Column
    order: NDArray[np.int64]
    relevant: NDArray[np.bool_]
    passed: NDArray[np.bool_]

    def best_cue(self, index: int, cues: Sequence[Cue]) -> Cue:
        """Of all the cues of a candidate the one that was found."""
        # Revised since the search, it may have fewer than it had.
        return cues[min(int(self.found.cue[index]), len(cues) - 1)]


def rank(
    expression: Expression,
    found: Candidates,
    table: Mapping[str, Column],
    bar: Bar,
    *,
    before: Ranked | None = None,
) -> Ranked:
    """`before`: the ranking that this one refines: equals are left in its order, and relevant is what was. None: equals
    stay as candidates come, newest first, then by id.
    """
    scored = evaluate(expression, table, len(found.ids))
    scores = np.where(np.isnan(scored.values), 0.0, scored.values)
    if before is None:
        relevant, order = bar.relevant(expression, table), np.argsort(-scores, kind="stable")
    else:
        relevant, order = before.relevant, before.order[np.argsort(-scores[before.order], kind="stable")]
    return Ranked(found, table, expression, scored, scores, order, relevant, relevant & (scores >= bar.min_score))
