"""Records of jobs: deferrals, calls to language models, and memories waiting for a review."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from remembrancer.adapters.reference.rows import Rows
from remembrancer.domain.job import Deferral
from remembrancer.domain.memory import Status
from remembrancer.domain.review import Evidence
from remembrancer.domain.scope import Scope
from remembrancer.domain.spending import ModelCall, Outcome, Spent
from remembrancer.domain.strength import Exposed, Exposure
from remembrancer.ports.jobs import MAX_ERROR_CHARS

FIRST_WAIT: Final = timedelta(seconds=30)
LONGEST_WAIT: Final = timedelta(days=1)


def wait_after(tries: int) -> timedelta:
    """The wait before the next attempt, after this many failures."""
    # After twelve doublings the wait is a day; many more would overflow a timedelta.
    return min(FIRST_WAIT * 2 ** min(tries - 1, 12), LONGEST_WAIT)


def defer(rows: Rows, scope: Scope, job: str, item: str, *, error: str, now: datetime) -> Deferral:
    before = rows.deferrals.get((job, item))
    tries = 1 if before is None else before.attempts + 1
    deferral = Deferral(
        job=job, item=item, attempts=tries, retry_at=now + wait_after(tries), error=error[:MAX_ERROR_CHARS]
    )
    rows.deferrals[job, item] = deferral
    return deferral


def deferrals(rows: Rows, scope: Scope, job: str | None = None) -> tuple[Deferral, ...]:
    kept = [one for one in rows.deferrals.values() if job is None or one.job == job]
    return tuple(sorted(kept, key=lambda one: (one.retry_at, one.job, one.item)))


def spending(rows: Rows, scope: Scope, *, since: datetime | None = None) -> tuple[Spent, ...]:
    calls = [call for call in rows.calls if since is None or call.at >= since]
    kinds = sorted({(call.purpose, call.model) for call in calls})
    return tuple(
        _spent(purpose, model, [call for call in calls if (call.purpose, call.model) == (purpose, model)])
        for purpose, model in kinds
    )


def _spent(purpose: str, model: str, calls: Sequence[ModelCall]) -> Spent:
    return Spent(
        purpose=purpose,
        model=model,
        calls=len(calls),
        failed=sum(call.outcome is not Outcome.ANSWERED for call in calls),
        requests=sum(call.requests for call in calls),
        input_tokens=sum(call.input_tokens for call in calls),
        output_tokens=sum(call.output_tokens for call in calls),
        cost=math.fsum(call.cost for call in calls if call.cost is not None),
        unpriced=sum(call.cost is None for call in calls),
    )


def unreviewed(rows: Rows, scope: Scope, exposure: Exposure, *, limit: int) -> tuple[Evidence, ...]:
    waiting: dict[tuple[datetime, int], Evidence] = {}
    for memory in rows.memories.values():
        if memory.status is not Status.ACTIVE or memory.superseded_by is not None:
            continue
        answered = [review.evidence_until for review in rows.reviews.values() if review.memory_id == memory.id]
        fresh: list[Exposed] = [
            one
            for one in rows.exposures.values()
            if one.memory_id == memory.id and one.exposure is exposure and all(one.at > until for until in answered)
        ]
        fresh.sort(key=lambda one: one.at)
        if fresh:
            waiting[fresh[0].at, memory.id.int] = Evidence(
                memory_id=memory.id,
                at=tuple(one.at for one in fresh),
                queries=tuple(one.query for one in fresh),
                session=fresh[-1].session,
            )
    return tuple(evidence for _, evidence in sorted(waiting.items()))[:limit]
