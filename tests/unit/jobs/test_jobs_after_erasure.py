"""Every job before and after an erasure: it continues, and forms nothing from erased rows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final
from uuid import UUID

import pytest
from contexts import STORES, over
from job_worlds import MONDAY, WORLDS, World

from remembrancer.domain.erasure import Erasure, ErasureSelection
from remembrancer.domain.scope import Reader, Scope
from remembrancer.engine.context import Caller, Context
from remembrancer.engine.erase import erase
from remembrancer.jobs.maintenance import maintain, run_job
from remembrancer.jobs.sweeps import BrokenOff
from remembrancer.ports.journal import EventFilter
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import exported
from remembrancer.testing.doubles import FixedClock

SCOPE: Final = Scope(workspace=MONDAY.workspace)
ALL: Final = EventFilter(archived=True)
Choose = Callable[[Context], Awaitable[ErasureSelection | None]]


async def _events(ctx: Context) -> Sequence[UUID]:
    return [event.id for event in await ctx.store.events(Reader(SCOPE), ALL, limit=999, oldest_first=True)]


async def _memories(ctx: Context) -> list[UUID]:
    rows = [row for row in await exported(ctx.store, SCOPE) if row["record"] == "memory"]
    return [UUID(str(row["id"])) for row in sorted(rows, key=lambda row: str(row["recorded_at"]))]


async def _first_event(ctx: Context) -> ErasureSelection | None:
    events = await _events(ctx)
    return ErasureSelection(events=frozenset(events[:1])) if events else None


async def _every_other_event(ctx: Context) -> ErasureSelection | None:
    events = await _events(ctx)
    return ErasureSelection(events=frozenset(events[::2])) if events else None


async def _last_memory(ctx: Context) -> ErasureSelection | None:
    memories = await _memories(ctx)
    return ErasureSelection(ids=frozenset(memories[-1:])) if memories else None


async def _first_memory(ctx: Context) -> ErasureSelection | None:
    memories = await _memories(ctx)
    return ErasureSelection(ids=frozenset(memories[:1])) if memories else None


async def _session(ctx: Context) -> ErasureSelection | None:
    return ErasureSelection(session=MONDAY.session)


CHOICES: Final[dict[str, Choose]] = {
    "the first entry": _first_event,
    "every other entry": _every_other_event,
    "the first memory": _first_memory,
    "the last memory": _last_memory,
    "a session": _session,
}


@pytest.mark.parametrize("choose", CHOICES.values(), ids=CHOICES)
@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
@pytest.mark.parametrize("make", STORES.values(), ids=STORES)
def test_jobs_continue_after_an_erasure_and_form_nothing_from_erased_text(
    make: Callable[[], Store], world: World, choose: Choose
) -> None:
    async def steps(store: Store) -> None:
        await world.fill(store)
        sweeper = world.sweeper(store, FixedClock(world.now), llm=world.model, embedder=world.embedder)
        ctx = sweeper.ctx
        await run_job(sweeper, world.job)
        choice = await choose(ctx)
        if choice is None:
            return
        gone = await _texts_of(ctx, choice)
        receipt = await erase(ctx, Caller(scope=SCOPE, role="LEAD"), choice, dry_run=False)
        assert _is_whole(receipt)
        for _ in range(2):
            reports = await maintain(sweeper, force=True)
            assert not [report for report in reports.values() if isinstance(report, BrokenOff)]
        assert all(finding.ok for finding in await store.check(SCOPE, None))
        there = {UUID(str(row["id"])) for row in await exported(store, SCOPE) if row["record"] in {"memory", "event"}}
        # What was drawn is drawn again, where it was, from sources that stay: the receipt says so.
        assert not there & ({*receipt.events} if receipt.kept_sources else {*receipt.events, *choice.ids})
        if not receipt.repeated and not receipt.kept_sources:
            held = str([row for row in await exported(store, SCOPE) if row["record"] in {"memory", "event", "cue"}])
            assert not [text for text in gone if len(text) > 20 and repr(text)[1:-1] in held]

    over(make, steps)


async def _texts_of(ctx: Context, choice: ErasureSelection) -> list[str]:
    """The texts of the selected memories."""
    memories, events = await ctx.store.lying_in(SCOPE, choice)
    traces = await ctx.store.traces(SCOPE, memories=memories, events=events)
    told = [trace.memory.text for trace in traces.memories.values()]
    return told + [trace.event.text for trace in traces.events.values()]


def _is_whole(receipt: Erasure) -> bool:
    """Whether each id is in the receipt once."""
    went = [*receipt.memories, *receipt.derived]
    return len(went) == len(set(went)) == receipt.counts["memories"] and not set(went) & {
        *receipt.rebuilt,
        *receipt.restored,
        *receipt.requeued,
    }
