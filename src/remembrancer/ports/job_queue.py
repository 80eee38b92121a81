"""Who runs a sweep: this process, or one of several workers that share a queue. `Schedule` says when one is due."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from remembrancer.domain.job import Job

RunSweep = Callable[[str, "Job"], Awaitable[None]]
"""Runs the sweep of a workspace, of whichever it is asked for. Reports its own errors."""
PutSweep = Callable[[str, "Job"], Awaitable[bool]]
"""Puts the sweep of a workspace into the queue. Returns whether it has run; otherwise a worker runs it soon.

A sweep that already waits is not put a second time. Raises StoreUnavailable.
"""


class JobQueue(Protocol):
    """Passes sweeps to workers. It holds no work: if it is emptied, the schedule puts into it what is due."""

    shared: bool
    """Whether workers of other processes run what is put into it."""

    def serving(self, workspace: str, jobs: Collection[Job], run: RunSweep) -> AbstractAsyncContextManager[PutSweep]:
        """Run sweeps of these jobs while the context is open. At its end, those under way are finished; if the caller
        is cancelled, they are cancelled.

        A shared queue never runs the same sweep of a workspace twice at once. It also passes sweeps of other workspaces
        than `workspace` to `run`, if another process put them.
        """
        ...

    def announce(self, workspace: str, job: Job) -> None:
        """Report that new work for this sweep was written. A shared queue has it run soon, whether or not it is due.

        Returns at once. If the queue does not answer, the sweep waits until it is due.
        """
        ...

    def takes_turn(self, workspace: str) -> bool:
        """Whether this process is to do the background work of a workspace now. Always, if it shares none; of a shared
        queue, nobody asks.
        """
        ...

    def listen(self, heard: Callable[[str], None]) -> None:
        """Call `heard`, in the running event loop, with each workspace that another process announced work of, which
        this process has the turn of.
        """
        ...

    async def close(self) -> None: ...
