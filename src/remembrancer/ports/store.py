"""The record store: one protocol a noun, and their intersection.

Every method takes a scope or a reader: no row outside its workspace can be read, written, counted or let into a
score. (`key_of` and `has_keys` take neither: an API key says which workspace its holder may reach.) Each writing method
is one transaction: its whole effect, or none of it. Reading methods write nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from remembrancer.domain.candidates import Candidates
from remembrancer.domain.event import Role
from remembrancer.domain.query import Filter, LexicalQuery
from remembrancer.domain.scope import Reader
from remembrancer.ports.access import Access
from remembrancer.ports.embeddings import Embeddings
from remembrancer.ports.erasure import Erasures
from remembrancer.ports.exchange import Analyse
from remembrancer.ports.inspection import Inspection
from remembrancer.ports.jobs import Jobs
from remembrancer.ports.journal import Journal
from remembrancer.ports.memories import Memories
from remembrancer.ports.one_thread import Beside
from remembrancer.ports.reviews import Reviews
from remembrancer.ports.transfer import Transfer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    """Shape (dim,), of unit length."""
CONTEXT_GAP: Final = timedelta(hours=1)
"""Turns of one stream that lie farther apart are not each other's context."""
NEXT_BUT_ONE: Final = 0.75
"""What a word is worth that stands only two turns away, beside 1 for the turn next to it."""
MAX_SAID_CHARS: Final = 2000
"""Of a turn that another is read after, no more than its last so many characters are of use."""
BRIEF_TERMS: Final = 40
"""A turn of more terms is a text of its own: what it says is no context for the turns around it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One question to the indexes. Each leg may be absent.

    `vector` (unit, float32), or what gives it once the words have been looked up, goes with its `model`. Each leg
    brings up to `depth` memories, cues folded to memories by maximum.

    `surroundings`: what stands around each turn counts too, and is a leg of its own. The turns around one are those
    before and after it in its stream (its scope, session and all), in the order of `seq`, each within `CONTEXT_GAP` of
    the next. What the reader may not see, what the filter leaves out, and turns of more than `BRIEF_TERMS` terms add
    nothing. `speakers`, `roles`: whose turns are to be told apart, by name or by role. Where a role is asked
    about, what no event tells (notes, facts) may be of anyone, and counts as said by one of those.

    `any_at`: the newest `depth` that happened in one of these [start, end), aware, come too, whatever they say.
    """

    where: Filter
    depth: int
    lexical: LexicalQuery | None = None
    vector: Vector | Callable[[], Vector | None] | None = None
    model: str | None = None
    surroundings: bool = False
    speakers: frozenset[str] = frozenset()
    roles: frozenset[Role] = frozenset()
    any_at: tuple[tuple[datetime, datetime], ...] = ()

    def given_vector(self) -> Vector | None:
        """The vector; where something gives it, once it has."""
        return self.vector() if callable(self.vector) else self.vector


T = TypeVar("T")


class Store(Journal, Memories, Embeddings, Reviews, Jobs, Access, Erasures, Transfer, Inspection, Protocol):
    """All roles of one record store."""

    async def in_one_thread(self, work: Callable[[Beside | None], Coroutine[Any, Any, T]]) -> T:
        """Run work that awaits nothing but this store's reading methods and what waits for nothing either.

        A store may run it whole in a thread of its own, where each read is done there and then, all see one state, and
        a second thread is there for arithmetic; None where there is none.
        """
        ...

    async def search(self, reader: Reader, request: SearchRequest) -> Candidates:
        """The union of what each leg brings, with both legs' scores for every candidate.

        An empty lexical query counts as not asked. Raises InvalidInput for a vector without a model,
        EmbedderMismatch for one of another dimension.
        """
        ...

    async def participants(self, reader: Reader, where: Filter, *, model: str | None) -> frozenset[str]:
        """Who speaks, as user or assistant, in the turns that a search would look through: the actors' names.

        `model` is the one that the search is about to ask for; it changes nothing but which index is read.
        """
        ...

    async def words(self, reader: Reader, model: str, refs: Sequence[int]) -> Mapping[int, NDArray[np.uint8]]:
        """The words of cues, by `Candidates.ref`, as `CueVector.words` has them.

        Left out: cues of memories that the reader may not see, that have gone, or without vectors of their words.
        """
        ...

    async def close(self) -> None:
        """Finish what is under way. Twice is harmless; any other call raises StoreUnavailable afterwards."""
        ...


class StoreOpener(Protocol):
    """Opens a store by its URL. Packages register one by the scheme, in the entry point group `remembrancer.stores`."""

    def __call__(self, url: str, /, *, analyse: Analyse, create: bool) -> Store:
        """`analyse` gives the search terms of a cue; `create`: make the store where there is none.

        Raises StoreUnavailable, Unsupported, or InvalidInput for a URL that it cannot read.
        """
        ...
