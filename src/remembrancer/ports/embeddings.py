"""Vectors of cues by embedding model, which model's vectors answer, and the cues that still need one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, Protocol
from uuid import UUID

from remembrancer.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from remembrancer.domain.relation import Relation
    from remembrancer.domain.scope import Reader, Scope
    from remembrancer.domain.vector_space import SpaceSizes, VectorSpace

    Vector = NDArray[np.float32]
    """Shape (dim,), of unit length."""


MAX_CONTEXT_TURN_CHARS: Final = 2000
"""The characters, from the end, of each preceding turn that are used as context."""


@dataclass(frozen=True, slots=True)
class PrecedingTurn:
    """A preceding turn: its speaker ("" if not named) and its text."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class PendingCue:
    """A cue without a vector of some model. `ref` identifies it within its store; `owner`: the scope of its memory.

    `speaker`: the name of the speaker, if the cue is a turn. `before`: the preceding turns, oldest first.
    """

    ref: int
    memory_id: UUID
    owner: Scope
    text: str
    heading: str = ""
    speaker: str = ""
    before: tuple[PrecedingTurn, ...] = ()


@dataclass(frozen=True, slots=True)
class CueVector:
    """The vector of a cue: float32, unit length, shape (dim,). `truncated`: the text was longer than the model's input.

    `token_embeddings`: the signs of its token embeddings, packed by `policies.ranking.late_interaction`, uint8 (tokens,
    bytes). `digest`: that of the embedded text and context (`policies.admission.digests`); None: not known, as for
    imported vectors.
    """

    ref: int
    vector: NDArray[np.float32]
    truncated: bool
    token_embeddings: NDArray[np.uint8] | None = None
    digest: bytes | None = None


@dataclass(frozen=True, slots=True)
class FailedCue:
    """A cue whose embedding failed, given by its memory and ordinal. `attempts`: the number of failures; `error`: that
    of the last one. The next attempt is not before `retry_at`.
    """

    memory_id: UUID
    ordinal: int
    attempts: int
    retry_at: datetime
    error: str


class Embeddings(Protocol):
    """Stores one vector per cue and model, and token embeddings if the model gives them."""

    async def pending(
        self, scope: Scope, model: str, *, limit: int, now: datetime, before: int = 0, token_embeddings: bool = False
    ) -> tuple[PendingCue, ...]:
        """Cues of the workspace without a vector of `model`, those of earlier revisions among them. Cues that failed
        and whose retry is not due are left out.

        `token_embeddings`: also cues that have a vector but no token embeddings. `before`: the number of preceding user
        and assistant turns to return with each turn, whether or not they became memories; gaps are at most
        `domain.stream.CONTEXT_GAP`.
        """
        ...

    async def pending_of(
        self, scope: Scope, model: str, memory_id: UUID, *, before: int = 0, token_embeddings: bool = False
    ) -> tuple[PendingCue, ...]:
        """As `pending`, for the cues of one memory, by ordinal, including those whose last attempt failed."""
        ...

    async def embedded(self, scope: Scope, model: str, digests: Collection[bytes]) -> Mapping[bytes, CueVector]:
        """For each digest, the stored vector of `model` in this workspace, with its token embeddings. Digests without
        one are left out.
        """
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
        """Store vectors and relations in one transaction; returns how many vectors were new.

        Skips cues that no longer exist or already have a vector. A cue that has a vector without token embeddings gets
        the new vector and its token embeddings. Skips relations that exist or whose ends do not both exist. The first
        vectors of a workspace make their model the one that answers. Raises EmbedderMismatch if a vector's dimension
        differs from the others or from the stored vectors of `model`.
        """
        ...

    async def drop_vectors(self, scope: Scope, model: str) -> int:
        """Delete the workspace's vectors of `model` with its token embeddings, failures and dimension: all its cues are
        pending again. The model keeps its role. Returns the number of vectors.
        """
        ...

    async def spaces(self, scope: Scope) -> tuple[VectorSpace, ...]:
        """The models that have, or had, a role in the workspace, by model."""
        ...

    async def space_sizes(self, scope: Scope, *, since: datetime) -> SpaceSizes:
        """The number of cues, and the size of each vector space. Recent: stored at `since` or later. Counts every row
        of the workspace.
        """
        ...

    async def build_space(self, scope: Scope, model: str, *, at: datetime) -> bool:
        """Give a model without a role, or with dropped vectors, the role `building`. Returns False, and changes
        nothing, if it has another role. Raises Conflict if another model is being built.
        """
        ...

    async def answer_with(
        self, scope: Scope, model: str, *, at: datetime, allow_missing: bool = False, token_embeddings: bool = False
    ) -> int:
        """Let a model's vectors answer from now on, in one transaction; the model that answered is kept.

        Returns the number of cues that have a vector of the model that answered, and none of this one
        (`token_embeddings`: or no token embeddings). If there are any, nothing changes without `allow_missing`. Raises
        NotFound for a model that is neither being built nor kept.
        """
        ...

    async def drop_space(self, scope: Scope, model: str, *, at: datetime) -> int:
        """Delete a model's vectors, as `drop_vectors`, and give it the role `dropped`. Returns the number of vectors.

        Raises Conflict for the model that answers, NotFound for one without a role.
        """
        ...

    async def defer_vectors(self, scope: Scope, model: str, refs: Sequence[int], *, error: str, now: datetime) -> None:
        """Record that embedding these cues failed. The first retry is due after 30 s; the wait then doubles, up to a
        day.
        """
        ...

    async def failed_vectors(self, scope: Scope, model: str, *, limit: int) -> tuple[FailedCue, ...]:
        """Cues of the workspace whose last embedding failed, by the time of the next attempt, ties by their refs."""
        ...

    async def vectors(self, reader: Reader, model: str, ids: Sequence[UUID]) -> Mapping[UUID, NDArray[np.float32]]:
        """The vector of each memory's first cue that has one, shape (dim,). Memories without any are left out."""
        ...
