"""The choice of the index by the size of a workspace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from remembrancer.ports.index import Capabilities, Index, Search, SearchRequest
from remembrancer.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from remembrancer.domain.query import Filter
    from remembrancer.domain.scope import Reader, Scope
    from remembrancer.ports.changes import ChangeFeed
    from remembrancer.ports.store import Store

BYTES_OF_A_MEMORY: Final = 1024
BYTES_OF_A_COMPONENT: Final = 1.125
"""In the resident index, about: of a memory without its vector, and of a vector's component (8 bits and its sign)."""
SHARE: Final = 2
"""One workspace may take this part of the memory budget: a half."""


def most_memories(budget_bytes: int, dim: int) -> int:
    """The number of memories up to which a workspace is held in memory, with vectors of that many components."""
    return int(budget_bytes / SHARE / (BYTES_OF_A_MEMORY + BYTES_OF_A_COMPONENT * dim))


@dataclass(frozen=True, slots=True)
class _Size:
    """The number of a workspace's memories after a change and an erasure, and whether it is large."""

    change: int
    erasures: int
    memories: int
    is_large: bool


class SizedIndex:
    """Searches workspaces of up to `most` memories by one index, larger ones by another with the same capabilities.

    A workspace changes over when it has grown beyond `most`, and back when it has shrunk below half of that.
    """

    def __init__(self, small: Index, large: Index, *, most: int) -> None:
        self._small, self._large, self._most = small, large, most
        self._sizes: dict[str, _Size] = {}

    @property
    def capabilities(self) -> Capabilities:
        return self._small.capabilities

    def search(self, feed: ChangeFeed, reader: Reader, request: SearchRequest) -> Search:
        return self._of(feed, reader.scope).search(feed, reader, request)

    def participants(self, feed: ChangeFeed, reader: Reader, where: Filter, *, model: str | None) -> frozenset[str]:
        return self._of(feed, reader.scope).participants(feed, reader, where, model=model)

    def token_embeddings(
        self, feed: ChangeFeed, reader: Reader, model: str, refs: Sequence[int]
    ) -> Mapping[int, NDArray[np.uint8]]:
        return self._of(feed, reader.scope).token_embeddings(feed, reader, model, refs)

    async def save(self, store: Store) -> None:
        await self._small.save(store)
        await self._large.save(store)

    def prepare(self, model: str, dim: int) -> None:
        self._small.prepare(model, dim)
        self._large.prepare(model, dim)

    async def purge(self, store: Store, scope: Scope) -> str:
        return "; ".join(filter(None, [await index.purge(store, scope) for index in (self._small, self._large)]))

    async def close(self) -> None:
        await self._small.close()
        await self._large.close()

    def _of(self, feed: ChangeFeed, scope: Scope) -> Index:
        return self._large if self._size(feed, scope).is_large else self._small

    def _size(self, feed: ChangeFeed, scope: Scope) -> _Size:
        """The size of the workspace now; only what changed since the last call is counted."""
        state, known = feed.state(scope), self._sizes.get(scope.workspace)
        if known is not None and state.change <= known.change and state.erasures <= known.erasures:
            return known
        if known is None or state.erasures > known.erasures:
            memories = feed.count_changed(scope, after=0)
        else:  # a changed memory may be one that was counted before: at the limit, all are counted again
            memories = known.memories + feed.count_changed(scope, after=known.change)
            if (memories > self._most) is not known.is_large:
                memories = feed.count_changed(scope, after=0)
        was_large = known is not None and known.is_large
        is_large = memories > (self._most // 2 if was_large else self._most)
        size = _Size(state.change, state.erasures, memories, is_large)
        self._sizes[scope.workspace] = size
        return size
