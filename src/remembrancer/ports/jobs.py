"""Background work: last runs, deferred items, and the ledger of model calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from remembrancer.domain.job import Deferral, Run
    from remembrancer.domain.scope import Scope
    from remembrancer.domain.spending import ModelCall, Spent

MAX_ERROR_CHARS: Final = 500
"""Of the error of a failed piece of work, at most this many characters are kept."""


class Jobs(Protocol):
    """Keeps when each job last ran, which items wait to be retried, and what language models were asked."""

    async def put_run(self, scope: Scope, run: Run) -> None:
        """Store the outcome of a job's run in place of its previous one."""
        ...

    async def runs(self, scope: Scope) -> Mapping[str, Run]:
        """The last run of each job, by the job's name."""
        ...

    async def defer(self, scope: Scope, job: str, item: str, *, error: str, now: datetime) -> Deferral:
        """Note that an item of a job failed: it waits 30 s, then twice as long each time, at most a day.

        The first `MAX_ERROR_CHARS` of the error are kept.
        """
        ...

    async def settle(self, scope: Scope, job: str, items: Sequence[str]) -> None:
        """End the waiting of these items. Items that do not wait are ignored."""
        ...

    async def deferrals(self, scope: Scope, job: str | None = None) -> tuple[Deferral, ...]:
        """Waiting items of one job, or of all, by `retry_at`, job and item."""
        ...

    async def log_call(self, scope: Scope, call: ModelCall) -> None:
        """Add a call of a language model to the ledger."""
        ...

    async def spending(self, scope: Scope, *, since: datetime | None = None) -> tuple[Spent, ...]:
        """The ledger since a time, summed by purpose, then model."""
        ...
