"""The vectors of turns that are in no episode yet: a tail is read again whenever it has grown, and embedded once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final
from uuid import UUID

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST: Final = 4_096
"""Turns that are kept, those read last: of 384 components, 6 MB."""


class TailVectors:
    """By event, whose text never changes. Of one process, and lost with it: then they are embedded anew.

    One for each embedder and preset: what is embedded of a turn is theirs.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._vectors: OrderedDict[UUID, NDArray[np.float32]] = OrderedDict()

    def known(self, events: Iterable[UUID]) -> dict[UUID, NDArray[np.float32]]:
        """Those that are there, which count as read last now."""
        found = {event: self._vectors[event] for event in events if event in self._vectors}
        for event in found:
            self._vectors.move_to_end(event)
        return found

    def keep(self, vectors: Mapping[UUID, NDArray[np.float32]]) -> None:
        """Keep these, and let go of those that were not read for the longest time."""
        self._vectors.update(vectors)
        while len(self._vectors) > self._most:
            self._vectors.popitem(last=False)

    def forget(self, events: Iterable[UUID]) -> None:
        """Let go of these, for good."""
        for event in events:
            self._vectors.pop(event, None)
