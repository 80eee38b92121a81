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

    `then`: once one does, what reaches this share of the mark is returned too, and words around a turn count like its
    own: similarity / `similarity` + (coverage + nearby) / `coverage` >= `then`. Whether there is an answer at all is
    one question; how far down it is worth reading is another.
    """

    similarity: float
    coverage: float
    then: float = 1.0

    def __post_init__(self) -> None:
        for name in ("similarity", "coverage", "then"):
            value = getattr(self, name)
            if not 0 < value <= 1:
                raise InvalidInput(f"floor.{name}", value, "a number greater than 0, at most 1")

    def passes(self, similarity: Column, coverage: Column, nearby: Column) -> NDArray[np.bool_]:
        """Which candidates do, shape (n,).

        An absent similarity (no embedder, or no vector yet) counts as half its mark: what cannot be compared is not
        held against a text that shares the question's words. For what follows an answer it counts as 0, which is all
        that is known of it; so do the others where they are absent.
        """
        unlike = np.isnan(similarity)
        alike = np.where(unlike, 0.0, similarity) / self.similarity
        covered = np.where(np.isnan(coverage), 0.0, coverage)
        answers = np.where(unlike, 0.5, alike) + covered / self.coverage >= 1.0
        if not answers.any():
            return answers
        around = alike + (covered + np.where(np.isnan(nearby), 0.0, nearby)) / self.coverage
        return answers | (around >= self.then)
