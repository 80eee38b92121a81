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
    """Removes rows, purges them from the store's files, and keeps receipts."""

    async def lying_in(
        self, scope: Scope, choice: ErasureSelection, *, unheld: bool = False
    ) -> tuple[frozenset[UUID], frozenset[UUID]]:
        """The ids of the memories and events that a choice selects, including archived events, whatever their status
        and visibility. `unheld`: of those selected by their parts, only those that no legal hold matches.

        `ErasureSelection.before` is compared with the end of a memory's span. Raises NotFound for an id that is not in
        the workspace.
        """
        ...

    async def traces(self, scope: Scope, *, memories: Collection[UUID], events: Collection[UUID]) -> Traces:
        """The rows connected to these memories and events, whatever their status and visibility. Missing ids are left
        out.
        """
        ...

    async def erase(self, scope: Scope, removal: Removal, receipt: Erasure) -> Removed:
        """Remove memories and events with everything that belongs to them, and store a receipt, in one transaction.

        Removed with a memory: its revisions and past states, the cues and vectors of all of them, its relations,
        exposures, reviews and audit. With an event: its priority changes. With the last row of a session: its
        exposures. With the last event of a stream: its cursor; any other stream loses its note. Log lines that quote
        erased text become `ERASED`. Stored replies to idempotency keys are all removed; the hashes of the keys stay,
        and the receipt says so. Positions of a stream are not reused while any of its rows is left. A memory that an
        erased one superseded stays ended and releases its topic key.

        A memory that stays, but had an erased session, actor, kind or origin in an earlier revision, loses all earlier
        revisions, with their cues and vectors.

        The receipt is stored `completed` by the returned value, and without `purged_at`. A receipt that is a dry run
        writes nothing.

        Raises Conflict, and writes nothing, if a row no longer exists or has another revision, or if a memory that
        stays was formed or derived from an erased row. Raises OnHold, and writes nothing, if a legal hold matches a row
        that would be removed, a memory that would be formed again, or one that would lose its revisions.
        """
        ...

    async def purge(self, scope: Scope, *, at: datetime) -> str:
        """Remove what this workspace's erasures left in the store's files. Does nothing if there is nothing to purge.

        Returns "" on success, otherwise the reason why erased data may remain; a further call continues.
        """
        ...

    async def copies(self, scope: Scope) -> tuple[str, ...]:
        """The names of older copies of the store's file next to it. Erasure does not change them."""
        ...

    async def erasures(self, scope: Scope, *, limit: int) -> tuple[Erasure, ...]:
        """The receipts of the workspace, newest first."""
        ...
