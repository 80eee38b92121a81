"""Finding memories: what an index is asked, what it brings, and what it declares that it can do."""

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
    from remembrancer.domain.scope import Reader
    from remembrancer.ports.changes import ChangeFeed
    from remembrancer.ports.embeddings import Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One question to an index. Each leg may be absent, and brings up to `depth` memories, cues folded to memories by
    maximum. `model`: the one whose vectors are compared, where the question has a vector.

    `context_features`: they count too, and are a leg of their own. The turns around a turn are those before and after
    it in its stream (its scope, session and all), in the order of `seq`, as far as `ContextRules` has them belong
    together. What the reader may not see and what the filter leaves out add nothing. `speakers`, `roles`: whose turns
    are to be told apart, by name or by role. Where a role is asked about, what no event tells (notes, facts) may be of
    anyone, and counts as said by one of those.

    `any_at`: the newest `depth` that happened in one of these [start, end), aware, come too, whatever they say.
    """

    where: Filter
    depth: int
    lexical: LexicalQuery | None = None
    model: str | None = None
    context_features: bool = False
    speakers: frozenset[str] = frozenset()
    roles: frozenset[Role] = frozenset()
    any_at: tuple[tuple[datetime, datetime], ...] = ()

    def __post_init__(self) -> None:
        if self.lexical is not None and self.lexical.is_empty:
            object.__setattr__(self, "lexical", None)  # an empty query asks nothing

    def require_model(self, vector: Vector | None) -> None:
        """Raises InvalidInput for a vector where no model is named."""
        if vector is not None and self.model is None:
            raise InvalidInput("model", None, "the model of the vector")


@dataclass(frozen=True, slots=True)
class Bm25:
    """The numbers of a BM25 score over the cues that the reader may see and the filter keeps, and those alone.

    A term weighs idf · repeats · (k1 + 1) / (repeats + k1 · (1 - b + b · length / mean length)), with
    idf = ln(1 + (cues + background - holding + 0.5) / (holding + 0.5)). `background`: texts without any of the
    question's terms, counted in beside the cues there are. Source: Robertson and Zaragoza, "The Probabilistic Relevance
    Framework", 2009, with Lucene's idf, which is never negative.
    """

    k1: float
    b: float
    background: int


@dataclass(frozen=True, slots=True)
class ContextRules:
    """Which turns of a stream are context for each other, and what their words are worth.

    Turns that lie farther apart than `gap` do not belong together, nor do those beyond. A word of the next turn counts
    whole, one that only the turn after that holds `next_but_one`. A turn of more than `brief_terms` terms is a text of
    its own: what it says is no context for others.
    """

    gap: timedelta
    next_but_one: float
    brief_terms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What an index can do. What it does not declare is absent from its answers: NaN, 0 or None, never a guess.

    `dense`: it compares vectors. `lexical`: it finds words; `bm25`: its lexical score and bound are these; None: they
    are its own, at least 0 and at most the bound. `phrases`: it finds words that stand next to each other. `context`:
    it brings context features by these rules. `token_embeddings`: it gives those of cues.
    """

    dense: bool = True
    lexical: bool = True
    bm25: Bm25 | None = None
    phrases: bool = False
    context: ContextRules | None = None
    token_embeddings: bool = False


class Search(Protocol):
    """A search that has done what needs no vector of the question. It is used once, within the read it was begun in."""

    def candidates(self, vector: Vector | None = None) -> Candidates:
        """The union of what each leg brings, with both legs' scores for every candidate.

        `vector`: of the question, float32 (dim,), unit length; None: no dense leg. Raises InvalidInput for a vector
        where the request names no model, EmbedderMismatch for one of another dimension.
        """
        ...


class Index(Protocol):
    """Finds memories of the records behind a feed. Derived from them, and never the only copy of anything.

    An index belongs to one store. Each answer is of the records as they are in the feed, or newer: nothing that was
    written before is missing from it. Reading never writes to the records. Any thread may call any method.
    """

    @property
    def capabilities(self) -> Capabilities: ...

    def search(self, feed: ChangeFeed, reader: Reader, request: SearchRequest) -> Search:
        """Begin a search: everything but the comparison with a vector, which may be made in the meantime."""
        ...

    def participants(self, feed: ChangeFeed, reader: Reader, where: Filter, *, model: str | None) -> frozenset[str]:
        """Who speaks, as user or assistant, in the turns that a search would look through: the actors' names.

        `model` is the one that the search is about to ask for; it changes nothing but which arrays are read.
        """
        ...

    def token_embeddings(
        self, feed: ChangeFeed, reader: Reader, model: str, refs: Sequence[int]
    ) -> Mapping[int, NDArray[np.uint8]]:
        """The token embeddings of cues, by `Candidates.ref`, as `CueVector.words` has them.

        Left out: cues of memories that the reader may not see, that have gone, or without token embeddings.
        """
        ...

    async def close(self) -> None:
        """Let go of memory and connections. Closing twice does nothing."""
        ...


class IndexOpener(Protocol):
    """Opens an index by its URL. Packages register one by the scheme, in the group `remembrancer.indexes`."""

    def __call__(self, url: str, /) -> Index:
        """Raises StoreUnavailable, or InvalidInput for a URL that it cannot read."""
        ...
