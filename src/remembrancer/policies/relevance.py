"""When an honest answer is: nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from remembrancer.errors import InvalidInput

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.policies.scoring import Column


@dataclass(frozen=True, slots=True)
class Floor:
    """A candidate answers when its similarity alone, its coverage alone, or both together in part reach their mark:
    similarity / `similarity` + coverage / `coverage` >= 1.

    `then`: once one does, what reaches this share of the mark is returned too. Whether there is an answer at all is one
    question; how far down it is worth reading is another, for which what stands around a turn speaks as well.
    """

    similarity: float
    coverage: float
    then: float = 1.0

    def __post_init__(self) -> None:
        for name in ("similarity", "coverage", "then"):
            value = getattr(self, name)
            if not 0 < value <= 1:
                raise InvalidInput(f"floor.{name}", value, "a number greater than 0, at most 1")

    def passes(self, similarity: Column, coverage: Column) -> NDArray[np.bool_]:
        """Which candidates do, shape (n,).

        An absent similarity (no embedder, or no vector yet) counts as half its mark: what cannot be compared is not
        held against a text that shares the question's words. An absent coverage counts as 0.
        """
        known = np.where(np.isnan(similarity), self.similarity / 2, similarity)
        evidence = known / self.similarity + np.nan_to_num(coverage) / self.coverage
        return evidence >= (self.then if (evidence >= 1.0).any() else 1.0)
