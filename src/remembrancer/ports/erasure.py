"""Erasure: finding what depends on the rows to erase, removing them, and keeping receipts."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from remembrancer.domain.erasure import Erasure, ErasureSelection, Removal, Removed, Traces
    from remembrancer.domain.scope import Scope


class Erasures(Protocol):
    """Removes rows for good, purges them from the store's files, and keeps the receipts."""

    async def lying_in(self, scope: Scope, choice: ErasureSelection) -> tuple[frozenset[UUID], frozenset[UUID]]:
        """The ids of the memories and events that a choice selects, by id or by scope, whatever their status and
        visibility; archived events too.

        `ErasureSelection.before` is compared with the end of a memory's span. Raises NotFound for an id that the
        workspace does not have.
        """
        ...

    async def traces(self, scope: Scope, *, memories: Collection[UUID], events: Collection[UUID]) -> Traces:
        """What these memories and events are connected to, whatever its status and visibility, without missing ones."""
        ...

    async def erase(self, scope: Scope, removal: Removal, receipt: Erasure) -> Removed:
        """Remove memories and events with everything that belongs to them, and keep a receipt, in one transaction.

        A memory takes its cues, vectors, revisions, relations, exposures, reviews and audit with it; an event its
        priority changes; a session that becomes empty its exposures; a stream that becomes empty its cursor, any other
        stream its note. Log lines that quote erased text become `ERASED`. All stored replies to idempotency keys are
        removed, the keys stay. Positions are not reused while anything of their stream is left. A memory that an erased
        one had superseded stays ended and releases its topic key.

        The receipt is stored with the counts and the `repeated` of the returned value, and without `purged_at`. Raises
        Conflict where something no longer exists, has another revision, or where a memory that stays was formed or
        derived from an erased row; nothing is written then. A receipt that is a dry run writes nothing.
        """
        ...

    async def purge(self, scope: Scope, *, at: datetime) -> str:
        """Remove from the store's files what this workspace's erasures left in them. Returns "" on success, otherwise
        the reason why traces may remain; a further call continues. Does nothing where there is nothing to purge.
        """
        ...

    async def copies(self, scope: Scope) -> tuple[str, ...]:
        """The names of files beside the store's own that are older copies of it. Erasure does not reach them."""
        ...

    async def erasures(self, scope: Scope, *, limit: int) -> tuple[Erasure, ...]:
        """The receipts of the workspace, newest first."""
        ...
