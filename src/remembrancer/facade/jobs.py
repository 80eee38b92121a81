"""`rem.jobs`: the preset's background jobs. `rem.maintain` runs those that are due."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from remembrancer import jobs
from remembrancer.domain import validation
from remembrancer.domain.job import Job
from remembrancer.domain.spending import Spent
from remembrancer.facade.view import Identifier, View

if TYPE_CHECKING:
    from remembrancer.jobs.indexer import IndexReport, OnIndexed
    from remembrancer.jobs.overview import JobState
    from remembrancer.jobs.worker import OnRun, Stop


class AsyncJobsApi(View):
    """Runs background jobs and reports their state."""

    async def list(self) -> tuple[JobState, ...]:
        """The state of each job of the preset: its last run, its next run, the items that wait, and the failures."""
        return await jobs.overview.job_states(self._ctx, self._reader())

    async def work(self, stop: Stop, *, only: Iterable[Job | str] | None = None, on_run: OnRun | None = None) -> None:
        """Run jobs on their schedule until `stop` is set, which any thread may do; overdue jobs run first.

        `only`: these jobs; None: all jobs of the preset. With the setting `jobs` = `distributed`, all who run this on
        one database share the jobs.
        """
        sweeper = jobs.sweeps.Sweeper(self._ctx, self._scope, self._indexer, None)
        await jobs.worker.work(sweeper, stop, queue=self._opened.queue, only=jobs_named(only), on_run=on_run)

    async def index_now(
        self, memory_id: Identifier | None = None, *, on_indexed: OnIndexed | None = None
    ) -> IndexReport:
        """Embed all cues without a vector before returning, or only those of one memory. Raises NotFound."""
        if memory_id is None:
            return await self._indexer.run(on_indexed)
        return await self._indexer.run_for(self._reader(), await self._identified("memory_id", memory_id))

    async def reindex(self, *, on_indexed: OnIndexed | None = None) -> IndexReport:
        """Compute the vectors of all cues of the workspace again, with the embedder in use, before returning.

        Until then recall finds memories without a vector by their words. If it is interrupted, the index sweep goes on
        with it. Raises ModelUnavailable, and drops nothing, if the embedder does not answer.
        """
        return await self._indexer.run_anew(on_indexed)

    async def spending(self, since: datetime | None = None) -> tuple[Spent, ...]:
        """Requests to language models for this workspace since a time, and their cost, by purpose and model."""
        return await self._ctx.store.spending(self._scope, since=validation.optional_moment("since", since))


def jobs_named(only: Iterable[Job | str] | None) -> list[Job] | None:
    """The jobs with these names; None: all. Raises InvalidInput."""
    return None if only is None else [validation.choice("only", one, Job) for one in validation.several("only", only)]
