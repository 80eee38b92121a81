"""Kept recalls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from remembrancer.domain.kept import KeptRecall
    from remembrancer.domain.scope import Reader, Scope


class Recalls(Protocol):
    """Keeps answers. They are not exported: an answer belongs to the store that gave it.

    A reader sees those asked from scopes within its reach, as with events. An erasure removes those that were asked in
    the scope it erases, and those whose question quotes an erased text.
    """

    async def keep_recall(self, scope: Scope, kept: KeptRecall) -> None:
        """Store an answer; the oldest of the workspace beyond `MAX_KEPT` are dropped. Raises Conflict for a known id,
        InvalidInput for one of another workspace.
        """
        ...

    async def kept_recall(self, reader: Reader, recall_id: UUID) -> KeptRecall | None:
        """A kept answer, as far as the reader sees it; None if there is none."""
        ...

    async def drop_recall(self, reader: Reader, recall_id: UUID) -> bool:
        """Remove an answer. Returns whether there was one that the reader sees."""
        ...
