"""A deliberately simple index: exact cosines and plain BM25, computed from the change feed for every question.

It shows what an index must do, and how an index declares what it lacks: this one has no phrases, no context features
and no token embeddings. An index in a database server would differ only in where its rows are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.domain.candidates import Candidates
from remembrancer.domain.event import SPEAKERS
from remembrancer.domain.preference import stated
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader
from remembrancer.index.columns import MemoryColumns
from remembrancer.ports.changes import ChangedMemory, ChangeFeed, term_hash, unpacked_terms
from remembrancer.ports.index import Bm25, Capabilities, SearchRequest
from remembrancer.testing.exact import ExactCue, ExactMemory, answer, bm25
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.domain.scope import Scope
    from remembrancer.ports.store import Store

BM25: Final = Bm25(k1=1.2, b=0.75, background=0)


class SimpleIndex:
    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(bm25=BM25)

    def search(self, feed: ChangeFeed, reader: Reader, request: SearchRequest) -> SimpleSearch:
        return SimpleSearch(_Rows.of(feed, reader, request.where, request.model), request)

    def participants(self, feed: ChangeFeed, reader: Reader, where: Filter, *, model: str | None) -> frozenset[str]:
        turns = [cue.turn for _, memory in _Rows.of(feed, reader, where, None).kept for cue in memory.cues]
        return frozenset(turn.actor for turn in turns if turn and turn.actor and turn.role in SPEAKERS)

    def token_embeddings(
        self, feed: ChangeFeed, reader: Reader, model: str, refs: Sequence[int]
    ) -> Mapping[int, NDArray[np.uint8]]:
        return {}

    async def save(self, store: Store) -> None:
        """Does nothing: it has no files."""

    def prepare(self, model: str, dim: int) -> None:
        """Does nothing: every search reads the records."""

    async def purge(self, store: Store, scope: Scope) -> str:
        return ""

    async def close(self) -> None:
        """Does nothing: there is nothing to release."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """The memories that a reader may see and a filter keeps, newest first, then by id, with their positions in the
    columns.
    """

    kept: Sequence[tuple[int, ChangedMemory]]
    columns: MemoryColumns

    @classmethod
    def of(cls, feed: ChangeFeed, reader: Reader, where: Filter, model: str | None) -> _Rows:
        every = list(feed.changes(reader.scope, after=0, model=model))
        columns = MemoryColumns()
        if not every:
            return cls([], columns)
        columns.append(every)
        kept = [(slot, every[slot]) for slot in np.flatnonzero(columns.mask(reader, where)).tolist()]
        return cls(sorted(kept, key=lambda one: (-one[1].occurred_to, one[1].id)), columns)


@dataclass(frozen=True, slots=True)
class SimpleSearch:
    rows: _Rows
    request: SearchRequest

    def candidates(self, vector: NDArray[np.float32] | None = None) -> Candidates:
        self.request.require_model(vector)
        columns, query = self.rows.columns, self.request.lexical
        slots = {memory.id: slot for slot, memory in self.rows.kept}
        then = [columns.happened_in(start, end) for start, end in self.request.any_at]
        memories = [
            ExactMemory(
                memory.id,
                [
                    ExactCue(cue.ref, ordinal, unpacked_terms(cue.terms), cue.length, cue.vector)
                    for ordinal, cue in enumerate(memory.cues)
                ],
                any(happened[slot] for happened in then),
                stated(memory.kind, memory.tags),
            )
            for slot, memory in self.rows.kept
        ]
        return answer(
            memories,
            self.request,
            vector,
            bm25(memories, [term_hash(term) for term in query.terms], BM25) if query and query.terms else None,
            states=lambda ids: columns.states(np.array([slots[one] for one in ids], dtype=np.int64)),
        )
