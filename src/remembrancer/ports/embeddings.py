"""Vectors of cues, by embedding model: which are missing, and where they are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from remembrancer.domain.relation import Relation
from remembrancer.domain.scope import Reader, Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    """Shape (dim,), of unit length."""


@dataclass(frozen=True, slots=True)
class Said:
    """Who said what; "" where nobody is named."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class PendingCue:
    """A cue that has no vector of a model yet. `ref` names it within the store that gave it.

    `speaker`: who says it, where it is a turn of someone with a name. `before`: the turns before it, the last one last.
    """

    ref: int
    memory_id: UUID
    text: str
    heading: str = ""
    speaker: str = ""
    before: tuple[Said, ...] = ()


@dataclass(frozen=True, slots=True)
class CueVector:
    """A cue's vector: float32, unit length, shape (dim,).

    `words`: the signs of its token embeddings, packed by `policies.ranking.late_interaction`, uint8 (pieces, bytes).
    """

    ref: int
    vector: NDArray[np.float32]
    truncated: bool
    words: NDArray[np.uint8] | None = None


class Embeddings(Protocol):
    """Keeps a vector of each cue, and token embeddings where the model gives them."""

    async def pending(
        self, scope: Scope, model: str, *, limit: int, now: datetime, before: int = 0, words: bool = False
    ) -> tuple[PendingCue, ...]:
        """Cues of the workspace without a vector of `model`, whose last failure (if any) has been waited out.

        `words`: also those that have one, but none of their words.

        `before`: how many turns of user or assistant before a turn come with it, as far as they belong to it
        (`CONTEXT_GAP`), whether or not they were admitted as memories.
        """
        ...

    async def pending_of(
        self, scope: Scope, model: str, memory_id: UUID, *, before: int = 0, words: bool = False
    ) -> tuple[PendingCue, ...]:
        """Likewise the cues of one memory, by ordinal, whether or not a failure of theirs has been waited out."""
        ...

    async def put_vectors(
        self,
        scope: Scope,
        model: str,
        vectors: Sequence[CueVector],
        *,
        at: datetime,
        relations: Sequence[Relation] = (),
    ) -> int:
        """Store vectors, and edges with them; a cue that has gone, or already has one, is left alone. But where words
        come to a cue without, they and their vector take the place of its vector.

        An edge that is there, or whose end has gone, is left alone. Returns how many vectors were new. Raises
        EmbedderMismatch when a vector's dimension differs from the others or from those that `model` has here.
        """
        ...

    async def defer_vectors(self, scope: Scope, model: str, refs: Sequence[int], *, error: str, now: datetime) -> None:
        """Note that these cues failed, so that the next try waits (doubling from 30 s, at most a day)."""
        ...

    async def vectors(self, reader: Reader, model: str, ids: Sequence[UUID]) -> Mapping[UUID, NDArray[np.float32]]:
        """The vector of each memory's first cue that has one, shape (dim,); memories without any are left out."""
        ...
