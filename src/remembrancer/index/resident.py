"""The resident index: workspaces in memory, within a budget."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.domain.candidates import Candidates
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader, Scope
from remembrancer.index.context import RULES
from remembrancer.index.postings import BM25
from remembrancer.index.workspace import SCANNED, LookedUp, WorkspaceIndex
from remembrancer.ports.changes import ChangeFeed, UnreadableRow
from remembrancer.ports.index import Capabilities, SearchRequest

if TYPE_CHECKING:
    from numpy.typing import NDArray

BUDGET_BYTES: Final = 1 << 30
PAST_TIMES: Final = 2
CAPABILITIES: Final = Capabilities(bm25=BM25, phrases=True, context=RULES, token_embeddings=True)


@contextmanager
def readable() -> Generator[None]:
    """Raises UnreadableRow for a number that does not fit its array, which this package did not write."""
    try:
        with np.errstate(over="raise"):
            yield
    except (ValueError, TypeError, ArithmeticError) as error:
        raise UnreadableRow(error) from error


class _Loaded:
    """Loaded indexes, the least recently used first, by workspace, model and time."""

    def __init__(self) -> None:
        self.indexes: OrderedDict[tuple[str, str | None, datetime | None], WorkspaceIndex] = OrderedDict()
        self.lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        return sum(index.nbytes for index in self.indexes.values())


class ResidentIndex:
    """An index that holds workspaces in memory.

    A workspace is loaded when it is first searched. If all together exceed `budget_bytes`, the least recently used ones
    are dropped, except the one in use. `scanned`: in workspaces of at most this many cues, all vectors are compared; in
    larger ones, only those with similar signs.

    For questions as of earlier times, the workspaces of at most `PAST_TIMES` times are held besides, under a budget of
    their own. Each is loaded when first asked for, which takes as long as loading the present workspace.
    """

    def __init__(self, budget_bytes: int = BUDGET_BYTES, *, scanned: int = SCANNED) -> None:
        self._budget, self._scanned = budget_bytes, scanned
        self._now, self._past = _Loaded(), _Loaded()
        """Apart, so that a question about the past neither waits for one about now nor makes it wait."""

    @property
    def capabilities(self) -> Capabilities:
        return CAPABILITIES

    @property
    def nbytes(self) -> int:
        return self._now.nbytes + self._past.nbytes

    def search(self, feed: ChangeFeed, reader: Reader, request: SearchRequest) -> ResidentSearch:
        with self.caught_up(feed, reader.scope, request.model) as index:
            return ResidentSearch(self, feed, reader, request, index.look_up(feed, reader, request))

    def participants(self, feed: ChangeFeed, reader: Reader, where: Filter, *, model: str | None) -> frozenset[str]:
        with self.caught_up(feed, reader.scope, model) as index:
            return index.participants(reader, where)

    def token_embeddings(
        self, feed: ChangeFeed, reader: Reader, model: str, refs: Sequence[int]
    ) -> Mapping[int, NDArray[np.uint8]]:
        with self.caught_up(feed, reader.scope, model) as index:
            return index.token_embeddings(feed, reader, refs)

    async def close(self) -> None:
        for loaded in (self._now, self._past):
            with loaded.lock:
                loaded.indexes.clear()

    @contextmanager
    def caught_up(self, feed: ChangeFeed, scope: Scope, model: str | None) -> Generator[WorkspaceIndex]:
        """The index of a workspace, updated to the feed's state or a later one, with its lock held. Raises
        UnreadableRow.
        """
        key = (scope.workspace, model, feed.at)
        loaded = self._now if feed.at is None else self._past
        with loaded.lock:
            index = loaded.indexes.pop(key, None)
            state = feed.state(scope)
            if index is None or self._is_outdated(index) or index.has_erased_rows(state):
                index = self._empty(feed, Scope(workspace=scope.workspace), model)
            if not index.has_all_of(state):
                with readable():
                    index.catch_up(feed, state)
            loaded.indexes[key] = index
            yield index
            most = len(loaded.indexes) if feed.at is None else PAST_TIMES
            while len(loaded.indexes) > 1 and (len(loaded.indexes) > most or loaded.nbytes > self._budget):
                loaded.indexes.popitem(last=False)

    def _is_outdated(self, index: WorkspaceIndex) -> bool:
        return index.is_mostly_unused

    def _empty(self, feed: ChangeFeed, scope: Scope, model: str | None) -> WorkspaceIndex:
        """A new index of a whole workspace."""
        return WorkspaceIndex(scope, model, scanned=self._scanned, past=feed.at is not None)


class ResidentSearch:
    """A search after its lexical part. The index is not locked while the question is embedded."""

    def __init__(
        self, index: ResidentIndex, feed: ChangeFeed, reader: Reader, request: SearchRequest, looked_up: LookedUp
    ) -> None:
        self._index, self._feed, self._reader, self._request = index, feed, reader, request
        self._looked_up = looked_up

    def candidates(self, vector: NDArray[np.float32] | None = None) -> Candidates:
        self._request.require_model(vector)
        with self._index.caught_up(self._feed, self._reader.scope, self._request.model) as index:
            if not index.is_current(self._looked_up):
                self._looked_up = index.look_up(self._feed, self._reader, self._request)
            return index.search(self._request, self._looked_up, vector)
