"""Background work of several processes that serve one memory: each workspace's is done by one of them."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from remembrancer.adapters.siblings.locks import ProcessLocks

if TYPE_CHECKING:
    from remembrancer.domain.job import Job
    from remembrancer.ports.job_queue import PutSweep, RunSweep

_BOX: Final = ".box"
_MOST_BYTES: Final = 4096
"""The most bytes of a message. A message is the name of a workspace."""


class SiblingQueue:
    """See `JobQueue`. A process takes the turn of a workspace when it first works for it, if no other process has it,
    and keeps it until it ends.

    `folder`: one that only these processes use. `locks`: theirs. Announcements are datagrams on Unix sockets in the
    folder. One that is lost is made up for by the next sweep of the process that has the turn.
    """

    shared = False

    def __init__(self, folder: Path, locks: ProcessLocks) -> None:
        self._folder = folder
        self._locks = locks
        self._box = folder / f"{os.getpid()}{_BOX}"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._box.unlink(missing_ok=True)  # of an earlier process with this number
        self._socket.bind(str(self._box))
        self._loop: asyncio.AbstractEventLoop | None = None

    @asynccontextmanager
    async def serving(self, workspace: str, jobs: Collection[Job], run: RunSweep) -> AsyncGenerator[PutSweep]:
        async def put(workspace: str, job: Job) -> bool:
            has_turn = self.takes_turn(workspace)
            if has_turn:
                await run(workspace, job)
            return has_turn

        yield put

    def takes_turn(self, workspace: str) -> bool:
        return self._locks.take(f"background work of {workspace}")

    def announce(self, workspace: str, job: Job) -> None:
        if self.takes_turn(workspace):
            return  # this process does the work, and knows
        for box in self._folder.glob(f"*{_BOX}"):
            if box != self._box:
                with suppress(OSError):  # that process has ended, or does not keep up
                    self._socket.sendto(workspace.encode(), str(box))

    def listen(self, heard: Callable[[str], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._socket, self._receive, heard)

    async def close(self) -> None:
        if self._loop is not None:
            self._loop.remove_reader(self._socket)
        self._socket.close()
        self._box.unlink(missing_ok=True)

    def _receive(self, heard: Callable[[str], None]) -> None:
        with suppress(BlockingIOError):
            while True:
                heard(self._socket.recv(_MOST_BYTES).decode())
