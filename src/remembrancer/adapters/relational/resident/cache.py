"""The resident indexes of one file, within a memory budget."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Generator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.errors import UNREADABLE, unreadable
from remembrancer.adapters.relational.resident.index import FileState, WorkspaceIndex
from remembrancer.domain.candidates import Candidates
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader
from remembrancer.ports.store import SearchRequest


class ResidentIndexes:
    """Loaded when first asked for; the one unused for longest is dropped when all together pass `budget_bytes`.

    The one in use is kept whatever its size: dropping it would only mean loading it again for the next question.
    """

    def __init__(self, budget_bytes: int, *, scanned: int) -> None:
        self._budget, self._scanned = budget_bytes, scanned
        self._indexes: OrderedDict[tuple[str, str | None], WorkspaceIndex] = OrderedDict()
        self._lock = threading.Lock()

    def search(self, connection: Connection, reader: Reader, request: SearchRequest) -> Candidates:
        """Catch up with the rows and search, inside one read transaction of `connection`."""
        with self._caught_up(connection, reader.scope.workspace, request.model) as index:
            looked_up = index.look_up(connection, reader, request)
        vector = request.given_vector()  # nobody else waits for it
        with self._caught_up(connection, reader.scope.workspace, request.model) as index:
            if not index.is_of_now(looked_up):
                looked_up = index.look_up(connection, reader, request)
            return index.search(request, looked_up, vector)

    def participants(self, connection: Connection, reader: Reader, where: Filter, model: str | None) -> frozenset[str]:
        """Catch up with the rows and name those who speak in them."""
        with self._caught_up(connection, reader.scope.workspace, model) as index:
            return index.participants(reader, where)

    def words(
        self, connection: Connection, reader: Reader, model: str, refs: Sequence[int]
    ) -> dict[int, NDArray[np.uint8]]:
        """As `Store.words` says, of the rows as they are now."""
        with self._caught_up(connection, reader.scope.workspace, model) as index:
            return index.words(connection, reader, refs)

    @contextmanager
    def _caught_up(self, connection: Connection, workspace: str, model: str | None) -> Generator[WorkspaceIndex]:
        """The index, as new as the read transaction of `connection` or newer, for the caller alone."""
        key = (workspace, model)
        with self._lock:
            index = self._indexes.pop(key, None)
            state = FileState.of(connection, workspace)
            if index is None or index.is_mostly_dead or index.holds_erased(state):
                index = WorkspaceIndex(*key, scanned=self._scanned)
            if not index.has_all_of(state):
                try:
                    with np.errstate(over="raise"):  # a number that its array cannot hold was never written
                        index.catch_up(connection, state)
                except UNREADABLE as error:
                    raise unreadable(error) from error
            self._indexes[key] = index
            yield index
            while len(self._indexes) > 1 and self.nbytes > self._budget:
                self._indexes.popitem(last=False)

    @property
    def nbytes(self) -> int:
        return sum(index.nbytes for index in self._indexes.values())
