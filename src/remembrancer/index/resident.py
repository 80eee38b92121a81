"""The resident index: workspaces in memory, within a budget."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from remembrancer.domain.candidates import Candidates
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader, Scope
from remembrancer.errors import StoreUnavailable
from remembrancer.index.context import RULES
from remembrancer.index.files import IndexFolder, Written
from remembrancer.index.postings import BM25
from remembrancer.index.workspace import SCANNED, LookedUp, WorkspaceIndex
from remembrancer.ports.changes import ChangeFeed, UnreadableRow, WorkspaceState
from remembrancer.ports.index import Capabilities, SearchRequest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.ports.store import Store

_Key: TypeAlias = tuple[Scope, str | None, datetime | None]
"""A workspace, a model, and the time as of which the records are read."""

_log = logging.getLogger("remembrancer")
BUDGET_BYTES: Final = 1 << 30
PAST_TIMES: Final = 2
COMPACTED_FROM: Final = 2.0
"""An index with more slots per memory than this is derived anew in the background, while questions use the old one."""
RELOADED_FROM: Final = 4.0
"""An index with more slots per memory than this is derived anew by the next question: nothing has compacted it."""
CAPABILITIES: Final = Capabilities(bm25=BM25, phrases=True, context=RULES, token_embeddings=True)


@contextmanager
def readable() -> Generator[None]:
    """Raises UnreadableRow for a number that does not fit its array, which this package did not write."""
    try:
        with np.errstate(over="raise"):
            yield
    except (ValueError, TypeError, ArithmeticError) as error:
        raise UnreadableRow(error) from error


class _Entry:
    """The index of one workspace and model, at one time. Its lock is held while it is loaded, searched or written."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.index: WorkspaceIndex | None = None

    def replace(self, before: WorkspaceIndex, after: WorkspaceIndex) -> None:
        """Put an index in the place of another one, if that is still there."""
        with self.lock:
            if self.index is before:
                self.index = after


class _Loaded:
    """Loaded indexes, the least recently used first, by workspace, model and time."""

    def __init__(self) -> None:
        self._entries: OrderedDict[_Key, _Entry] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        with self._lock:
            return self._nbytes

    @property
    def _nbytes(self) -> int:
        return sum(entry.index.nbytes for entry in self._entries.values() if entry.index is not None)

    def entry(self, key: _Key) -> _Entry:
        """The entry of a key, as the most recently used one."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                entry = self._entries[key] = _Entry()
            elif len(self._entries) > 1:
                self._entries.move_to_end(key)
            return entry

    def entries(self) -> list[tuple[_Key, _Entry]]:
        with self._lock:
            return list(self._entries.items())

    def drop_least_used(self, *, most: int | None, budget: int) -> None:
        """Drop entries until at most `most`, with at most `budget` bytes, are left; always keep one."""
        with self._lock:
            while len(self._entries) > 1 and (
                (most is not None and len(self._entries) > most) or self._nbytes > budget
            ):
                self._entries.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()


@lru_cache(maxsize=1_024)
def _whole(workspace: str) -> Scope:
    return Scope(workspace=workspace)


class ResidentIndex:
    """An index that holds workspaces in memory.

    A workspace is loaded when it is first searched. If all together exceed `budget_bytes`, the least recently used ones
    are dropped, except the one in use. `scanned`: in workspaces of at most this many cues, all vectors are compared; in
    larger ones, only those with similar signs.

    `files`: where indexes are kept on disk. A file is mapped into memory, so that a process begins with what another
    one has derived, and processes share it. Without a file, an index is derived from all records.

    For questions as of earlier times, the workspaces of at most `PAST_TIMES` times are held besides, under a budget of
    their own. Each is loaded when first asked for, which takes as long as loading the present workspace without a file.
    """

    def __init__(
        self, budget_bytes: int = BUDGET_BYTES, *, scanned: int = SCANNED, files: IndexFolder | None = None
    ) -> None:
        self._budget, self._scanned, self._files = budget_bytes, scanned, files
        self._now, self._past = _Loaded(), _Loaded()
        """Apart, so that questions about the past do not displace the present."""
        self._saving = asyncio.Lock()

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

    async def save(self, store: Store) -> None:
        await self._compact(store)
        if self._files is not None:
            await asyncio.shield(self._save(store, self._files))  # a file that was begun is finished

    def prepare(self, model: str, dim: int) -> None:
        """Does nothing: vectors are loaded with the memories."""

    async def purge(self, store: Store, scope: Scope) -> str:
        """Also derives the workspace anew if it is loaded, so that the next question need not."""
        why = ""
        if self._files is not None:
            try:
                state = await store.read(lambda view: view.state(scope))
                await asyncio.to_thread(self._files.delete, scope, before=state.erasures)
            except OSError as error:
                why = f"the files of the index cannot be deleted: {error}"
        await store.read(lambda view: self._reload(view, scope.workspace))
        return why

    def _reload(self, feed: ChangeFeed, workspace: str) -> None:
        for (scope, model, _), entry in self._now.entries():
            if scope.workspace == workspace and entry.index is not None:
                with suppress(UnreadableRow), self.caught_up(feed, scope, model):
                    """Derived anew, because rows were erased."""
        for (scope, _, _), entry in self._past.entries():
            if scope.workspace == workspace:
                with entry.lock:
                    entry.index = None

    async def _compact(self, store: Store) -> None:
        """Replace indexes with many unused slots by new ones."""
        for (scope, model, _), entry in self._now.entries():
            before = entry.index
            if before is None or before.slots_per_memory <= COMPACTED_FROM:
                continue
            try:
                derived = await store.read(partial(self._derived, scope=scope, model=model))
            except (StoreUnavailable, UnreadableRow) as error:
                _log.warning("the index of workspace %r was not compacted: %s", scope.workspace, error)
                continue
            await asyncio.to_thread(entry.replace, before, derived)

    def _derived(self, feed: ChangeFeed, *, scope: Scope, model: str | None) -> WorkspaceIndex:
        """A new index with all records. Without a lock: questions go on with the old one."""
        index = self._empty(feed, scope, model)
        with readable():
            index.catch_up(feed, feed.state(scope))
        return index

    async def close(self) -> None:
        self._now.clear()
        self._past.clear()

    @contextmanager
    def caught_up(self, feed: ChangeFeed, scope: Scope, model: str | None) -> Generator[WorkspaceIndex]:
        """The index of a workspace, updated to the feed's state or a later one, with its lock held. Raises
        UnreadableRow.
        """
        whole = _whole(scope.workspace)
        loaded = self._now if feed.at is None else self._past
        entry = loaded.entry((whole, model, feed.at))
        with entry.lock:
            state = feed.state(whole)
            index = entry.index
            if index is None or self._is_outdated(index) or index.has_erased_rows(state):
                index = self._begun(feed, whole, model, state)
            if not index.has_all_of(state):
                entry.index = None  # what failed half-way is not used again
                with readable():
                    index.catch_up(feed, state)
            entry.index = index
            yield index
        loaded.drop_least_used(most=None if feed.at is None else PAST_TIMES, budget=self._budget)

    def _begun(self, feed: ChangeFeed, scope: Scope, model: str | None, state: WorkspaceState) -> WorkspaceIndex:
        """The index of a file, or an empty one."""
        if self._files is not None and feed.at is None:
            index = self._files.read(feed, scope, model, state, scanned=self._scanned)
            if index is not None and not self._is_outdated(index):
                return index
        return self._empty(feed, scope, model)

    async def _save(self, store: Store, files: IndexFolder) -> None:
        async with self._saving:
            for (scope, model, _), entry in self._now.entries():
                try:
                    written = await asyncio.to_thread(self._write, entry, files, scope, model)
                    if written is not None:
                        await self._put_in_place(store, scope, model, written)
                except (StoreUnavailable, OSError) as error:
                    _log.warning("the index of workspace %r was not written: %s", scope.workspace, error)

    @staticmethod
    async def _put_in_place(store: Store, scope: Scope, model: str | None, written: Written) -> None:
        """Give a file its name, unless something was erased after it was derived. Raises StoreUnavailable, OSError."""
        try:
            if await store.put_index_token(scope, model, written.token, erasures=written.erasures):
                with suppress(FileNotFoundError):  # deleted by an erasure
                    written.partial.replace(written.path)
        finally:
            written.partial.unlink(missing_ok=True)

    def _write(self, entry: _Entry, files: IndexFolder, scope: Scope, model: str | None) -> Written | None:
        with entry.lock:
            if entry.index is None or not entry.index.is_worth_writing:
                return None
            written = files.write(entry.index, scope, model)
            entry.index.count_as_written()
            return written

    def _is_outdated(self, index: WorkspaceIndex) -> bool:
        return index.slots_per_memory > RELOADED_FROM

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
