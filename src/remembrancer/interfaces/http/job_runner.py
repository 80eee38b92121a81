"""The jobs that run beside the server, for each workspace that receives requests."""

from __future__ import annotations

import asyncio
import logging
from types import TracebackType
from typing import Final, Self

from remembrancer.domain.job import Job
from remembrancer.facade import AsyncRemembrancer
from remembrancer.jobs.sweeps import BrokenOff, JobReport
from remembrancer.jobs.worker import Stop

GRACE_SECONDS: Final = 30.0
"""How long a running job may take after the server is asked to stop. Cancelling it loses nothing that was written."""

_log = logging.getLogger("remembrancer.server")


class JobRunner:
    """Runs the jobs from when it is entered until `stop` is set: of the server's own workspace, and of others from
    their first request on.
    """

    def __init__(self, memory: AsyncRemembrancer, stop: Stop) -> None:
        self._memory = memory
        self._stop = stop
        self._workers: dict[str, asyncio.Task[None]] = {}
        self._open = False

    def work_for(self, memory: AsyncRemembrancer) -> None:
        """Start the jobs of the memory's workspace, if they are not running. Without effect before and after the runner
        is entered.
        """
        workspace = memory.scope.workspace
        if self._open and workspace not in self._workers:
            work = memory.of_workspace(workspace).jobs.work(self._stop, on_run=_tell)
            self._workers[workspace] = asyncio.create_task(work, name=f"remembrancer-worker {workspace}")

    async def __aenter__(self) -> Self:
        self._open = True
        self.work_for(self._memory)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        self._stop.set()
        workers = self._workers.values()
        try:
            if kind is None and workers:
                await asyncio.wait(workers, timeout=GRACE_SECONDS)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)


def _tell(job: Job, report: JobReport) -> None:
    """Log a job that failed. `jobs` shows the reason, which may quote a memory."""
    if isinstance(report, BrokenOff):
        _log.warning("the job %s broke off; `remembrancer jobs` says why", job.value)
