"""Exposures of memories, and the reviews based on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from remembrancer.domain.review import Evidence, Review
    from remembrancer.domain.scope import Reader, Scope
    from remembrancer.domain.strength import Exposure


class Reviews(Protocol):
    """Reads the logs of exposures and reviews, which `Memories.adjust` and `Memories.commit` write."""

    async def unreviewed(self, scope: Scope, exposure: Exposure, *, limit: int) -> tuple[Evidence, ...]:
        """Active, not superseded memories with exposures of that kind after the last one that a review covers. Ordered
        by the time of the first such exposure, then id.
        """
        ...

    async def exposed_in(self, stream: Scope, exposure: Exposure) -> tuple[UUID, ...]:
        """The memories with exposures of that kind in the session of `stream`, by id. Sessions of the same name with
        another project, crew or agent are others.
        """
        ...

    async def reviews(self, reader: Reader, memory_id: UUID) -> tuple[Review, ...]:
        """The reviews of a memory, oldest first; empty if the reader cannot see it."""
        ...
