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
from remembrancer.domain.memory import Memory, Status, Tier
from remembrancer.domain.scope import Visibility
from remembrancer.domain.strength import Strength, Usage
from remembrancer.engine.clusters import CENTRAL, CONSOLIDATED_FROM, JOB, ClustersReport, consolidate_clusters
from remembrancer.engine.forget import forget, restore
from remembrancer.errors import InvalidInput, ModelUnavailable, StoreUnavailable
from remembrancer.policies.consolidation.clusters import Clusters
from remembrancer.ports.store import Store
from remembrancer.presets.default import DEFAULT
from remembrancer.presets.engram import ENGRAM
from remembrancer.testing.contract.base import exported
from remembrancer.testing.doubles import NOW, READER, SCOPE, FixedClock, indexed
from remembrancer.testing.faults import Faults, every_fault
from remembrancer.testing.scripted_model import Scripted, ScriptedModel

RUNS = a_note("The staging database runs on PostgreSQL")
IS = a_note("PostgreSQL is the database of staging", at=NOW + HOUR)
USES = a_note("Staging uses a PostgreSQL database", at=NOW + 2 * HOUR)
SAME = [RUNS, IS, USES]
RENT = a_note("The rent is due on Fridays")
SUMMARY = "Staging's database is PostgreSQL."
SUMMED: Scripted = {"title": "Database of staging", "summary": SUMMARY}


@pytest.fixture(params=STORES)
def make(request: pytest.FixtureRequest) -> Callable[[], Store]:
    return STORES[request.param]


async def consolidated(life: Life) -> Memory:
    [one] = (await consolidate_clusters(life.ctx, SCOPE)).consolidated
    return await life.memory(one.memory_id)


def test_one_memory_replaces_memories_with_nearly_equal_meaning(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> tuple[ClustersReport, list[str], list[Status]]:
        report = await consolidate_clusters(life.ctx, SCOPE)
        return report, await life.texts(), await life.statuses(*SAME, RENT)

    report, texts, statuses = living(make, ENGRAM, [*SAME, RENT], steps)
    assert [one.sources for one in report.consolidated] == [(RUNS.id, IS.id, USES.id)]
    assert (report.failed, report.left, report.stand_in) == (0, 0, "no language model is set (llm)")
    assert texts == [IS.text, RENT.text]
    assert statuses == [Status.COMPACTED] * 3 + [Status.ACTIVE]


def test_the_originals_are_reached_from_it(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> tuple[Memory, set[UUID]]:
        memory = await consolidated(life)
        return memory, await life.sources(memory.id)

    memory, sources = living(make, ENGRAM, SAME, steps)
    assert sources == {RUNS.id, IS.id, USES.id}
    assert memory.metadata == {CONSOLIDATED_FROM: f"{RUNS.id},{IS.id},{USES.id}", "summarised_by": CENTRAL}


def test_it_is_found_by_the_text_of_each_of_them(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> list[str]:
        memory = await consolidated(life)
        return [cue.text for cue in await life.cues(memory.id)]

    cues = living(make, ENGRAM, SAME, steps)
    assert cues[0] == IS.text
    assert {RUNS.text, IS.text, USES.text} == set(cues)


def test_it_has_their_importance(make: Callable[[], Store]) -> None:
    strong = replace(
        RUNS,
        strength=Strength(importance=0.9, priority=8, confidence=0.9, usage=Usage(retrieved=2, helped=1)),
        tags=("db",),
    )
    heard = replace(IS, origin=Origin.ASSISTANT, tags=("staging",), strength=Strength(confidence=0.3))

    async def steps(life: Life) -> Memory:
        return await consolidated(life)

    memory = living(make, ENGRAM, [strong, heard, USES], steps)
    strength = memory.strength
    assert (strength.importance, strength.priority, strength.usage.retrieved) == (0.9, 8, 2)
    assert strength.confidence == pytest.approx(1.7 / 3)
    assert (memory.origin, memory.tags, memory.tier) == (Origin.ASSISTANT, ("db", "staging"), Tier.SEMANTIC)
    assert (memory.occurred_from, memory.occurred_to) == (NOW, NOW + 2 * HOUR)


def test_two_are_no_cluster(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> ClustersReport:
        return await consolidate_clusters(life.ctx, SCOPE)

    report = living(make, ENGRAM, SAME[:2], steps)
    assert (report.consolidated, report.reason) == ((), "there are no 3 memories with nearly the same text")


@pytest.mark.parametrize(
    "texts",
    [
        [f"Sprint {n} ends on the last Friday of the month" for n in (41, 42, 43)],
        [f"The rent of the flat is due on {day}" for day in ("Monday", "Tuesday", "Friday")],
        [f"{name} likes green tea with a little milk" for name in ("Ana", "Ben", "Cem")],
        ["We deploy on Fridays", "We never deploy on Fridays", "We do not deploy on Fridays"],
    ],
)
def test_texts_that_differ_in_a_number_date_name_or_negation_are_never_merged(
    make: Callable[[], Store], texts: list[str]
) -> None:
    async def steps(life: Life) -> int:
        return len((await consolidate_clusters(life.ctx, SCOPE)).consolidated)

    assert living(make, ENGRAM, [a_note(text) for text in texts], steps) == 0


@pytest.mark.parametrize(
    "other",
    [
        replace(USES, visibility=Visibility.OWN),
        replace(USES, scope=SCOPE.narrowed(agent="ben")),
        replace(USES, scope=SCOPE.narrowed(project="x")),
        replace(USES, kind="todo"),
        replace(USES, tier=Tier.EPISODIC),
        replace(USES, valid_until=NOW + 99 * HOUR),
        replace(USES, topic_key="staging"),
    ],
    ids=["visibility", "agent", "project", "kind", "tier", "validity", "topic"],
)
def test_memories_of_another_scope_or_kind_or_with_a_topic_are_not_merged(
    make: Callable[[], Store], other: Memory
) -> None:
    async def steps(life: Life) -> int:
        return len((await consolidate_clusters(life.ctx, SCOPE)).consolidated)

    assert living(make, ENGRAM, [RUNS, IS, other], steps) == 0


def test_pinned_memories_are_not_clustered_with_others(make: Callable[[], Store]) -> None:
    preset = replace(ENGRAM, pinned_tag="always")

    async def steps(life: Life) -> int:
        return len((await consolidate_clusters(life.ctx, SCOPE)).consolidated)

    assert living(make, preset, [RUNS, IS, replace(USES, tags=("always",))], steps) == 0


def test_memories_that_only_one_agent_sees_become_one_that_only_it_sees(make: Callable[[], Store]) -> None:
    hidden = [replace(memory, visibility=Visibility.OWN) for memory in SAME]
    elsewhere = replace(hidden[2], scope=SCOPE.narrowed(session="tuesday"))

    async def steps(life: Life) -> tuple[Visibility, str | None, str | None]:
        memory = await consolidated(life)
        return memory.visibility, memory.scope.agent, memory.scope.session

    assert living(make, ENGRAM, [*hidden[:2], elsewhere], steps) == (Visibility.OWN, "ana", None)


def test_memories_that_are_no_longer_valid_are_in_no_cluster(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> int:
        await life.store.set_status(READER, USES.id, Status.RETIRED, at=NOW)
        return len((await consolidate_clusters(life.ctx, SCOPE)).consolidated)

    assert living(make, ENGRAM, SAME, steps) == 0


def test_consolidating_twice_changes_nothing(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> bool:
        await consolidate_clusters(life.ctx, SCOPE)
        before = await exported(life.store)
        await consolidate_clusters(life.ctx, SCOPE)
        return await exported(life.store) == before

    assert living(make, ENGRAM, SAME, steps)


def test_a_model_writes_the_memory_and_is_named(make: Callable[[], Store]) -> None:
    model = ScriptedModel([SUMMED])

    async def steps(life: Life) -> Memory:
        return await consolidated(life)

    memory = living(make, ENGRAM, SAME, steps, model=model)
    assert (memory.title, memory.text) == ("Database of staging", SUMMARY)
    assert memory.metadata["summarised_by"] == "scripted:model"
    assert [memory.text in model.tasks[0].material for memory in SAME] == [True] * 3


def test_an_answer_that_will_not_do_leaves_the_memories_unchanged(make: Callable[[], Store]) -> None:
    model = ScriptedModel([{"title": "x", "summary": "PostgreSQL 16"}])

    async def steps(life: Life) -> tuple[ClustersReport, list[Status], str]:
        report = await consolidate_clusters(life.ctx, SCOPE)
        [deferral] = await life.store.deferrals(SCOPE, JOB)
        return report, await life.statuses(*SAME), deferral.error

    report, statuses, error = living(make, ENGRAM, SAME, steps, model=model)
    assert (report.consolidated, report.failed, report.left) == ((), 1, 0)
    assert (statuses, error) == ([Status.ACTIVE] * 3, "the number 16 stands in none of the notes")


def test_a_model_that_is_down_leaves_the_memories_unchanged(make: Callable[[], Store]) -> None:
    model = ScriptedModel([ModelUnavailable("out of reach")])

    async def steps(life: Life) -> tuple[str, list[Status]]:
        return (await consolidate_clusters(life.ctx, SCOPE)).reason, await life.statuses(*SAME)

    assert living(make, ENGRAM, SAME, steps, model=model) == ("out of reach", [Status.ACTIVE] * 3)


def test_a_cluster_undone_by_a_person_is_not_formed_again_and_no_model_is_asked(make: Callable[[], Store]) -> None:
    model = ScriptedModel([SUMMED])

    async def steps(life: Life) -> tuple[ClustersReport, list[Status]]:
        memory = await consolidated(life)
        await forget(life.ctx, READER, memory.id)
        for one in SAME:
            await restore(life.ctx, READER, one.id)
        return await consolidate_clusters(life.ctx, SCOPE, limit=1), await life.statuses(*SAME)

    report, statuses = living(make, ENGRAM, SAME, steps, model=model)
    assert (report.consolidated, report.left, model.asked) == ((), 0, 1)
    assert statuses == [Status.ACTIVE] * 3


def test_a_cluster_too_large_for_a_model_gets_its_most_central_text(make: Callable[[], Store]) -> None:
    long = [replace(one, text=f"{one.text}. {'It is a database. ' * 1_500}") for one in SAME]
    model = ScriptedModel([])

    async def steps(life: Life) -> Memory:
        return await consolidated(life)

    memory = living(make, ENGRAM, long, steps, model=model)
    assert (memory.metadata["summarised_by"], model.asked) == (CENTRAL, 0)


def test_a_dry_run_reports_its_result_and_writes_nothing(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> tuple[ClustersReport, ClustersReport, bool]:
        before = await exported(life.store)
        planned = await consolidate_clusters(life.ctx, SCOPE, dry_run=True)
        same = await exported(life.store) == before
        return planned, await consolidate_clusters(life.ctx, SCOPE), same

    planned, done, same = living(make, ENGRAM, [*SAME, RENT], steps)
    assert same
    assert replace(planned, dry_run=False) == done


def test_a_limit_leaves_the_younger_clusters(make: Callable[[], Store]) -> None:
    rents = [a_note(f"The rent is due on Fridays{mark}", at=NOW + HOUR) for mark in (".", "!", "?")]

    async def steps(life: Life) -> tuple[list[UUID], int]:
        report = await consolidate_clusters(life.ctx, SCOPE, limit=1)
        return [one.sources[0] for one in report.consolidated], report.left

    assert living(make, ENGRAM, [*SAME, *rents], steps) == ([RUNS.id], 1)


def test_a_limit_out_of_range_is_refused(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> None:
        await consolidate_clusters(life.ctx, SCOPE, limit=0)

    with pytest.raises(InvalidInput, match="limit"):
        living(make, ENGRAM, [], steps)


def test_a_preset_without_clusters_says_so(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> str:
        return (await consolidate_clusters(life.ctx, SCOPE)).reason

    assert living(make, DEFAULT, SAME, steps) == "preset default does not cluster memories"


def test_of_two_workers_at_once_one_consolidates(make: Callable[[], Store]) -> None:
    async def steps(life: Life) -> tuple[int, list[str]]:
        reports = await asyncio.gather(*(consolidate_clusters(life.ctx, SCOPE) for _ in range(2)))
        return sum(len(report.consolidated) for report in reports), await life.texts()

    assert living(make, ENGRAM, SAME, steps) == (1, [IS.text])


def test_a_cluster_becomes_one_memory_after_the_failure_of_any_call(make: Callable[[], Store]) -> None:
    model = ScriptedModel(lambda _: SUMMED)

    async def attempt(faults: Faults, store: Store) -> tuple[list[str], list[str], int]:
        for memory in SAME:
            await store.insert(SCOPE, indexed(memory))
        clock = FixedClock(NOW + DAY)
        ctx = a_context(store, replace(ENGRAM, clusters=Clusters()), llm=model, clock=clock)
        life = Life(ctx, clock)
        with contextlib.suppress(StoreUnavailable):
            await consolidate_clusters(replace(ctx, store=faults.around(store)), SCOPE)
        half = await life.texts()
        await consolidate_clusters(ctx, SCOPE)
        return half, await life.texts(), len(await store.deferrals(SCOPE, JOB))

    for faults in every_fault():
        half, whole, waiting = over(make, partial(attempt, faults))
        assert half in (sorted(memory.text for memory in SAME), [SUMMARY])
        assert (whole, waiting) == ([SUMMARY], 0)
