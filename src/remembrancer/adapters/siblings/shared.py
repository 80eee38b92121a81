"""The folder that the worker processes of one server share."""

from __future__ import annotations

from pathlib import Path

from remembrancer.adapters.siblings.locks import ProcessLocks
from remembrancer.adapters.siblings.queue import SiblingQueue
from remembrancer.adapters.siblings.table import SharedCounts, SharedTable


class Siblings:
    """This process's view of the folder. A process may open it once only, because of `locks`.

    `connections`: how many each process has open.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.locks = ProcessLocks(folder / "locks")
        self.connections = SharedCounts(folder / "connections", self.locks)

    def queue(self) -> SiblingQueue:
        """Call it once."""
        return SiblingQueue(self._folder, self.locks)

    def table(self, name: str) -> SharedTable:
        return SharedTable(self._folder / f"{name}.table", self.locks)

    def close(self) -> None:
        """Release all locks."""
        self.connections.close()
        self.locks.close()
