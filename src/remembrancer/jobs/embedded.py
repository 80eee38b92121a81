"""The queue of a single process: a sweep runs when it is put."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from remembrancer.domain.job import Job
    from remembrancer.ports.job_queue import PutSweep, RunSweep


class EmbeddedQueue:
    """See `JobQueue`. New cues are embedded by the process that wrote them, so `announce` has nothing to do."""

    shared = False

    @asynccontextmanager
    async def serving(self, workspace: str, jobs: Collection[Job], run: RunSweep) -> AsyncGenerator[PutSweep]:
        async def put(workspace: str, job: Job) -> bool:
            await run(workspace, job)
            return True

        yield put

    def announce(self, workspace: str, job: Job) -> None:
        return

    def takes_turn(self, workspace: str) -> bool:
        return True

    def listen(self, heard: Callable[[str], None]) -> None:
        return

    async def close(self) -> None:
        return
