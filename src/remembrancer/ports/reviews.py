"""Exposures of memories, and the reviews made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from remembrancer.domain.review import Evidence, Review
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.strength import Exposure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    """Shape (dim,), of unit length."""


class Reviews(Protocol):
    """Reads the log of exposures and of reviews; both are written by `Memories.adjust` and `Memories.commit`."""

    async def unreviewed(self, scope: Scope, exposure: Exposure, *, limit: int) -> tuple[Evidence, ...]:
        """Active memories that nothing supersedes, with exposures of that kind after the last that a review of theirs
        has answered, by the time of the first of those, then id.
        """
        ...

    async def exposed_in(self, scope: Scope, session: str, exposure: Exposure) -> tuple[UUID, ...]:
        """The memories of the workspace with exposures of that kind for a session of that name, by id."""
        ...

    async def reviews(self, reader: Reader, memory_id: UUID) -> tuple[Review, ...]:
        """The reviews of a memory, oldest first; none of one the reader cannot see."""
        ...
