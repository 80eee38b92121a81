from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from uuid import UUID

import pytest
from condensed import DAY, HOUR, Life, a_note, living
from contexts import STORES, a_context, over

from remembrancer.domain.event import Origin
from remembrancer.domain.memory import Memory, Status
from remembrancer.domain.scope import Visibility
from remembrancer.domain.strength import Strength, Usage
from remembrancer.engine.compact import CompactionReport, Merged, compact
from remembrancer.engine.forget import restore
from remembrancer.errors import InvalidInput, StoreUnavailable
from remembrancer.policies.consolidation.compacting import MERGED_FROM
from remembrancer.ports.store import Store
from remembrancer.presets.default import DEFAULT
from remembrancer.presets.mnemosyne import MNEMOSYNE
from remembrancer.presets.teaparty import TEAPARTY
from remembrancer.testing.contract.base import exported
from remembrancer.testing.doubles import NOW, READER, SCOPE, FixedClock, indexed
from remembrancer.testing.faults import Faults, every_fault

BRIEF = replace(
    a_note("Run the linter before you commit, and fix what it finds"),
    strength=Strength(importance=0.9, usage=Usage(retrieved=2, last_retrieved_at=NOW)),
)
LONG = replace(
    a_note("Run the linter before you commit, and fix all what it finds!", at=NOW + HOUR),
    strength=Strength(importance=0.4, usage=Usage(retrieved=3, used=1, last_retrieved_at=NOW + HOUR)),
    origin=Origin.ASSISTANT,
    tags=("lint",),
)
OTHER = a_note("Reviews come before merges")


@pytest.fixture(params=STORES)
def make(request: pytest.FixtureRequest) -> Callable[[], Store]:
    return STORES[request.param]


def test_near_duplicates_are_merged_into_the_more_important(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> tuple[CompactionReport, list[Status], Memory]:
        report = await compact(life.ctx, SCOPE)
        return report, await life.statuses(BRIEF, LONG, OTHER), await life.memory(BRIEF.id)

    report, statuses, kept = living(make, TEAPARTY, [BRIEF, LONG, OTHER], steps, now=NOW + 2 * HOUR)
    assert report == CompactionReport(merged=(Merged(memory_id=BRIEF.id, gone=(LONG.id,)),))
    assert statuses == [Status.ACTIVE, Status.COMPACTED, Status.ACTIVE]
    assert (kept.text, kept.status, kept.revision) == (LONG.text, Status.ACTIVE, 2)
    assert (kept.occurred_from, kept.occurred_to) == (NOW, NOW + HOUR)
    assert (kept.origin, kept.tags) == (Origin.ASSISTANT, ("lint",))


def test_counts_are_added_and_its_importance_kept(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> Strength:
        await compact(life.ctx, SCOPE)
        return (await life.memory(BRIEF.id)).strength

    strength = living(make, TEAPARTY, [BRIEF, LONG], steps)
    assert strength == replace(BRIEF.strength, usage=Usage(retrieved=5, used=1, last_retrieved_at=NOW + HOUR))


def test_all_memories_that_it_replaces_are_named_and_can_be_shown(make: Callable[[], Store]) -> None:
    third = a_note("Run the linter before you commit, and fix what it finds.", at=NOW + 2 * HOUR)

    async def steps(life: Life) -> tuple[object, set[UUID]]:
        await compact(life.ctx, SCOPE)
        await life.store.insert(SCOPE, indexed(third))
        await compact(life.ctx, SCOPE)
        kept = await life.memory(BRIEF.id)
        return kept.metadata[MERGED_FROM], await life.sources(BRIEF.id)

    named, reached = living(make, TEAPARTY, [BRIEF, LONG], steps, now=NOW + 3 * HOUR)
    assert (named, reached) == (f"{LONG.id},{third.id}", {LONG.id, third.id})


def test_its_earlier_text_is_kept_as_a_revision(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> list[str]:
        await compact(life.ctx, SCOPE)
        return [revision.text for revision in await life.store.revisions(READER, BRIEF.id)]

    assert living(make, TEAPARTY, [BRIEF, LONG], steps) == [BRIEF.text]


def test_it_is_found_by_the_text_of_each_of_them(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> set[str]:
        await compact(life.ctx, SCOPE)
        return {cue.text for cue in await life.cues(BRIEF.id)}

    assert living(make, TEAPARTY, [BRIEF, LONG], steps) == {BRIEF.text, LONG.text}


@pytest.mark.parametrize(
    ("told", "one", "other"),
    [
        ("Keep at most {} replicas of the queue in each of the zones", "3", "4"),
        ("The report of the team is due on {} before noon at the latest", "Friday", "Monday"),
        ("Do {}retry the upload of the report when the network fails", "", "not "),
        ("Move the data of the shop from {} by night", "redis to kafka", "kafka to redis"),
        ("In the office {} signs the invoices of all of the teams", "Ana", "Ben"),
    ],
    ids=["number", "date", "negation", "order", "name"],
)
def test_near_duplicates_with_different_claims_stay(make: Callable[[], Store], told: str, one: str, other: str) -> None:
    async def steps(life: Life) -> tuple[Merged, ...]:
        return (await compact(life.ctx, SCOPE)).merged

    assert living(make, TEAPARTY, [a_note(told.format(each)) for each in (one, other)], steps) == ()


def test_a_similarity_of_exactly_the_threshold_is_not_enough(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> tuple[Merged, ...]:
        return (await compact(life.ctx, SCOPE)).merged

    notes = [a_note("alpha bravo charlie delta"), a_note("alpha bravo charlie delta echo")]
    assert living(make, TEAPARTY, notes, steps) == ()


@pytest.mark.parametrize(
    "other",
    [
        replace(LONG, visibility=Visibility.OWN),
        replace(LONG, scope=SCOPE.narrowed(crew="other")),
        replace(LONG, scope=SCOPE.narrowed(session="tuesday")),
        replace(LONG, source="MEMORY.md"),
        replace(LONG, kind="directive"),
        replace(LONG, title="Linting"),
        replace(LONG, topic_key="lint"),
        replace(LONG, tags=("institutional",)),
    ],
    ids=["visibility", "crew", "session", "file", "kind", "title", "topic", "standing"],
)
def test_memories_of_other_scopes_stay(make: Callable[[], Store], other: Memory) -> None:
    async def steps(life: Life) -> tuple[Merged, ...]:
        return (await compact(life.ctx, SCOPE)).merged

    assert living(make, TEAPARTY, [BRIEF, other], steps) == ()


def test_retired_or_replaced_memories_are_not_merged(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> tuple[Merged, ...]:
        await life.store.set_status(READER, LONG.id, Status.RETIRED, at=NOW)
        return (await compact(life.ctx, SCOPE)).merged

    assert living(make, TEAPARTY, [BRIEF, LONG], steps) == ()


def test_the_default_merges_equal_notes_of_several_sessions(make: Callable[[], Store]) -> None:
    again = a_note(f"{BRIEF.text}.", scope=SCOPE.narrowed(session="tuesday"), at=NOW + HOUR)

    async def steps(life: Life) -> tuple[tuple[Merged, ...], str | None]:
        report = await compact(life.ctx, SCOPE)
        return report.merged, (await life.memory(BRIEF.id)).scope.session

    merged, session = living(make, DEFAULT, [BRIEF, again], steps)
    assert (merged, session) == ((Merged(memory_id=BRIEF.id, gone=(again.id,)),), None)


def test_the_default_merges_nothing_that_has_another_word_instead(make: Callable[[], Store]) -> None:
    told = "the queue of the checkout service in all of our regions uses {} to hand on what was ordered by customers"

    async def steps(life: Life) -> tuple[Merged, ...]:
        return (await compact(life.ctx, SCOPE)).merged

    assert living(make, DEFAULT, [a_note(told.format("redis")), a_note(told.format("kafka"))], steps) == ()


def test_compacting_twice_changes_nothing(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> tuple[bool, str]:
        await compact(life.ctx, SCOPE)
        before = await exported(life.store)
        report = await compact(life.ctx, SCOPE)
        return await exported(life.store) == before, report.reason

    assert living(make, TEAPARTY, [BRIEF, LONG, OTHER], steps) == (True, "there are no near-duplicates")


def test_a_restored_memory_is_not_merged_again_nor_counted_twice(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> tuple[list[Status], int]:
        await compact(life.ctx, SCOPE)
        await restore(life.ctx, READER, LONG.id)
        await compact(life.ctx, SCOPE)
        return await life.statuses(BRIEF, LONG), (await life.memory(BRIEF.id)).strength.usage.retrieved

    assert living(make, TEAPARTY, [BRIEF, LONG], steps) == ([Status.ACTIVE] * 2, 5)


def test_a_dry_run_reports_its_result_and_writes_nothing(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> tuple[CompactionReport, CompactionReport, bool]:
        before = await exported(life.store)
        planned = await compact(life.ctx, SCOPE, dry_run=True)
        same = await exported(life.store) == before
        return planned, await compact(life.ctx, SCOPE), same

    planned, done, same = living(make, TEAPARTY, [BRIEF, LONG, OTHER], steps)
    assert same
    assert replace(planned, dry_run=False) == done


def test_a_limit_leaves_some(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> tuple[int, int]:
        report = await compact(life.ctx, SCOPE, limit=1)
        return len(report.merged), report.left

    twice = [OTHER, a_note(f"{OTHER.text}!")]
    assert living(make, TEAPARTY, [BRIEF, LONG, *twice], steps) == (1, 1)


def test_a_limit_out_of_range_is_refused(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> None:
        await compact(life.ctx, SCOPE, limit=0)

    with pytest.raises(InvalidInput, match="limit"):
        living(make, TEAPARTY, [], steps)


def test_a_preset_without_compaction_says_so(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> str:
        return (await compact(life.ctx, SCOPE)).reason

    assert living(make, MNEMOSYNE, [BRIEF, LONG], steps) == "preset mnemosyne does not merge near-duplicates"


def test_of_two_workers_at_once_one_merges_and_counts_once(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> tuple[int, int]:
        reports = await asyncio.gather(*(compact(life.ctx, SCOPE) for _ in range(2)))
        kept = await life.memory(BRIEF.id)
        return sum(len(report.merged) for report in reports), kept.strength.usage.retrieved

    assert living(make, TEAPARTY, [BRIEF, LONG], steps) == (1, 5)


def test_near_duplicates_are_merged_once_after_the_failure_of_any_call(make: Callable[[], Store]) -> None:
    async def attempt(faults: Faults, store: Store) -> tuple[list[str], int]:
        for memory in (BRIEF, LONG):
            await store.insert(SCOPE, indexed(memory))
        clock = FixedClock(NOW + DAY)
        ctx = a_context(store, TEAPARTY, clock=clock)
        life = Life(ctx, clock)
        with contextlib.suppress(StoreUnavailable):
            await compact(replace(ctx, store=faults.around(store)), SCOPE)
        await compact(ctx, SCOPE)
        return await life.texts(), (await life.memory(BRIEF.id)).strength.usage.retrieved

    for faults in every_fault():
        assert over(make, partial(attempt, faults)) == ([LONG.text], 5)
