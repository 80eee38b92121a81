"""Background work: last runs, deferred items, and the ledger of model calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, Protocol

from remembrancer.domain.job import Deferral, Run
from remembrancer.domain.scope import Scope
from remembrancer.domain.spending import ModelCall, Spent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    """Shape (dim,), of unit length."""


MAX_ERROR_CHARS: Final = 500
"""Of the error that a piece of work failed with, no more than its first so many characters are kept."""


class Jobs(Protocol):
    """Remembers when each job ran, what waits for another try, and what models were asked."""

    async def put_run(self, scope: Scope, run: Run) -> None:
        """Keep how a job's run went, in the place of its run before."""
        ...

    async def runs(self, scope: Scope) -> Mapping[str, Run]:
        """The last run of each job, by its name."""
        ...

    async def defer(self, scope: Scope, job: str, item: str, *, error: str, now: datetime) -> Deferral:
        """Note that a piece of work failed: it waits 30 s, each time it fails again twice as long, at most a day.

        Of the error, the first `MAX_ERROR_CHARS` are kept.
        """
        ...

    async def settle(self, scope: Scope, job: str, items: Sequence[str]) -> None:
        """These pieces of work no longer wait; those that did not are no error."""
        ...

    async def deferrals(self, scope: Scope, job: str | None = None) -> tuple[Deferral, ...]:
        """What waits, of a job or of all, by `retry_at`, job and item."""
        ...

    async def log_call(self, scope: Scope, call: ModelCall) -> None:
        """Into the ledger of what models were asked."""
        ...

    async def spending(self, scope: Scope, *, since: datetime | None = None) -> tuple[Spent, ...]:
        """The sums of the ledger since a time, by purpose, then model."""
        ...
