"""Locks between processes of one machine. The kernel releases those of a process that ends, however it ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path


class ProcessLocks:
    """Locks by name, in a file that all processes open. A name locks one byte of it, at a position derived from it.

    A process must open the file once only: POSIX releases its locks when it closes any descriptor of the file.
    """

    def __init__(self, file: Path) -> None:
        self._descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._taken: set[str] = set()

    def take(self, name: str) -> bool:
        """Take the lock if it is free. Returns whether this process has it, perhaps since an earlier call."""
        if name not in self._taken:
            try:
                self._lock(name, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:  # another process has it
                return False
            self._taken.add(name)
        return True

    def release(self, name: str) -> None:
        """Release a lock that this process has. Without effect for another one."""
        if name in self._taken:
            self._taken.remove(name)
            self._lock(name, fcntl.LOCK_UN)

    def is_free(self, name: str) -> bool:
        """Whether no process has the lock."""
        was_free = name not in self._taken and self.take(name)
        if was_free:
            self.release(name)
        return was_free

    @contextmanager
    def held(self, name: str) -> Generator[None]:
        """Wait for a lock and release it at the end of the block. For short work; not for a name passed to `take`."""
        self._lock(name, fcntl.LOCK_EX)
        try:
            yield
        finally:
            self._lock(name, fcntl.LOCK_UN)

    def close(self) -> None:
        """Release all locks."""
        self._taken.clear()
        os.close(self._descriptor)

    def _lock(self, name: str, operation: int) -> None:
        position = int.from_bytes(blake2b(name.encode(), digest_size=7).digest(), "big")
        fcntl.lockf(self._descriptor, operation, 1, position)
