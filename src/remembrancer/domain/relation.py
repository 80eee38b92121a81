"""Relations: directed edges between two memories."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from uuid import UUID

from remembrancer.values import dataclass


class RelationKind(StrEnum):
    """The relation of one memory to another: the source is similar to, supports, … the target."""

    SIMILAR = "similar"
    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    DERIVED_FROM = "derived_from"
    SUPERSEDES = "supersedes"


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation from `source` to `target`; `weight` in [0, 1]."""

    source: UUID
    target: UUID
    kind: RelationKind
    weight: float
    created_at: datetime
