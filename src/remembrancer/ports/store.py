"""The record store: the intersection of one protocol per kind of record.

Every method takes a scope or a reader, and no row outside its workspace is read, written, counted or scored. (`key_of`
and `has_keys` take neither: the API key determines the workspace. `backup` copies all workspaces.) Each writing method
is one transaction, applied completely or not at all. Reading methods write nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

from remembrancer.ports.access import Access
from remembrancer.ports.audit import AuditTrail
from remembrancer.ports.embeddings import Embeddings
from remembrancer.ports.erasure import Erasures
from remembrancer.ports.index_files import IndexFiles
from remembrancer.ports.inspection import Inspection
from remembrancer.ports.jobs import Jobs
from remembrancer.ports.journal import Journal
from remembrancer.ports.memories import Memories
from remembrancer.ports.notifications import Notifications
from remembrancer.ports.outcomes import TaskOutcomes
from remembrancer.ports.recalls import Recalls
from remembrancer.ports.retention import RetentionRecords
from remembrancer.ports.reviews import Reviews
from remembrancer.ports.transfer import Transfer

if TYPE_CHECKING:
    from remembrancer.domain.memory import Analyse
    from remembrancer.ports.changes import ReadView

T = TypeVar("T")


class Store(
    Journal,
    Memories,
    Embeddings,
    Reviews,
    TaskOutcomes,
    Jobs,
    Access,
    Erasures,
    AuditTrail,
    RetentionRecords,
    Recalls,
    IndexFiles,
    Transfer,
    Inspection,
    Notifications,
    Protocol,
):
    """All roles of one record store."""

    async def read(self, work: Callable[[ReadView], T]) -> T:
        """Run a plain function over one snapshot of the records, in a thread of the store.

        The view is valid until `work` returns, in that thread only. `work` must not write, nor wait for other calls of
        the store.
        """
        ...

    async def close(self) -> None:
        """Finish running calls and close. Closing twice does nothing; any other later call raises StoreUnavailable."""
        ...


class StoreOpener(Protocol):
    """Opens a store by its URL. Packages register one by URL scheme in the entry point group `remembrancer.stores`."""

    def __call__(self, url: str, /, *, analyse: Analyse, create: bool) -> Store:
        """Open the store at a URL. `analyse`: adds search terms to cues. `create`: create the store if it does not
        exist.

        Raises StoreUnavailable, Unsupported, or InvalidInput for an invalid URL.
        """
        ...
