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
"""The number of characters kept of an error."""


class Jobs(Protocol):
    """Stores the last run of each job, the items waiting for a retry, and the ledger of language model calls."""

    async def put_run(self, scope: Scope, run: Run) -> None:
        """Store the outcome of a job's run, replacing the previous one."""
        ...

    async def runs(self, scope: Scope) -> Mapping[str, Run]:
        """The last run of each job, by the job's name."""
        ...

    async def defer(self, scope: Scope, job: str, item: str, *, error: str, now: datetime) -> Deferral:
        """Record that an item of a job failed. The first retry is due after 30 s; the wait then doubles, up to a day.

        The first `MAX_ERROR_CHARS` of the error are kept.
        """
        ...

    async def settle(self, scope: Scope, job: str, items: Sequence[str]) -> None:
        """Remove these items from the waiting ones. Items that do not wait are ignored."""
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
