"""The state of the jobs: their last and next runs, their backlog, and their failures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from remembrancer.domain.job import Deferral, Job, Run
from remembrancer.domain.memory import Tier
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader, Scope
from remembrancer.engine.context import Context, answering
from remembrancer.jobs.sweeps import jobs_of
from remembrancer.policies.segmentation.segmentation import EPISODE
from remembrancer.ports.embedder import token_embedder
from remembrancer.values import dataclass

MOST_COUNTED: Final = 1_000
"""Waiting items are counted up to this number."""
MOST_LISTED: Final = 1_000
"""The maximum number of listed texts whose embedding failed; those to be tried next come first."""
MOST_OF_TEXT: Final = 200
"""The maximum number of characters shown of each text."""
LONGER_THAN_ANY_WAIT: Final = timedelta(days=2)
"""Longer than any retry delay, so that deferred items are counted too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """The state of one job.

    `last`: None if it never ran. `next_run`: None if it is due. `backlog`: the number of waiting items, at most
    `MOST_COUNTED`; None if only a run can determine it. `failures`: items that failed and wait for a retry.
    """

    job: Job
    last: Run | None
    next_run: datetime | None
    backlog: int | None
    failures: tuple[Deferral, ...]


async def job_states(ctx: Context, reader: Reader) -> tuple[JobState, ...]:
    """The preset's jobs in the reader's workspace, in the order they run. Reads only."""
    scope = reader.scope
    runs = await ctx.store.runs(scope)
    deferrals = (*await ctx.store.deferrals(scope), *await _not_embedded(ctx, reader))
    now = ctx.clock()
    states: list[JobState] = []
    for job in jobs_of(ctx.preset):
        last = runs.get(job.value)
        counts = _BACKLOGS.get(job)
        due = ctx.preset.schedule.is_due(job, last, now)
        states.append(
            JobState(
                job=job,
                last=last,
                next_run=None if due else ctx.preset.schedule.next_run(job, last),
                backlog=None if counts is None else min(MOST_COUNTED, await counts(ctx, scope)),
                failures=tuple(one for one in deferrals if one.job == job.value),
            )
        )
    return tuple(states)


async def _not_embedded(ctx: Context, reader: Reader) -> list[Deferral]:
    """The texts whose embedding failed, as failures of the index."""
    failed = [
        one
        for each in (ctx, ctx.before)
        if each is not None and each.model is not None
        for one in await ctx.store.failed_vectors(reader.scope, each.model, limit=MOST_LISTED)
    ]
    cues = await ctx.store.cues(reader, list({one.memory_id for one in failed}))
    texts = {(memory_id, cue.ordinal): cue.text for memory_id, several in cues.items() for cue in several}
    return [
        Deferral(
            job=Job.INDEX,
            item=str(one.memory_id),
            attempts=one.attempts,
            retry_at=one.retry_at,
            error=one.error,
            text=texts.get((one.memory_id, one.ordinal), "")[:MOST_OF_TEXT],
        )
        for one in failed
    ]


async def _unindexed(ctx: Context, scope: Scope) -> int:
    """The cues without a vector of this process's models, each counted once a model."""
    if ctx.model is None:
        return 0
    token_embeddings = ctx.preset.encoding.token_embeddings and token_embedder(ctx.embedder) is not None
    later = ctx.clock() + LONGER_THAN_ANY_WAIT
    waiting = len(
        await ctx.store.pending(scope, ctx.model, limit=MOST_COUNTED, now=later, token_embeddings=token_embeddings)
    )
    if ctx.before is None or (await answering(ctx, scope)) is ctx:
        return waiting
    return waiting + await _unindexed(ctx.before, scope)


async def _in_no_episode(ctx: Context, scope: Scope) -> int:
    tails = await ctx.store.tails(scope, at_least=1, silent_since=ctx.clock(), limit=MOST_COUNTED)
    return sum(tail.events for tail in tails)


async def _unreviewed(ctx: Context, scope: Scope) -> int:
    if ctx.preset.review is None:
        return 0
    return len(await ctx.store.unreviewed(scope, ctx.preset.review.counted, limit=MOST_COUNTED))


async def _unconsolidated(ctx: Context, scope: Scope) -> int:
    where = Filter(current_at=ctx.clock(), kinds=frozenset({EPISODE}))
    return len(await ctx.store.workspace_memories(scope, where, limit=MOST_COUNTED, unconsolidated=True))


async def _awake(ctx: Context, scope: Scope) -> int:
    where = Filter(current_at=ctx.clock(), tiers=frozenset({Tier.WORKING}))
    return len(await ctx.store.workspace_memories(scope, where, limit=MOST_COUNTED))


_BACKLOGS: Final[Mapping[Job, Callable[[Context, Scope], Awaitable[int]]]] = {
    Job.INDEX: _unindexed,
    Job.SEGMENT: _in_no_episode,
    Job.REVIEW: _unreviewed,
    Job.FACTS: _unconsolidated,
    Job.SLEEP: _awake,
}
