"""The vector spaces of a workspace: the vectors of each embedding model, and which of them answer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from remembrancer.values import dataclass


class SpaceRole(StrEnum):
    """The purpose of a model's vectors."""

    ANSWERS = "answers"
    """Questions are compared with these vectors. At most one model of a workspace has this role."""
    BUILDING = "building"
    """The target of a change of embedder. At most one model of a workspace has this role."""
    KEPT = "kept"
    """They answered before a switch, and are kept for a roll-back."""
    DROPPED = "dropped"
    """They were deleted. Only an explicit change makes them again."""


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """A model, and the role of its vectors since a time."""

    model: str
    role: SpaceRole
    since: datetime


@dataclass(frozen=True, slots=True)
class SpaceSize:
    """The vectors of a model: their number, how many of them are recent, and their bytes, token embeddings included."""

    vectors: int
    recent: int
    bytes: int


@dataclass(frozen=True, slots=True)
class SpaceSizes:
    """The number of cues of a workspace, and the size of each vector space, by model."""

    cues: int
    of: Mapping[str, SpaceSize]
