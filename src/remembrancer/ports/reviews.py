"""Exposures of memories, and the reviews made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from remembrancer.domain.review import Evidence, Review
    from remembrancer.domain.scope import Reader, Scope
    from remembrancer.domain.strength import Exposure


class Reviews(Protocol):
    """Reads the logs of exposures and reviews. `Memories.adjust` and `Memories.commit` write them."""

    async def unreviewed(self, scope: Scope, exposure: Exposure, *, limit: int) -> tuple[Evidence, ...]:
        """Active memories that are not superseded and have exposures of that kind after the last one that a review
        covers. Ordered by the time of the first such exposure, then id.
        """
        ...

    async def exposed_in(self, scope: Scope, session: str, exposure: Exposure) -> tuple[UUID, ...]:
        """The memories of the workspace with exposures of that kind in a session of that name, by id."""
        ...

    async def reviews(self, reader: Reader, memory_id: UUID) -> tuple[Review, ...]:
        """The reviews of a memory, oldest first; empty where the reader cannot see it."""
        ...
