"""Vectors of cues, per embedding model: where they are kept, and which cues still need one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, Protocol
from uuid import UUID

from remembrancer.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from remembrancer.domain.relation import Relation
    from remembrancer.domain.scope import Reader, Scope

    Vector = NDArray[np.float32]
    """Shape (dim,), of unit length."""


MAX_SAID_CHARS: Final = 2000
"""Of a turn that another is read after, no more than its last so many characters are of use."""


@dataclass(frozen=True, slots=True)
class Said:
    """One turn that came before another: who said it ("" where nobody is named), and its text."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class PendingCue:
    """A cue without a vector of some model. `ref` identifies the cue within the store that gave it.

    `speaker`: the name of who says it, where the cue is a turn. `before`: the turns before it, the last one last.
    """

    ref: int
    memory_id: UUID
    text: str
    heading: str = ""
    speaker: str = ""
    before: tuple[Said, ...] = ()


@dataclass(frozen=True, slots=True)
class CueVector:
    """The vector of a cue: float32, unit length, shape (dim,). `truncated`: the text was longer than the model reads.

    `words`: the signs of its token embeddings, packed by `policies.ranking.late_interaction`, uint8 (pieces, bytes).
    """

    ref: int
    vector: NDArray[np.float32]
    truncated: bool
    words: NDArray[np.uint8] | None = None


class Embeddings(Protocol):
    """Keeps one vector for each cue and model, and token embeddings where the model provides them."""

    async def pending(
        self, scope: Scope, model: str, *, limit: int, now: datetime, before: int = 0, words: bool = False
    ) -> tuple[PendingCue, ...]:
        """Cues of the workspace without a vector of `model`, except those whose last attempt failed too recently to
        retry.

        `words`: also cues that have a vector but no token embeddings. `before`: how many preceding turns of user or
        assistant to return with each turn, at most `domain.stream.CONTEXT_GAP` apart, whether they became memories or
        not.
        """
        ...

    async def pending_of(
        self, scope: Scope, model: str, memory_id: UUID, *, before: int = 0, words: bool = False
    ) -> tuple[PendingCue, ...]:
        """The same for the cues of one memory, by ordinal, including those whose last attempt failed."""
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
        """Store vectors, and relations with them, in one transaction; returns how many vectors were new.

        A cue that no longer exists, or has a vector already, is skipped; but token embeddings for a cue without any are
        stored together with their vector. A relation that exists, or has lost an end, is skipped. Raises
        EmbedderMismatch where a vector's dimension differs from the others or from the stored vectors of `model`.
        """
        ...

    async def defer_vectors(self, scope: Scope, model: str, refs: Sequence[int], *, error: str, now: datetime) -> None:
        """Note that embedding these cues failed: they wait 30 s, then twice as long each time, at most a day."""
        ...

    async def vectors(self, reader: Reader, model: str, ids: Sequence[UUID]) -> Mapping[UUID, NDArray[np.float32]]:
        """The vector of each memory's first cue that has one, shape (dim,). Memories without any are left out."""
        ...
