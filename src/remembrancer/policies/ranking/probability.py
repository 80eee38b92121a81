"""The calibrated probability that a hit answers the question."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.domain import validation
from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.policies.ranking.scoring import FloatColumn

DECIMALS: Final = 2
"""The decimals of a probability: more would show a precision that the calibration does not have."""
NEXT: Final = 5
"""The number of candidates that the lead of a candidate is measured against. Against the next one alone, a memory and
its copy would have no lead.
"""
_ALLOWED: Final = {0: "a finite number", 1: "a finite number, at least 0", -1: "a finite number, at most 0"}


@dataclass(frozen=True, slots=True, kw_only=True)
class HitProbability:
    """The fraction of such hits that answer: 1 / (1 + e^-x), where x = `intercept` + `score` · score + `lead` · lead +
    `log_rank` · ln rank. The lead of a hit is its score minus the mean score of the next `NEXT` candidates, 0 for the
    last one. A hit is never more probable than a better one. Source: Platt, Probabilistic Outputs for Support Vector
    Machines, 1999.

    `models`: the ids of the embedders that it was fitted with, as `remembrancer doctor` prints them. With another
    embedder, scores mean something else, and no hit has a probability. `score` and `lead` are not negative, and
    `log_rank` is not positive.
    """

    models: tuple[str, ...]
    intercept: float
    score: float
    lead: float
    log_rank: float

    def __post_init__(self) -> None:
        if not self.models:
            raise InvalidInput("probability.models", list(self.models), "the id of at least one embedder")
        for model in self.models:
            validation.text("probability.models", model)
        for name, sign in (("intercept", 0), ("score", 1), ("lead", 1), ("log_rank", -1)):
            value = getattr(self, name)
            if not isfinite(value) or value * sign < 0:
                raise InvalidInput(f"probability.{name}", value, _ALLOWED[sign])

    def of(self, scores: FloatColumn) -> FloatColumn:
        """The probabilities of candidates, rounded to `DECIMALS`, shape (n,). `scores`: of all of them, best first."""
        x = features(scores) @ np.array([self.intercept, self.score, self.lead, self.log_rank])
        return np.minimum.accumulate(1.0 / (1.0 + np.exp(-x))).round(DECIMALS)


def features(scores: FloatColumn) -> NDArray[np.float64]:
    """The features of candidates in the order of the coefficients, shape (n, 4). `scores`: of all, best first."""
    count = len(scores)
    places = np.arange(count)
    ends = np.minimum(places + 1 + NEXT, count)
    sums = np.concatenate([[0.0], np.cumsum(scores)])
    following = ends - places - 1
    # The last candidate leads nobody.
    means = np.where(following > 0, (sums[ends] - sums[places + 1]) / np.maximum(following, 1), scores)
    return np.column_stack([np.ones(count), scores, scores - means, np.log(places + 1)])
