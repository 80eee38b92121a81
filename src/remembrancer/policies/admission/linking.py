"""Which earlier memories a new one is joined to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.relation import Relation, RelationKind


@dataclass(frozen=True, slots=True)
class SimilarLinks:
    """Up to `at_most` `similar` edges from a memory to those there before it, whose cosine is greater than `above`."""

    at_most: int
    above: float

    def __post_init__(self) -> None:
        validation.whole("at_most", self.at_most, 1, 100)
        validation.fraction("above", self.above)

    def from_(self, memory: UUID, cosines: Mapping[UUID, float], at: datetime) -> tuple[Relation, ...]:
        """The edges, nearest first, ties by id; the weight is the cosine, at most 1."""
        near = sorted((-cosine, other) for other, cosine in cosines.items() if cosine > self.above and other != memory)
        return tuple(
            Relation(memory, other, RelationKind.SIMILAR, min(1.0, -cosine), at)
            for cosine, other in near[: self.at_most]
        )
