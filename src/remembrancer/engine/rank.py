"""Score candidates, tell those that answer from the others, and put the best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from remembrancer.domain.candidates import Candidates
from remembrancer.domain.memory import Cue
from remembrancer.policies.ranking.relevance import Acceptance
from remembrancer.policies.ranking.scoring import Expression, Scored, evaluate
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.policies.ranking.scoring import FloatColumn


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates scored by `expression`. `order`: their indexes, best first. `relevant`: which of them pass the floor;
    `passed`: which also have the least score asked for.
    """

    found: Candidates
    table: Mapping[str, FloatColumn]
    expression: Expression
    accepts: Acceptance
    scored: Scored
    scores: FloatColumn
    order: NDArray[np.int64]
    relevant: NDArray[np.bool_]
    passed: NDArray[np.bool_]

    def best_cue(self, index: int, cues: Sequence[Cue]) -> Cue:
        """Of all cues of a candidate, the one that was found."""
        # Revised since the search, it may have fewer than it had.
        return cues[min(int(self.found.cue[index]), len(cues) - 1)]


def ranked_by(
    expression: Expression,
    found: Candidates,
    table: Mapping[str, FloatColumn],
    accepts: Acceptance,
    *,
    before: Ranked | None = None,
) -> Ranked:
    """Rank by an expression over a table of signals.

    `before`: the ranking that this one refines: equal scores stay in its order, and what is relevant stays so. None:
    equal scores stay in the order of the candidates, newest first, then by id.
    """
    scored = evaluate(expression, table, len(found.ids))
    scores = np.where(np.isnan(scored.values), 0.0, scored.values)
    if before is None:
        relevant, order = accepts.relevant(expression, table), np.argsort(-scores, kind="stable")
    else:
        relevant, order = before.relevant, before.order[np.argsort(-scores[before.order], kind="stable")]
    passed = relevant & (scores >= accepts.min_score)
    return Ranked(found, table, expression, accepts, scored, scores, order, relevant, passed)
