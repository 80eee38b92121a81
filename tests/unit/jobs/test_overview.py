"""The state of the jobs: backlog, failures, and next runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final, TypeVar
from uuid import UUID

import pytest
from contexts import STORES, a_context, over, say

from remembrancer.domain.event import EventDraft
from remembrancer.domain.job import Deferral, Job, Run
from remembrancer.domain.memory import MemoryDraft, Tier
from remembrancer.domain.scope import Reader, Visibility
from remembrancer.domain.strength import Exposure
from remembrancer.engine.context import Context
from remembrancer.engine.index import index_batch
from remembrancer.engine.record import observe, remember
from remembrancer.engine.reinforce import mark
from remembrancer.engine.segment import segment
from remembrancer.errors import ModelUnavailable
from remembrancer.jobs.overview import JobState, job_states
from remembrancer.ports.embedder import Embedded, Embedder
from remembrancer.ports.store import Store
from remembrancer.presets.catalogue import PRESETS
from remembrancer.presets.default import DEFAULT
from remembrancer.presets.mnemosyne import MNEMOSYNE
from remembrancer.presets.plastmem import PLASTMEM
from remembrancer.presets.spec import Preset
from remembrancer.testing.contract.base import exported
from remembrancer.testing.doubles import NOW, SCOPE, FixedClock, HashEmbedder, WordHashEmbedder

T = TypeVar("T")
HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
EVERYBODY: Final = Reader(SCOPE)
Steps = Callable[[Context, FixedClock], Awaitable[object]]


@pytest.fixture(params=STORES)
def make(request: pytest.FixtureRequest) -> Callable[[], Store]:
    return STORES[request.param]


def stands(
    make: Callable[[], Store],
    job: Job,
    steps: Steps,
    *,
    preset: Preset = DEFAULT,
    embedder: Embedder | None = None,
    reader: Reader = EVERYBODY,
) -> JobState:
    """The state of a job after these steps."""

    async def run(store: Store) -> JobState:
        clock = FixedClock()
        ctx = a_context(store, preset, embedder=embedder, clock=clock)
        await steps(ctx, clock)
        [state] = [state for state in await job_states(ctx, reader) if state.job is job]
        return state

    return over(make, run)


async def nothing(_: Context, __: FixedClock) -> None:
    """A step that does nothing."""


async def three_turns(ctx: Context, _: FixedClock) -> None:
    await observe(ctx, SCOPE, [EventDraft(text=f"Turn {n}") for n in range(3)])


def test_each_job_of_the_preset_is_reported_in_the_order_they_run() -> None:
    async def jobs(store: Store) -> dict[str, list[str]]:
        return {
            name: [state.job.value for state in await job_states(a_context(store, preset), Reader(SCOPE))]
            for name, preset in PRESETS.items()
        }

    told = over(STORES["reference"], jobs)
    assert told["default"] == ["index", "segment", "compact", "retain", "health"]
    assert told["plastmem"] == ["index", "segment", "review", "facts", "retain", "health"]
    assert told["crewship"] == ["index", "rules", "retain", "health"]


def test_a_job_that_never_ran_is_due_and_has_no_last_run(make: Callable[[], Store]) -> None:
    state = stands(make, Job.COMPACT, nothing)
    assert state == JobState(job=Job.COMPACT, last=None, next_run=None, backlog=None, failures=())


def test_the_last_run_is_reported_and_when_the_next_one_is(make: Callable[[], Store]) -> None:
    run = Run(job="compact", started_at=NOW, ended_at=NOW, done=3)

    async def ran(ctx: Context, clock: FixedClock) -> None:
        await ctx.store.put_run(SCOPE, run)
        clock.advance(HOUR)

    state = stands(make, Job.COMPACT, ran)
    assert (state.last, state.next_run) == (run, NOW + DAY)


def test_an_overdue_job_is_due_now(make: Callable[[], Store]) -> None:
    async def ran(ctx: Context, clock: FixedClock) -> None:
        await ctx.store.put_run(SCOPE, Run(job="compact", started_at=NOW, ended_at=NOW))
        clock.advance(2 * DAY)

    assert stands(make, Job.COMPACT, ran).next_run is None


def test_only_a_job_s_own_failures_are_reported_with_it(make: Callable[[], Store]) -> None:
    async def failed(ctx: Context, _: FixedClock) -> None:
        await ctx.store.defer(SCOPE, "segment", "monday", error="it is down", now=NOW)
        await ctx.store.defer(SCOPE, "review", "a memory", error="it is down", now=NOW)

    [failure] = stands(make, Job.SEGMENT, failed).failures
    assert (failure.job, failure.item, failure.attempts, failure.error) == ("segment", "monday", 1, "it is down")


class Picky(HashEmbedder):
    """An embedder that fails on one text."""

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        if any("cannot be embedded" in text for text in texts):
            raise ModelUnavailable("it cannot read that")
        return await super().embed_documents(texts)


async def one_text_fails(ctx: Context, _: FixedClock) -> None:
    await remember(ctx, SCOPE, MemoryDraft(text="Ana drinks tea"))
    await remember(ctx, SCOPE, MemoryDraft(text="cannot be embedded", visibility=Visibility.OWN))
    await index_batch(ctx, SCOPE)


def fails_of(reader: Reader) -> tuple[Deferral, ...]:
    return stands(STORES["sqlite"], Job.INDEX, one_text_fails, embedder=Picky(), reader=reader).failures


def test_a_text_whose_embedding_failed_is_reported_with_its_reason() -> None:
    [failure] = fails_of(Reader(SCOPE))
    assert UUID(failure.item)
    assert (failure.text, failure.attempts, failure.error) == ("cannot be embedded", 1, "it cannot read that")


def test_memories_that_the_caller_may_not_see_are_reported_without_their_text() -> None:
    [failure] = fails_of(Reader(SCOPE.narrowed(agent="somebody else")))
    assert (failure.text, failure.error) == ("", "it cannot read that")


class TestBacklog:
    def test_turns_in_no_episode_wait_for_their_segments(self, make: Callable[[], Store]) -> None:
        assert stands(make, Job.SEGMENT, three_turns).backlog == 3

    def test_turns_in_episodes_wait_no_longer(self, make: Callable[[], Store]) -> None:
        async def segmented(ctx: Context, clock: FixedClock) -> None:
            await three_turns(ctx, clock)
            await segment(ctx, SCOPE, ended=[SCOPE])

        assert stands(make, Job.SEGMENT, segmented).backlog == 0

    def test_a_memory_without_a_vector_is_pending_for_index(self, make: Callable[[], Store]) -> None:
        assert stands(make, Job.INDEX, three_turns, embedder=HashEmbedder(16)).backlog == 3

    def test_an_indexed_memory_is_no_longer_pending(self, make: Callable[[], Store]) -> None:
        async def indexed(ctx: Context, clock: FixedClock) -> None:
            await three_turns(ctx, clock)
            await index_batch(ctx, SCOPE)

        assert stands(make, Job.INDEX, indexed, embedder=WordHashEmbedder(16)).backlog == 0

    def test_a_memory_without_token_embeddings_is_pending_for_index(self, make: Callable[[], Store]) -> None:
        async def indexed_without(ctx: Context, clock: FixedClock) -> None:
            await three_turns(ctx, clock)
            await index_batch(replace(ctx, embedder=HashEmbedder(16)), SCOPE)

        assert stands(make, Job.INDEX, indexed_without, embedder=WordHashEmbedder(16)).backlog == 3

    def test_failed_pending_items_are_counted_too(self, make: Callable[[], Store]) -> None:
        async def failed(ctx: Context, clock: FixedClock) -> None:
            await three_turns(ctx, clock)
            waiting = await ctx.store.pending(SCOPE, "hash-16", limit=9, now=NOW)
            refs = [cue.ref for cue in waiting]
            for _ in range(20):
                await ctx.store.defer_vectors(SCOPE, "hash-16", refs, error="no answer", now=NOW)

        assert stands(make, Job.INDEX, failed, embedder=HashEmbedder(16)).backlog == 3

    def test_without_an_embedder_nothing_waits_for_the_index(self, make: Callable[[], Store]) -> None:
        assert stands(make, Job.INDEX, three_turns).backlog == 0

    def test_a_retrieved_memory_is_pending_for_review(self, make: Callable[[], Store]) -> None:
        async def looked_up(ctx: Context, __: FixedClock) -> None:
            memory, _ = await remember(ctx, SCOPE, MemoryDraft(text="Ana drinks tea"))
            await mark(ctx, Reader(SCOPE), {memory.id: 0.5}, Exposure.RETRIEVED, query="what?")

        assert stands(make, Job.REVIEW, looked_up, preset=PLASTMEM).backlog == 1

    def test_episodes_that_nothing_was_drawn_from_wait(self, make: Callable[[], Store]) -> None:
        async def lived(ctx: Context, clock: FixedClock) -> None:
            await three_turns(ctx, clock)
            await segment(ctx, SCOPE, ended=[SCOPE])

        assert stands(make, Job.FACTS, lived, preset=PLASTMEM).backlog == 1

    def test_working_memory_is_pending_for_sleep(self, make: Callable[[], Store]) -> None:
        async def awake(ctx: Context, _: FixedClock) -> None:
            for tier in (Tier.WORKING, Tier.WORKING, Tier.SEMANTIC):
                await remember(ctx, SCOPE, MemoryDraft(text="a note", tier=tier))

        assert stands(make, Job.SLEEP, awake, preset=MNEMOSYNE).backlog == 2

    def test_a_large_count_is_reported_as_more_than_the_limit(self) -> None:
        async def much(ctx: Context, _: FixedClock) -> None:
            await say(ctx.store, *(f"Turn {n}" for n in range(1_005)))

        assert stands(STORES["sqlite"], Job.SEGMENT, much).backlog == 1_000


def test_looking_changes_nothing(make: Callable[[], Store]) -> None:
    async def run(store: Store) -> bool:
        ctx = a_context(store, PLASTMEM, embedder=HashEmbedder(16))
        await three_turns(ctx, FixedClock())
        before = await exported(store), await store.runs(SCOPE), await store.deferrals(SCOPE)
        await job_states(ctx, Reader(SCOPE))
        return before == (await exported(store), await store.runs(SCOPE), await store.deferrals(SCOPE))

    assert over(make, run)
