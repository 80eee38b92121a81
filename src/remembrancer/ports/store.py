"""The record store: one protocol a noun, and their intersection.

Every method takes a scope or a reader: no row outside its workspace can be read, written, counted or let into a
score. (`key_of` and `has_keys` take neither: an API key says which workspace its holder may reach.) Each writing method
is one transaction: its whole effect, or none of it. Reading methods write nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

from remembrancer.ports.access import Access
from remembrancer.ports.embeddings import Embeddings
from remembrancer.ports.erasure import Erasures
from remembrancer.ports.inspection import Inspection
from remembrancer.ports.jobs import Jobs
from remembrancer.ports.journal import Journal
from remembrancer.ports.memories import Memories
from remembrancer.ports.reviews import Reviews
from remembrancer.ports.transfer import Transfer

if TYPE_CHECKING:
    from remembrancer.domain.memory import Analyse
    from remembrancer.ports.changes import ReadView

T = TypeVar("T")


class Store(Journal, Memories, Embeddings, Reviews, Jobs, Access, Erasures, Transfer, Inspection, Protocol):
    """All roles of one record store."""

    async def read(self, work: Callable[[ReadView], T]) -> T:
        """Run a plain function over one unchanging state of the records, whole, in a thread of the store's.

        The view is of use until `work` returns, and in that thread alone. `work` must not write, nor wait for anything
        that waits for the store.
        """
        ...

    async def close(self) -> None:
        """Finish running calls and close. Closing again does nothing; any other later call raises StoreUnavailable."""
        ...


class StoreOpener(Protocol):
    """Opens a store by its URL. Packages register one by the scheme, in the entry point group `remembrancer.stores`."""

    def __call__(self, url: str, /, *, analyse: Analyse, create: bool) -> Store:
        """`analyse` gives the search terms of a cue; `create`: make the store where there is none.

        Raises StoreUnavailable, Unsupported, or InvalidInput for a URL that it cannot read.
        """
        ...
