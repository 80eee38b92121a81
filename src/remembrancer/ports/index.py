"""Indexes: what a search request contains, what a search returns, and what an index can do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from remembrancer.domain.candidates import Candidates
    from remembrancer.domain.event import Role
    from remembrancer.domain.query import Filter, LexicalQuery
    from remembrancer.domain.scope import Reader, Scope
    from remembrancer.ports.changes import ChangeFeed
    from remembrancer.ports.embeddings import Vector
    from remembrancer.ports.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One question to an index. Each search is optional and returns up to `depth` memories, each scored by its best
    cue. `model`: the model whose vectors are compared, if the question has a vector.

    `context_features`: compute them, and use them as a search of their own. The context of a turn is the turns around
    it in its stream (its whole scope, session included), by `seq`, within `ContextRules`, without rows that the reader
    may not see or the filter leaves out. `speakers`, `roles`: the names or roles asked about, for `speaker_match`; cues
    without an event (notes, facts) match every role, because their speaker is unknown.

    `any_at`: also return the newest `depth` memories that happened in one of these aware intervals [start, end),
    whatever their text. `preferences`: also return the newest `depth` memories that state a preference or an
    instruction (`domain.preference`), and `Candidates.preferences`.
    """

    where: Filter
    depth: int
    lexical: LexicalQuery | None = None
    model: str | None = None
    context_features: bool = False
    speakers: frozenset[str] = frozenset()
    roles: frozenset[Role] = frozenset()
    any_at: tuple[tuple[datetime, datetime], ...] = ()
    preferences: bool = False

    def __post_init__(self) -> None:
        if self.lexical is not None and self.lexical.is_empty:
            object.__setattr__(self, "lexical", None)  # an empty query matches nothing

    def require_model(self, vector: Vector | None) -> None:
        """Raises InvalidInput for a vector without a model."""
        if vector is not None and self.model is None:
            raise InvalidInput("model", None, "the model of the vector")


@dataclass(frozen=True, slots=True)
class Bm25:
    """Parameters of a BM25 score over exactly the cues that the reader may see and the filter keeps.

    A term weighs idf · repeats · (k1 + 1) / (repeats + k1 · (1 - b + b · length / mean length)), with idf = ln(1 +
    (cues + background - holding + 0.5) / (holding + 0.5)). `background`: a number of assumed further texts without any
    of the question's terms. Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009, with
    Lucene's idf, which is never negative.
    """

    k1: float
    b: float
    background: int


@dataclass(frozen=True, slots=True)
class ContextRules:
    """The turns of a stream that are context for each other, and the weights of their terms.

    A gap of more than `gap` between two turns ends the context in that direction. Terms of an adjacent turn have weight
    1; terms that only a turn two away contains have weight `next_but_one`. A turn of more than `brief_terms` terms is
    no context for others. Of a question's terms, the rarest count, as long as at most `most_holding` cues contain them,
    together; always the rarest one.
    """

    gap: timedelta
    next_but_one: float
    brief_terms: int
    most_holding: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """The capabilities of an index. A signal that it does not declare is absent from its answers (NaN, 0 or None),
    never estimated.

    `dense`: compares vectors. `lexical`: finds terms; `bm25`: the parameters of its lexical score and bound; None: the
    score is its own, between 0 and the bound. `phrases`: finds adjacent words. `context`: gives context features by
    these rules. `token_embeddings`: gives those of cues.
    """

    dense: bool = True
    lexical: bool = True
    bm25: Bm25 | None = None
    phrases: bool = False
    context: ContextRules | None = None
    token_embeddings: bool = False


class Search(Protocol):
    """A search after all steps that need no question vector. Use it once, within the read in which it was begun."""

    def candidates(self, vector: Vector | None = None) -> Candidates:
        """The union of the searches' results, with the scores of both searches for every candidate.

        `vector`: of the question, float32 (dim,), unit length; None: no dense search. Raises InvalidInput for a vector
        if the request names no model, EmbedderMismatch for another dimension.
        """
        ...


class Index(Protocol):
    """Finds the memories of a store through its change feed. An index is derived from the records and can be rebuilt.

    An index belongs to one store. An answer includes every write that the feed has, and possibly later ones. Searching
    never writes to the records. Any thread may call any method.
    """

    @property
    def capabilities(self) -> Capabilities:
        """The capabilities of this index."""
        ...

    def search(self, feed: ChangeFeed, reader: Reader, request: SearchRequest) -> Search:
        """Begin a search: every step except the comparison of vectors, so that embedding can run meanwhile."""
        ...

    def participants(self, feed: ChangeFeed, reader: Reader, where: Filter, *, model: str | None) -> frozenset[str]:
        """The names of the actors of user and assistant turns in the memories that a search would cover.

        `model`: that of the search to follow; it only selects the arrays to read.
        """
        ...

    def token_embeddings(
        self, feed: ChangeFeed, reader: Reader, model: str, refs: Sequence[int]
    ) -> Mapping[int, NDArray[np.uint8]]:
        """The token embeddings of cues, by `Candidates.ref`, as in `CueVector.token_embeddings`.

        Left out: cues without any, and cues of memories that the reader may not see or that no longer exist.
        """
        ...

    async def save(self, store: Store) -> None:
        """Keep on disk what other processes would have to derive again, if this index has files and much has changed;
        compact what is in memory.

        Called from time to time, and before closing. A failure to write is logged; the records are complete without.
        """
        ...

    def prepare(self, model: str, dim: int) -> None:
        """Make what large workspaces need to be searched by vectors of a model, whether there are any yet or not.

        Called in a thread, when a change to a model begins and before its vectors answer. It may take minutes, and does
        nothing if it has been done. Raises Unsupported, StoreUnavailable.
        """
        ...

    async def purge(self, store: Store, scope: Scope) -> str:
        """Delete what this index keeps of the workspace's erased rows, on disk and in this process.

        Returns "" if nothing is left, otherwise the reason why something may be.
        """
        ...

    async def close(self) -> None:
        """Release memory and connections. Closing twice does nothing."""
        ...


class IndexOpener(Protocol):
    """Opens an index by its URL. Packages register one by scheme in the entry point group `remembrancer.indexes`."""

    def __call__(self, url: str, /) -> Index:
        """Raises StoreUnavailable, or InvalidInput for an invalid URL."""
        ...
