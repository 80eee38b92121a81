"""Links from a new memory to earlier ones."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.values import dataclass


@dataclass(frozen=True, slots=True)
class SimilarLinks:
    """Up to `at_most` `similar` relations from a memory to earlier ones, if the cosine is greater than `above`."""

    at_most: int
    above: float

    def __post_init__(self) -> None:
        validation.whole("at_most", self.at_most, 1, 100)
        validation.fraction("above", self.above)

    def from_(self, memory: UUID, cosines: Mapping[UUID, float], at: datetime) -> tuple[Relation, ...]:
        """The relations, most similar first, ties by id. The weight is the cosine, at most 1."""
        near = sorted((-cosine, other) for other, cosine in cosines.items() if cosine > self.above and other != memory)
        return tuple(
            Relation(memory, other, RelationKind.SIMILAR, min(1.0, -cosine), at)
            for cosine, other in near[: self.at_most]
        )
