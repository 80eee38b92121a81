"""A deliberately simple candidate source: it compares every vector of the change feed for every question.

It shows what a source must do. One in a database server would differ in where its rows are, and might miss some.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np

from remembrancer.domain.query import LexicalQuery
from remembrancer.domain.scope import Scope
from remembrancer.errors import EmbedderMismatch
from remembrancer.index.columns import MemoryColumns
from remembrancer.ports.candidate_source import SourceUnavailable, Wanted
from remembrancer.ports.changes import ChangeFeed

if TYPE_CHECKING:
    from remembrancer.ports.embeddings import Vector


class SimpleSource:
    """See `CandidateSource`. `behind`: what `catch_up` returns. `down`: why it does not answer; "": it does."""

    def __init__(self) -> None:
        self.behind = ""
        self.down = ""

    def catch_up(self, feed: ChangeFeed, scope: Scope, model: str | None) -> str:
        self._require_up()
        return self.behind

    def dense(self, feed: ChangeFeed, wanted: Wanted, model: str, vector: Vector) -> Sequence[UUID]:
        self._require_up()
        memories = list(feed.changes(wanted.reader.scope, after=0, model=model))
        columns = MemoryColumns()
        if not columns.append(memories):
            return ()
        cosines: dict[UUID, float] = {}
        for slot in np.flatnonzero(columns.mask(wanted.reader, wanted.where)).tolist():
            vectors = [cue.vector for cue in memories[slot].cues if cue.vector is not None]
            if any(len(one) != len(vector) for one in vectors):
                raise EmbedderMismatch(f"the question's vector has {len(vector)} dimensions, the texts' have others")
            if vectors:
                cosines[memories[slot].id] = max(float(one @ vector) for one in vectors)
        return sorted(cosines, key=lambda one: -cosines[one])[: wanted.limit]

    def lexical(
        self, feed: ChangeFeed, wanted: Wanted, query: LexicalQuery, holding: Sequence[int]
    ) -> Sequence[UUID] | None:
        self._require_up()
        return None

    def prepare(self, model: str, dim: int) -> None:
        """Does nothing: every vector is compared."""

    async def close(self) -> None:
        """Does nothing: there is nothing to release."""

    def _require_up(self) -> None:
        if self.down:
            raise SourceUnavailable(self.down)
