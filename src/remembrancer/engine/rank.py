"""Candidates in an order: scored, those that answer told from the rest, the best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from remembrancer.domain.candidates import Candidates
from remembrancer.domain.memory import Cue
from remembrancer.policies.relevance import Floor
from remembrancer.policies.scoring import Expression, Scored, evaluate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.policies.scoring import Column


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
    floor: Floor | None,
    min_score: float,
    *,
    before: NDArray[np.int64] | None = None,
) -> Ranked:
    """`before`: the order that equals are left in; None: as candidates come, newest first, then by id."""
    scored = evaluate(expression, table, len(found.ids))
    scores = np.where(np.isnan(scored.values), 0.0, scored.values)
    relevant = scores >= 0 if floor is None else floor.passes(table["similarity"], table["coverage"], table["nearby"])
    order = np.argsort(-scores, kind="stable") if before is None else before[np.argsort(-scores[before], kind="stable")]
    return Ranked(found, table, expression, scored, scores, order, relevant, relevant & (scores >= min_score))
