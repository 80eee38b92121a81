"""Erasure: what hangs together with what is to go, its removal, and the receipts."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from remembrancer.domain.erasure import Choice, Erasure, Removal, Removed, Traces
from remembrancer.domain.scope import Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    """Shape (dim,), of unit length."""


class Erasures(Protocol):
    """Removes rows for good, purges the files of them, and keeps the receipts."""

    async def lying_in(self, scope: Scope, choice: Choice) -> tuple[frozenset[UUID], frozenset[UUID]]:
        """The memories and the events of the workspace that a choice names or that lie in the parts of a scope that it
        names, by id; whatever their status and visibility, events of the archive too.

        Of memories, `Choice.before` looks at the end of their span. NotFound for an id that the workspace does not
        have.
        """
        ...

    async def traces(self, scope: Scope, *, memories: Collection[UUID], events: Collection[UUID]) -> Traces:
        """What these hang together with, whatever its status and visibility; what is not there is left out."""
        ...

    async def erase(self, scope: Scope, removal: Removal, receipt: Erasure) -> Removed:
        """Let go of memories and events for good, with all that belongs to them, and keep a receipt; all or nothing.

        With a memory go its cues, vectors, revisions, edges, exposures, reviews and audit; with an event its changes of
        priority; with a session that nothing is left of, its exposures; with a stream that is left empty, its cursor,
        and the note of any other. Lines of logs (queries, audit, errors) that quote what goes say `ERASED` from then
        on, and every answer to an idempotency key is let go of, its key stays. Places and positions are not given
        again while anything of their stream is left. What was superseded by something that goes is over since then,
        and lets go of its topic.

        The receipt is kept with the counts and the `repeated` of what is returned, and not `purged_at`. Raises
        Conflict when something is no longer there, is no longer at its revision, or when a memory that stays was
        formed or derived from something that goes; nothing is written then. In a dry run of the receipt nothing is
        written either.
        """
        ...

    async def purge(self, scope: Scope, *, at: datetime) -> str:
        """Rid the store's files of what the erasures of this workspace left in them. Returns "" when they hold none of
        it, else why they may: then another call goes on. Does nothing where nothing is left to do.
        """
        ...

    async def copies(self, scope: Scope) -> tuple[str, ...]:
        """The names of files beside the store's own that are copies of it from before; they are not erased from."""
        ...

    async def erasures(self, scope: Scope, *, limit: int) -> tuple[Erasure, ...]:
        """The receipts of the workspace, newest first."""
        ...
